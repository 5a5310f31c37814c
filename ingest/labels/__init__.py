"""Labels of people and planted truth, out of files into the store."""
