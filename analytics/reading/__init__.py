"""How well readers of texts do."""
