"""Chat lines: JSON Lines, JSON or Parquet with conversations in them, and a mapping file that says which column is what."""
