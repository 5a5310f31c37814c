"""Five questions about a family's teams, answered in words: who is best, what goes wrong, where do they loop, who loses it, how sure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from analytics.findings import LEADERBOARD, Headline, headlines
from dashboards.address import GAME
from dashboards.parts import Part, html
from dashboards.reader import Reader, TeamName, kept
from dashboards.teams import FEW, Row, Teams, regret_by_agent
from schemas.common import wording
from schemas.common.text import printable
from schemas.families import can_spiral, family

_TWO_GAMES: Final = 2
"""From which on a team has an interval."""
_NOT_KNOWN: Final = "not known"

_Pair = tuple[TeamName, Row]


class _Answer(NamedTuple):
    asked: str
    who: str
    detail: str = ""
    href: str = ""


def answers(read: Reader, teams: Teams, game: str | None = None) -> Part:
    """What the figure of the teams shows, in words, with intervals and n; each answer leads to the games or turns behind it.

    Args:
        read: the page.
        teams: teams that can be compared; where some have played enough games, only these are named.
        game: the one they played, where scores of a family's games have different units.
    """
    pairs = list(zip(teams.names, teams.rows, strict=True))
    several = next((enough for least in (FEW, _TWO_GAMES, 0) if (enough := [pair for pair in pairs if pair[1]["games"] >= least])), [])
    is_known = family(teams.benchmark) is not None
    found = [*_of_teams(read, teams, several), *([_loses_most(read, teams, several), *_sure(read, teams, game)] if is_known else ())]
    tiles = [_tile(answer) for answer in found if is_known or answer.who != _NOT_KNOWN]
    return html.Dl(tiles, className="answers") if tiles else None


def _tile(answer: _Answer) -> Part:
    who: Part = html.A(printable(answer.who), href=answer.href) if answer.href else printable(answer.who)
    return html.Div([html.Dt(answer.asked), html.Dd([html.B(who), html.Small(printable(answer.detail))])])


def _of_teams(read: Reader, teams: Teams, several: Sequence[_Pair]) -> Iterator[_Answer]:
    if first := _extreme(several, "score_mean", -1):
        alike = sum(row["score_mean"] == first[1]["score_mean"] for _, row in several) - 1
        also = f" and {wording.counted(alike, 'other')}" if alike else ""
        yield _Answer("Highest score", f"{first[0]}{also}", _measured(first[1], "score", wording.score, "n"), _to(read, GAME, first[1]))
    else:
        yield _Answer("Highest score", _NOT_KNOWN)
    if process := teams.process:
        asked, title = process.worst.capitalize(), process.title.lower()
        worst = _extreme(several, "process_mean", 1 if process.least_is_worst else -1)
        if worst is None:
            yield _Answer(asked, _NOT_KNOWN)
        elif process.is_faultless(worst[1]["process_mean"]):
            yield _Answer(asked, "no team", f"{title} {process.write(worst[1]['process_mean'])} at worst")
        else:
            href = _to(read, "/turns", worst[1], only="removed") if process.line_at == 0 else _to(read, GAME, worst[1])
            yield _Answer(asked, str(worst[0]), f"{title} {_measured(worst[1], 'process', process.write, 'process_n')}", href)
    if not can_spiral(teams.benchmark):
        return
    spirals = _extreme(several, "spiral_share", -1)
    if spirals is None:
        yield _Answer("Most correction spirals", _NOT_KNOWN)
    elif not spirals[1]["spiral_share"]:
        yield _Answer("Most correction spirals", "no team", "no turn is in one")
    else:
        detail = f"{wording.share(spirals[1]['spiral_share'])} of turns {_ends(spirals[1], 'spiral', wording.share)}"
        counted = f", n {wording.counted(spirals[1]['spiral_turns'], 'turn')}"
        yield _Answer("Most correction spirals", str(spirals[0]), detail + counted, _to(read, "/turns", spirals[1], only="spiral"))


def _extreme(pairs: Sequence[_Pair], key: str, sign: int) -> _Pair | None:
    """The pair with the least of the signed values, of those that have one."""
    return min((pair for pair in pairs if pair[1][key] is not None), key=lambda pair: sign * pair[1][key], default=None)


def _measured(row: Row, key: str, write: Callable[[float | None], str], n: str) -> str:
    return f"{write(row[f'{key}_mean'])} {_ends(row, key, write)}, n {row[n]}"


def _ends(row: Row, key: str, write: Callable[[float | None], str]) -> str:
    low, high = row[f"{key}_low"], row[f"{key}_high"]
    return "(no interval)" if low is None or high is None else f"[{write(low)}, {write(high)}]"


def _to(read: Reader, path: str, row: Row, **keys: str) -> str:
    return read.address.narrowed(path, benchmark=row["benchmark"], model=row["model"], condition=row["condition"], **keys)


def _loses_most(read: Reader, teams: Teams, several: Sequence[_Pair]) -> _Answer:
    regrets = [(name, row, teams.at(teams.regrets, row)) for name, row in several]
    lost = [(cost, agent, name, row, own) for name, row, own in regrets for agent, cost in regret_by_agent(own).items()]
    if not lost:
        return _Answer("Loses most", _NOT_KNOWN, "no regret is attributed to an agent")
    cost, agent, name, row, own = max(lost, key=lambda one: one[0])
    whole = sum(one["cost_a_game"] for one in own)
    unread = sum(one["cost_a_game"] for one in own if one["status"] != "answered")
    detail = f"{wording.share(cost / whole)} of the regret of {name.model}; {wording.share(unread / whole)} is not attributed"
    return _Answer("Loses most", f"{agent} in {name}", detail, _to(read, "/turns", row, only="lost", agent=agent))


def _sure(read: Reader, teams: Teams, game: str | None) -> Iterator[_Answer]:
    """Which difference the report `compare` shows; nothing under a filter, since it is about all games."""
    if any(read.address.all(key) for key in ("condition", "model", "level")):
        return
    found = kept(
        read.store.path,
        ("headlines",),
        lambda: headlines(read.store, read.rows(LEADERBOARD, filter_on=(), at_hand=("compared_games", "leaderboard"))),
        size_of=lambda of: sum(len(str(one)) for one in of.values()),
    )
    boards: list[Headline] = found.get(teams.benchmark, [])
    for headline in (board for board in boards if board.game == game):
        because = "; ".join(filter(None, (headline.because, headline.short and headline.caveat)))
        href = read.address.narrowed("/compare", benchmark=teams.benchmark)
        yield _Answer("How sure", headline.brief or "not sure", because, href)
    if not boards:
        yield _Answer("How sure", _NOT_KNOWN, "no game has ended")
