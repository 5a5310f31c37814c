"""From paths to a filled store: found, read in worker processes, checked, written."""
