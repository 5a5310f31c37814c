"""The rules of Lockbox, and games between scripted players."""
