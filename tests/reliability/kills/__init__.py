"""The kill matrix: every command, killed at every kind of moment, started again, ends as if nothing had happened."""
