"""Any page as one self-contained file; and on all of them what is written: formats, links that keep their filters, numbers of the store."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import plotly.utils
import polars as pl
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page

from analytics.installation import ensure_installed
from analytics.query import query
from analytics.reports import report
from cotrace.cli import cli
from dashboards.address import Address
from dashboards.app import create_app
from dashboards.drawing import draw_page
from dashboards.grid import every_row, few
from dashboards.page_file import document, page_file
from dashboards.pages import pages, why
from dashboards.parts import compact
from dashboards.reader import names_of_teams, reader, team_names
from ingest.files.run import ingest_paths
from judges.attribution.job import attribute_games
from schemas.common import wording
from schemas.store.store import Store
from tests.command_line import called
from tests.dashboards.test_overview import figures_of
from tests.ingest.overcooked.overcooked_logs import PlayRequest, play

PATHS = [page.PATH for page in pages() if page.PATH not in {"/labelling", "/sql"}]
"""What people write themselves may look as it likes."""


@pytest.fixture(scope="module")
def written_of(played: Store) -> object:
    """Path -> the page's file, drawn once."""
    return cache(lambda path: page_file(played, Address.parse(path, "")))


@pytest.fixture(scope="module")
def text_of(written_of: object) -> Iterator[object]:
    """Path -> what a reader of the page's file reads, each page drawn once."""

    @cache
    def text(path: str) -> str:
        written = written_of(path)  # type: ignore[operator]
        body = re.sub(r"<(script|style)\b.*?</\1>", " ", written.partition("<body>")[2], flags=re.DOTALL)
        return html.unescape(re.sub(r"<[^>]*>", " ", body))

    return text  # type: ignore[return-value]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_written_as_people_write(path: str, text_of: object, played: Store) -> None:
    """No 0.250 beside 44 %, no True, no JSON, no category or condition in code."""
    text = text_of(path)  # type: ignore[operator]
    assert "could not be drawn" not in text
    assert (
        re.findall(r"[\d.]+ \[\.\d+|\b\d+\.\d+ %|\b\d+\.0\b|\b\d+\.\d{7,}", re.sub(r"(?<![\d.])\.\d\d \[|1\.00 \[|\.\d %", "", text)) == []
    )
    assert re.findall(r"\b(True|False|None|nan|inf)\b|[{\[]\"", text) == []
    assert re.findall(r"/[a-z]+\?[a-z]+=", text) == []  # an address is no text: the page of the broken links showed some
    codes = query(played, "SELECT DISTINCT category FROM failure_map WHERE contains(category, '_')")["category"].to_list()
    codes += ["not_followed", "no_oracle", "no_move", "undo_loop", "repeated_failure"]
    assert [code for code in codes if code in text] == []
    assert path == "/runs" or "oracle5" not in text  # there it is the name of the experiment


@pytest.mark.sampled(1)
@pytest.mark.parametrize("path", ["/failures", "/spirals", "/judges", "/", "/turns", "/remove-gap"])
def test_links_keep_condition_and_family(path: str, played: Store) -> None:
    """What is clicked on keeps what it stood under: only the chips that take a filter away, and games, lose one."""
    condition = query(played, "SELECT min(condition) FROM games").item()
    address = Address(path, {"benchmark": ("craft",), "condition": (condition,)})
    drawn = draw_page(played, address)
    text = html.unescape(plotly.utils.PlotlyJSONEncoder().encode(compact([drawn.head, drawn.content])))
    kept = {page.PATH for page in pages()} - {"/game", "/sql", "/notes", "/search", "/labelling"}
    found = {link for link in re.findall(r'(/[a-z-]*\?[^"\\]*)', text) if urlsplit(link).path in kept}
    assert found
    lost = [link for link in found if not {"benchmark", "condition"} <= parse_qs(urlsplit(link).query).keys()]
    assert lost == []


@pytest.mark.parametrize("path", [pytest.param("/", marks=pytest.mark.long), "/remove-gap"])
def test_three_teams_of_one_model_have_three_names(played: Store, tmp_path: Path, path: str) -> None:
    """They looked the same on the leaderboard and the page of the remove gap; where no model is named, what differs is the name."""
    store = Store(shutil.copy(played.path, tmp_path / "alike.duckdb"))
    with store.writing() as connection:
        connection.execute("UPDATE episodes SET team = json_object('builder', 'builder ' || model), model = 'gpt'")
    Store.settle(store)
    text = page_file(store, Address(path, {"benchmark": ("craft",)}))
    assert all(f"builder builder {name}" in text for name in ("clear", "layer_confused", "over_remover"))
    with reader(store, Address("/")) as read:
        rows = [{"model": "unknown", "condition": "a/run 1"}, {"model": "unknown", "condition": "b/run 1"}]
        names = team_names(read, rows)
    assert len(set(names)) == 2
    assert not any("unknown" in name.model for name in names)
    settings = [(5, "true"), (5, "false"), (7, "true"), (10, "true")]
    rows = [
        {"model": "gpt", "condition": "", "team": json.dumps({"seats": f"players {size}", "memory": memory, "reasoning": "low"})}
        for size, memory in settings
    ]
    with reader(store, Address("/")) as read:
        told = [name.detail for name in team_names(read, rows)]
        again = [name.detail for name in team_names(read, [row | {"condition": f"run {place}"} for place, row in enumerate([rows[0]] * 2)])]
    assert told == ["seats players 5, memory true", "memory false", "seats players 7", "seats players 10"]  # reasoning tells nobody apart
    assert again == ["run 0", "run 1"]  # nothing else differs


def test_a_model_whose_name_has_a_comma_is_shown_whole(played: Store, tmp_path: Path) -> None:
    """Names of teams were taken apart by their commas: `gpt, 4o mini` was shown as nothing, or as `mini`."""
    path = tmp_path / "commas.duckdb"
    shutil.copy(played.path, path)
    store = Store(path)
    commas = "replace(model, 'clear', 'gpt 4o, mini 2')"
    with store.writing() as connection:
        connection.execute(f"UPDATE episodes SET model = {commas}, team = replace(team::VARCHAR, '\"clear', '\"gpt 4o, mini 2')::JSON")
        connection.execute(f"UPDATE agents SET model = {commas}")
    ensure_installed(store)
    builder = query(store, "SELECT DISTINCT model FROM agents WHERE role = 'builder'").item()
    with reader(store, Address("/effects")) as read:
        teams = [f"director {model}, builder {builder}" for model in ("gpt 4o, mini 2", "layer_confused")]
        assert list(names_of_teams(read, teams).values()) == ["gpt 4o, mini 2", "layer_confused"]
        assert names_of_teams(read, [*teams, "gpt 5, mini 3"])["gpt 5, mini 3"] == "gpt 5, mini 3"
    page = page_file(store, Address("/effects", {"ask": ("ability",)}))
    assert "gpt 4o, mini 2" in page
    assert "builder gpt 4o" not in page
    assert "director gpt 4o" not in page


@pytest.mark.long
def test_a_team_of_one_game_is_drawn_as_one_of_few_games(played: Store, tmp_path: Path) -> None:
    """Without an interval it says little: its row says how few, and the table has it too."""
    path = tmp_path / "single.duckdb"
    shutil.copy(played.path, path)
    store = Store(path)
    with store.writing() as connection:
        connection.execute("DELETE FROM episodes WHERE model = 'clear' AND task_id <> (SELECT min(task_id) FROM episodes)")
    drawn = page_file(store, Address("/", {"benchmark": ("craft",)}))
    assert "1 game, few" in drawn
    assert "(no interval), n 1" not in drawn  # teams with more games answer what is asked first
    assert ">clear<" in drawn.split("In numbers")[1]


def test_a_turn_that_served_nobody_is_not_green(tmp_path: Path) -> None:
    """A carrot for a dish without one was green, for every carried out action was."""
    play(PlayRequest(out=tmp_path / "logs", orders=("boiled_egg",), policies=("wrong-ingredient",), games=1))
    store = Store(tmp_path / "o.duckdb")
    ingest_paths([tmp_path / "logs"], store, workers=1)
    ensure_installed(store)
    costly = "SELECT episode_id, turn FROM turn_costs INNER JOIN outcomes USING (episode_id, turn) WHERE cost > 0 AND accepted"
    episode, turn = query(store, f"{costly} ORDER BY cost DESC").row(0)
    drawn = page_file(store, Address("/game", {"episode": (episode,), "turn": (str(turn),)}))
    assert 'class="tried lost"' in drawn
    assert "Whose cost" not in drawn
    attribute_games(store)
    (evidence,) = query(store, "SELECT evidence FROM attributed_costs WHERE cost > 0 AND agent IS NOT NULL ORDER BY cost DESC, turn").row(0)
    (episode, turn) = query(store, "SELECT episode_id, turn FROM attributed_costs WHERE evidence = $said", {"said": evidence}).row(0)
    drawn = page_file(store, Address("/game", {"episode": (episode,), "turn": (str(turn),)}))
    assert "Whose cost" in drawn
    assert "asked for pickup(apple,ingredient_dispenser)" in evidence
    told = evidence.partition(":")[0] + ": asked for pick up apple"  # the page writes the action in words
    assert html.escape(told, quote=False) in drawn
    assert 'class="tried good"' not in drawn


def bars_without_words(written: str) -> list[str]:
    """Titles of the axes of figures whose traces have error bars, where none of them says what they are."""
    figures = [
        json.loads(data) for data in re.findall(r"<script type='application/json' id='[^']*-data'>(.*?)</script>", written, re.DOTALL)
    ]
    found = []
    for figure in figures:
        for side in ("x", "y"):
            with_bars = [trace for trace in figure["data"] if any((trace.get(f"error_{side}") or {}).get("array") or ())]
            for axis in {str(trace.get(f"{side}axis", side))[1:] for trace in with_bars}:
                title = figure["layout"].get(f"{side}axis{axis}", {}).get("title", {}).get("text", "")
                found += [] if "95 %" in title else [title]
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", PATHS)
def test_each_figure_with_intervals_says_on_its_axis_what_they_are(path: str, written_of: object) -> None:
    """One convention, in the figure itself, since figures are copied without what stands below."""
    assert bars_without_words(written_of(path)) == []  # type: ignore[operator]


def test_there_are_figures_with_intervals(written_of: object) -> None:
    """Of the overview and the judges; without the words the check fails."""
    for path in ("/", "/judges"):
        written = written_of(path)  # type: ignore[operator]
        assert "bars: 95 %" in written, path
        assert bars_without_words(written.replace("bars: 95 %", "")) != []


def test_figures_of_a_printed_report_say_what_their_bars_are(played: Store) -> None:
    """Those of `cotrace report leaderboard --format html`."""
    written = document(played, {"leaderboard": report(played, "leaderboard")})
    assert "bars: 95 %" in written
    assert bars_without_words(written) == []


def test_numbers_of_the_overview_are_those_of_sql(text_of: object, written_of: object, played: Store) -> None:
    """Read from the page, and asked of `cotrace sql`."""
    asked = CliRunner().invoke(
        cli,
        [
            "sql",
            "SELECT n, score_mean, process_mean FROM team_overview ORDER BY score_mean DESC",
            "--store",
            str(played.path),
            "--format",
            "csv",
        ],
    )
    n, mean, gap = asked.stdout.splitlines()[1].split(",")
    text = re.sub(r"\s+", " ", text_of("/"))  # type: ignore[operator]
    assert query(played, "SELECT count(*) FROM games").item() == int(text.partition(" games")[0].split()[-1])
    assert f"{wording.score(float(mean))} [" in text
    assert f"n {n}" in text
    assert wording.coefficient(float(gap)) in written_of("/")  # type: ignore[operator]


def test_intervals_on_few_games_are_said_to_be(text_of: object, played: Store) -> None:
    """Three tasks: the terminal said what such intervals are worth, pages and files did not."""
    for path in ("/judges",):
        assert "rest on fewer than 10" in text_of(path)  # type: ignore[operator]
    asked = CliRunner().invoke(cli, ["report", "compare", "--store", str(played.path), "--format", "csv"])
    assert set(pl.read_csv(asked.stdout.encode())["few_games"]) == {True}
    asked = CliRunner().invoke(cli, ["report", "compare", "--store", str(played.path), "--format", "html"])
    assert "rest on fewer than 10" in asked.stdout


def test_a_page_says_what_was_measured_of_a_report_s_intervals() -> None:
    """With ten tasks and more the terminal said it alone."""
    rows = pl.DataFrame({"tasks": [40, 50], "pearson_low": [0.0, 0.1]})
    assert few(rows) is None
    assert "the coverage of intervals of this kind was below 93 %" in str(few(rows, "correlations"))
    assert "was not simulated" in str(few(rows, "mediation"))


def test_the_printed_page_has_every_row(played: Store) -> None:
    """A grid prints the rows that are on the screen: the page that is printed has its table written out, and prints itself."""
    asked = create_app(played).server.test_client().get("/-/page.html?at=/why&print=1")
    assert "Content-Disposition" not in asked.headers
    costly = query(played, "SELECT count(*) FROM attributed_costs WHERE cost > 0 AND isfinite(cost)").item()
    table = asked.text.partition("The costliest turns")[2].partition("</table>")[0]
    assert costly > 20
    assert table.partition("<tbody>")[2].count("<tr") == costly
    assert "window.print()" in asked.text


def test_the_table_of_costly_turns_is_of_the_family_that_is_shown(played: Store) -> None:
    """Without a filter it had the turns of every family of the store below the figure of one."""
    with reader(played, Address("/why")) as read:
        rows = {family: every_row(read, why.TURNS.make(read, family)) for family in ("craft", "einstein")}
    assert rows["einstein"].is_empty()
    assert not rows["craft"].is_empty()


@pytest.mark.long
def test_people_who_blame_a_turn_are_heard(shared: Path, tmp_path: Path) -> None:
    """Where rules find nothing, as in a conversation, the page says whose mistake people's labels name, and leads there."""
    store = Store(tmp_path / "talk.duckdb")
    ingest_paths([shared / "data" / "whoandwhen" / "algorithm_generated" / "70.json"], store, workers=1)
    ensure_installed(store)
    agent = query(store, "SELECT answer FROM labels WHERE question = 'agent'").item()
    turn = query(store, "SELECT answer FROM labels WHERE question = 'step'").item()
    drawn = page_file(store, Address("/game", {"episode": (query(store, "SELECT episode_id FROM games").item(),), "turn": (turn,)}))
    assert f"People say that {agent}&#x27;s mistake here decided the game" in drawn or f"{agent}'s mistake here decided" in drawn


@pytest.mark.browser
def test_a_file_draws_itself_without_a_network_and_prints_in_light(played: Store, browser: Browser, tmp_path: Path) -> None:
    """What `cotrace dash --page` prints: figures and rows, no request to anybody; on paper no menus, and no dark ground."""
    printed = CliRunner().invoke(cli, ["dash", "--page", "/failures?model=clear", "--store", str(played.path)])
    path = tmp_path / "failures.html"
    path.write_text(printed.stdout, encoding="utf-8")
    page = browser.new_context(offline=True).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(".main-svg").first.wait_for()
    known = "SELECT count(DISTINCT category) FROM failure_turns WHERE taxonomy = 'craft_published' AND model = 'clear' AND counted"
    assert page.locator("tbody tr").count() == query(played, known).item()
    assert page.locator("a[href]").count() == 0
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.context.close()


@pytest.mark.browser
def test_a_view_is_kept_under_a_name_saved_as_a_file_and_printed(played_site: str, page: Page) -> None:
    """The name leads back to the very address; the file is that of the page; paper is light in the dark theme too."""
    page.goto(f"{played_site}/failures?model=clear&by=turn")
    page.locator(".card").first.wait_for()
    page.locator(".views > summary").click()
    page.locator("[name=view]").fill("clear by turn")
    page.keyboard.press("Enter")
    page.locator("[data-views] a", has_text="clear by turn").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="save this page as a file").click()
    assert "clear" in Path(download.value.path()).read_text(encoding="utf-8")
    page.goto(f"{played_site}/notes")
    page.locator(".views > summary").click()
    page.locator("[data-views] a", has_text="clear by turn").click()
    page.wait_for_url("**/failures?model=clear&by=turn")
    page.evaluate("cotrace.setTheme('dark')")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("header").is_hidden()


def test_a_rubric_of_episodes_has_a_chart(played: Store, tmp_path: Path) -> None:
    """Verdicts on whole games have no outcome of a turn: they were dropped silently, and the chart was empty."""
    path = tmp_path / "own.duckdb"
    shutil.copy(played.path, path)
    store = Store(path)
    with store.writing() as connection:
        connection.execute(
            """
            INSERT INTO verdicts BY NAME
            SELECT DISTINCT ON (episode_id) * REPLACE ('own' AS rubric, episode_id AS unit_id, NULL AS turn,
                NULL AS agent, 'Q1' AS question, 'yes' AS answer, 1.0 AS score, 'answered' AS status)
            FROM verdicts WHERE status = 'answered'
            """
        )
    charts = figures_of(store, "/judges", "?rubric=own&show=scores")
    assert sum(len(trace.x) for chart in charts for trace in chart.data if trace.x is not None) >= 2


@pytest.mark.browser
def test_figures_and_tables_are_saved_and_facets_narrow_one_another(played: Store, played_site: str, page: Page) -> None:
    """SVG and PNG of a figure, CSV and Parquet of its table with the rows of the store; counts of a facet are those under the others."""
    page.goto(f"{played_site}/failures")
    page.locator(".main-svg").first.wait_for()
    page.locator(".figure").hover()
    for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator(f"[data-picture={kind}]").click()
        assert Path(download.value.path()).read_bytes().startswith(begins)
    turns = query(played, "SELECT sum(turns) FROM failure_breakdown WHERE is_default AND category <> 'no_oracle_or_attempt'").item()
    for kind, read in (("CSV", pl.read_csv), ("Parquet", pl.read_parquet)):
        with page.expect_download() as download:
            page.get_by_role("link", name=kind).click()
        assert read(download.value.path())["turns"].sum() == turns
    page.goto(f"{played_site}/game?model=clear")
    page.locator(".facet-box > summary").click()
    counts = page.locator(".facet", has_text="Condition").locator(".facet-count").all_inner_texts()
    assert sum(map(int, counts)) == query(played, "SELECT count(*) FROM games WHERE model = 'clear'").item()


@pytest.mark.parametrize(("address", "reason"), [("/turns", "utterances"), ("/sql?query=SELECT+nothing", "nothing")])
def test_a_page_that_cannot_be_drawn_is_a_failure_of_the_command(address: str, reason: str, played: Store, tmp_path: Path) -> None:
    """One line with the reason, and no page: a script must not take one for the other."""
    broken = tmp_path / "broken.duckdb"
    shutil.copy(played.path, broken)
    with Store(broken).writing() as connection:
        connection.execute("DROP TABLE utterances")
    done = called("dash", "--page", address, store=broken)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert reason in done.stderr
