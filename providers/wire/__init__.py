"""HTTP as models' servers speak it: bounded in time and size, signed where they want it, never passed on to another host."""
