"""What every adapter uses: its types, and other people's JSON read without trust."""
