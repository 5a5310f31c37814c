"""Lockbox on pages."""
