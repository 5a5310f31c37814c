"""The report `lost`: who lost it, when, and by how much, in sentences."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import polars as pl

from analytics.query import query
from analytics.report_columns import framed
from analytics.statistics.intervals import LEVEL, Interval, mean_interval
from schemas.common.wording import counted, without_zero
from schemas.store.store import Store

_STEPS: Final = (files("analytics.common") / "failure_steps.csv").read_text(encoding="utf-8").splitlines()
LINK_WORDS: Final[Mapping[str, str]] = {line["link"]: line["words"] for line in csv.DictReader(_STEPS)}
"""Link -> why progress was lost, in words."""

_SMALLEST: Final = 0.0005


def amount(cost: float, unit: str) -> str:
    """`.47`, `2 steps`, `0.5 points`: progress and probability without a unit, below one without a leading zero."""
    if unit in ("progress", "probability"):
        shown = f"{cost:.2f}" if abs(cost) >= 0.1 or abs(cost) < _SMALLEST else f"{cost:.3f}"  # noqa: PLR2004 - two digits that count
        return without_zero(shown) if float(shown) else "0"
    whole = f"{cost:.0f}" if abs(cost - round(cost)) < 0.05 else f"{cost:.1f}"  # noqa: PLR2004 - a tenth is shown
    return f"{whole} {unit.removesuffix('s') if whole == '1' else unit}"


_OF_ONE: Final = {"progress": "progress", "probability": "the chance of success"}
"""Unit between 0 and 1 -> what of it is lost."""


def of_unit(numbers: str, unit: str) -> str:
    """Numbers with what they are of, where `amount` names no unit."""
    return f"{numbers} of {_OF_ONE[unit]}" if unit in _OF_ONE else numbers


def of_link(link: str) -> str:
    """A link in words."""
    return LINK_WORDS.get(link, link.replace("_", " "))


_NOTHING: Final = 1e-9
_FEWEST: Final = 3
_EVIDENCE: Final = 160
"""Characters of an evidence that a sentence quotes."""

_COSTS: Final = f"""
    WITH costs AS (
        SELECT turns.episode_id, turns.turn, turns.benchmark, turns.model, turns.team_name AS team, turns.condition, turns.task_id,
            turns.unit, turns.value_before,
            greatest(turns.cost, 0) AS cost, turns.episode_id IN (SELECT episode_id FROM attributions) AS attributed
        FROM turn_costs AS turns
        WHERE isfinite(turns.cost) AND turns.episode_id NOT IN (SELECT episode_id FROM turn_costs WHERE kind = 'none')
    ),
    totals AS (SELECT benchmark, team, condition, episode_id, attributed, sum(cost) AS lost FROM costs GROUP BY ALL),
    teams AS (
        SELECT benchmark, team, condition, bool_or(lost > {_NOTHING} AND NOT attributed) AS is_open FROM totals GROUP BY ALL
    )
    SELECT costs.* FROM costs
    INNER JOIN teams ON costs.benchmark = teams.benchmark
        AND costs.team IS NOT DISTINCT FROM teams.team AND costs.condition IS NOT DISTINCT FROM teams.condition
    WHERE attributed OR (NOT is_open AND costs.benchmark IN (SELECT benchmark FROM costs WHERE attributed)) ORDER BY ALL
    """
"""Attributed games, and of families that have some those that lost nothing, where there is nothing to attribute: a mean without them would
be one of the games that went wrong. Not those of a team with losses that are not attributed: of it they alone would count."""
_FOUND: Final = """
    SELECT episode_id, turn, agent, role, agent_model, archetype, link, cost, evidence,
        CASE WHEN status = 'answered' THEN coalesce(role, agent, 'no one at fault') ELSE status END AS part,
        part || coalesce(' ' || CASE WHEN agent_model <> team_name THEN agent_model END, '') AS holder
    FROM attributed_costs
    WHERE starts_with(judge, 'engine') AND cost > 0 AND isfinite(cost) ORDER BY ALL
    """
_CATEGORIES: Final = """
    SELECT *, team_name AS team FROM cost_by_category
    WHERE share IS NOT NULL ORDER BY benchmark, team_name, condition, round(share, 9) DESC, category, taxonomy
    """
_SPIRALS: Final = "SELECT *, team_name AS team FROM cost_in_spirals WHERE share_inside IS NOT NULL ORDER BY benchmark, team_name, condition"

_UP_TO_ONE: Final = frozenset(("progress", "probability"))

_Row = dict[str, Any]


def reader_of(judge: str) -> str:
    """Who read the messages for a judge of the engine's: the rules, or a reader as in the column `claims.reader`."""
    return judge.partition(":")[2] or "the rules"


def lost_report(store: Store) -> pl.DataFrame:
    """What was lost by every game, model, role, archetype, condition, link, failure category, and inside spirals.

    Columns: `report_columns.csv`.

    Args:
        store: a store whose games were attributed (`cotrace attribute`); others that lost something are left out, and so is their team's
            every game that lost nothing.

    Raises:
        StoreError: the store cannot be read.
    """
    costs, found = query(store, _COSTS), query(store, _FOUND)
    joined = found.join(
        costs.select("episode_id", "benchmark", "model", "team", "condition", "task_id", "unit").unique(), on="episode_id", how="inner"
    )
    rows = [
        *_most_games_first(_models(costs, joined)),
        *_most_games_first(_parts(costs, joined)),
        *_most_games_first(_categories(query(store, _CATEGORIES))),
        *_most_games_first(_spirals(query(store, _SPIRALS))),
        *_games(costs, joined),
    ]
    return framed("lost", rows)


def _most_games_first(rows: Iterator[_Row]) -> list[_Row]:
    """In the order of `what` as they come, and of one kind those that rest on most first."""
    kinds: dict[str, list[_Row]] = {}
    for row in rows:
        kinds.setdefault(row["what"], []).append(row)
    return [row for kind in kinds.values() for row in sorted(kind, key=lambda row: -(row.get("games") or 0))]


def _mean(values: list[float], unit: object) -> _Row:
    ends = losses_interval(values, most=1.0 if unit in _UP_TO_ONE else None)
    return {"lost": sum(values) / len(values), "low": ends and ends.low, "high": ends and ends.high}


def losses_interval(values: Sequence[float], *, most: float | None) -> Interval | None:
    """95 % interval of the mean of what games lost: of losses up to `most` the score interval of a bounded mean, else Student's t of logs.

    Losses are skewed: often nothing, seldom much. The coverage of Student's t of the losses themselves was 77 to 92 % in simulations,
    that of the mean's logarithm (error over mean, the delta method) in more
    (docs/dev/coverage.md). None below two games, without a bound below
    three, and where nothing bounds losses that are all alike: an interval without width would say that nothing is in doubt.

    Args:
        values: of each game, 0 or more.
        most: that a game can lose; None: not known.
    """
    import numpy as np
    from scipy import stats

    losses = np.array(values, dtype=float)
    if len(losses) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    if most is not None and losses.max() <= most:
        ends = mean_interval(losses / most, np.ones(len(losses)))
        return Interval(float(ends.low) * most, float(ends.high) * most)
    mean, error = float(losses.mean()), float(stats.sem(losses))
    if error <= _NOTHING or len(losses) < _FEWEST:
        return None
    half = float(stats.t.ppf((1 + LEVEL) / 2, len(losses) - 1)) * error / mean
    return Interval(mean * math.exp(-half), mean * math.exp(half))


def _with_interval(row: _Row) -> str:
    between = "" if row["low"] is None else f" [{amount(row['low'], row['unit'])}, {amount(row['high'], row['unit'])}]"
    return of_unit(f"{amount(row['lost'], row['unit'])}{between}", row["unit"])


# -- teams ------------------------------------------------------------------------------------------------


def _models(costs: pl.DataFrame, found: pl.DataFrame) -> Iterator[_Row]:
    """A row a team and condition, then one a condition."""
    for by, keys in (("model", ("benchmark", "unit", "condition", "model", "team")), ("condition", ("benchmark", "unit", "condition"))):
        for key, part in costs.group_by(*keys, maintain_order=True):
            about = dict(zip(keys, key, strict=True))
            games = _per_game(part)
            row = (
                {"what": by, "name": about["team" if by == "model" else by], "games": len(games), "share": 1.0}
                | about
                | _mean(games, about["unit"])
            )
            row["turns"] = len(part.filter(part["cost"] > _NOTHING))
            own = found.filter(*(found[name] == value for name, value in about.items()))
            part_by = "holder" if by == "model" else "part"  # a condition's builders may be of several models: none of them is meant
            words = (
                f"{_who(row) if by == 'model' else row['name']} ({counted(len(games), 'game')}): mean loss per game {_with_interval(row)}"
            )
            yield row | {"sentence": f"{words}{_shares(own, sum(games), part_by)}."}


def _per_game(part: pl.DataFrame) -> list[float]:
    sums: list[float] = part.group_by("episode_id", maintain_order=True).agg(pl.col("cost").sum())["cost"].to_list()
    return sums


def _who(row: _Row) -> str:
    """The team, or the condition where no log names the model."""
    return str(row["condition"] if row["team"] in (None, "unknown") and row["condition"] else row["team"])


def _turns_in_words(turns: int) -> str:
    return "1 turn" if turns == 1 else f"{turns} turns"


def _shares(found: pl.DataFrame, total: float, by: str) -> str:
    """`; director 61 %, mostly ...; no one at fault 30 %; unattributed 9 %: message not understood`."""
    if total <= _NOTHING:
        return ""
    parts = []
    for (holder,), part in sorted(found.group_by(by), key=_costliest):
        share = f"{holder} {100 * float(part['cost'].sum()) / total:.0f} %"
        more = "" if holder in ("no one at fault", "undecided") else f", mostly {of_link(_most(part, 'link'))}"
        parts.append(f"{share}: message not understood" if holder == "unattributed" else share + more)
    return "; " + "; ".join(parts) if parts else ""


def _costliest(group: tuple[tuple[Any, ...], pl.DataFrame]) -> tuple[bool, float, str]:
    """Sorts who cost most first, no one at fault last, and those who cost the same by name."""
    (name,), part = group
    return name is None, -round(float(part["cost"].sum()), 9), str(name)


def _most(part: pl.DataFrame, column: str) -> str:
    return str(part.group_by(column).agg(pl.col("cost").sum()).sort("cost", column, descending=[True, False])[column][0])


# -- roles, archetypes, links -------------------------------------------------------------------------------


def _parts(costs: pl.DataFrame, found: pl.DataFrame) -> Iterator[_Row]:
    """What each role, archetype and link lost, by team and condition; games in which it lost nothing count, too."""
    team = ["benchmark", "unit", "condition", "model", "team"]
    games = costs.group_by(*team, "episode_id", maintain_order=True).agg(pl.col("cost").sum().alias("all"))
    for by in ("role", "archetype", "link"):
        for key, part in found.drop_nulls(by).group_by(*team, by, maintain_order=True):
            about = dict(zip((*team, "name"), key, strict=True))
            played = games.filter(*(pl.col(name) == about[name] for name in team))
            own = played.join(part.group_by("episode_id").agg(pl.col("cost").sum()), on="episode_id", how="left").with_columns(
                pl.col("cost").fill_null(0.0)
            )
            row = (
                {"what": by, "games": len(own), "turns": part.select("episode_id", "turn").n_unique()}
                | about
                | _mean(own["cost"].to_list(), about["unit"])
            )
            row["share"] = float(own["cost"].sum()) / float(own["all"].sum())
            what = of_link(str(row["name"])) if by == "link" else f"{row['name']}, mostly by {of_link(_most(part, 'link'))}"
            often = _turns_in_words(row["turns"])
            words = f"{_who(row)}: {_with_interval(row)} a game, {100 * row['share']:.0f} % of the loss, in {often}: {what}."
            yield row | {"sentence": words}


# -- what other measures say ---------------------------------------------------------------------------------


def _categories(rows: pl.DataFrame) -> Iterator[_Row]:
    for found in rows.iter_rows(named=True):
        words = (
            f"{_who(found)}: turns of {found['category']} ({found['taxonomy']}) carry {100 * found['share']:.0f} % of the loss, "
            f"{of_unit(amount(found['cost_a_turn'], found['unit']), found['unit'])} each."
        )
        name = f"{found['taxonomy']}: {found['category']}"
        yield found | {"what": "category", "name": name, "lost": found["cost_a_turn"], "sentence": words}


def _spirals(rows: pl.DataFrame) -> Iterator[_Row]:
    for found in rows.iter_rows(named=True):
        yield found | {
            "what": "spirals",
            "name": found["team"],
            "turns": found["turns_inside"],
            "lost": found["cost_inside"],
            "share": found["share_inside"],
            "sentence": f"{_who(found)}: {_in_spirals(found)}.",
        }


def _in_spirals(found: _Row) -> str:
    """What turns inside lost against any turns of the same games; a side without turns lost neither something nor nothing."""
    unit = found["unit"]
    inside, outside = (
        None if found[side] is None else of_unit(amount(found[side], unit), unit) for side in ("cost_inside", "cost_outside")
    )
    if inside is None:
        return f"no turn was inside a correction spiral; a turn lost {outside}"
    share = f"spirals carry {100 * found['share_inside']:.0f} % of the loss"
    if outside is None:
        return f"every turn was inside a correction spiral, and lost {inside}; {share}"
    expected = of_unit(amount(found["cost_expected"], unit), unit)
    shown = "more" if (found["more_low"] or 0) > 0 else "less" if (found["more_high"] or 0) < 0 else "not shown to be more"
    return f"a turn inside a correction spiral lost {inside}, any turn of the same games {expected}: {shown} in these games; {share}"


# -- games ---------------------------------------------------------------------------------------------------


def _games(costs: pl.DataFrame, found: pl.DataFrame) -> Iterator[_Row]:
    by_game = dict(iter(found.group_by("episode_id")))
    for (episode,), part in costs.filter("attributed").group_by("episode_id", maintain_order=True):
        first, lost = part.row(0, named=True), float(part["cost"].sum())
        row = {name: first[name] for name in ("benchmark", "model", "team", "condition", "unit")}
        row |= {"what": "game", "name": str(episode), "games": 1, "turns": int((part["cost"] > _NOTHING).sum()), "lost": lost, "share": 1.0}
        parts = [f"{_who(first)} on {first['task_id']}: {_of_start(lost, first)}"]
        if (episode,) in by_game:
            parts += _agents(by_game[episode,], str(first["unit"]))
        yield row | {"sentence": "; ".join(parts) + "."}


def _of_start(lost: float, first: _Row) -> str:
    if first["unit"] in ("progress", "probability", "points"):
        verb = "were" if first["unit"] == "points" and lost != 1 else "was"
        within = f"{amount(lost, first['unit'])} of {amount(first['value_before'], first['unit'])}"
        return f"{within} {_OF_ONE.get(first['unit'], '').removeprefix('the ')}".rstrip() + f" {verb} lost"
    needed = amount(first["value_before"], first["unit"])
    return f"{amount(lost, first['unit'])} more than the {needed} that {'was' if needed.startswith('1 ') else 'were'} needed"


def _agents(found: pl.DataFrame, unit: str) -> Iterator[str]:
    """Each agent with what it lost, mostly how, and its costliest turn."""
    by_agent = found.with_columns(whose=pl.coalesce("agent", "holder"), owned=pl.col("agent").is_not_null())
    for (_, whose), part in sorted(
        by_agent.group_by("owned", "whose"), key=lambda group: (not group[0][0], *_costliest(((group[0][1],), group[1])))
    ):
        agent = part["agent"][0]
        cost, turns = of_unit(amount(float(part["cost"].sum()), unit), unit), part["turn"].n_unique()
        link = _most(part, "link")
        if agent is None:
            named = {
                "harness": f"the harness {cost}, mostly {of_link(link)}",
                "unattributed": f"unattributed {cost}: message not understood",
                "undecided": f"undecided {cost}",
            }
            yield named.get(str(whose), f"no one at fault {cost}, mostly {of_link(link)}")
            continue
        worst = part.filter(pl.col("link") == link).sort("cost", "turn", descending=[True, False]).row(0, named=True)
        equal = part.filter(pl.col("link") == link, pl.col("cost") >= worst["cost"] - _NOTHING)["turn"].unique().sort().to_list()
        which = f"turn {equal[0]}" if len(equal) == 1 else f"turns {', '.join(map(str, equal[:-1]))} and {equal[-1]}, each"
        often = _turns_in_words(turns)
        yield f"{agent} cost {cost} in {often}, mostly by {of_link(link)} ({which}: {_quoted(str(worst['evidence']))})"


def _quoted(evidence: str) -> str:
    """Its beginning, ended at a word, so that a cut is seen to be one; what has few spaces, such as Chinese, within a word."""
    whole = " ".join(evidence.split())
    if len(whole) <= _EVIDENCE:
        return whole
    cut = whole[:_EVIDENCE]
    words = cut.rpartition(" ")[0]
    return f"{words if len(words) > _EVIDENCE // 2 else cut} ..."
