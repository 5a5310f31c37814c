"""AsymPuzl: both working hypotheses beside the truth, and what each agent was told."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.parts import Part, html
from games.asympuzl.game import FEEDBACK_MODES, FeedbackMode, feedback, feedback_lines
from games.asympuzl.puzzle import AGENTS, COLORS, Agent, Entry, Puzzle
from games.players.player import Observation
from judges.asympuzl.checks import entries_of
from judges.evidence.transcript import AgentView, Transcript, TurnView
from schemas.common.text import printable


class AsymPuzlDrawing:
    """Draws hypotheses as tables: a row a position."""

    def about(self, game: Transcript) -> str:
        """Who knows what."""
        if "solo" in {agent.role for agent in game.agents.values()}:
            return "One player, given the clues of both, writes the right shape and color of every position into a table."
        return (
            "A knows the right shape of every position, B which color each shape has. Each writes both into a table of its own; the"
            " other gets its messages, and sees neither table nor clues."
        )

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """Truth and both hypotheses, before and after; what changed and what is right is marked. Then the feedback shown on this turn."""
        truth = _truth(game)
        agents = [agent for agent in AGENTS if agent in turn.state_after]  # one alone in the control experiment
        states = {agent: (entries_of(turn.state_before[agent]), entries_of(turn.state_after[agent])) for agent in agents}
        head = ["Position", "Truth", *(f"{agent} {when}" for agent in agents for when in ("before", "after"))]
        rows = [_row(place, right, [states[agent] for agent in agents]) for place, right in enumerate(truth)]
        table = html.Table([html.Thead(html.Tr([html.Th(text) for text in head])), html.Tbody(rows)])
        return html.Div(
            [
                html.Div(table, className="scroll", tabIndex=0),
                html.H3("Feedback shown on this turn, by the rules of its mode"),
                *[_told(game, turn, agent, truth) for agent in agents],
            ]
        )

    def goal(self, game: Transcript) -> Part:
        """The right entries, and the clues of each agent."""
        lists = [_list("Truth", _truth(game))]
        lists += [_list(f"Clues of {printable(view.name)} ({printable(view.role)})", _clues(view)) for view in game.agents.values()]
        return html.Div(lists, className="boards")

    def seat(self, seen: Observation) -> Part:
        """The player's clues, its working hypothesis, and who said what."""
        mine = seen.data
        if seen.role == "solo":
            return html.Div([_list("Clues of the one", mine.clues_a), _list("Clues of the other", mine.clues_b)], className="boards")
        said = [
            html.Li([html.B("you: " if heard.agent == mine.agent else "partner: "), printable(heard.text)]) for heard in mine.conversation
        ]
        talk = [html.Div([html.H3("What was said"), html.Ul(said, className="plain")])] if said else []
        clues = "Your clues" if mine.agent == "A" else "Your clues, in no order"
        return html.Div([_list(clues, mine.clues), _list("Your table so far", mine.hypothesis), *talk], className="boards")

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """`position 2: green circle`, and of a verified action whose it is: `A: green circle at position 2`."""
        if verb != "replace":
            return "answered without a JSON object"
        entry = f"{arguments.get('color')} {arguments.get('shape')}"
        if arguments.get("agent"):
            return f"{arguments['agent']}: {entry} at position {arguments.get('position')}"
        return f"position {arguments.get('position')}: {entry}"


def _truth(game: Transcript) -> tuple[Entry, ...]:
    return entries_of((game.goal or {}).get("truth", ()))


def _clues(view: AgentView) -> tuple[Entry, ...]:
    return entries_of((view.private_view or {}).get("clues", ()))


def _row(place: int, right: Entry, states: Sequence[tuple[Sequence[Entry], Sequence[Entry]]]) -> Part:
    cells = [html.Td(str(place + 1), className="num"), html.Td(_entry(right))]
    for before, after in states:
        cells.append(html.Td(_entry(before[place], right)))
        changed = [html.Span("changed", className="pill quiet")] if before[place] != after[place] else []
        cells.append(html.Td([_entry(after[place], right), " ", *changed]))
    return html.Tr(cells)


def _entry(entry: Entry, right: Entry | None = None) -> Part:
    """A swatch and the words; green where it is right, red where it is not, plain where nothing is compared."""
    kind = "" if right is None else ("pill good" if entry == right else "pill bad")
    paint = entry.color if entry.color in COLORS else "transparent"
    swatch = html.Span(className="swatch", style={"background": paint})
    return html.Span([swatch, f" {printable(entry.shape)} {printable(entry.color or '?')}"], className=kind)


def _list(title: str, entries: Sequence[Entry]) -> Part:
    return html.Div([html.H3(title), html.Ol([html.Li(_entry(entry)) for entry in entries])])


def _told(game: Transcript, turn: TurnView, agent: Agent, truth: tuple[Entry, ...]) -> Part:
    mode: FeedbackMode = next((known for known in FEEDBACK_MODES if known == game.details.get("feedback_mode")), "none")
    hypotheses = {each: entries_of(turn.state_before[each]) for each in AGENTS if each in turn.state_before}
    told = feedback(mode, agent, hypotheses, Puzzle(truth, truth, truth)) if turn.turn > 1 else None
    lines = feedback_lines(told, mode) if told is not None else ["nothing" if turn.turn > 1 else "nothing: the first turn has none"]
    return html.P([html.B(f"{agent}: "), " ".join(lines)])


DRAWING = AsymPuzlDrawing()
