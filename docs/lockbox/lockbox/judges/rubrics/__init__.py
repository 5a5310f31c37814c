"""Rubrics of Lockbox."""
