"""Avalon."""
