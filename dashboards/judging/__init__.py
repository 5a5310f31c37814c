"""The sections of the page Judges."""
