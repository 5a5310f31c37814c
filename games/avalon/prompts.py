"""What Avalon's players are asked; the texts are in prompts.yaml."""

from collections.abc import Mapping, Sequence
from typing import Any

from games.avalon.rules import EVIL
from games.avalon.table import Table
from games.players.player import texts_of


def system_prompt(table: Table, name: str, role: str, shown: Sequence[str]) -> str:
    """The rules, and what the role knows."""
    texts, players, evil = texts_of(__package__), len(table.names), sum(one in EVIL for one in table.beliefs.roles)
    rules = texts["system"].format(name=name, players=players, names=", ".join(table.names), good=players - evil, evil=evil)
    return f"{rules}\n{texts['roles'][role].format(shown=', '.join(shown) or 'none')}"


def ask_for(purpose: str, table: Table, team: Sequence[str], reason: str) -> str:
    """The question, and the form of its answer."""
    facts = {"size": table.size, "leader": table.leader, "team": ", ".join(team), "reason": reason or "none"}
    known, assassin = ", ".join(table.evil()), table.assassin
    return str(texts_of(__package__)["questions"][purpose].format(**facts, known=known, assassin=assassin))


def mission_line(finished: Mapping[str, Any]) -> str:
    """What players see of a finished mission."""
    votes = "without a vote" if finished["auto"] else " to ".join(map(str, finished["votes"]))
    return (
        f"Mission {finished['mission']}: {finished['leader']} led, team {', '.join(finished['team'])}, approved {votes} after "
        f"{finished['rejected']} rejected; {finished['fails']} fails: {finished['result']}."
    )
