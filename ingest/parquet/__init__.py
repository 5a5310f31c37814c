"""Parquet files: Inspect Scout's transcripts, and chat with a column `messages`."""
