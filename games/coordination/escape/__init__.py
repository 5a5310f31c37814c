"""CollabEscape: two players repair generators and escape a killer."""
