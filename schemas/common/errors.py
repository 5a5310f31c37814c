"""The errors that cotrace shows to its users.

Every message is one line: what went wrong, where, why, and the fix.
"""


class CotraceError(Exception):
    """Base of all errors whose message is meant for the user."""


class UsageError(CotraceError):
    """The command or call was used wrongly; exit code 2."""


class StoreError(CotraceError):
    """The store cannot be opened, read or written; exit code 2."""


class BadInputError(CotraceError):
    """A part of the input cannot be used; at the ingest boundary it becomes a row of ``rejects``."""

    def __init__(self, reason: str, *, locator: str = "", excerpt: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        """Why, with the fix, on one line."""
        self.locator = locator
        """Where in the source: ``games[0].turns[3].move_attempted``, ``line 7``."""
        self.excerpt = excerpt
        """The first characters of what stood there."""
