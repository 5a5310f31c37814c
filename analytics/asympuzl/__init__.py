"""Views of AsymPuzl."""
