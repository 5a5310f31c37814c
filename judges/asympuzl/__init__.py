"""What judges and engine checks need to know of AsymPuzl."""
