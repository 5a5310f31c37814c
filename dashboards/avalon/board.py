"""Draws an Avalon table: missions, who is on the team, the votes, and what each player could prove."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboards.parts import Part, html
from games.avalon.rules import side
from games.players.player import Observation
from judges.evidence.transcript import Transcript, TurnView
from schemas.common.text import printable
from schemas.common.wording import counted

_STAGES: Final = {
    "discussion": "Talk before the first proposal",
    "proposal": "A proposal and the votes on it",
    "quest": "The quest",
    "assassination": "Evil names Merlin",
    "reflection": "What players note for their next game",
}


class AvalonDrawing:
    """The table before and after a turn, a row a player."""

    ACCEPTED = ""
    """A vote is carried out whatever it says: `voted to reject accepted` contradicts itself."""

    def about(self, game: Transcript) -> str:
        """Who knows what."""
        return (
            f"{len(game.agents)} players with hidden roles. Good wins with three missions that succeed, if evil does not name Merlin then; "
            "evil wins with three that fail. What a player could prove follows from its role and the finished missions alone."
        )

    def turn(self, game: Transcript, turn: TurnView) -> Part:
        """Missions so far, then the players: role, part in this turn, and what each could prove before it."""
        before, after = turn.state_before, turn.state_after
        stage = str(before.get("stage"))
        placed = after.get("on_table") if stage == "proposal" else before.get("on_table") if stage == "quest" else None
        return html.Div(
            [
                html.H3(f"{_STAGES.get(stage, stage)}: mission {before.get('mission')}"),
                _missions(after.get("missions") or ()),
                html.Div(_players(game, before, after, placed), className="scroll", tabIndex=0),
                *_outcome(stage, after, placed),
            ]
        )

    def goal(self, game: Transcript) -> Part:
        """The roles, and whom each was shown."""
        rows = []
        for agent in game.agents.values():
            view = agent.private_view or {}
            shown = ", ".join(map(printable, view.get("sees") or ())) or "no one"
            rows.append(html.Tr([html.Td(printable(agent.name)), html.Td(_role(view.get("role"))), html.Td(shown)]))
        return _table(("Player", "Role", "Is shown"), rows)

    def seat(self, seen: Observation) -> Part:
        """The player's role, whom it is shown, and the missions."""
        view = seen.data
        shown = ", ".join(view.sees) or "no one"
        return html.Div([html.P(["You are ", _role(view.role), f"; you are shown: {shown}."]), _missions(view.missions)])

    def action(self, verb: str, arguments: Mapping[str, Any]) -> str:
        """An action in words."""
        words = {
            "propose": f"proposed {', '.join(map(printable, arguments.get('team') or ()))}",
            "vote": f"voted to {arguments.get('vote') or '(unreadable)'}",
            "quest": f"played {arguments.get('card')}",
            "guess": f"named {printable(str(arguments.get('guess') or 'no one'))}",
            "reflect": "looked back on the game",
            "remember": f"noted something about {printable(str(arguments.get('about')))}",
        }
        return words.get(verb, printable(verb))


def _role(role: str | None) -> Part:
    if role is None:
        return html.Span("not known", className="pill quiet")
    return html.Span(printable(role), className="pill good" if side(role) == "good" else "pill bad")


def _table(head: Sequence[str], rows: Sequence[Part]) -> Part:
    return html.Table([html.Thead(html.Tr([html.Th(text) for text in head])), html.Tbody(list(rows))])


def _missions(missions: Sequence[Mapping[str, Any]]) -> Part:
    pills: list[Part | str] = []
    for mission in missions:
        kind = {"success": "pill good", "fail": "pill bad"}.get(str(mission.get("result")), "pill quiet")
        team = ", ".join(map(printable, mission.get("team") or ()))
        fails = counted(mission["fails"], "fail") if mission.get("fails") is not None else "fails not known"
        pills += [html.Span(f"{mission['mission']}: {mission.get('result')}, {fails} ({team})", className=kind), " "]
    return html.P(pills) if pills else html.P("No mission is finished.")


def _players(game: Transcript, before: Mapping[str, Any], after: Mapping[str, Any], placed: Mapping[str, Any] | None) -> Part:
    placed, knowledge = placed or {}, before.get("knowledge") or {}
    last = (after.get("missions") or [{}])[-1]
    cards = last.get("cards") or {} if before.get("stage") == "quest" else {}
    rows = []
    for name, agent in game.agents.items():
        known, verdict = knowledge.get(name) or {}, (placed.get("verdicts") or {}).get(name)
        part = [word for word, holds in (("leads", placed.get("leader") == name), ("on the team", name in placed.get("team", ()))) if holds]
        part += [str(word) for word in ((placed.get("votes") or {}).get(name), cards.get(name)) if word]
        cells = [
            printable(name),
            _role((agent.private_view or {}).get("role")),
            ", ".join(part),
            _listed(known.get("good"), name),
            _listed(known.get("evil"), name),
            str(known.get("evil_worlds", "not known")),
            "" if verdict is None else f"evil in {verdict['bad_worlds']} of {verdict['worlds']}" + (" (proven)" if verdict["bad"] else ""),
        ]
        rows.append(html.Tr([html.Td(cell) for cell in cells]))
    return _table(
        ("Player", "Role", "This turn", "Knows as good", "Knows as evil", "Evil sets possible", "The team, for this player"), rows
    )


def _listed(names: Sequence[str] | None, own: str) -> str:
    return "not known" if names is None else ", ".join(printable(name) for name in names if name != own)


def _outcome(stage: str, after: Mapping[str, Any], placed: Mapping[str, Any] | None) -> list[Part]:
    if stage == "proposal" and placed is not None:
        votes = "without a vote" if placed["auto"] else f"{placed['approve']} to {placed['reject']}"
        return [html.P(f"The proposal is {placed['result'] or 'open'}, {votes}; {placed['team_evil']} evil on the team.")]
    guess = after.get("guess")
    if stage == "assassination" and guess:
        right = {True: "right", False: "wrong"}.get(guess["right"], "not known to be right")
        return [html.P(f"{printable(guess['assassin'])} names {printable(str(guess['guess'] or 'no one'))}: {right}.")]
    return []


DRAWING = AvalonDrawing()
