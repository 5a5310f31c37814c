"""The providers' own clients, patched by instructor."""
