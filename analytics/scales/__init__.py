"""Teams, tasks and games on scales and in groups: ability, preference, profiles of failure."""
