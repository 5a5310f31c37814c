"""What an ingest did."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["IngestProgress", "RejectedPart", "Report", "Timing"]


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far an ingest is."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class RejectedPart:
    """A part of a file, or a whole file, that could not be used. All texts can be printed as they are."""

    path: str
    locator: str
    """Where in the file; empty for the whole file."""

    reason: str


@dataclass(slots=True)
class Timing:
    """Where the time went, in seconds. The first two are added up over all worker processes."""

    read_s: float = 0.0
    """Reading, decoding and building tables."""

    replay_s: float = 0.0
    validate_s: float = 0.0
    """Checking the rows with Pandera."""

    insert_s: float = 0.0
    """Writing to the store, opening and closing it included."""

    wall_s: float = 0.0
    """From start to end."""


@dataclass(slots=True)
class Report:
    """What an ingest did. Every file found is counted once: ingested, replaced, unchanged, duplicate, other or refused."""

    found: int = 0
    """Files, and folders that could not be looked into."""

    ingested: int = 0
    """Files new in the store that gave at least one episode."""

    replaced: int = 0
    """Files that had changed, grown or were read by an older cotrace, and gave at least one episode."""

    unchanged: int = 0
    """Files that the store has already as they are."""

    refused: int = 0
    """Files that gave no episode."""

    duplicates: list[tuple[str, str]] = field(default_factory=list)
    """Paths whose bytes the store has from another path, and that path."""

    others: list[tuple[str, str]] = field(default_factory=list)
    """Paths that are no game logs, and what they are."""

    missing: list[str] = field(default_factory=list)
    """Named paths where nothing is; the others were read."""

    without_logs: list[str] = field(default_factory=list)
    """Named folders in which there is not a single log."""

    rejected: list[RejectedPart] = field(default_factory=list)
    """Everything that could not be used, that of unchanged files included."""

    notes: list[tuple[str, str]] = field(default_factory=list)
    """Paths of files that were read, and what is reported of each though nothing was lost."""

    episodes: int = 0
    """Episodes added."""

    turns: int = 0
    """Turns added."""

    rows: dict[str, int] = field(default_factory=dict)
    """Rows added to each table."""

    timing: Timing = field(default_factory=Timing)

    @property
    def left_alone(self) -> list[tuple[str, str]]:
        """Paths that are no game logs or whose bytes the store has already, and why."""
        return [*self.others, *((path, f"has the bytes of {same}") for path, same in self.duplicates)]

    @property
    def is_clean(self) -> bool:
        """Whether nothing had to be rejected, and every named path was there and held a log."""
        return not self.rejected and not self.missing and not self.without_logs
