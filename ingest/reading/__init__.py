"""What every adapter stands on: its types, and other people's JSON read without trust."""
