"""The report `profiles`: games in groups by what went wrong in them, and whether the groups would be found again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from analytics.query import query
from schemas import wording
from schemas.store import Store

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["STABLE", "SUMMARY", "grouped", "profiles"]

SUMMARY: Final = ("taxonomy", "benchmark", "profile", "games", "marks", "score", "teams", "silhouette", "stability")
"""The columns that fit a terminal, beside the advice."""

STABLE: Final = 0.75
"""Jaccard similarity of a group with what becomes of it in other samples, from which on it counts as found (Hennig 2007)."""

_GROUPS: Final = range(2, 7)
_FEWEST: Final = 20
_DRAWS: Final = 25
_SEED: Final = 7
_MOST_COMPARED: Final = 1500
"""Games whose distances are all taken; of more, as many at random."""
_MARKS: Final = 3
_APART: Final = 0.01
"""How much larger a share is than in all games before it marks a group."""
_Row = dict[str, Any]


def profiles(store: Store, *, benchmark: str | None = None) -> pl.DataFrame:
    """One row for each taxonomy and group of games with similar shares of failure categories.

    Columns, in order:

    - taxonomy, benchmark; profile: from 1, the largest group first; games; share: of all games.
    - marks: categories whose share of the group's turns is furthest above that of all games, with both shares.
    - score: mean score of its games; teams: team and its share of the group, the largest first.
    - groups: number of groups, 2 to 6, the one with the largest silhouette; silhouette: mean over all games, -1 to 1 (Rousseeuw 1987).
    - stability: mean Jaccard similarity, 0 to 1, of the group with the most similar one in 25 samples of the tasks (Hennig 2007).
    - advice: whether to read it.

    Args:
        store: a store with the views.
        benchmark: only this one; None: all.
    """
    import polars as pl

    turns = query(
        store,
        "SELECT failure_turns.taxonomy, failure_turns.benchmark, failure_turns.episode_id, category, count(*) AS n FROM failure_turns "
        "INNER JOIN compared_games USING (episode_id) WHERE counted GROUP BY ALL ORDER BY ALL",
    )
    games = query(store, "SELECT episode_id, team_name, task, score FROM compared_games")
    rows = [
        {"taxonomy": taxonomy, "benchmark": name} | row
        for (taxonomy, name), part in turns.group_by("taxonomy", "benchmark", maintain_order=True)
        if benchmark in (None, name)
        for row in _of_taxonomy(part, games)
    ]
    return pl.DataFrame([{column: row[column] for column in _schema()} for row in rows], schema=_schema(), orient="row")


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    text, count, number = pl.String(), pl.Int64(), pl.Float64()
    return {
        **dict.fromkeys(("taxonomy", "benchmark"), text),
        **dict.fromkeys(("profile", "games"), count),
        "share": number,
        "marks": text,
        "score": number,
        "teams": text,
        "groups": count,
        **dict.fromkeys(("silhouette", "stability"), number),
        "advice": text,
    }


def _of_taxonomy(turns: pl.DataFrame, games: pl.DataFrame) -> Iterator[_Row]:
    import numpy as np
    import polars as pl

    wide = turns.pivot(on="category", index="episode_id", values="n").fill_null(0).join(games, on="episode_id", maintain_order="left")
    names = sorted(set(turns["category"]))
    counts = wide.select(names).to_numpy().astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    if len(wide) < _FEWEST or len(np.unique(shares, axis=0)) <= max(_GROUPS):
        return
    group, silhouette, stability = grouped(shares, wide["task"].to_numpy())
    sizes = np.bincount(group)
    for number, place in enumerate(np.argsort(-sizes, kind="stable"), start=1):
        own = group == place
        some = wide.filter(pl.Series(own))
        row = {
            "profile": number,
            "games": int(own.sum()),
            "share": float(own.mean()),
            "marks": _marks(names, shares[own].mean(axis=0), shares.mean(axis=0)),
            "score": some["score"].mean(),
            "teams": ", ".join(
                f"{team} {wording.share(n / len(some))}" for team, n in some["team_name"].value_counts(sort=True).head(3).rows()
            ),
            "groups": len(sizes),
            "silhouette": silhouette,
            "stability": float(stability[place]),
        }
        yield row | {"advice": _advice(row)}


def grouped(shares: Floats, tasks: NDArray[Any]) -> tuple[NDArray[np.int64], float, Floats]:
    """Group of each game, mean silhouette, and stability of each group: k-means (scikit-learn) on square roots of shares.

    Square roots make the distance that of Hellinger, so that a category of few turns counts beside one of many. Samples are of whole tasks.

    Args:
        shares: of each category among the turns, shape (games, categories), rows sum to 1.
        tasks: shape (games,).
    """
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    points = np.sqrt(shares)
    fits = {k: KMeans(k, n_init=5, random_state=_SEED).fit_predict(points) for k in _GROUPS}
    silhouettes = {
        k: float(silhouette_score(points, found, sample_size=min(len(points), _MOST_COMPARED), random_state=_SEED))
        for k, found in fits.items()
        if len(np.unique(found)) == k
    }
    best = max(silhouettes, key=lambda k: silhouettes[k])
    group, random = fits[best], np.random.default_rng(_SEED)
    kinds, place = np.unique(tasks, return_inverse=True)
    similar: Floats = np.zeros((_DRAWS, best))
    for draw in range(_DRAWS):
        times = np.bincount(random.integers(0, len(kinds), len(kinds)), minlength=len(kinds))[place]
        inside = times > 0
        if len(np.unique(points[inside], axis=0)) < best:
            continue
        again = KMeans(best, n_init=2, random_state=draw).fit_predict(points[inside], sample_weight=times[inside].astype(float))
        for one in range(best):
            was = group[inside] == one
            similar[draw, one] = max(
                float((was & (again == other)).sum() / max((was | (again == other)).sum(), 1)) for other in range(best)
            )
    return group, silhouettes[best], similar.mean(axis=0)


def _marks(names: list[str], own: Floats, everywhere: Floats) -> str:
    above = sorted(zip(own - everywhere, names, own, everywhere, strict=True), reverse=True)[:_MARKS]
    return ", ".join(
        f"{wording.in_words(name)} {wording.share(share)} (all {wording.share(usual)})"
        for apart, name, share, usual in above
        if apart > _APART
    )


def _advice(row: _Row) -> str:
    about = f"profile {row['profile']}: {row['games']} games with {row['marks'] or 'nothing above the others'}"
    stable = f"(stability {wording.score(row['stability'])})"
    if row["stability"] < STABLE:
        return f"{about}; in other samples of the tasks it would be another {stable}: do not read it"
    told = f"{about}; it is found again in other samples {stable}, which does not say why these games fail so"
    return f"{told}; where games differ by chance alone one group in seven to three is found again, too"
