"""The commands of CRAFT."""
