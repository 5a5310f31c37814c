"""The command of Lockbox."""
