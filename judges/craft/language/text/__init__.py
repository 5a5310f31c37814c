"""Text to words: asides and layout taken out, numbers of layers and columns settled."""
