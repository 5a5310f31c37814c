"""Rates of answers, corrected by labels, and calibrated answers."""
