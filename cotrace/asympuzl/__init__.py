"""The commands of AsymPuzl."""
