"""What judges say and what that is worth: views, perturbations, self-preference, gains of optimisation."""
