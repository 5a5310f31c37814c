"""Words to items: the vocabulary, and what stretches of words mean."""
