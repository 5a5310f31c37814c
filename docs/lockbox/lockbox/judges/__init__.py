"""What judges are shown of Lockbox, and what the engine can prove."""
