"""Rubrics, the judges that answer them, the runner and agreement with truth and people."""

ROOM_OF = "cotrace"
