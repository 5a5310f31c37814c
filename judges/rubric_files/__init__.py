"""The files of rubrics: found, read, repaired, checked, drafted."""
