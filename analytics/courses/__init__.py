"""How games run: turns until something happens, and what follows on what."""
