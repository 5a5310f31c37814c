"""Perturbed units: changed by rule, so that it is known whether the answer should change."""
