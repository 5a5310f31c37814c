"""A store in a folder, in the format of Delta Lake: one Delta table, so that a commit is whole for all tables of the store at once."""
