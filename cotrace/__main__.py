"""`python -m cotrace`."""

from cotrace.cli import main

main()
