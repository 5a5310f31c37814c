"""The sections of the page Judges, one module each: SECTION (its name in the address), TITLE, `content(read, rubric)`."""
