"""Views of CRAFT."""
