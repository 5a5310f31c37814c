"""The store: a DuckDB file or a lake, how it is opened, and what may be written to it."""
