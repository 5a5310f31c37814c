"""What Avalon's players are asked, in our own words; which facts each question shows is in formats, section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.avalon.rules import EVIL
from games.avalon.table import Table


def system_prompt(table: Table, name: str, role: str, shown: Sequence[str]) -> str:
    """The rules, and what the role knows."""
    names, evil = table.names, sum(one in EVIL for one in table.beliefs.roles)
    return f"""You are {name}, one of {len(names)} players of a game of hidden roles: {", ".join(names)}.
{len(names) - evil} players are good, {evil} are evil. A game has up to five missions. A leader proposes a team, all vote, and the team of
an approved proposal goes on the mission: each evil player on it may play a fail, and one fail is enough for the mission to fail. Good wins
with three missions that succeed, unless evil then names Merlin; evil wins with three that fail. If four teams of a mission are rejected,
the fifth goes without a vote.
{_about(role, ", ".join(shown) or "none")}"""


def _about(role: str, shown: str) -> str:
    partners = f"These players are evil, too: {shown}."
    return {
        "merlin": f"You are Merlin, on the side of good. You know that these players are evil: {shown}. One evil player may be hidden from "
        "you. If evil finds out who you are, good loses.",
        "percival": f"You are Percival, on the side of good. One of these players is Merlin, another may be Morgana, who is evil: {shown}. "
        "Protect Merlin.",
        "good": "You are a loyal servant, on the side of good. You know nothing about the others.",
        "assassin": f"You are the assassin, on the side of evil. {partners} If good succeeds three times, you name Merlin.",
        "morgana": f"You are Morgana, on the side of evil. Percival sees you together with Merlin. {partners}",
        "mordred": f"You are Mordred, on the side of evil. Merlin does not see you. {partners}",
        "oberon": "You are Oberon, on the side of evil. You do not know the other evil players, and they do not know you.",
        "evil": f"You are a minion, on the side of evil. {partners}",
    }[role]


def ask_for(purpose: str, table: Table, team: Sequence[str], reason: str) -> str:
    """The question, and the form of its answer; the forms show no answer that a game can have."""
    succeeded = f"Three missions have succeeded. The evil players are {', '.join(table.evil())}."
    return {
        "discuss": "Before the leader proposes, each player speaks. Write your message to all players, and nothing else.",
        "propose": f"""You are the leader. Propose a team of {table.size} players, and give the reason that all will read.
End with one line that begins with TEAM and a colon and has their names, separated by commas.""",
        "vote": f"""{table.leader} proposes {", ".join(team)}. The reason: {reason or "none"}
Write why you vote as you do; only you will read it.
End with one line that begins with VOTE and a colon and has one word, approve or reject.""",
        "quest": """You are on the team. Choose the card that you play; only the number of fails becomes known.
Answer with one line that begins with CARD and a colon and has one word, success or fail.""",
        "conspire": f"{succeeded} Before {table.assassin} names Merlin, each of you speaks to the others. Write your message.",
        "guess": f"""{succeeded} Name the player who you think is Merlin.
Write your reasons, and end with one line that begins with GUESS and a colon and has the name.""",
        "over": "The game is over.",
    }[purpose]


def mission_line(finished: Mapping[str, Any]) -> str:
    """What players see of a finished mission."""
    votes = "without a vote" if finished["auto"] else " to ".join(map(str, finished["votes"]))
    return (
        f"Mission {finished['mission']}: {finished['leader']} led, team {', '.join(finished['team'])}, approved {votes} after "
        f"{finished['rejected']} rejected; {finished['fails']} fails: {finished['result']}."
    )
