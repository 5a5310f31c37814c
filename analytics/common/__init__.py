"""Views that every benchmark shares."""
