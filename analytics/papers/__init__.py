"""The papers' tables and figures from the store's own logs, with the papers' numbers beside."""
