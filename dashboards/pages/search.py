"""Search: words in messages, thoughts, judges' reasons, and in the names of tasks, teams and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dashboards.address import GAME, Address, game_at
from dashboards.filters import value_in_words
from dashboards.parts import Later, Part, card, html, link_choices, note, pager
from dashboards.playback.messages import highlighted, words_of
from dashboards.reader import Reader
from schemas.common.text import printable
from schemas.common.wording import count, in_words

if TYPE_CHECKING:
    import polars as pl


PATH = "/search"
TITLE = "Search"
IN_MENU = False
ORDER = 96

_SHOWN: Final = 30
_GAMES_SHOWN: Final = 8
_MOST_TEAMS: Final = 6
_BEFORE: Final = 110
_EXCERPT: Final = 340
"""Characters of a text that are shown, and how many of them before the first word."""

_KINDS: Final[Mapping[str, str]] = {"messages": "messages", "thoughts": "thoughts", "reasons": "judges' reasons"}

_HITS: Final = """
    hits AS (
        SELECT CASE WHEN channel = 'private' THEN 'thoughts' ELSE 'messages' END AS kind, episode_id, turn, agent, text, NULL AS question
        FROM utterances WHERE {matches} AND {in_games}
        UNION ALL BY NAME
        SELECT 'reasons' AS kind, episode_id, turn, agent, reason AS text, question
        FROM verdicts WHERE {matches_reason} AND {in_games}
    )
"""
_COUNTS: Final = """
    WITH said AS (
        SELECT coalesce(channel = 'private', false) AS is_thought, episode_id, count(*) AS n FROM utterances WHERE {matches} GROUP BY ALL
    ),
    reasoned AS (SELECT episode_id, count(*) AS n FROM verdicts WHERE {matches_reason} GROUP BY ALL)
    SELECT CASE WHEN is_thought THEN 'thoughts' ELSE 'messages' END AS kind, episode_id, n FROM said
    UNION ALL BY NAME
    SELECT 'reasons' AS kind, episode_id, n FROM reasoned
"""
"""By game, so that only the games on the page are looked through again for their texts; each table by itself: grouping what both
hold took longer than looking through it."""
_LIST: Final = """
    SELECT * EXCLUDE (text), substr(text, greatest(1, strpos(lower(text), $word_0) - $before), $length) AS excerpt,
        strpos(lower(text), $word_0) > $before + 1 AS is_cut, length(text) AS characters
    FROM (
        SELECT kind, episode_id, coalesce(turn, 1) AS turn, agent, question, text FROM hits WHERE ($kind = '' OR kind = $kind)
        ORDER BY list_position([{games}], episode_id), turn, kind, agent, question, text LIMIT $rows OFFSET $start
    )
    ORDER BY list_position([{games}], episode_id), turn, kind, agent, question, text
"""
"""The excerpts of what is shown alone: cutting every text that holds a common word takes most of a second at 100,000 turns."""
_GAMES: Final = "SELECT episode_id, benchmark, model, task_id, file FROM games WHERE {filters}"
"""Asked for once, and put beside what was found: finding out which games count takes as long as looking through what they said."""
_ORDER: Final = ("benchmark", "model", "task_id", "episode_id")


def title(read: Reader) -> str:
    """The tab: what is looked for."""
    return f"{printable(read.address.one('q'))} · Search" if read.address.one("q") else TITLE


def content(read: Reader) -> Part:
    """`?q=words "and phrases"&kind=messages|thoughts|reasons&from=0`: texts that hold all of them, in any case."""
    if not words_of(read.address.one("q")):
        return html.Div(
            [html.H1("Search"), note('Words, and "phrases in quotes", in messages, thoughts, reasons and names. Press / to begin.')]
        )
    return html.Div([html.H1("Search"), _FOUND(read)])


def _found(read: Reader, _: str) -> Part:
    words = words_of(read.address.one("q"))
    start = read.address.number("from", 0)
    games = read.rows(_GAMES)
    counts = _run(read, words, _COUNTS).join(games, on="episode_id")
    kind = read.address.one("kind") if read.address.one("kind") in _KINDS else ""
    total = int(counts.filter(counts["kind"] == kind)["n"].sum() if kind else counts["n"].sum())
    lead = f"{count(total)} {_KINDS.get(kind, 'texts')} with {' and '.join(f'“{printable(word)}”' for word in words)}."
    listed = _list(read, words, counts, kind, start) if total else note("Nothing was found under these filters.")
    return html.Div(
        [
            html.P(lead, className="lead"),
            _facets(read, counts, kind),
            _named(read, words, games),
            listed,
            *_pages(read, start, total),
        ]
    )


def _run(read: Reader, words: Sequence[str], select: str, games: Sequence[str] | None = None, **parameters: object) -> pl.DataFrame:
    values = {f"word_{place}": word for place, word in enumerate(words)} | parameters
    values |= {f"game_{place}": game for place, game in enumerate(games or ())}
    sql = f"WITH {_HITS} {select}" if select is _LIST else select
    sql = sql.replace("{in_games}", "episode_id IN ({games})").replace("{games}", ", ".join(f"$game_{n}" for n in range(len(games or ()))))
    for place, column in {"{matches}": "text", "{matches_reason}": "reason"}.items():
        sql = sql.replace(place, " AND ".join(f"contains(lower({column}), $word_{number})" for number in range(len(words))))
    return read.rows(sql, values)


def _facets(read: Reader, counts: pl.DataFrame, kind: str) -> Part:
    """How many of each kind, and of the teams with most; a choice narrows, and the other counts follow."""
    address = read.address
    kinds = [("all", address.to(kind=None, **{"from": None}), not kind)]
    for name, text in _KINDS.items():
        found = int(counts.filter(counts["kind"] == name)["n"].sum())
        kinds.append((f"{text} {count(found)}", address.to(kind=name, **{"from": None}), kind == name))
    of_kind = counts.filter(counts["kind"] == kind) if kind else counts
    rows = []
    for label, key in (("Family", "benchmark"), ("Team", "model")):
        most = of_kind.group_by(key).agg(n=_sum()).sort("n", key, descending=[True, False])
        if len(most) > 1 or address.all(key):
            lines = [
                (
                    f"{value_in_words(read, key, value)} {count(n)}",
                    address.toggled(key, value),
                    value in address.all(key),
                )
                for value, n in most.head(_MOST_TEAMS).rows()
            ]
            rows.append(link_choices(label, lines))
    return html.Div([link_choices("In", kinds), *rows])


def _sum() -> pl.Expr:
    import polars as pl

    return pl.col("n").sum()


def _named(read: Reader, words: Sequence[str], games: pl.DataFrame) -> Part:
    import polars as pl

    task = pl.col("task_id")
    names = pl.concat_str(task, task.str.replace_all("_", " ", literal=True), "model", "file", separator=" ", ignore_nulls=True)
    has_words = pl.all_horizontal(names.str.to_lowercase().str.contains(word, literal=True) for word in words)
    rows = games.filter(has_words).sort(_ORDER, nulls_last=True).head(_GAMES_SHOWN)
    if rows.is_empty() or read.address.number("from", 0):
        return None
    lines = [
        html.Li(
            [
                html.A(
                    highlighted(f"{in_words(row['task_id'])} · {printable(row['model'])}", words),
                    href=game_at(row["episode_id"], 1),
                ),
                html.Span(highlighted(f" {printable(row['file'] or '')}", words), className="source"),
            ]
        )
        for row in rows.iter_rows(named=True)
    ]
    return card("Games by name", html.Ul(lines, className="plain"))


def _on_page(counts: pl.DataFrame, start: int) -> tuple[list[str], int]:
    """The games whose texts stand on the page, and how many texts of the first of them stand on pages before."""
    import polars as pl

    games = counts.group_by(_ORDER).agg(n=_sum()).sort(_ORDER, nulls_last=True).with_columns(end=pl.col("n").cum_sum())
    shown = games.filter((pl.col("end") > start) & (pl.col("end") - pl.col("n") < start + _SHOWN))
    before = shown.select(pl.col("end") - pl.col("n"))
    return shown["episode_id"].to_list(), start - before.item(0, 0) if len(before) else 0


def _list(read: Reader, words: Sequence[str], counts: pl.DataFrame, kind: str, start: int) -> Part:
    games, skipped = _on_page(counts.filter(counts["kind"] == kind) if kind else counts, start)
    if not games:
        return note("There are no more texts.")
    rows = _run(read, words, _LIST, games, kind=kind, rows=_SHOWN, start=skipped, before=_BEFORE, length=_EXCERPT)
    named = counts.select("episode_id", "model", "task_id").unique()
    rows = rows.join(named, on="episode_id", maintain_order="left")
    alike = [
        list(group) for _, group in groupby(rows.iter_rows(named=True), key=itemgetter("model", "task_id", "turn", "agent", "excerpt"))
    ]
    return html.Section([_hit(group[0], words, len(group)) for group in alike], className="card hits")


def _hit(row: Mapping[str, Any], words: Sequence[str], games: int) -> Part:
    """A text, once for all games of the page that have it word for word."""
    find = " ".join(f'"{word}"' if " " in word else word for word in words)
    href = Address(GAME).to(episode=row["episode_id"], turn=row["turn"], find=find)
    head = [
        html.A(f"{printable(in_words(row['task_id']))} · {printable(row['model'])} · turn {row['turn']}", href=href),
        html.Span(f" {printable(row['agent'] or 'group')}, {row['question'] or _KINDS[row['kind']].removesuffix('s')}", className="source"),
        html.Span(f", word for word in {games} games", className="source") if games > 1 else None,
    ]
    more = row["characters"] > _EXCERPT
    text = [*(["… "] if row["is_cut"] else []), *highlighted(" ".join(row["excerpt"].split()), words), *([" …"] if more else [])]
    return html.Article([html.Div(head), html.Div(text, className="text")], className="hit")


def _pages(read: Reader, start: int, total: int) -> list[Part]:
    return [pager(read.address, start, _SHOWN, total, "texts")] if total > _SHOWN else []


_FOUND: Final = Later("search-found", _found, 700)
LATER = (_FOUND,)
