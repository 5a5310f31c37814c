"""Playing in the browser: people take seats, each with a page that gets what this seat may see and nothing else."""
