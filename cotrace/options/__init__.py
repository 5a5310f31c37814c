"""Options that several verbs share, and ways of speaking: of every verb, of players, of models, of searches for better prompts."""
