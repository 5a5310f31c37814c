"""cotrace's own game log, version 1: JSON Lines, one file a game, one line flushed at a time.

The first line states what is played, then comes one line a turn, the last line states how it ended and is
missing while the game runs. docs/formats/cotrace_log.md describes every field. Nothing here knows a benchmark. What has a default may be
left out of a log: it is then not known. `schemas.game_log` writes such logs for anybody's game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self

import orjson

from schemas.common.text import replace_lone_surrogates
from schemas.replies import Read

LOG_VERSION: Final = 1

STOPPED: Final = "stopped"
"""`End.stop_reason` of a game that was played for some turns alone, though it could have gone on: it has no success and no score."""

FileState = Literal["absent", "cut", "complete", "other"]
"""``cut``: the game was truncated. ``other``: the file holds something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntry:
    """An agent and what only it knew."""

    agent: str
    role: str = "agent"
    model: str | None = None
    persona: str | None = None
    private_view: Any = None
    view_kind: str | None = None
    """Which reading of the goal the view is; None without a view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: everything that is fixed before the first turn."""

    benchmark: str
    episode: str | None = None
    """Tells the game apart within its experiment; None: its file does."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """``name`` and ``condition``."""
    task: Mapping[str, Any] = field(default_factory=dict)
    """``id``, ``level``, ``goal``."""
    team: Mapping[str, str] = field(default_factory=dict)
    """Role -> model; empty: it follows from the agents."""
    agents: Sequence[AgentEntry]
    model: str | None = None
    """The evaluated one; None: the agents' models, joined by +."""
    seed: int | None = None
    max_turns: int | None = None
    started_at: str = ""
    """ISO time, without zone; empty: not known."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceEntry:
    """A message or a thought."""

    agent: str
    channel: Literal["public", "private"] = "public"
    audience: Sequence[str] | None = None
    """Who could read it, the author included; None: of a thought the author, of a message everybody."""
    text: str
    superseded: bool = False
    """A later one of this turn took its place. What reached every agent all the same is stored as not superseded."""
    claims: Sequence[Mapping[str, Any]] | None = None
    """What the author knows the text to claim (`schemas.claims`); None: not known, empty: nothing.

    The first may be `{"kind": "read", "kinds": [...]}`: only claims of these kinds are all reported.
    """


@dataclass(frozen=True, slots=True)
class OracleEntry:
    """A verified candidate that was listed."""

    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    undoes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEntry:
    """An attempted action and what the engine answered."""

    agent: str
    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    raw: str | None = None
    accepted: bool | None = None
    """None where there is nothing to carry out, such as a question."""
    error_code: str | None = None
    error_text: str | None = None
    undoes: bool = False
    read: Read | None = None
    """How the reply was read that it comes from (`schemas.replies.READS`); None: not known, or no one replied."""
    used: str | None = None
    """The part of the reply that was read, where that is not the whole of it."""


@dataclass(frozen=True, slots=True)
class PlantedLabel:
    """A planted answer to a rubric question. ``agent`` None means the group."""

    rubric: str
    question: str
    agent: str | None
    answer: str
    basis: str | None = None
    planted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureEntry:
    """A category that a rule of the game's own gave to the turn. ``agent`` None means the team."""

    taxonomy: str
    category: str
    agent: str | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEntry:
    """Several answers to one turn, and how one of them was chosen."""

    texts: Sequence[str]
    """All of them in order."""
    costs: Sequence[int]
    """What each cost by the filter that chose; 0: it passed."""
    executed: int
    """Place of the chosen one, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEntry:
    """What an agent gave when it was asked, word for word: from these a game can be played again, whoever sat there."""

    agent: str
    purpose: str = "act"
    """What it was asked for, where a game asks for several things."""
    text: str
    """Empty if nothing came."""
    reasoning: str = ""
    """What a model thought apart from its text."""
    error: str | None = None
    """Why nothing usable came; None if something did."""
    read: Read | None = None
    """How the game read it (`schemas.replies.READS`); None: nothing came, or nothing reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEntry:
    """A request to a model that plays, as in the table `calls`."""

    call_id: str
    agent: str
    model: str
    prompt_hash: str
    reply: str | None
    reasoning: str | None
    finish_reason: str | None
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    tokens_reasoning: int | None
    cost: float | None
    latency_s: float | None
    attempts: int
    status: str
    error: str | None
    asked_at: str
    step: str | None = None
    """What the agent was asked for, as `ReplyEntry.purpose`."""
    served_model: str | None = None
    read_as: str | None = None
    """By which rule the reply was read, as `calls.read_as`."""
    read: Read | None = None
    """How the game read it, as `calls.read`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn."""

    turn: int
    """From 1."""
    at: str | None = None
    state_before: Any = None
    utterances: Sequence[UtteranceEntry] = ()
    oracle: Sequence[OracleEntry] | None = None
    """None where the condition has no oracle; empty where it had nothing to list."""
    oracle_followed: bool | None = None
    actions: Sequence[ActionEntry] = ()
    state_after: Any = None
    goal_reached: bool | None = None
    error: str | None = None
    labels: Sequence[PlantedLabel] = ()
    samples: SampleEntry | None = None
    """None unless the acting agent gave several answers of which one was chosen."""
    progress: float | None = None
    """0 to 1, as the game's author measures it; of a game that is replayed the replay's counts."""
    failures: Sequence[FailureEntry] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the turn, by name."""
    calls: Sequence[CallEntry] = ()
    """Requests to models that play, in order."""
    replies: Sequence[ReplyEntry] = ()
    """What the agents gave in this turn, in the order in which they were asked; empty where the actions hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyEntry:
    """What a player answered to a question about the game, after it."""

    rubric: str
    question: str
    agent: str
    """Who answered."""
    answer: str
    score: float | None = None
    """The answer's number by the rubric, 0 to 1; None: it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The last line."""

    success: bool | None = None
    score: float | None = None
    """The benchmark's main number, in its own unit."""
    stop_reason: str | None = None
    turns_taken: int | None = None
    error: str | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the game, by name."""
    survey: Sequence[SurveyEntry] = ()
    """Questionnaires of the players."""


class LogWriter:
    """Writes one game; whoever reads the file meanwhile sees whole lines.

    Use as a context manager. Leaving it without ``end`` leaves a cut file, which is readable.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Start the file anew, folders included, with the header as its first line.

        Raises:
            OSError: the file cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._write(header_line(header))

    def turn(self, turn: Turn) -> None:
        """Append a turn."""
        self._write(turn_line(turn))

    def end(self, end: End) -> None:
        """Append the last line."""
        self._write(end_line(end))

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def header_line(header: Header) -> bytes:
    """Give the first line of a game's file."""
    return _line({"cotrace_log": LOG_VERSION, **{entry.name: getattr(header, entry.name) for entry in fields(header)}})


def turn_line(turn: Turn) -> bytes:
    """Give the line of a turn."""
    return _line(turn)


def end_line(end: End) -> bytes:
    """Give the last line."""
    return _line({"end": end})


def _line(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # what a model wrote: half a surrogate pair, a number of more than 64 bits; or one of numpy
        return orjson.dumps(_storable(value), option=orjson.OPT_APPEND_NEWLINE, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError


def _storable(value: Any) -> Any:
    """The value with halves of surrogate pairs replaced by U+FFFD, and numbers of more than 64 bits written as text."""
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _storable(asdict(value))
    if isinstance(value, Mapping):
        return {_storable(key): _storable(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_storable(entry) for entry in value]
    return value


def state_of_file(path: Path, header: Header) -> FileState:
    """Tell whether a file holds this very game, whole or cut.

    Raises:
        OSError: the file is there and cannot be read.
    """
    if not path.exists():
        return "absent"
    content = path.read_bytes()
    expected = header_line(header)
    if not content.startswith(expected):
        return "cut" if expected.startswith(content) else "other"
    last = content.rstrip(b"\n").rpartition(b"\n")[2]
    return "complete" if last.startswith(b'{"end":') and content.endswith(b"\n") else "cut"
