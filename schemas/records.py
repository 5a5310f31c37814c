"""The rows of the store: each table, and each of its columns, exists once, here.

A table is a ``NamedTuple``; a column is a field whose ``Annotated`` metadata carries what its type does not say. The DDL, the Arrow and
Pandera schemas (`schemas.tables`) and the reference page (`docs/tables.md`) are all made from these classes.

JSON columns hold text (type `Json`). A column whose type admits ``None`` describes what null means.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple, NewType

from schemas.replies import READS

Json = NewType("Json", str)
"""A JSON document as text."""


@dataclass(frozen=True)
class Col:
    """What a column's type does not say."""

    doc: str
    """One sentence: what the value is, and what null means where it can be null."""
    unit: str = ""
    """Unit or range, such as ``0..1``, ``USD``, ``s``; empty where none applies."""
    key: bool = False
    """Whether the column is part of what identifies a row."""
    least: float | None = None
    """The smallest value; None: as `unit` implies (docs/tables.md)."""
    one_of: tuple[str, ...] = ()
    """All values there are; empty: any."""
    matches: str = ""
    """A regular expression that the whole text matches."""
    refers: str = ""
    """A table that has a row of the same game with this value: the last column of its key, after columns that are called alike."""
    optional: bool = False
    """A wrong value is left out, as unknown, and costs nothing else of the log."""


class Rule(NamedTuple):
    """What the columns of a row have to do with each other."""

    column: str
    """The one that is wrong where the rule does not hold."""
    holds: str
    """An SQL expression; null counts as true."""


_JUDGE = r"engine(:.+)?|llm:.+"
_READER = r"rules|planted|(llm|both):.+"


class StoreInfo(NamedTuple):
    """A fact about the store itself."""

    name: Annotated[str, Col("name of the fact: `schema_version`", key=True)]
    value: Annotated[str, Col("its value")]


class Source(NamedTuple):
    """An ingested file."""

    source_id: Annotated[
        str,
        Col(
            "sha256 of the bytes and, where they do not name the game, of the last parts of the path (as many as the format's PATH_PARTS), "
            "and of the files that it is read with (the questions of answers, the partner's file); of the path alone where the file could "
            "not be read",
            key=True,
        ),
    ]
    path: Annotated[str, Col("absolute path at the time of ingest")]
    file: Annotated[str, Col("path relative to the folder given to `cotrace ingest`")]
    format: Annotated[str | None, Col("name of the adapter that read it; null if no adapter knows the format")]
    adapter_version: Annotated[int | None, Col("version of that adapter; null with `format`")]
    bytes: Annotated[int | None, Col("size; null if the file could not be read", "bytes")]
    episodes: Annotated[int, Col("episodes taken from it", "count")]
    rejected: Annotated[int, Col("parts of it that stand in `rejects`", "count")]
    ingested_at: Annotated[datetime, Col("when", "UTC")]


class Reject(NamedTuple):
    """A part of a source that could not be used."""

    source_id: Annotated[str, Col("the source; of a line of a label file, `labels.source`", key=True)]
    path: Annotated[str, Col("its absolute path")]
    locator: Annotated[str, Col("where in it: `games[0].turns[3]`, `line 7`, empty for the whole file", key=True)]
    reason: Annotated[str, Col("what is wrong, why, and the fix")]
    excerpt: Annotated[str, Col("the first characters of what stood there")]


class Receipt(NamedTuple):
    """One kind of content of a source: how much its file holds, counted without its reader, and how much of that is stored."""

    source_id: Annotated[str, Col("the source", key=True)]
    path: Annotated[str, Col("its absolute path")]
    kind: Annotated[
        str,
        Col(
            "messages, words, tool_calls, results (of tools), scores, tokens; keys: places of texts in the file",
            key=True,
            one_of=("messages", "words", "tool_calls", "results", "scores", "tokens", "keys"),
        ),
    ]
    counted: Annotated[int | None, Col("how many the file holds; a history that is repeated counts once; null if it has no count", "count")]
    stored: Annotated[int | None, Col("how many of these are stored; of tokens what the stored calls add up to; null if unknown", "count")]
    missing: Annotated[list[str], Col("the first that are not stored; of keys those that were never read, with their number of texts")]


class Run(NamedTuple):
    """An experiment: models under conditions."""

    run_id: Annotated[str, Col("made from benchmark, name, team and condition", key=True)]
    benchmark: Annotated[str, Col("the benchmark: a family of `schemas.families`, or the name that an own log gives")]
    name: Annotated[str, Col("the folder or label of the experiment")]
    condition: Annotated[Json, Col("JSON object of the conditions; keys differ by benchmark (docs/ of each)")]
    started_at: Annotated[
        datetime | None, Col("earliest start of its episodes as logged; null if no log states it", "local time of the log")
    ]


class Episode(NamedTuple):
    """A game."""

    episode_id: Annotated[str, Col("made from the source's path and the place in it; stays when the file grows", key=True)]
    run_id: Annotated[str, Col("the experiment", refers="runs")]
    source_id: Annotated[str, Col("the file")]
    benchmark: Annotated[str, Col("the benchmark: a family of `schemas.families`, or the name that an own log gives")]
    task_id: Annotated[str, Col("the structure, puzzle, order or question")]
    level: Annotated[str | None, Col("the task's tier or level; null if the log does not say")]
    model: Annotated[str, Col("the evaluated model (CRAFT: the directors')")]
    team: Annotated[Json, Col("JSON object role -> model; null where the log does not say")]
    seed: Annotated[int | None, Col("seed or run index that tells repetitions apart; null if the log has none")]
    max_turns: Annotated[int | None, Col("turn limit; null if the log does not say", "turns", optional=True)]
    turns_taken: Annotated[int, Col("turns recorded", "turns")]
    success: Annotated[
        bool | None,
        Col(
            "the goal was reached; null if the game could not be set up, the log does not say, or its end is not known: it runs, "
            "was cut, or turns of it are lost"
        ),
    ]
    score: Annotated[
        float | None,
        Col("the benchmark's main end-to-end metric, recomputed; null where the end is not known"),
    ]
    stop_reason: Annotated[str | None, Col("why the game ended, as logged; null if not logged or still running")]
    error: Annotated[str | None, Col("what crashed the game; null if nothing did")]
    goal: Annotated[Json | None, Col("JSON of the target or goal state; null if the log has none")]
    details: Annotated[Json, Col("JSON object of further logged facts; keys differ by benchmark")]
    file: Annotated[str, Col("path relative to the folder given to `cotrace ingest`")]
    started_at: Annotated[datetime | None, Col("start as logged; null if not logged", "local time of the log")]
    origin: Annotated[
        Json | None,
        Col(
            "of a game that goes on from another one otherwise: JSON object `episode`, `turn`, `changed`, `turns`; null: a game of its own"
        ),
    ] = None
    attempt: Annotated[
        int | None,
        Col("which attempt at its task in its run, from 1, as logged or in the order of the file; null if no log counts attempts", least=1),
    ] = None


class Agent(NamedTuple):
    """An agent in a game."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    agent: Annotated[str, Col("its name in the game, such as D1 or Builder", key=True)]
    role: Annotated[str, Col("what it does: director, builder, player, ...")]
    model: Annotated[str | None, Col("the model behind it; null if the log does not say")] = None
    persona: Annotated[str | None, Col("archetype or scripted persona; null if none")] = None
    private_view: Annotated[Json | None, Col("JSON of what only this agent knew; null if it knew nothing of its own")] = None
    view_kind: Annotated[
        str | None, Col("which reading of the target that view is (CRAFT: spans, flat, spans_mirrored, flat_mirrored, other); null if none")
    ] = None
    view_source: Annotated[
        str | None,
        Col("where the view was found: prompt (what was really shown), log, or derived; null if none", one_of=("prompt", "log", "derived")),
    ] = None


class Turn(NamedTuple):
    """What happens between two states of a game."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, key=True)]
    state_before: Annotated[Json | None, Col("JSON of the state as logged; null if the log has no states")] = None
    state_after: Annotated[
        Json | None, Col("JSON of the state after the turn, as logged or, where the log has none, by replay; null where neither has one")
    ] = None
    oracle_available: Annotated[
        bool | None, Col("verified actions were listed on this turn, as logged; null if the log does not say (CRAFT: on a clarification)")
    ] = None
    oracle_followed: Annotated[
        bool | None,
        Col(
            "one of them was taken, as the log tells it (CRAFT: action, position, layer; `outcomes` is strict); null where none was listed"
        ),
    ] = None
    progress: Annotated[float | None, Col("progress after the turn, recomputed; null where the log does not tell enough", "0..1")] = None
    goal_reached: Annotated[bool | None, Col("the goal was reached on this turn, as logged; null if the turn is incomplete")] = None
    error: Annotated[str | None, Col("exception inside the turn, as logged; null if none")] = None
    at: Annotated[
        datetime | None,
        Col(
            'time stamp as logged; null if none; a keyword of DuckDB 2: write "at" in SQL of other programs',
            "local time of the log",
            optional=True,
        ),
    ] = None


class Utterance(NamedTuple):
    """A message or a thought."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    seq: Annotated[int, Col("order inside the turn, from 1", least=1, key=True)]
    agent: Annotated[str, Col("who", refers="agents")]
    channel: Annotated[str, Col("`public`: sent to others, `private`: reasoning", one_of=("public", "private"))]
    audience: Annotated[list[str], Col("who could read it, the author included", refers="agents")]
    text: Annotated[str, Col("verbatim")]
    tokens: Annotated[int | None, Col("length as logged; null if the log does not count", "tokens", optional=True)] = None
    superseded: Annotated[
        bool, Col("a later utterance of this agent took its place before all others could read it, so judges and metrics leave it out")
    ] = False


class Claim(NamedTuple):
    """One thing that a text claims, as one reader understood it; or a stretch of it that this reader did not understand."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    seq: Annotated[int, Col("the utterance inside the turn, from 1", least=1, refers="utterances", key=True)]
    agent: Annotated[str, Col("whose text it is", refers="agents")]
    reader: Annotated[str, Col("`rules`, `planted` (by who wrote the text), `llm:<model>` or `both:<model>`", key=True, matches=_READER)]
    number: Annotated[int, Col("order inside the text as this reader read it, from 1; 0: the text was read", least=0, key=True)]
    kind: Annotated[
        str, Col("kind of claim (docs/claims.md), `unread` for what was not understood, `read` for the row that records who read it")
    ]
    claim: Annotated[Json, Col("JSON object of the claim; of what is unread, which kinds it may hold")]
    words: Annotated[str | None, Col("the words it rests on; null if the reader gives none")]
    start_char: Annotated[int | None, Col("where they begin in the text, from 0; null if not known", "characters")]
    end_char: Annotated[int | None, Col("just behind their end; null if not known", "characters")]
    certain: Annotated[bool, Col("the reader is sure of it; only certain claims count in checks")]
    reason: Annotated[str | None, Col("why it is not certain, or not understood; null if it is")]
    text_hash: Annotated[
        str, Col("MD5 of the text that was read, as `md5(utterances.text)`: claims of a text that has changed do not count")
    ]
    prompt_hash: Annotated[str | None, Col("hash of all that a model was shown; null if no model read")]


class Action(NamedTuple):
    """An attempted action."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    seq: Annotated[int, Col("order inside the turn, from 1", least=1, key=True)]
    agent: Annotated[str, Col("who", refers="agents")]
    verb: Annotated[str, Col("place, remove, clarify, ...; the benchmark's own verbs in lower case")]
    arguments: Annotated[Json, Col("JSON object, as the engine understood it")]
    raw: Annotated[str | None, Col("what the agent wrote or its parse before the engine touched it; null if not logged")] = None
    accepted: Annotated[bool | None, Col("the engine carried it out, as logged; null where there is nothing to carry out")] = None
    undoes: Annotated[bool, Col("it takes back earlier work (CRAFT: remove); what counts is written in docs/spirals.md")] = False
    error_code: Annotated[str | None, Col("code of the rule that refused it (docs/ of each benchmark); null if accepted")] = None
    error_text: Annotated[str | None, Col("the engine's message as logged; null if accepted")] = None
    read: Annotated[
        str | None,
        Col(
            "how the reply was read that it comes from: as asked, repaired, guessed, random, cut or unreadable (docs/players.md); null if "
            "that is not known, or no reply came",
            one_of=tuple(READS),
        ),
    ] = None
    used: Annotated[str | None, Col("the part of the reply that was read, where it was not the whole of it; null else")] = None


class OracleAction(NamedTuple):
    """A candidate action of a turn: listed by the log, verified by replay, or (nearly always) both."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    rank: Annotated[int, Col("from 1: first the listed ones in their order, then the others in the engine's order", least=1, key=True)]
    verb: Annotated[str, Col("the benchmark's own verbs in lower case")]
    arguments: Annotated[Json, Col("JSON object")]
    undoes: Annotated[bool, Col("it takes back earlier work, as in `actions`")]
    listed: Annotated[bool, Col("the log lists it: the agents could be shown it")]
    verified: Annotated[bool, Col("replay confirms that it makes progress")]


class TurnMetric(NamedTuple):
    """A number about a turn."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1; 0 is the state before the first turn", least=0, refers="turns", key=True)]
    metric: Annotated[str, Col("`<benchmark>.<metric>`", key=True)]
    value: Annotated[float, Col("the number; yes/no metrics are 1 and 0; a metric that does not apply has no row")]


class TurnValue(NamedTuple):
    """The regret of a turn, by one measure."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    measure: Annotated[str, Col("`<benchmark>.<measure>`, docs/values.md; each benchmark has a main one (view turn_costs)", key=True)]
    value_before: Annotated[
        float | None, Col("what the state before the turn was worth; inf where the goal could not be reached; null where there is no value")
    ]
    value_after: Annotated[
        float | None, Col("what the state after the turn is worth; inf where the goal can no more be reached; null where there is no value")
    ]
    cost: Annotated[
        float | None, Col("what the turn lost of it, less than 0 where it gained; null where neither value is finite, or one is null")
    ]
    unit: Annotated[
        str,
        Col(
            "progress (0 to 1), steps, turns, probability, points or positions",
            one_of=("progress", "steps", "turns", "probability", "points", "positions"),
        ),
    ]
    kind: Annotated[
        str,
        Col(
            "exact; bound where the true value could be better or worse than what is certain; none where there is no value",
            one_of=("exact", "bound", "none"),
        ),
    ]


class Attribution(NamedTuple):
    """A part of a turn's regret, or a fault without consequence, and the failure point that it is put down to."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    agent: Annotated[str | None, Col("whose; null: no agent's, or `status` is not answered", refers="agents", key=True)]
    link: Annotated[
        str,
        Col(
            "the failure point, docs/attribution.md; not_understood where a message was not, undecided where nothing can be proven",
            key=True,
        ),
    ]
    cost: Annotated[float, Col("part of the turn's cost, in the unit of view turn_costs; 0 of a fault without consequence")]
    regained: Annotated[
        float | None, Col("how much the ideal action in its place saves by the rules of the game; null where that is not known")
    ]
    evidence: Annotated[str, Col("words, places and rules that show it")]
    judge: Annotated[str, Col("`engine`, or `engine:<reader>` where others than the rules read the messages", key=True, matches=_JUDGE)]
    status: Annotated[
        str,
        Col(
            "answered; harness: it lost the answer; unattributed: a message was not understood; undecided: nothing can be proven",
            one_of=("answered", "harness", "unattributed", "undecided"),
        ),
    ]


class Request(NamedTuple):
    """Something that a message asked for, and what the turn's action has to do with it."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("of the action, from 1", least=1, refers="turns", key=True)]
    seq: Annotated[int, Col("the message, as in `utterances`", least=1, refers="utterances", key=True)]
    place: Annotated[int, Col("which of the message's requests, from 1", least=1, key=True)]
    agent: Annotated[str, Col("who asked", refers="agents")]
    actor: Annotated[str, Col("who acted", refers="agents")]
    request: Annotated[str, Col("what was asked for, in words")]
    followed: Annotated[
        str,
        Col(
            "fully; partly: it fits what was left open; differs: but for a block, place or order; no",
            one_of=("fully", "partly", "differs", "no"),
        ),
    ]
    right: Annotated[bool | None, Col("whether the author's own view asks for it; null if that is not known")]


class EpisodeMetric(NamedTuple):
    """A number about a game."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    metric: Annotated[str, Col("`<benchmark>.<metric>`", key=True)]
    value: Annotated[float, Col("the number; yes/no metrics are 1 and 0; a metric that does not apply has no row")]


class Failure(NamedTuple):
    """A category that a rule gave to a turn."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int, Col("from 1", least=1, refers="turns", key=True)]
    agent: Annotated[str | None, Col("whose failure; null for the team", refers="agents", key=True)]
    taxonomy: Annotated[str, Col("name of the taxonomy", key=True)]
    category: Annotated[
        str, Col("category inside it; includes the category of turns that went right, so that shares have a denominator", key=True)
    ]
    evidence: Annotated[str | None, Col("what the rule saw; null where the category tells it all")]


class LogDisagreement(NamedTuple):
    """A place where the log and the replay differ."""

    episode_id: Annotated[str, Col("the game", refers="episodes", key=True)]
    turn: Annotated[int | None, Col("from 1; null where the whole game is meant", least=1, key=True)]
    field: Annotated[str, Col("what differs", key=True)]
    logged: Annotated[str | None, Col("what the log states; null if it states nothing")]
    recomputed: Annotated[str | None, Col("what replay gives; null if it gives nothing")]


class JudgeRun(NamedTuple):
    """One scoring job."""

    judge_run_id: Annotated[str, Col("made when the job starts", key=True)]
    rubric: Annotated[str, Col("name of the rubric")]
    rubric_hash: Annotated[str, Col("hash of the rubric's content")]
    variant: Annotated[str | None, Col("variant of the rubric (visible evidence changed on purpose); null: none, the rubric as written")]
    judge: Annotated[str, Col("`engine`, `engine:<reader>` where other than its rules read the texts, or `llm:<model>`", matches=_JUDGE)]
    model: Annotated[str | None, Col("provider/model; null for the engine")]
    parameters: Annotated[Json, Col("JSON object: temperature, repeats, selection, limits, ...")]
    started_at: Annotated[datetime, Col("when", "UTC")]
    finished_at: Annotated[datetime | None, Col("when; null while running or after a kill", "UTC")]
    units: Annotated[int, Col("units put to the judge", "count")]
    calls: Annotated[int, Col("requests sent, retries included", "count")]
    tokens_in: Annotated[int | None, Col("prompt tokens as billed; null if its server has not counted all tokens", "tokens")]
    tokens_out: Annotated[int | None, Col("completion tokens as billed; null likewise", "tokens")]
    cost: Annotated[
        float | None, Col("by the price file; null if the model has no price there, or its server has not counted all tokens", "USD")
    ]
    status: Annotated[
        str,
        Col(
            "running, submitted (a batch), finished, stopped_by_budget, interrupted",
            one_of=("running", "submitted", "finished", "stopped_by_budget", "interrupted"),
        ),
    ]


class Verdict(NamedTuple):
    """One answer to one question about one unit, or the recorded absence of one."""

    judge_run_id: Annotated[str, Col("the scoring job", key=True)]
    rubric: Annotated[str, Col("name of the rubric")]
    rubric_hash: Annotated[str, Col("hash of the rubric's content")]
    variant: Annotated[str | None, Col("variant of the rubric (visible evidence changed on purpose); null: none")]
    question: Annotated[str, Col("question inside the rubric, such as PS2", key=True)]
    unit_id: Annotated[str, Col("what was judged: `<episode>/<turn>/<agent>`, parts left out where the unit is larger", key=True)]
    unit_hash: Annotated[str, Col("hash of what the judge was shown")]
    episode_id: Annotated[str, Col("the game", refers="episodes")]
    turn: Annotated[int | None, Col("from 1; null for a whole episode", least=1, refers="turns")]
    agent: Annotated[str | None, Col("whose utterance or turn; null for a group")]
    judge: Annotated[
        str, Col("`engine`, `engine:<reader>` where other than its rules read the texts, or `llm:<model>`", key=True, matches=_JUDGE)
    ]
    repeat: Annotated[int, Col("from 1", least=1, key=True)]
    answer: Annotated[str | None, Col("one of the rubric's answers; null unless answered")]
    score: Annotated[float | None, Col("the rubric's number for the answer; null for N/A and where there is no answer", "0..1")]
    reason: Annotated[str | None, Col("the judge's reason, or what failed; null if it gave none")]
    status: Annotated[str, Col("answered, undecided, failed or skipped", one_of=("answered", "undecided", "failed", "skipped"))]
    flagged: Annotated[
        str | None, Col("attempts to speak to the judge in the text that was judged, joined by |; null if none was found")
    ] = None
    call_id: Annotated[
        str | None, Col("the row of `calls` that it comes from; null if no model was asked: engine, cached reply, nothing to judge")
    ] = None
    probability: Annotated[
        float | None,
        Col(
            "what the model gave its answer's tokens, after all that it had written before; null unless `--logprobs` and the server tells",
            "0..1",
        ),
    ] = None
    agent_spoke: Annotated[
        bool | None,
        Col(
            "of the decisive error: whether the agent that the model names wrote or did something in the turn that it names; null of other "
            "rubrics, and where no turn of the log is named"
        ),
    ] = None
    rule: Annotated[
        str | None,
        Col("the condition of the rubric's `na_if` by which the question does not apply, so that no judge was asked; null if one was"),
    ] = None
    reason_contradicts: Annotated[
        bool | None,
        Col(
            "whether the reason of a model states another answer than the one given, in so many words; the verdict is stored as answered; "
            "null without a reason, of several answers at once, of the engine, and in older rows"
        ),
    ] = None


class Call(NamedTuple):
    """One question put to a model, with the reply that came of it in the end."""

    call_id: Annotated[str, Col("made when the model is asked", key=True)]
    purpose: Annotated[
        str, Col("who asked: judge, reader, player, optimize, coordqa", one_of=("judge", "reader", "player", "optimize", "coordqa"))
    ]
    run: Annotated[str | None, Col("the scoring job, experiment or optimisation; null if it has no name")]
    episode_id: Annotated[str | None, Col("the game that it is about or played in; null if none", refers="episodes")]
    turn: Annotated[int | None, Col("from 1; null if it is about no single turn", least=1, refers="turns")]
    agent: Annotated[str | None, Col("who is judged or who plays; null if none in particular", refers="agents")]
    model: Annotated[str, Col("provider/model")]
    prompt_hash: Annotated[str, Col("hash of all that the model was sent: messages, tools, form, sampling parameters")]
    reply: Annotated[
        str | None, Col("what the model wrote, verbatim: text, or the JSON of the form it had to fill in; null if no reply came")
    ]
    reasoning: Annotated[str | None, Col("what it thought, as far as the provider shows it; null if nothing was shown")]
    finish_reason: Annotated[
        str | None, Col("why it stopped: stop, length, tool_calls, content_filter, or the provider's own word; null if it does not say")
    ]
    tokens_in: Annotated[
        int | None,
        Col(
            "prompt tokens as billed, all attempts together, cached ones included; null if the log or the server does not count them",
            "tokens",
            optional=True,
        ),
    ]
    tokens_out: Annotated[
        int | None,
        Col(
            "reply tokens as billed, all attempts together, reasoning included, wherever the server lists it; null as in `tokens_in`",
            "tokens",
            optional=True,
        ),
    ]
    tokens_cached: Annotated[
        int | None,
        Col(
            "those of `tokens_in` that came out of the provider's cache, 0 if none are listed; null as in `tokens_in`",
            "tokens",
            optional=True,
        ),
    ]
    tokens_reasoning: Annotated[
        int | None,
        Col("those of `tokens_out` that were spent on reasoning, 0 if none are listed; null as in `tokens_in`", "tokens", optional=True),
    ]
    cost: Annotated[
        float | None,
        Col(
            "as the server states it, or else by the price list; null if neither is known, or the server has not counted the tokens",
            "USD",
            optional=True,
        ),
    ]
    latency_s: Annotated[
        float | None,
        Col("of all requests together, each until its last byte or its timeout, without pauses; null if none was sent", "s", optional=True),
    ]
    attempts: Annotated[int, Col("requests sent: retries, and replies that could not be used, included", "count")]
    status: Annotated[
        str, Col("answered, failed, or unasked (the budget allowed no further request)", one_of=("answered", "failed", "unasked"))
    ]
    error: Annotated[str | None, Col("why there is no usable reply; null if there is one")]
    asked_at: Annotated[datetime | None, Col("when the model was asked; null if the log does not say", "UTC")]
    step: Annotated[
        str | None, Col("what a player was asked for: act, turn, answer, generate, tom, verify, reflect, ...; null of other calls")
    ] = None
    served_model: Annotated[
        str | None, Col("which model replied, by the server, a dated snapshot of `model` for the most part; null if it does not say")
    ] = None
    read_as: Annotated[
        str | None,
        Col(
            "by which rule the last reply was read: `as asked`, `unwrapped: ` and what was around the answer, `from thoughts`, `empty` or "
            "`only thoughts` (a text that the model left empty), or `refused: ` and why (cut, interrupted, declined, contradiction, only "
            "thoughts, wrong form, echo, empty); null if no reply came, and in older rows"
        ),
    ] = None
    read: Annotated[
        str | None,
        Col(
            "how it was read by who asked: as asked, repaired, guessed, random, cut or unreadable (docs/players.md); null if no reply "
            "came, nothing reads it, and in older rows",
            one_of=tuple(READS),
        ),
    ] = None


class Label(NamedTuple):
    """One person's (or another source's) answer."""

    source: Annotated[
        str,
        Col(
            "a file's path, after `planted:` if it is planted truth; `planted`, `survey` (players about their partners), `dashboard`",
            key=True,
        ),
    ]
    annotator: Annotated[str, Col("who", key=True)]
    rubric: Annotated[str, Col("name of the rubric")]
    question: Annotated[str, Col("question inside the rubric", key=True)]
    unit_key: Annotated[str, Col("what was labelled, as the source names it", key=True)]
    episode_id: Annotated[str | None, Col("the game; null if it is not in this store", refers="episodes")]
    turn: Annotated[int | None, Col("from 1; null for a whole episode", least=1, refers="turns")]
    agent: Annotated[str | None, Col("whose utterance or turn; null for a group", refers="agents")]
    answer: Annotated[str, Col("as given")]
    score: Annotated[float | None, Col("its number; null for N/A", "0..1")]
    basis: Annotated[str | None, Col("how it is known: construction, geometry, engine, ...; null for people's answers")] = None
    planted: Annotated[str | None, Col("defects that were planted in what was labelled, joined by |; null if unknown")] = None
    imported_at: Annotated[datetime | None, Col("when it came into the store; null for labels that games bring", "UTC")] = None
    sampling_probability: Annotated[
        float | None, Col("chance with which its unit was drawn to be labelled (`cotrace labels template`); null if not recorded", "0..1")
    ] = None


class Note(NamedTuple):
    """What a person wrote about one turn of a game."""

    note_id: Annotated[str, Col("random, so that two people can write at once", key=True)]
    episode_id: Annotated[str, Col("the game; a note outlives it, and meets it again when its log is read again", refers="episodes")]
    turn: Annotated[int, Col("from 1", least=1)]
    author: Annotated[str, Col("who wrote it")]
    text: Annotated[str, Col("as written")]
    written_at: Annotated[datetime, Col("when", "UTC")]


class TableName(NamedTuple):
    """Which table a record class fills."""

    name: str
    record: type[tuple[object, ...]]
    rules: tuple[Rule, ...] = ()


RECORDS: tuple[TableName, ...] = (
    TableName("store_info", StoreInfo),
    TableName("sources", Source),
    TableName("rejects", Reject),
    TableName("receipts", Receipt),
    TableName("runs", Run),
    TableName("episodes", Episode),
    TableName("agents", Agent),
    TableName("turns", Turn, (Rule("at", '"at" >= LAG("at") OVER (PARTITION BY episode_id ORDER BY turn)'),)),
    TableName("utterances", Utterance),
    TableName("claims", Claim, (Rule("end_char", "end_char >= start_char"),)),
    TableName("actions", Action),
    TableName("oracle_actions", OracleAction),
    TableName("turn_metrics", TurnMetric),
    TableName("episode_metrics", EpisodeMetric),
    TableName("turn_values", TurnValue),
    TableName("attributions", Attribution),
    TableName("requests", Request),
    TableName("failures", Failure),
    TableName("log_disagreements", LogDisagreement),
    TableName("judge_runs", JudgeRun),
    TableName(
        "verdicts",
        Verdict,
        (Rule("answer", "status = 'answered' OR answer IS NULL"), Rule("score", "status = 'answered' OR score IS NULL")),
    ),
    TableName("calls", Call, (Rule("error", "status <> 'answered' OR error IS NULL"),)),
    TableName("labels", Label, (Rule("score", "score IS NULL OR answer NOT IN ('na', 'NA', 'n/a', 'N/A')"),)),
    TableName("notes", Note),
)
