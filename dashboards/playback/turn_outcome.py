"""What happened on a turn: one sentence on what went wrong and what it cost, what would have been better, and what judges object to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import orjson

from analytics.losses.lost import of_link, reader_of
from dashboards.boards import Drawing, prose
from dashboards.parts import Part, data, html
from dashboards.playback.facts import TONES, GameFacts, TurnFacts, cost_in_words
from dashboards.playback.messages import notes_on
from judges.evidence.transcript import ActionView, TurnView
from judges.rubric_files.load import find, names
from schemas.common.errors import CotraceError
from schemas.common.text import printable
from schemas.common.wording import in_words, number, score, share
from schemas.families import module

if TYPE_CHECKING:
    from dashboards.reader import Reader
    from judges.rubric import Question


_MIDDLE: Final = 0.5
"""A score below says no."""
_EVIDENCE: Final = 140
"""Characters of a rule's evidence that stand in the sentence."""
_RULE: Final = re.compile(r"^method rule(: )?")
_CODE: Final = re.compile(r"\(([a-z]+(?:_[a-z]+)+)\)")
_CALL: Final = re.compile(r"\b(\w+) (\{[^{}]*\})")
_ARGUED: Final = re.compile(r"(?:^|[;:] )(?:what it knew of, such as )?(?!nothing)([^;:]+?),? would have (?:saved|kept|left)\b")
"""The action that the evidence of a charge argues with."""
_ZERO: Final = re.compile(r"(?<![\d.])0(?=\.\d)")
_FRESH_S: Final = 10
"""Seconds for which a rubric's file is not read again: it takes longer than all else of a step."""
_BETTER: Final = 3
"""Verified actions that are shown unfolded."""

_VERDICTS: Final = """
    SELECT turn, rubric, question, agent, judge, repeat, answer, score, status, reason FROM verdicts_latest
    WHERE episode_id = $id ORDER BY rubric, question, agent NULLS FIRST, judge, repeat
"""


def outcome_column(turn: TurnView, facts: GameFacts, draw: Drawing, verdicts: Sequence[Mapping[str, Any]], losses: Sequence[Part]) -> Part:
    """The column at the right of the page; what is known of losses stands below what the turn cost."""
    here = facts.at(turn.turn)
    return html.Section(
        [
            html.H2("What happened"),
            html.P(what_went_wrong(turn, facts, draw).replace(" %", "\u00a0%"), className="why"),
            unexplained(turn, facts),
            _links(here, draw),
            *losses,
            _rules(here, draw),
            _better(turn, draw),
            *_verdicts(verdicts, draw),
            *_spirals(facts, turn.turn, draw),
            *notes_on(facts.noted(turn.turn)),
        ],
        className="card happened",
        tabIndex=0,
    )


def tried(turn: TurnView, here: TurnFacts, draw: Drawing) -> Part:
    """Every attempted action with the engine's answer: it stands over the boards."""
    words = f"carried out, {_how_wrong(here)}" if any(_went_wrong(turn, action, draw) for action in turn.actions) else here.mark.words
    mark = html.Span([html.Span(here.mark.shape, className="sign"), words or in_words(here.outcome)], className="outcome")
    lines = [_action(action, here, draw, went_wrong=_went_wrong(turn, action, draw)) for action in turn.actions] or [html.Div(_still(draw))]
    broke = [html.Div(f"The turn broke off: {printable(turn.error)}")] if turn.error else []
    return html.Div([html.Div([*lines, *broke]), mark], className=f"tried {TONES.get(here.name, 'still')}")


def _went_wrong(turn: TurnView, action: ActionView, draw: Drawing) -> bool:
    """The engine objects to it, and yet it was carried out, as a card that does not fit is still played."""
    return action.accepted is False and action.error_code in getattr(draw, "CARRIED_OUT", ()) and turn.state_before != turn.state_after


def _how_wrong(here: TurnFacts) -> str:
    """What a rule objects to can be right by its exact cost, as a guess that is lucky."""
    return "against a rule" if here.cost is not None and not here.has_cost else "and wrong"


def _reason(action: ActionView, here: TurnFacts, draw: Drawing) -> str:
    """What the engine objects to; where the log has a code alone, the meaning of the rule of that name."""
    known = getattr(draw, "REFUSALS", {}).get(action.error_code)
    if known is None and in_words(action.error_text or action.error_code) == in_words(action.error_code):
        known = next((failure["meaning"] for failure in here.failures if failure["category"] == action.error_code), None)
    return known or printable(action.error_text or in_words(action.error_code or "no reason given"))


def _action(action: ActionView, here: TurnFacts, draw: Drawing, *, went_wrong: bool) -> Part:
    answer = {
        True: getattr(draw, "ACCEPTED", "accepted"),
        False: f"{'carried out, but' if went_wrong else 'refused:'} {_reason(action, here, draw)}",
        None: "",
    }
    said = answer[action.accepted]
    kind = "pill good" if action.accepted else "pill bad"
    return html.Div(
        [
            html.B(f"{printable(action.agent)}: "),
            draw.action(action.verb, action.arguments),
            " ",
            html.Span(said, className=kind) if said else None,
        ]
    )


def what_went_wrong(turn: TurnView, facts: GameFacts, draw: Drawing) -> str:
    """A sentence or two, made of what the store knows: what became of the turn, why by rule, and what it cost."""
    here = facts.at(turn.turn)
    said = [
        *_blamed(facts, turn.turn),
        _became(turn, facts, draw),
        _charged(here, draw),
        _instead(turn, here, draw),
        _cost(facts, here),
        _end(facts, here),
    ]
    return " ".join(filter(None, said))


def _end(facts: GameFacts, here: TurnFacts) -> str:
    """Of the last turn of a lost game: many logs say of no turn that it failed, and yet the team did."""
    if not facts.is_lost or here is not facts.turns[-1]:
        return ""
    return f"Here the game ended, its goal not reached{f' ({in_words(facts.stop_reason)})' if facts.stop_reason else ''}."


def _blamed(facts: GameFacts, turn: int) -> list[str]:
    """What people who read the game say of it: who made the mistake that decided it, and when."""
    here = [f"People say that {printable(agent)}'s mistake here decided the game." for agent, at in facts.blamed if at == turn]
    return here or [f"People say that {printable(agent)}'s mistake on turn {at} decided the game." for agent, at in facts.blamed]


def _became(turn: TurnView, facts: GameFacts, draw: Drawing) -> str:
    here = facts.at(turn.turn)
    rule = next((failure for failure in here.failures if failure["agent"]), next(iter(here.failures), None))
    refused = next((action for action in turn.actions if action.accepted is False), None)
    if refused is not None:
        same = any(failure["category"] == refused.error_code for failure in here.failures)
        reason = _reason(refused, here, draw)
        became = f"was carried out {_how_wrong(here)}" if _went_wrong(turn, refused, draw) else "was refused"
        told = "" if same or rule is None or rule["meaning"] in reason else f". {_capital(rule['meaning'])}"
        return _ended(f"{printable(refused.agent)}'s action {became}: {reason}{told}")
    if rule is not None:
        evidence = _evidence(rule["evidence"] or "", draw)
        return _ended(f"{printable(rule['agent'] or 'The team')}: {rule['meaning']}{f' ({evidence})' if evidence else ''}")
    said = {
        "clarify": "An agent asked instead of acting.",
        "no_move": _still(draw) if facts.acts or here.cost is not None else _only_said(turn),
        "not_followed": "The attempted action is not a verified one.",
        "wrong": "It was carried out, but did not lead on.",
        "lost": "It was carried out.",
        "followed": "A verified action was carried out.",
        "accepted": "It was carried out.",
    }
    return said.get(here.name, "There was no verified action to compare it with.")


def _charged(here: TurnFacts, draw: Drawing) -> str:
    """Whose the cost is and by what; where it is of one alone, with the evidence, else each with what it did."""
    charged = [one for one in here.links if one["agent"]]
    if not charged:
        linked = next((one for one in here.links if one["evidence"]), None)
        if linked is None:
            return ""
        why = _evidence(linked["evidence"], draw)
        return _capital(_ended(f"{of_link(linked['link'])} ({why})" if linked["status"] == "unattributed" else why))
    ways: dict[str, list[str]] = {}
    for one in charged:
        ways.setdefault(of_link(one["link"]), []).append(printable(one["agent"]))
    told = "; ".join(f"{' and '.join(agents)} for {way}" for way, agents in ways.items())
    evidence = charged[0]["evidence"] if len(charged) == 1 and not here.failures else None
    return _ended(f"Attributed to {told}{f': {_in_prose(evidence, draw)}' if evidence else ''}")


def _still(draw: Drawing) -> str:
    return getattr(draw, "STILL", "No agent acted.")


def _only_said(turn: TurnView) -> str:
    return f"The turn broke off: {_ended(printable(turn.error))}" if turn.error else "This log holds what was said, and no actions."


def _evidence(text: str, draw: Drawing) -> str:
    """What of a rule's evidence stands in the sentence: whole words, without the name of the rule."""
    said = _in_prose(_RULE.sub("", text), draw)
    if len(said) <= _EVIDENCE:
        return said
    cut = said[:_EVIDENCE].rsplit(" ", 1)[0]
    return cut.rpartition(" (")[0] if cut.count("(") > cut.count(")") else f"{cut} …"


def _in_prose(text: str, draw: Drawing) -> str:
    """A rule's evidence as a sentence has it: actions and categories without their code's marks, numbers as everywhere."""
    told = _CODE.sub(lambda found: f"({in_words(found[1])})", _CALL.sub(lambda found: _called(found, draw), printable(text)))
    return _ZERO.sub("", prose(draw, told))


def _called(found: re.Match[str], draw: Drawing) -> str:
    """A verb with its arguments as logs have them, as an action is written; what only looks like one, as in a judge's reason, stays."""
    try:
        return draw.action(found[1], orjson.loads(found[2]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return found[0]


def _cost(facts: GameFacts, here: TurnFacts) -> str:
    if here.cost is None or here.unit is None:
        return ""
    if not here.has_cost:
        gained = cost_in_words(-here.cost, here.unit)
        return "It lost nothing." if gained == "nothing" else f"It gained {gained}."
    decisive = facts.decisive
    is_decisive = decisive is not None and here.turn in decisive.equal_turns
    lost = sum(one.cost or 0 for one in facts.turns if one.has_cost)
    part = f", {share(here.cost / lost)} of what the game lost" if isfinite(lost) and lost > here.cost else ""
    cost = f"It cost {cost_in_words(here.cost, here.unit)}{part}" if isfinite(here.cost) else "After it the goal was out of reach"
    if is_decisive and decisive is not None:
        others = ", ".join(str(turn) for turn in decisive.equal_turns if turn != here.turn)
        as_much = f"; as much cost turn{'s' if ',' in others else ''} {others}" if others else ""
        after = "after it the goal was out of reach" if decisive.why == "out_of_reach" else f"no turn of the game cost more{as_much}"
        return f"{cost}; {after}." if isfinite(here.cost) else f"{cost}."
    return f"{cost}."


def _instead(turn: TurnView, here: TurnFacts, draw: Drawing) -> str:
    """What would have been better: what the charge argues with; where attribution proves nothing, a verified action, of the agent if any.

    Nothing where the turn lost nothing, where no agent could know better, and where the evidence of the charge is shown and has it.
    """
    wrong = here.has_cost if here.cost is not None else here.name in {"no_move", "not_followed", "wrong"}
    if not wrong or (len(here.links) == 1 and not here.failures):
        return ""
    settled = [one for one in here.links if one["agent"] or one["status"] == "answered"]
    if settled:
        argued = (_ARGUED.search(one["evidence"] or "") for one in settled if one["agent"])
        better = next((found[1] for found in argued if found), None)
        return "" if better is None else f"Better: {_in_prose(better, draw)}."
    agent = next((one["agent"] for one in (*here.failures, *here.links) if one["agent"]), None)
    done = {draw.action(action.verb, action.arguments) for action in turn.actions}
    told = [text for found in turn.oracle if (text := draw.action(found.verb, found.arguments)) not in done]
    own = [text for text in told if agent and text.startswith(f"{agent}:")]
    return f"Better: {(own or told)[0]}." if told else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _links(here: TurnFacts, draw: Drawing) -> Part:
    """Whose the cost was, by the first broken link from view over message to action, with its evidence."""
    if not here.links:
        return None
    lines = [
        html.Li(
            [
                html.B(f"{_whose(one)}: ") if one["status"] == "answered" else None,
                of_link(one["link"]) if one["status"] == "answered" else html.B(of_link(one["link"])),
                html.Span(f", {cost_in_words(one['cost'], one['unit'] or '')}", className="source") if isfinite(one["cost"]) else None,
                html.Div(_in_prose(one["evidence"], draw), className="evidence") if one["evidence"] else None,
            ]
        )
        for one in here.links
    ]
    reader = reader_of(here.links[0]["judge"])
    return html.Div([html.H3("Whose cost"), html.P(f"Messages as read by {reader}.", className="hint"), html.Ul(lines, className="plain")])


def unexplained(turn: TurnView, facts: GameFacts) -> Part:
    """Where nobody was charged and no person said whose mistake it was: what is known all the same, and the way to knowing more."""
    if facts.success or facts.blamed or any(one.links for one in facts.turns):
        return None
    has_engine = module(facts.benchmark, "judges", "attribution") is not None
    has_values = has_engine and any(one.cost is not None for one in facts.turns)
    if has_engine and not facts.at(turn.turn).is_failure and turn.turn != facts.turns[-1].turn:
        return None
    why = "its turns have no values" if has_engine else "no engine follows this game"
    said = "Not attributed yet: attribution has not run." if has_values else _log_in_words(facts, why)
    command = "cotrace attribute" if has_values else "cotrace attribute --model PROVIDER/MODEL"
    return html.P([f"{said} Next: ", html.Code(command)], className="hint unexplained")


def _log_in_words(facts: GameFacts, why: str) -> str:
    """How a game ended, in the words of its own log."""
    known = [
        "its goal was not reached" if facts.success is False else "nothing of a goal",
        f"the score is {score(facts.score)}" if facts.score is not None else "",
        f"it ended because of {in_words(facts.stop_reason)}" if facts.stop_reason else "",
        f"it broke off: {printable(facts.error)}" if facts.error else "",
        f"its last turn is {facts.turns[-1].turn}",
    ]
    return _ended(f"Not attributed to an agent: {why}. The log says: {', '.join(filter(None, known))}")


def _whose(one: Mapping[str, Any]) -> str:
    return printable(one["agent"] or "no one at fault")


def _rules(here: TurnFacts, draw: Drawing) -> Part:
    if not here.failures:
        return None
    lines = [
        html.Li(
            [
                html.B(printable(failure["agent"] or "team")),
                f" {in_words(failure['category'])}",
                html.Span(f": {_in_prose(_RULE.sub('', failure['evidence']), draw)}", className="evidence")
                if failure["evidence"]
                else None,
                html.Span(f" {in_words(failure['taxonomy'])}", className="source"),
            ],
            title=failure["meaning"],
        )
        for failure in here.failures
    ]
    return html.Div([html.H3("By rule"), html.Ul(lines, className="plain")])


def _better(turn: TurnView, draw: Drawing) -> Part:
    if not turn.oracle:
        return None
    lines = [
        html.Li([draw.action(found.verb, found.arguments), None if found.listed else html.Span(" not shown to them", className="source")])
        for found in turn.oracle
    ]
    more = lines[_BETTER:]
    rest = [html.Details([html.Summary(f"{len(more)} more"), html.Ul(more, className="plain")], **data(fold="better"))] if more else []
    hint = html.P("Each leads on to the goal: the engine has checked it.", className="hint")
    return html.Div([html.H3("Verified actions"), hint, html.Ul(lines[:_BETTER], className="plain"), *rest])


def objections_of(read: Reader, episode_id: str, turn: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The verdicts on a turn with the text of their questions: those that object, and all. Those of the game are asked for once."""
    told = verdicts_of(read, episode_id, turn)
    return [row for row in told if row["objects"]], told


def verdicts_of(read: Reader, episode_id: str, turn: int | None = None) -> list[dict[str, Any]]:
    """The verdicts on a turn, or on a game and all its turns, as `objections_of` gives them."""
    rows = read.rows(_VERDICTS, {"id": episode_id})
    own = [row for row, at in zip(rows.iter_rows(named=True), rows["turn"], strict=True) if turn in {None, at}]
    asks = {name: _asks(read, name) for name in {row["rubric"] for row in own}}
    return [_asked(row, asks[row["rubric"]].get(row["question"])) for row in own]


def _asked(row: dict[str, Any], question: Question | None) -> dict[str, Any]:
    """A verdict, the text of its question, and whether it objects: to most questions a low score does, to one about a fault a high one."""
    objects = False
    if row["status"] == "answered" and row["score"] is not None:
        objects = row["score"] > _MIDDLE if question and question.fault else row["score"] < _MIDDLE
    return row | {"ask": question.ask if question else "", "objects": objects}


def _asks(read: Reader, rubric: str) -> Mapping[str, Question]:
    """The questions by id; of a rubric that is not here any more, none."""
    return _asks_now(rubric, tuple(read.rubric_folders), int(monotonic() / _FRESH_S))


@lru_cache(maxsize=64)
def _asks_now(rubric: str, folders: tuple[Path, ...], _: int) -> Mapping[str, Question]:
    if rubric not in names(folders):
        return {}
    try:
        return find(rubric, folders).questions
    except CotraceError:
        return {}


def _verdicts(verdicts: Sequence[Mapping[str, Any]], draw: Drawing) -> list[Part]:
    if not verdicts:
        hint = html.P(["No judge has scored this turn: ", html.Code("cotrace judge --rubric NAME --judge engine")], className="hint")
        return [html.H3("Verdicts"), hint]
    against = [row for row in verdicts if row["objects"]]
    others = [row for row in verdicts if not row["objects"]]
    rest = html.Details(
        [html.Summary(f"{len(others)} without objection"), html.Ul([_verdict(row, draw) for row in others], className="plain verdicts")],
        **data(fold="verdicts"),
    )
    return [
        html.H3(f"Verdicts: {len(against)} of {len(verdicts)} negative"),
        html.Ul([_verdict(row, draw) for row in against], className="plain verdicts"),
        rest if others else None,
    ]


def _verdict(row: Mapping[str, Any], draw: Drawing) -> Part:
    answer = printable(in_words(row["answer"] or row["status"]))
    head = [
        html.Span(answer, className="pill bad" if row["objects"] else "pill quiet"),
        html.B(f"{in_words(row['question'])} "),
        html.Span(f"about {printable(row['agent'])} " if row["agent"] else "", className="source"),
        html.Span(f"by {printable(row['judge'])}", className="source"),
    ]
    said = [html.Div(row["ask"], className="ask")] if row["ask"] else []
    told = (
        _in_prose(row["reason"] or "", draw) if row["judge"].startswith("engine") else printable(row["reason"] or "")
    )  # a model's stand as written
    reason = [html.Div(told, className="evidence")] if told else []
    return html.Li([html.Div(head), *said, *reason])


def _spirals(facts: GameFacts, turn: int, draw: Drawing) -> list[Part]:
    lines = [
        html.Li(
            [
                html.B(in_words(spiral.kind)),
                f", turns {spiral.start_turn} to {spiral.end_turn}, {number(spiral.turns_wasted)} wasted",
                html.Span(f": {_evidence(spiral.evidence, draw)}", className="evidence") if spiral.evidence else None,
            ]
        )
        for spiral in facts.around(turn)
    ]
    return [html.H3("Spirals around it"), html.Ul(lines, className="plain")] if lines else []
