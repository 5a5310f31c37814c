"""Avalon: the logs that the published code writes, and games in cotrace's own log."""
