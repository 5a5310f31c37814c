"""Avalon games in cotrace's own log: made once more by the rules, with what each player could prove, and what went wrong."""

from collections.abc import Iterator, Sequence
from typing import Any

from games.avalon.rules import side
from games.avalon.setup import course_of, game_of, table_of
from games.avalon.table import Table, again
from games.avalon.value import chances
from ingest.cotrace_log.derivation import Again, BadTurnError, Derived, derived, played_again, without_lost_replies
from ingest.reading.text import dumps
from schemas.common.errors import BadInputError
from schemas.common.wording import counted
from schemas.game import ActionEntry, End, Header, Turn
from schemas.records import EpisodeMetric, Failure, LogDisagreement, TurnMetric, TurnValue

TAXONOMY = "avalon"


def derive(header: Header, turns: Sequence[Turn], end: End | None, episode: str) -> Derived:
    """Make a game once more; see `ingest.cotrace_log.derivation.Derivation`."""
    table = table_of(header)
    made: list[Turn] = []
    for index, turn in enumerate(turns):
        try:
            made += again(table, [turn])
        except BadInputError as error:
            raise BadTurnError(error, index) from error
    rows: dict[str, list[Any]] = {
        "failures": without_lost_replies((row for turn in made for row in failures(table, turn, episode)), turns, "unreadable_reply"),
        "turn_metrics": [TurnMetric(episode, turn.turn, f"avalon.{name}", value) for turn in turns for name, value in turn.metrics.items()],
        "turn_values": [row for turn in made for row in _values(table, turn, episode)],
        "episode_metrics": list(_episode_metrics(table, episode)),
        "log_disagreements": [
            LogDisagreement(episode, found.turn, found.field, dumps(found.logged), dumps(found.recomputed)) for found in table.differences
        ],
    }
    by_rules = Again(made, table.end())
    if any(turn.replies for turn in turns):
        by_rules = played_again(course_of(game_of(header)), turns)
    return derived((header, turns, end), header, by_rules, episode, rows)


def _episode_metrics(table: Table, episode: str) -> Iterator[EpisodeMetric]:
    if table.winner is not None:
        yield EpisodeMetric(episode, "avalon.good_wins", float(table.winner == "good"))
        yield EpisodeMetric(episode, "avalon.missions_succeeded", float(table.successes))
    if table.guess is not None and table.guess["guess"] is not None and table.guess["right"] is not None:
        yield EpisodeMetric(episode, "avalon.guess_right", float(table.guess["right"]))


def _values(table: Table, turn: Turn, episode: str) -> Iterator[TurnValue]:
    found = chances(table, turn.state_before, turn.state_after)
    if found is not None:
        yield TurnValue(
            episode, turn.turn, "avalon.good_wins", found.before, found.after, found.before - found.after, "probability", "exact"
        )
        if found.otherwise is not None:
            regret = max(found.otherwise - found.after, 0.0)
            best = found.after + regret
            yield TurnValue(episode, turn.turn, "avalon.vote", best, found.after, regret, "probability", "exact")


def failures(table: Table, turn: Turn, episode: str) -> Iterator[Failure]:
    """What went wrong in a turn, or right: formats, section 6.

    Args:
        table: of the game.
        turn: made by the rules.
        episode: its id.
    """
    after: dict[str, Any] = turn.state_after

    def row(agent: str | None, category: str, evidence: str | None = None) -> Failure:
        return Failure(episode, turn.turn, agent, TAXONOMY, category, evidence)

    for action in turn.actions:
        found = _action(table, after, action)
        if found is not None:
            yield row(action.agent, *found)
    if turn.state_before["stage"] == "proposal":
        yield from _of_team(table, turn, row)
    if turn.state_before["stage"] == "quest":
        last = after["missions"][-1]
        if last["fails"] is not None:
            yield row(None, "excess_fails" if last["fails"] > 1 else "no_excess", f"{last['fails']} fails")


def _action(table: Table, after: dict[str, Any], action: ActionEntry) -> tuple[str, str | None] | None:
    """Category and evidence."""
    if action.accepted is False:
        return "wrong_team_size" if action.error_code == "team_size" else "unreadable_reply", action.error_text
    if action.verb == "guess" and after["guess"]["right"] is not None:
        right = after["guess"]["right"]
        return "right_guess" if right else "wrong_guess", f"{after['guess']['guess']} is {after['guess']['role']}"
    if action.verb not in ("vote", "propose") or side(table.role(action.agent)) != "good":
        return None
    if action.verb == "vote":
        return _vote(after["on_table"], action.agent)
    found = after["on_table"]["verdicts"][action.agent]
    wrong = found is not None and found["bad"] and found["open_teams"]
    return None if found is None else ("proposes_proven_bad" if wrong else "proposal_not_refuted", found["basis"])


def _vote(placed: dict[str, Any], voter: str) -> tuple[str, str | None]:
    found, vote = placed["verdicts"][voter], placed["votes"].get(voter)
    if found is None or vote is None:
        return "vote_undecided", None
    if vote == "approve" and found["bad"] and found["open_teams"]:
        return "approves_proven_bad", f"{found['basis']}: evil on the team in {_possible(found['worlds'])}"
    if vote == "reject" and found["clean"]:
        return "rejects_proven_clean", f"no one of the team is evil in {_possible(found['worlds'])}"
    return "vote_not_refuted", f"evil on the team in {found['bad_worlds']} of {counted(found['worlds'], 'evil set')}"


def _possible(worlds: int) -> str:
    return "the only evil set that was possible" if worlds == 1 else f"all {worlds} evil sets that were possible"


def _of_team(table: Table, turn: Turn, row: Any) -> Iterator[Failure]:
    placed = turn.state_after["on_table"]
    if placed["auto"]:
        yield row(None, "forced_team", "the fifth proposal goes through unvoted")
    if placed["sole_reject"]:
        merlin = next(name for name in table.names if table.role(name) == "merlin")
        yield row(merlin, "merlin_sole_reject", "the only good reject, of a team with evil that no other good player could prove")
