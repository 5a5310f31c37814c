"""What verbs that ask judges and readers have in common: what is asked first, and what is told of it."""
