"""The parts of a published Collab-Overcooked log, typed (formats/overcooked.md, section 8)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, get_args

from msgspec import UNSET, Meta, UnsetType, field
from msgspec.json import Decoder
from pydantic import Field

from games.overcooked.engine.layout import AGENTS
from games.overcooked.engine.world import Rules
from games.overcooked.replay import ReplayedStep
from games.overcooked.text.replies import NOTHING
from ingest.reading.adapter_types import Int, Pair, Record, checked, read_fast
from ingest.reading.text import dumps, loads
from schemas.records import LogDisagreement

_Agent = Annotated[int, Field(ge=0, le=1), Meta(ge=0, le=1)]


class TimedAction(Record):
    """An action that the engine recorded."""

    timestamp: Int
    action: str


class MessageRecord(Record):
    """One model output."""

    agent: _Agent
    analysis: str = ""
    say: str = ""
    plan: str = ""


class ErrorCount(Record):
    """Errors of one kind in a step."""

    error_num: Int = 0
    error_message: list[str] = field(default_factory=list)


class ErrorRecord(Record):
    """An agent's errors in a step."""

    format_error: ErrorCount = field(default_factory=ErrorCount)
    validator_error: ErrorCount = field(default_factory=ErrorCount)


class CorrectionCount(Record):
    """Corrections of one kind in a step."""

    correction_num: Int = 0
    correction_tokens: list[Int] = field(default_factory=list)
    reflection_obtain: list[Any] = field(default_factory=list)


class CorrectionRecord(Record):
    """An agent's corrections in a step."""

    format_correction: CorrectionCount = field(default_factory=CorrectionCount)
    validator_correction: CorrectionCount = field(default_factory=CorrectionCount)


class CommunicationRecord(Record):
    """The conversation that an agent opened in a step."""

    call: Int = 0
    turn: list[str] = field(default_factory=list)
    token: list[Int] = field(default_factory=list)


class StatisticsRecord(Record, kw_only=True):
    """What the engine counted in a step."""

    score: float = 0
    communication: Pair[CommunicationRecord]
    error: Pair[ErrorRecord]
    error_correction: list[CorrectionRecord] = field(default_factory=list)


class ContentRecord(Record, kw_only=True):
    """Texts shown and messages of a step."""

    observation: list[Any] = field(default_factory=list)
    reflection: list[Any] = field(default_factory=list)
    content: Pair[list[MessageRecord]]
    action_list: list[list[str]] = field(default_factory=list)


class StepRecord(Record, kw_only=True):
    """A timestep."""

    timestamp: Int
    order_list: list[str] | UnsetType = UNSET
    actions: Pair[str]
    map: str = ""
    statistical_data: StatisticsRecord
    content: ContentRecord


class PlayerRecord(Record):
    """A player of a game that cotrace played."""

    model: str
    persona: str | None = None


class LabelRecord(Record):
    """A planted answer."""

    timestep: Int
    agent: _Agent
    rubric: str
    question: str
    answer: str


class OwnRecord(Record, kw_only=True):
    """What cotrace's own games add to the log."""

    version: Int = 1
    players: Pair[PlayerRecord]
    seed: Int | None = None
    horizon: Int
    rules: str
    order: str
    kitchen: dict[str, Any] | None = None
    """A kitchen of one's own; None: the published one."""
    complete: bool
    labels: list[LabelRecord] = field(default_factory=list)


class LogRecord(Record, kw_only=True):
    """A log, its steps still raw."""

    total_timestamp: list[Int]
    total_order_finished: list[str] = field(default_factory=list)
    total_score: float = 0
    total_action_list: Pair[list[TimedAction]]
    content: list[Any]
    cotrace: OwnRecord | None = None


class _WholeLog(LogRecord, kw_only=True):
    """A log all of whose steps can be read."""

    content: list[StepRecord]


_WHOLE: Final = Decoder(_WholeLog)


def read_log(data: bytes) -> LogRecord:
    """Read a log, its steps too if nothing is wrong with any.

    Raises:
        BadInputError: the bytes are no JSON.
        pydantic.ValidationError: they are no such log.
    """
    return read_fast(_WHOLE, data) or checked(LogRecord, loads(data, exact=False))


def read_step(raw: Any) -> StepRecord:
    """Read a step.

    Raises:
        pydantic.ValidationError: it is not laid out as one.
    """
    return raw if isinstance(raw, StepRecord) else checked(StepRecord, raw)


_Compared = tuple[str, Any, Any]
"""A field, its value, and the value that it should have (None if nothing could): a difference, if the two differ."""

_SILENT: Final = CommunicationRecord()
_FAULTLESS: Final = ErrorRecord()
_UNCORRECTED: Final[tuple[list[CorrectionRecord], ...]] = ([], [CorrectionRecord()])

_NO_TALK: Final = "[EMPTY]"
"""A say with this opens none either."""

_ONE_EACH: Final = (0, len(AGENTS))
"""How many entries a list of one for each agent has, if there is such a list."""

_SCENE: Final = re.compile(r"^Scene \d+: <\w+> holds", re.MULTILINE)
"""The step and the agents of a text that an agent was shown: the agent itself comes first."""

_ORDER: Final = re.compile(r"^Order:(\w+)$", re.MULTILINE)
_HANDS: Final = re.compile(r"<(\w+)> holds (nothing|one \w+|a dish with \w+ and needs to deliver it)\. The planned")
"""What a text states of the order, and of both agents' hands; other words are not compared."""

_RULES: Final = get_args(Rules)
_VERSION: Final = 1
"""Of what cotrace's own games add to the log."""


def contradictions(
    episode: str, order: str, record: LogRecord, steps: Sequence[StepRecord], replayed: Sequence[ReplayedStep]
) -> Iterator[LogDisagreement]:
    """Yield what cannot all be true of a log; counts over the whole game only where all its steps could be read."""
    score, ordered = 0, [order]
    for step, result in zip(steps, replayed, strict=True):
        for column, logged, due in _of_step(ordered, step, result, result.score - score):
            yield _row(episode, step.timestamp + 1, column, logged, due)
        for name, lessons in zip(AGENTS, () if record.cotrace else step.content.reflection, strict=False):
            if lessons != []:  # the published code has no way to a reflection
                yield _row(episode, step.timestamp + 1, f"{name}.reflection", lessons, [])
        score = result.score
    if len(steps) == len(record.content):
        for field, logged, due in _differing(
            (
                ("total_timestamps", len(record.total_timestamp), len(steps)),
                ("total_order_finished", record.total_order_finished, [order] if (bool(replayed) and replayed[-1].delivered) else []),
            )
        ):
            yield _row(episode, None, field, logged, due)
    for field, logged, due in _differing(_of_own(order, record)):
        yield _row(episode, None, field, logged, due)


def _row(episode: str, turn: int | None, field: str, logged: Any, due: Any) -> LogDisagreement:
    return LogDisagreement(episode, turn, field, dumps(logged), None if due is None else dumps(due))


def _differing(found: Iterable[_Compared]) -> Iterator[_Compared]:
    return (one for one in found if one[2] is None or one[1] != one[2])


def _of_step(ordered: list[str], step: StepRecord, result: ReplayedStep, earned: int) -> Iterator[_Compared]:
    """Nearly all steps of nearly all logs are sound, so that each comparison is made before anything is reported."""
    content, statistics = step.content, step.statistical_data
    if step.order_list is not UNSET and step.order_list != ordered:
        yield "order_list", step.order_list, ordered
    if statistics.score != earned:
        yield "score", statistics.score, earned
    for name, pair in (
        ("observation", content.observation),
        ("reflection", content.reflection),
        ("action_list", content.action_list),
        ("error_correction", statistics.error_correction),
    ):
        if len(pair) not in _ONE_EACH:
            yield name, len(pair), len(AGENTS)
    for agent, name in enumerate(AGENTS):
        for column, logged, due in _of_agent(step, agent):
            yield f"{name}.{column}", logged, due
        shown = content.observation[agent] if agent < len(content.observation) else None
        if isinstance(shown, str):
            for column, logged, due in _of_scene(step.timestamp, agent, shown, result):
                yield f"{name}.{column}", logged, due


def _of_agent(step: StepRecord, agent: int) -> Iterator[_Compared]:
    """An agent without a message and without a mistake has nothing listed that could differ: most agents in most steps."""
    statistics = step.statistical_data
    if step.content.content[agent] or statistics.communication[agent] != _SILENT:
        yield from _differing(_of_conversation(step, agent))
    if statistics.error[agent] != _FAULTLESS or statistics.error_correction[agent : agent + 1] not in _UNCORRECTED:
        yield from _differing(_of_errors(step, agent))
    queues, shown, action = step.content.action_list, step.content.observation, step.actions[agent]
    if agent < len(queues):  # the queue begins with the action in force
        first = queues[agent][0] if queues[agent] else ""
        if first != action and first.strip() != action.strip():
            yield "action_list", first.strip(), action.strip()
    if agent < len(shown):  # an agent was shown the kitchen in those steps in which it was asked
        text, was_asked = shown[agent], bool(step.content.content[agent])
        if isinstance(text, str) != was_asked:
            yield "observation", not was_asked, was_asked


def _of_scene(timestamp: int, agent: int, shown: str, result: ReplayedStep) -> Iterator[_Compared]:
    """The text names its step, whom it was shown, what is cooked, and what both hold."""
    due = f"Scene {timestamp}: <{AGENTS[agent]}> holds"
    if due not in shown and (scene := _SCENE.search(shown)):
        yield "observation.scene", scene[0], due
        return
    if f"Order:{result.order}\n" not in shown and (order := _ORDER.search(shown)):
        yield "observation.order", order[1], result.order
    hands = dict(_HANDS.findall(shown))
    for name, body in zip(AGENTS, result.before["agents"], strict=True):
        held, words = body["held"], hands.get(name)
        if words is not None and words not in ("nothing" if held is None else f"one {held}", f"a dish with {held} and needs to deliver it"):
            yield f"observation.{name}", words, held


def _of_conversation(step: StepRecord, agent: int) -> Iterator[_Compared]:
    """Who speaks, and how often: says are listed twice, and each has its tokens."""
    counted, messages = step.statistical_data.communication[agent], step.content.content[agent]
    speakers = [message.agent for message in messages]
    yield "communication.call", counted.call, int(bool(counted.turn))
    if not (counted.turn or counted.token or messages):
        return
    if counted.token:
        yield "communication.token", len(counted.token), len(counted.turn)
    spoken = [(place + agent) % 2 for place in range(len(counted.turn))] or [agent]
    if speakers:
        yield "content.agent", speakers, spoken + [agent] * (len(speakers) - len(spoken))
    if min(counted.token, default=0) < 0:
        yield "communication.tokens", counted.token, None
    refused = step.statistical_data.error[agent].validator_error.error_num
    if len(messages) > refused and not counted.turn and _NO_TALK not in messages[0].say:  # what corrects a refused action opens no talk
        yield "content.say", messages[0].say or NOTHING, NOTHING
    messages_left = iter([message.say for message in messages])
    if not all(message in messages_left for message in counted.turn):
        yield "communication.turn", counted.turn, [message.say for message in messages]
    if speakers and not len(spoken) <= len(speakers) <= len(spoken) + refused:
        yield "content", len(speakers), len(spoken) + refused


def _of_errors(step: StepRecord, agent: int) -> Iterator[_Compared]:
    errors, corrections = step.statistical_data.error[agent], step.statistical_data.error_correction
    for kind, error in (("format_error", errors.format_error), ("validator_error", errors.validator_error)):
        yield f"{kind}.error_num", error.error_num, len(error.error_message)
    if agent < len(corrections):
        formats, refusals = corrections[agent].format_correction, corrections[agent].validator_correction
        for field, number, tokens in (
            ("format_correction", formats.correction_num, formats.correction_tokens),
            ("validator_error", errors.validator_error.error_num, refusals.correction_tokens),
        ):
            if tokens:  # cotrace's own games count none
                yield f"{field}.tokens", len(tokens), number
        if formats.correction_num < 0:
            yield "format_correction.correction_num", formats.correction_num, None
        yield "validator_correction.correction_num", refusals.correction_num, 0
        yield "validator_correction.reflection_obtain", refusals.reflection_obtain, []


def _of_own(order: str, record: LogRecord) -> Iterator[_Compared]:
    own = record.cotrace
    if own is None:
        return
    yield "cotrace.version", own.version, _VERSION
    yield "cotrace.order", own.order, order
    if own.rules not in _RULES:
        yield "cotrace.rules", own.rules, None
    if own.horizon < len(record.content):
        yield "cotrace.horizon", own.horizon, None
    if record.total_order_finished:
        yield "cotrace.complete", own.complete, True
    keys = [(label.timestep, label.agent, label.rubric, label.question) for label in own.labels]
    yield "cotrace.labels", len(keys), len(set(keys))
    strange = sorted({timestep for timestep, *_ in keys if not 0 <= timestep < len(record.content)})
    if strange:
        yield "cotrace.labels.timestep", strange, None
