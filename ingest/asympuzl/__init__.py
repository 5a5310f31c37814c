"""AsymPuzl: the specified record."""
