"""Avalon on pages."""
