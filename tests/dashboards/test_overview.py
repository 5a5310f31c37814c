"""The front page: one row a team, its score next to how it worked, and the same teams turn by turn."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import plotly.graph_objects as go
import pytest
from click.testing import CliRunner
from dash import dcc
from playwright.sync_api import Page

import cotrace
from analytics.installation import ensure_installed
from analytics.query import query
from analytics.reports import report
from cotrace.cli import cli
from dashboards.address import Address
from dashboards.answers import answers
from dashboards.drawing import draw_page
from dashboards.page_file import page_file
from dashboards.pages import pages
from dashboards.parts import to_html
from dashboards.reader import TeamName, reader
from dashboards.team_figures import caption, overview_figure, turns_figure
from dashboards.teams import FEW, MOST_TEAMS, Teams, teams_of
from schemas.store.store import Store
from tests.dashboards.test_looks import CHAT
from tests.ingest.asked import ingested, written

IN_SPIRALS = "SELECT model, episode_id, unnest(range(start_turn, end_turn + 1)) AS turn FROM correction_spirals"
PANELS = [
    "Overall progress",
    "Goal reached",
    "Remove gap",
    "Turns in spirals",
    "Failures, share of turns",
    "Regret a game by agent, progress",
]


class Drawn(NamedTuple):
    """The figures of a store."""

    teams: Teams
    wide: go.Figure
    tall: go.Figure
    turns: go.Figure
    said: str


@pytest.fixture(scope="module")
def drawn(played: Store) -> Drawn:
    """Of nine games of three teams, drawn once."""
    with reader(played, Address.parse("/", "")) as read:
        teams = teams_of(read, "craft")
        wide, tall, turns = overview_figure(read, teams), overview_figure(read, teams, is_tall=True), turns_figure(read, teams)
        assert wide is not None
        assert tall is not None
        assert turns is not None
        return Drawn(teams, wide, tall, turns, re.sub(r"<[^>]+>", " ", to_html(answers(read, teams))))


def titles(figure: go.Figure) -> list[str]:
    """What the panels are called."""
    return [annotation.text for annotation in figure.layout.annotations]


def addresses(figure: go.Figure) -> Iterator[str]:
    """Where the marks of a figure lead."""
    for trace in figure.data:
        for entry in trace.customdata if trace.customdata is not None else ():
            yield entry[0]


def test_no_team_is_worst_where_none_has_a_fault(played: Store) -> None:
    """Tiles such as "Asks worst: optimal, 100 % right" and "Most correction spirals: 0 % of turns" named a team for nothing."""
    with reader(played, Address.parse("/", "")) as read:
        teams = teams_of(read, "craft")
        rows = [{**row, "spiral_share": 0.0, "process_mean": 0.0} for row in teams.rows]
        said = to_html(answers(read, replace(teams, rows=rows)))
    for told in ("Removes too much", "Most correction spirals"):
        assert f"<dt>{told}</dt><dd><b>no team</b>" in said


@pytest.mark.parametrize("only", [(), ("score", "spiral")])
def test_panels_one_below_the_other_have_room_for_their_numbers(only: tuple[str, ...], played: Store) -> None:
    """On Spirals and Remove gap, two panels, the title of the second was drawn over the numbers of the first."""
    with reader(played, Address.parse("/", "")) as read:
        figure = overview_figure(read, teams_of(read, "craft"), only=only, is_tall=True)
    assert figure is not None
    tall = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    ends = [axis.domain for axis in figure.select_yaxes()]
    assert min((above[0] - below[1]) * tall for above, below in pairwise(ends)) > 50


def test_a_row_a_team_has_its_score_next_to_how_it_worked(drawn: Drawn) -> None:
    """The teams in the order of their scores, the same six panels side by side and, on a narrow screen, one below the other."""
    assert titles(drawn.wide) == titles(drawn.tall) == PANELS
    assert [row["score_mean"] for row in drawn.teams.rows] == sorted((row["score_mean"] for row in drawn.teams.rows), reverse=True)
    labels = drawn.wide.layout.yaxis.ticktext
    assert all(name.model in label and "3 games" in label for name, label in zip(drawn.teams.names, labels, strict=True))
    assert {axis.domain for axis in drawn.tall.select_xaxes()} == {(0.0, 1.0)}


def test_the_numbers_are_those_of_the_other_reports(played: Store) -> None:
    """One number has one value: leaderboard, remove gap, spirals and failures say the same of a team."""
    rows = {row["model"]: row for row in report(played, "overview").iter_rows(named=True)}
    for row in report(played, "leaderboard").iter_rows(named=True):
        for key in ("score_mean", "score_low", "success_rate"):
            assert rows[row["model"]][key] == pytest.approx(row[key])
    for row in query(played, "FROM remove_gap_models WHERE is_default").iter_rows(named=True):
        own = rows[row["model"]]
        assert own["process"] == "remove_gap"
        assert (own["process_mean"], own["process_low"], own["process_high"]) == pytest.approx(
            (row["gap_mean_of_games"], row["gap_low"], row["gap_high"])
        )
    inside = query(
        played,
        f"SELECT model, count(DISTINCT (episode_id, turn)) FROM ({IN_SPIRALS}) GROUP BY ALL",
    )
    assert {model: row["spiral_inside"] for model, row in rows.items() if row["spiral_inside"]} == dict(inside.iter_rows())
    lost = query(played, "SELECT model, sum(greatest(cost, 0)) / 3 FROM turn_costs GROUP BY ALL")
    assert {model: row["regret"] for model, row in rows.items()} == pytest.approx(dict(lost.iter_rows()))


def test_failures_and_turns_are_those_of_the_failures_page(played: Store) -> None:
    """The same turns, counted by team and by turn."""
    found = query(played, "SELECT model, category, turns, denominator FROM team_failures_by() ORDER BY ALL")
    asked = query(
        played,
        "SELECT model, category, sum(turns) AS turns, sum(denominator) AS denominator FROM failure_breakdown "
        "WHERE is_default AND share IS NOT NULL GROUP BY ALL HAVING sum(turns) > 0 ORDER BY ALL",
    )
    assert found.rows() == asked.rows()
    gaps = query(played, "SELECT model, turn, attempted_rate, oracle_rate FROM remove_gap ORDER BY ALL")
    turns = query(played, "SELECT model, turn, removed, verified FROM team_turns_by() ORDER BY ALL")
    assert [row[:2] for row in turns.rows()] == [row[:2] for row in gaps.rows()]
    for ours, theirs in zip(turns.rows(), gaps.rows(), strict=True):
        assert ours[2:] == pytest.approx(theirs[2:])
    assert query(played, "SELECT max(score - 1e-9) FROM team_turns_by()").item() <= 1


def test_every_mark_leads_to_the_turns_behind_it(drawn: Drawn, played: Store) -> None:
    """An address of ours for each, and on the page behind it there are turns: as many as the mark counts."""
    known = {page.PATH for page in pages()}
    found = [address for figure in (drawn.wide, drawn.turns) for address in addresses(figure)]
    assert found
    assert {urlsplit(address).path for address in found} <= known
    bars = [
        (entry[0], int(re.search(r"\((\d+) of", entry[1])[1]))  # type: ignore[index]
        for trace in drawn.wide.data
        if trace.type == "bar" and trace.customdata is not None and trace.name in {"wrong position", "other"}
        for entry in trace.customdata
    ]
    address, turns = next((address, turns) for address, turns in bars if turns)
    page = to_html(draw_page(played, Address.parse(*address.split("?"))).content)
    assert f"{turns} turn" in page


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("only", "sql"),
    [
        ("removed", "SELECT count(DISTINCT (episode_id, turn)) FROM actions WHERE undoes"),
        ("spiral", f"SELECT count(DISTINCT (episode_id, turn)) FROM ({IN_SPIRALS})"),
        ("failure", "SELECT count(DISTINCT (episode_id, turn)) FROM shown_failures WHERE wrong"),
        ("lost", "SELECT count(DISTINCT (episode_id, turn)) FROM attributed_costs WHERE cost > 0"),
    ],
)  # fmt: skip
def test_turns_can_be_asked_for_by_what_happened(only: str, sql: str, played: Store) -> None:
    """What a click on a panel of the figure asks for."""
    text = to_html(draw_page(played, Address.parse("/turns", f"?only={only}")).content)
    assert f"{query(played, sql).item()} turns" in text


def test_few_games_are_faint_and_hatched_and_n_is_everywhere(drawn: Drawn) -> None:
    """Teams of three games are no teams of a hundred."""
    assert all(row["games"] < FEW for row in drawn.teams.rows)
    dots = [trace for trace in drawn.wide.data if trace.type == "scatter" and trace.customdata is not None]
    assert {(trace.marker.symbol, trace.opacity < 1) for trace in dots} == {("circle-open", True)}
    shapes = [trace.marker.pattern.shape for trace in drawn.wide.data if trace.type == "bar" and trace.customdata is not None]
    assert {tuple(shape) for shape in shapes if not isinstance(shape, str)} == {("/",) * len(drawn.teams.rows)}
    for figure in (drawn.wide, drawn.turns):
        told = [entry[1] for trace in figure.data if trace.type == "scatter" and trace.customdata is not None for entry in trace.customdata]
        assert told
        assert all(re.search(r"\bn \d+", text) for text in told)


def test_what_is_not_known_is_drawn_as_not_known(played: Store, tmp_path: Path) -> None:
    """A log without states has no spirals, no failures and no regret: no zero, and no empty place either."""
    chat = {"id": "x", "messages": [CHAT[0], {"role": "assistant", "content": "Two."}], "score": 0.5}
    store = ingested(tmp_path, written(tmp_path / "chat.jsonl", chat)).store
    Store.settle(store)
    with reader(store, Address.parse("/", "")) as read:
        teams = teams_of(read, "chat")
        figure = overview_figure(read, teams)
    assert teams.rows[0]["spiral_share"] is None
    assert figure is None or titles(figure) == ["Score"]
    with reader(played, Address.parse("/", "")) as read:
        known = teams_of(read, "craft")
        rows = [dict(row) for row in known.rows]
        rows[0] |= {"process_mean": None, "process_low": None, "process_high": None, "process_n": 0}
        drawn = overview_figure(read, replace(known, rows=rows))
    assert drawn is not None
    assert "<i>not known</i>" in [
        text for trace in drawn.data if trace.type == "scatter" and trace.mode == "text" for text in trace.text or ()
    ]


@pytest.mark.parametrize(
    "paths", [("/",), pytest.param(("/judges", "/compare", "/spirals", "/failures"), marks=pytest.mark.long)], ids="".join
)
def test_a_store_of_transcripts_has_no_words_of_games(paths: tuple[str, ...], tmp_path: Path) -> None:
    """Transcripts, scores, verdicts and labels; and experiments have the names that the front page gives them."""
    for name in ("first_run", "second_run"):
        written(tmp_path / "logs" / f"{name}.jsonl", {"id": "x", "messages": CHAT * 2, "score": len(name) % 2})
    store = ingested(tmp_path, tmp_path / "logs").store
    ensure_installed(store)
    Store.settle(store)
    page = re.sub(r"<[^>]+>", " ", to_html(draw_page(store, Address.parse("/", "")).content))
    for word in ("transcripts", "with a score", "verdicts", "labels"):
        assert word in page
    for path in paths:
        page = re.sub(r"<(table|style).*?</\1>|<[^>]+>", " ", page_file(store, Address.parse(path, "")), flags=re.DOTALL)
        found = re.search(r".{60}(?<!model=)\b([Gg]ame|[Tt]eam|[Uu]nknown)s?\b(?![?]).{20}", page)
        assert found is None, (path, found[0])
        assert path == "/judges" or "first run" in page, path


def test_the_first_lines_answer_who_what_where_and_how_sure(drawn: Drawn) -> None:
    """Who is best, who removes too much, who is in spirals, which agent loses most; each with its interval and n."""
    for label in ("Highest score", "Removes too much", "Most correction spirals", "Loses most", "How sure"):
        assert label in drawn.said
    assert len(re.findall(r"\[[^\]]+\], n \d+", drawn.said)) == 3
    assert "is not attributed" in drawn.said


def test_the_caption_says_n_and_method(drawn: Drawn) -> None:
    """As a figure of a paper has it."""
    text = caption(drawn.teams)
    assert text.startswith("3 of 3 teams, 9 games")
    for part in ("95 % intervals over tasks", "Remove gap: share of attempted moves", "fewer than 5 games", "Not known"):
        assert part in text


def test_names_that_begin_alike_are_not_cut_alike_on_a_phone(played: Store, drawn: Drawn) -> None:
    """Both began with `openai/qwen2.5-coder-…`, and that was all that could be read."""
    names = [TeamName(f"openai/qwen2.5-coder-instruct-{size}", "") for size in ("small", "large")]
    teams = replace(drawn.teams, rows=drawn.teams.rows[:2], names=names)
    with reader(played, Address.parse("/", "")) as read:
        figure = overview_figure(read, teams, is_tall=True)
    assert figure is not None
    first, second = (re.sub(r"<[^>]+>", "", label) for label in figure.layout.yaxis.ticktext)
    assert "instruct-small" in first
    assert "instruct-large" in second


def test_many_teams_are_cut_to_those_with_most_games(drawn: Drawn) -> None:
    """A sweep of hundreds of conditions would be no figure."""
    row, name = drawn.teams.rows[0], drawn.teams.names[0]
    many = [{**row, "games": games, "score_mean": games / 100} for games in range(40, 0, -1)]
    shown = replace(drawn.teams, rows=many, names=[name] * 40).drawn(MOST_TEAMS)
    assert [one["games"] for one, _ in shown] == list(range(40, 30, -1))


def test_a_notebook_has_the_same_figures(played: Store, drawn: Drawn) -> None:
    """`store.plot` draws what the page draws."""
    store = cotrace.open(played.path)
    for name, figure in {"overview": drawn.wide, "turns": drawn.turns}.items():
        assert shape_of(store.plot(name)) == shape_of(figure)
    said = store.plot("overview", benchmark="craft").layout.title.text.replace("<br>", " ")  # its caption, which a file of it has too
    for part in ("3 of 3 teams, 9 games", "95 % intervals over tasks", "Remove gap"):
        assert part in said


@pytest.mark.browser
@pytest.mark.long
def test_a_paper_gets_the_figure_as_a_pdf(played: Store, tmp_path: Path) -> None:
    """From Python, without a dashboard."""
    cotrace.open(played.path).plot("overview", benchmark="craft").write_image(tmp_path / "teams.pdf", width=1200)
    assert (tmp_path / "teams.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.long
@pytest.mark.browser
def test_a_paper_gets_the_figure_as_a_file_with_its_caption(played: Store, tmp_path: Path) -> None:
    """SVG with n and method below the figure: from Python, without a dashboard."""
    figure = cotrace.open(played.path).plot("overview", benchmark="craft")
    figure.write_image(tmp_path / "teams.svg", width=1200)
    text = re.sub(r"<[^>]+>", " ", (tmp_path / "teams.svg").read_text(encoding="utf-8"))
    for part in ("3 of 3 teams, 9 games", "95 % intervals over tasks", "Remove gap"):
        assert part in " ".join(text.split())


def shape_of(figure: go.Figure) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(figure.to_json())
    return {"titles": titles(figure), "x": [trace.get("x") for trace in found["data"]]}


def test_the_page_in_a_browser(played_site: str, page: Page) -> None:
    """The answers and the figure are on the first screen; a click on a bar leads to its turns; the files have the caption.

    Marks led nowhere without a pointer: each figure has them as a list of links, which the keyboard opens and follows.
    """
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{played_site}/")
    page.locator(".wide-only .main-svg").first.wait_for()
    assert page.locator(".narrow-only .figure").first.is_hidden()
    page.locator(".answers").first.wait_for()
    box = page.locator(".wide-only .figure").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    for list_ in page.locator(".wide-only [data-marks]:visible").all():
        list_.locator("summary").focus()
        page.keyboard.press("Enter")
        list_.locator("a").first.wait_for()
        assert len(texts := list_.locator("a").all_text_contents()) > 20
        assert all(any(team in text for team in ("clear", "over_remover", "layer_confused")) for text in texts), texts
        page.keyboard.press("Escape")
    page.locator("[data-marks] a").first.wait_for(state="detached")
    page.keyboard.press("Enter")
    page.locator("[data-marks] a").first.wait_for()
    page.keyboard.press("Tab")
    page.locator(".hoverlayer .hovertext").first.wait_for()  # the mark of the link with the focus
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/(turns|game)[?]"))
    page.go_back()
    page.locator(".wide-only .main-svg").first.wait_for()
    with page.expect_download() as download:
        page.locator(".wide-only .figure").first.hover()
        page.locator(".wide-only [data-picture='svg']").first.click()
    picture = Path(download.value.path()).read_text(encoding="utf-8")
    assert "9 games; crashed" in re.sub(r"<[^>]+>", " ", picture)
    page.evaluate("window.HTMLIFrameElement.prototype.print = () => {}")
    page.locator(".wide-only [data-picture='pdf']").first.click()
    page.locator("iframe.sheet").wait_for(state="attached")
    sheet = unquote(page.locator("iframe.sheet").get_attribute("srcdoc") or "")
    assert "@page { size:" in sheet
    assert "9 games; crashed" in re.sub(r"<[^>]+>", " ", sheet)
    boxes = [bar.bounding_box() for bar in page.locator(".wide-only .barlayer .point path").all()]
    spot = next(box for box in boxes if box is not None and box["width"] > 8)
    page.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    page.wait_for_url("**/turns?**")
    asked = parse_qs(urlsplit(page.url).query)
    assert asked["benchmark"] == ["craft"]
    assert "category" in asked


@pytest.mark.long
def test_the_page_on_a_phone(played_site: str, page: Page) -> None:
    """The figure for narrow screens, and nothing runs out of them."""
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{played_site}/")
    page.locator(".narrow-only .main-svg").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_each_page_of_the_paper_has_the_score_beside_it(played: Store) -> None:
    """Failures, Spirals and Remove gap: teams by score, the score in the first panel."""
    for path, title in {"/spirals": "Overall progress", "/remove-gap": "Overall progress", "/failures": "score"}.items():
        drawn = [figure for figure in figures_of(played, path) if len(list(figure.select_xaxes())) > 1]
        first = drawn[0]
        assert title in [*titles(first), *((axis.title.text or "").partition(" (")[0] for axis in first.select_xaxes())], path
        scores = next(list(trace.x) for trace in first.data if trace.type == "scatter" and trace.mode == "markers+text")
        assert scores == sorted(scores, reverse=True), path


def test_what_went_wrong_comes_first_and_what_went_right_is_pale(played: Store) -> None:
    """One legend, at most six categories before "other"."""
    (figure,) = figures_of(played, "/failures")
    names = [trace.name for trace in figure.data if trace.type == "bar"]
    assert names[-1] == "correct"
    assert "rgba" in figure.data[len(names) - 1].marker.color
    assert len([name for name in names if name not in {"correct", "other"}]) <= 6


def test_spirals_have_a_colour_a_kind_and_nothing_else(played: Store) -> None:
    """Nine encodings, two of them in one grey, were eight too many."""
    figure = figures_of(played, "/spirals")[-1]
    kinds = query(played, "SELECT DISTINCT kind FROM correction_spirals").height
    assert len({trace.name for trace in figure.data if trace.showlegend is not False and trace.name}) == kinds
    assert len({shape.fillcolor for shape in figure.layout.shapes}) == kinds


def test_why_begins_with_the_step_that_failed(played: Store) -> None:
    """Seeing, saying, understanding, acting; what was not understood is part of the picture, and the shares are all there is."""
    figure = figures_of(played, "/why")[0]
    labels = " ".join(figure.layout.yaxis.ticktext)
    assert [step for step in ("seeing", "saying", "understanding", "acting") if step in labels] == [
        "seeing",
        "saying",
        "understanding",
        "acting",
    ]
    lost = query(played, "SELECT status, sum(cost) AS cost FROM attributions WHERE cost > 0 GROUP BY ALL")
    assert ("unattributed" in labels) is ("unattributed" in set(lost["status"]))
    assert sum(value for trace in figure.data for value in trace.x if value is not None) == pytest.approx(1)
    assert all(max(trace.error_x.array) > 0 for trace in figure.data)


def test_the_remove_gap_is_in_the_main_menu_where_blocks_are_taken_away(played: Store, tmp_path: Path) -> None:
    """It was hidden in a list of families; in a store of transcripts it is not there, and games are called transcripts."""
    store = ingested(tmp_path, written(tmp_path / "chat.jsonl", {"id": "x", "messages": CHAT})).store
    Store.settle(store)
    menus = [
        re.findall(r'class="nav-link[^"]*"[^>]*>([^<]+)<', to_html(draw_page(one, Address.parse("/", ""), is_whole=False).head))
        for one in (played, store)
    ]
    assert "Remove gap" in menus[0]
    assert "Remove gap" not in menus[1]
    assert [("Games" in menu, "Transcripts" in menu) for menu in menus] == [(True, False), (False, True)]
    opener = re.findall(r'class="nav-open"[^>]*>([^<]+)<', to_html(draw_page(store, Address.parse("/game", ""), is_whole=False).head))
    assert opener == ["Transcripts"]  # of a narrow screen


@pytest.mark.long
def test_the_demo_takes_published_logs(played: Store, tmp_path: Path) -> None:
    """No game is played: the store has the games of the logs."""
    log, chat = next((played.path.parent / "logs").rglob("*.jsonl")), written(tmp_path / "chat.jsonl", {"id": "x", "messages": CHAT})
    done = CliRunner().invoke(cli, ["demo", "--logs", str(log), "--logs", str(chat), "--dir", str(tmp_path / "demo"), "--no-serve"])
    assert done.exit_code == 0, done.output
    shown = Store(tmp_path / "demo" / "cotrace.duckdb")
    assert query(shown, "SELECT benchmark FROM games ORDER BY 1")["benchmark"].to_list() == ["chat", "craft"]
    assert not (tmp_path / "demo" / "logs").exists()


def figures_of(store: Store, path: str, search: str = "") -> list[go.Figure]:
    """The figures of a page, in its order."""
    return list(_graphs(draw_page(store, Address.parse(path, search)).content))


def _graphs(part: Any) -> Iterator[go.Figure]:
    if isinstance(part, list | tuple):
        for one in part:
            yield from _graphs(one)
    elif isinstance(part, dcc.Graph):
        yield getattr(part, "figure")  # noqa: B009 - Dash has no type for it
    elif hasattr(part, "children"):
        yield from _graphs(part.children)
