"""What only the judges of CRAFT need: the reader of director language and the engine checks."""
