"""A whole conversation, scrolled: messages in the colours of their speakers, and beside each what is known about it in the margin."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dashboards.figures import OTHER, SERIES
from dashboards.parts import Later, Part, data, html
from dashboards.playback.facts import GameFacts
from dashboards.playback.messages import folded, words_of
from dashboards.playback.turn_outcome import verdicts_of
from dashboards.reader import Reader
from judges.evidence.pieces import action_text, is_tool
from judges.evidence.transcript import ActionView, Transcript, TurnView, UtteranceView
from schemas.common.text import printable
from schemas.common.wording import counted, in_words

_LABELS: Final = """
    SELECT turn, agent, rubric, question, answer, annotator FROM labels
    WHERE episode_id = $id AND rubric <> 'decisive_error' ORDER BY turn NULLS FIRST, rubric, question, annotator
    """
_FIRST: Final = 50
"""Messages that are drawn at once, from shortly before the one that is asked for: a browser needs a second for some hundreds."""
_BEFORE: Final = 5
_PART: Final = 400
"""Messages of the parts in which the others follow."""
_IN_SIGHT: Final = 4
"""Verdicts and labels of a message that are shown unfolded."""
_GIST: Final = 110
"""Characters of a folded text that its fold shows."""


@dataclass(slots=True)
class _Message:
    """One box of the page: what an agent thought, wrote and called, without anybody in between."""

    turn: int
    agent: str
    thoughts: list[UtteranceView] = field(default_factory=list)
    message: UtteranceView | None = None
    calls: list[ActionView] = field(default_factory=list)
    margin: list[Part] = field(default_factory=list)
    is_flagged: bool = False


def conversation(read: Reader, game: Transcript, facts: GameFacts, later: Later) -> Part:
    """Messages in their order, one box each.

    Args:
        read: of the store; its address names the turn to which the page scrolls, and words that are marked.
        game: the conversation.
        facts: of it.
        later: draws a part by `part_of_conversation`, after the page is there.
    """
    current, words = read.address.number("turn", 1), words_of(read.address.one("find"))
    messages = [message for turn in game.turns for message in _messages(turn)]
    colors = _colors(game, messages)
    here = max(0, next((place for place, message in enumerate(messages) if message.turn == current), 0) - _BEFORE)
    after = range(here + _FIRST, len(messages), _PART)
    boxes = [
        *(later(read, f"{start}-{min(start + _PART, here)}") for start in range(0, here, _PART)),
        part_of_conversation(read, game, facts, f"{here}-{here + _FIRST}"),
        *(later(read, f"{start}-{start + _PART}") for start in after),
    ]
    found = sum(1 for message in messages if words and _holds(message, words))
    legend = [html.Span(printable(agent), className="who", style={"borderLeftColor": color}) for agent, color in colors.items()]
    hits = [html.Span(f"{counted(found, 'message')} found", className="hint")] if words else []
    return html.Div([html.Div([*legend, *hits], className="speakers"), *_whole(read, game, facts), *boxes], className="conversation")


def part_of_conversation(read: Reader, game: Transcript, facts: GameFacts, part: str) -> Part:
    """The boxes of one part of the messages, such as `50-450`, counted from 0."""
    start, _, stop = part.partition("-")
    current, words = read.address.number("turn", 1), words_of(read.address.one("find"))
    messages = [message for turn in game.turns for message in _messages(turn)]
    colors = _colors(game, messages)
    _judged(read, game, facts, messages)  # of all: the messages of a turn can be in two parts
    shown = messages[int(start) : int(stop)] if start.isdecimal() and stop.isdecimal() else []
    return html.Div([_box(game, message, colors, current, words) for message in shown])


def _messages(turn: TurnView) -> Iterator[_Message]:
    """The boxes of a turn. The log places actions after the messages of their turn: they are in the last box of their agent."""
    boxes: list[_Message] = []
    for one in turn.utterances:
        is_thought = one.channel == "private" and tuple(one.audience) in {(), (one.agent,)}
        last = boxes[-1] if boxes and boxes[-1].agent == one.agent and boxes[-1].message is None else None
        box = last or _Message(turn.turn, one.agent)
        if last is None:
            boxes.append(box)
        if is_thought:
            box.thoughts.append(one)
        else:
            box.message = one
    for action in turn.actions:
        box = next((known for known in reversed(boxes) if known.agent == action.agent), None) or _Message(turn.turn, action.agent)
        if box not in boxes:
            boxes.append(box)
        box.calls.append(action)
    yield from boxes


def _colors(game: Transcript, messages: Sequence[_Message]) -> Mapping[str, str]:
    """By appearance; tools are grey."""
    agents = [agent for agent in dict.fromkeys(message.agent for message in messages) if not is_tool(game, agent)]
    found = {agent: SERIES[place % len(SERIES)] for place, agent in enumerate(agents)}
    return found | {message.agent: OTHER for message in messages if message.agent not in found}


def _box(game: Transcript, message: _Message, colors: Mapping[str, str], current: int, words: Sequence[str]) -> Part:
    color = colors[message.agent]
    known = game.agents.get(message.agent)
    role = known.role if known is not None and known.role != message.agent else None
    head = [
        html.B(printable(message.agent), className="who"),
        *([html.Span(printable(role), className="persona")] if role else []),
        *_audience(game, message),
        html.A(
            f"turn {message.turn}", href=f"?episode={game.episode_id}&turn={message.turn}", className="place", title="Link to this message"
        ),
    ]
    marks = ["message", *(["flagged"] if message.is_flagged or (words and _holds(message, words)) else [])]
    body = [
        html.Div(head, className="message-head"),
        *(_fold("thinks", one.text, words, "thought") for one in message.thoughts),
        *_text(game, message, words),
        *(_call(one) for one in message.calls),
    ]
    return html.Article(
        [html.Div(body, className="message-body", style={"borderLeftColor": color}), html.Div(message.margin, className="margin")],
        className=" ".join([*marks, *(["current"] if message.turn == current else [])]),
        tabIndex=-1,
        **data(turn=str(message.turn)),
    )


def _audience(game: Transcript, message: _Message) -> list[Part]:
    sent = message.message
    if sent is None or not sent.audience or is_tool(game, message.agent):
        return []
    heard = [name for name in sent.audience if name != sent.agent]
    missing = [name for name in game.agents if name not in {*heard, sent.agent} and not is_tool(game, name)]
    return [html.Span(f"to {', '.join(map(printable, heard)) or 'no one'}", className="persona")] if missing else []


def _text(game: Transcript, message: _Message, words: Sequence[str]) -> list[Part]:
    sent = message.message
    if sent is None:
        return []
    if is_tool(game, message.agent):
        return [_fold("returned", sent.text, words, "result")]
    return [html.Div(folded(sent.text or "(empty)", words))]


def _fold(what: str, text: str, words: Sequence[str], kind: str) -> Part:
    gist = printable(" ".join(text[: 2 * _GIST].split())[:_GIST])
    summary = html.Summary([html.Span(f"{what} ", className="channel"), html.Span(gist, className="gist")])
    is_open = any(word.lower() in text.lower() for word in words)
    return html.Details([summary, folded(text, words)], open=is_open, className=f"tucked {kind}")


def _call(action: ActionView) -> Part:
    text = printable(action_text(action.verb, action.arguments))
    outcome = {True: "carried out", False: f"refused: {printable(action.error_text or action.error_code or '')}", None: ""}[action.accepted]
    gist = text if len(text) <= _GIST else f"{text[:_GIST]}…"
    inside: list[Part] = [html.Div(text, className="text")] if gist != text else []
    mark = html.Span(outcome, className="pill bad" if action.accepted is False else "hint") if outcome else None
    return html.Details(
        [html.Summary([html.Span("called ", className="channel"), html.Code(gist), " ", mark]), *inside], className="tucked call"
    )


def _holds(message: _Message, words: Sequence[str]) -> bool:
    texts = [one.text for one in message.thoughts] + ([message.message.text] if message.message else [])
    whole = "\n".join(texts).lower()
    return all(word.lower() in whole for word in words)


# -- the margin -------------------------------------------------------------------------------------------


class _Remark(NamedTuple):
    """What the margin shows of a message."""

    turn: int | None
    """None: of the whole conversation."""
    agent: str | None
    """None: of the turn."""
    shown: Part
    is_bad: bool = False


def _judged(read: Reader, game: Transcript, facts: GameFacts, messages: Sequence[_Message]) -> None:
    """Put into the margin of each message what is known about it; what is about a whole turn beside its last message."""
    of_turn: dict[int, list[_Message]] = defaultdict(list)
    for message in messages:
        of_turn[message.turn].append(message)
    for remark in _remarks(read, game, facts):
        boxes = of_turn.get(remark.turn or 0, [])
        box = next((one for one in reversed(boxes) if one.agent == remark.agent), boxes[-1] if boxes else None)
        if box is not None:
            box.margin.append(remark.shown)
            box.is_flagged = box.is_flagged or remark.is_bad
    for message in messages:
        more = message.margin[_IN_SIGHT:]
        if more:
            message.margin[_IN_SIGHT:] = [html.Details([html.Summary(f"{len(more)} more"), *more])]


def _remarks(read: Reader, game: Transcript, facts: GameFacts) -> Iterator[_Remark]:
    """People's blame, failures by rules, verdicts, labels, notes, in this order."""
    for agent, turn in facts.blamed:
        yield _Remark(turn, agent, _pill(f"People say that {agent}'s mistake here decided the game", "bad"), is_bad=True)
    verdicts = verdicts_of(read, game.episode_id)
    objected = {(one["turn"], one["agent"], one["question"]) for one in verdicts if one["objects"]}
    for one in facts.turns:
        for failure in one.failures:
            if (one.turn, failure["agent"], failure["category"]) in objected:  # the verdict follows, with its judge
                continue
            shown = _pill(f"✕ {in_words(failure['category'])}", "bad", failure["evidence"] or failure["meaning"])
            yield _Remark(one.turn, failure["agent"], shown, is_bad=True)
    for verdict in verdicts:
        is_bad = verdict["objects"]
        text = f"{'✕ ' if is_bad else ''}{in_words(verdict['question'])}: {verdict['answer'] or verdict['status']}"
        why = f"{verdict['ask']} {verdict['reason'] or ''} ({verdict['rubric']}, {verdict['judge']})"
        yield _Remark(verdict["turn"], verdict["agent"], _pill(text, "bad" if is_bad else "", why), is_bad=is_bad)
    for label in read.rows(_LABELS, {"id": game.episode_id}).iter_rows(named=True):
        yield _Remark(label["turn"], label["agent"], _label(label))
    for note in facts.notes:
        yield _Remark(note["turn"], None, _pill(f"✎ {note['author']}: {note['note']}", ""))


def _label(label: Mapping[str, Any]) -> Part:
    text = f"{label['annotator']}: {in_words(label['question'])}: {label['answer']}"
    return _pill(text, "", f"label of the rubric {label['rubric']}")


def _pill(text: str, kind: str, why: str = "") -> Part:
    return html.Div(printable(text), className=f"pill {kind}".strip(), title=printable(why))


def _whole(read: Reader, game: Transcript, facts: GameFacts) -> list[Part]:
    """What is known of the whole conversation and of no turn of it."""
    found = [remark.shown for remark in _remarks(read, game, facts) if remark.turn is None]
    if not found:
        return []
    return [html.Details([html.Summary(f"Verdicts and labels of the whole conversation ({len(found)})"), *found], className="whole")]
