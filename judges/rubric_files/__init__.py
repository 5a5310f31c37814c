"""The files that rubrics stand in: found, read, mended, checked, drafted."""
