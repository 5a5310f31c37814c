"""How pages look and what they say first: one number format, names that people write, turns that tell something first."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import plotly.graph_objects as go
import polars as pl
import pytest

from analytics.installation import ensure_installed
from analytics.query import query
from analytics.reports import report
from dashboards.address import Address
from dashboards.avalon import page as avalon
from dashboards.boards import drawing_of
from dashboards.drawing import draw_page
from dashboards.figures import _MARK_SYMBOLS, Axis, Dot, dot_plot, styled
from dashboards.grid import RowRange, block, few
from dashboards.grid import written as written_rows
from dashboards.judging.scores import dots
from dashboards.overcooked.page import PAGE as OVERCOOKED
from dashboards.pages import effects, failures, game, judges, overview, runs, spirals, turns, why
from dashboards.pages.overview import family_card
from dashboards.parts import Part, note, to_html
from dashboards.playback import turn_outcome
from dashboards.playback.facts import GameFacts, TurnFacts
from dashboards.reader import reader
from ingest.files.run import ingest_paths
from judges.evidence.transcript import ActionView, OracleView, TurnView
from schemas.common import wording
from schemas.families import title_of
from schemas.store.store import Store
from tests.ingest.asked import ingested, written
from tests.masters import held_open
from tests.places import ROOT
from tests.played import played_store

CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
CHAT = [
    {"role": "user", "content": "How much is one and one?"},
    {"role": "assistant", "content": "I add.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "2"},
]


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two conversations that no engine follows: two messages and a call between them."""
    folder = tmp_path_factory.mktemp("chats")
    store = ingested(
        folder, written(folder / "chat.jsonl", {"id": "x", "messages": CHAT}, {"id": "y", "messages": CHAT, "score": 0.5})
    ).store
    ensure_installed(store)
    Store.settle(store)
    yield from held_open(store)


def test_axes_write_numbers_as_texts_do() -> None:
    """Axes wrote 0.5 and 20% where texts and tables write .5 and 20 %."""
    axes = styled(go.Figure(go.Scatter(y=[1]))).layout.template.layout
    for axis in (axes.xaxis, axes.yaxis):
        told = [axis.labelalias.get(tick, tick) for tick in ("0", "0.2", "0.25", "−0.5", "1", "20%", "100%", "−5%")]
        assert told == ["0", ".2", ".25", "−.5", "1", "20 %", "100 %", "−5 %"]


def test_a_scale_of_colours_writes_numbers_as_axes_do() -> None:
    """AsymPuzl's had 0.4 beside axes with .4."""
    drawn = go.Figure(go.Heatmap(z=[[0, 1]], coloraxis="coloraxis"))
    drawn.update_layout(coloraxis={"cmin": 0})
    assert styled(drawn).layout.coloraxis.colorbar.labelalias["0.4"] == ".4"


def test_no_line_runs_through_the_counts_of_a_table_of_two_by_two(played: Store) -> None:
    """Grid lines crossed in the middle of each cell."""
    cells = [{"x": x, "y": y, "value": 3, "text": "3", "hover": "3"} for x in "ab" for y in "cd"]
    with reader(played, Address.parse("/overcooked", "")) as read:
        drawn = OVERCOOKED.draw(read, OVERCOOKED.charts[1], pl.DataFrame(cells))
    assert (drawn.layout.xaxis.showgrid, drawn.layout.yaxis.showgrid) == (False, False)


def test_commands_in_notes_stand_apart() -> None:
    """They stood between backticks."""
    assert "run <code>cotrace attribute</code>, or" in to_html(note("run `cotrace attribute`, or choose"))
    assert "a lone ` stays" in to_html(note("a lone ` stays"))


def test_questions_of_rubrics_are_named_in_words() -> None:
    """On the lines of a figure of judges, as in tables: a question's id is a code."""
    row = {"at": "ignored_partner", "series": "engine", "value": 0.5, "low": 0.4, "high": 0.6}
    drawn = dots(pl.DataFrame([row]), Axis(title="rate", is_share=True)).to_json()
    assert "ignored partner" in drawn
    assert "ignored_partner" not in drawn


def test_values_under_the_pointer_are_written_as_texts_are() -> None:
    """Each point brings its words: Plotly has no such format."""
    drawn = styled(go.Figure(go.Scatter(x=[1, 2], y=[0.444, 0.004], hovertemplate="turn %{x}: %{y:.0%}<extra></extra>")))
    (trace,) = drawn.data
    assert list(trace.hovertext) == [wording.share(0.444), wording.share(0.004)] == ["44 %", ".4 %"]
    assert trace.hovertemplate == "turn %{x}: %{hovertext}<extra></extra>"


def test_benchmarks_that_are_only_read_here_are_named_as_people_write_them() -> None:
    """Cards and menus said `inspect` and `whoandwhen`."""
    assert [title_of(name) for name in ("inspect", "scout", "whoandwhen")] == ["Inspect", "Scout", "Who&When"]
    assert title_of("own_benchmark") == "own_benchmark"


def test_the_card_of_logs_that_no_engine_follows_says_what_there_is(chats: Store) -> None:
    """It was half empty: "No rule has found a failure"; its next step is to read them, or to let judges look at them."""
    with reader(chats, Address.parse("/", "")) as read:
        told = re.sub(r"<[^>]+>", "", to_html(family_card(read, "chat")))
    assert "2 transcripts, 6 turns; 1 without a known end. Of 1 the log does not say whether a goal was reached." in told
    assert "They are not judged yet; rule checks are not available for this format." in told
    assert "Read them, or cotrace judge --rubric NAME." in told


def test_turns_with_something_to_see_come_first_and_a_message_is_called_one(chats: Store, played: Store) -> None:
    """The page began with six cards that said "no move"."""
    with reader(chats, Address.parse("/turns", "")) as read:
        told = to_html(turns.content(read))
    assert re.findall(r"turn (\d)</a>", told) == ["2", "2", "1", "3", "1", "3"]
    assert "message of user" in told
    assert "no move" not in told
    with reader(played, Address.parse("/turns", "")) as read:
        pills = re.findall(r'class="pill [a-z]+">([^<]+)<', to_html(turns.content(read)))
    assert "followed" not in pills


def test_labels_of_spirals_leave_a_narrow_screen_to_the_turns() -> None:
    """Task and team stood in one line, wider than the turns beside them."""
    episodes = pl.DataFrame({"episode_id": ["a"], "task_id": ["structure_001"], "model": ["director clear, builder scripted-builder"]})
    cells = pl.DataFrame({"episode_id": ["a"], "turn": [1], "outcome": ["followed"]})
    bars = pl.DataFrame(schema={"episode_id": pl.String, "start_turn": pl.Int64, "end_turn": pl.Int64, "kind": pl.String})
    (label,) = spirals.heat_map(episodes, cells, bars).layout.yaxis.ticktext
    assert all(len(re.sub(r"<[^>]+>", "", line)) <= 20 for line in label.split("<br>"))


def test_many_teams_of_kitchens_are_a_grid_that_leads_to_their_games(played: Store) -> None:
    """By level: nine teams on six levels were fifty-four intervals, two screens tall at 420 pixels."""
    rows = pl.DataFrame(
        [
            {"model": f"team {team}", "series": f"team {team}", "level": str(level), "line": f"level {level}", "n": 2}
            | {"value": 0.5, "low": 0.1, "high": 0.9}
            for team in range(5)
            for level in (1, 2)
        ]
    )
    with reader(played, Address.parse("/overcooked", "")) as read:
        grid, words = OVERCOOKED.draw(read, OVERCOOKED.charts[0], rows).data
        few = OVERCOOKED.draw(read, OVERCOOKED.charts[0], rows.head(4))
        assert [trace.type for trace in few.data] == ["scatter", "scatter"]
    assert (grid.type, len(grid.z), len(words.x)) == ("heatmap", 5, 10)
    assert words.customdata[0][1:] == ["50 % [10 %, 90 %] (2 games)"]
    assert words.customdata[0][0].startswith("/game?")


def test_what_intervals_are_worth_is_folded_below_its_first_words() -> None:
    """A paragraph of statistics stood below every table of few games."""
    told = to_html(few(pl.DataFrame({"tasks": [4, 50], "low": [0.0, 0.1], "high": [0.5, 0.6]})))
    assert "<summary>How exact the 95 % intervals are: 1 of 2 rows rest on fewer than 10 tasks (least: 4)</summary>" in told


@pytest.mark.parametrize("said", ['share {"blocks": 3}', 'share {"blocks": '])
def test_what_only_looks_like_an_action_is_told_as_it_stands(said: str) -> None:
    """The first of them broke the page."""
    assert turn_outcome._in_prose(said, drawing_of("einstein")) == said


def test_a_model_s_reason_stands_as_it_was_written() -> None:
    """The engine's is written in words of the game, a model's is its own."""
    row = {
        "answer": "no",
        "status": "answered",
        "objects": True,
        "question": "Q1",
        "agent": None,
        "ask": "",
        "reason": 'ask {"block": "b"} .50',
    }
    engine, model = (to_html(turn_outcome._verdict(row | {"judge": judge}, drawing_of("einstein"))) for judge in ("engine", "llm:x"))
    assert "ask about b" in engine
    assert 'ask {"block": "b"} .50' in model


def test_evidence_in_a_sentence_is_cut_before_a_quote_not_inside_it() -> None:
    """A quote without its end, a category with its code's marks, 0.066 beside .068."""
    quoted = f'{"place a block where the view shows it, " * 3}as D2 asked ("put a small red block on the middle of the wall")'
    assert turn_outcome._evidence(quoted, drawing_of("chat")).endswith("as D2 asked")
    assert (
        turn_outcome._in_prose("asked for peas (wrong_parameter); 0.066 more, 10.5 less", drawing_of("chat"))
        == "asked for peas (wrong parameter); .066 more, 10.5 less"
    )


@pytest.mark.parametrize(
    ("benchmark", "text", "told"),
    [
        ("craft", "remove gl at (1,2): place os at (0,0) would do", "remove large green at (1,2): place small orange at (0,0) would do"),
        ("einstein", 'move {"block":"block1","from":"player2_bin","to":"commonbin"}', "move block1 from the player2 bin to the common bin"),
        ("einstein", "share (block0, block3, same, row): told before", "share block0 and block3 belong in one row: told before"),
        (
            "overcooked",
            "pickup(red_tomato,ingredient_dispenser); cut(chopping_board0)",
            "pick up red tomato (ingredients); cut at the board",
        ),
        ("overcooked", "asked for pickup(); juggle(egg)", "asked for pickup(); juggle(egg)"),
        ("coordination", "Adversary in room 7", "killer in room 7"),
        ("chat", "tool {not JSON}", "tool {not JSON}"),
    ],
)
def test_evidence_is_told_without_codes_and_calls(benchmark: str, text: str, told: str) -> None:
    """Sentences of the game page had `player2_bin`, JSON, `os` and `pickup(tomato,ingredient_dispenser)` in them."""
    assert turn_outcome._in_prose(text, drawing_of(benchmark)) == told


def test_every_family_says_what_its_game_is_about(played: Store) -> None:
    """A newcomer saw boards and walls, and nowhere who plays and who knows what."""
    episode = query(played, "SELECT min(episode_id) FROM games").item()
    with reader(played, Address.parse("/game", f"?episode={episode}&turn=1")) as read:
        assert "tell a builder, who sees none of it" in to_html(game.content(read))


def test_what_is_better_is_not_what_was_done() -> None:
    """The page recommended the removal that it had charged."""
    action = ActionView(
        "Builder", "remove", {"block": "gl", "position": "(1,2)", "layer": 2}, accepted=True, error_code=None, error_text=None
    )
    other = dataclasses.replace(action, verb="place")
    turn = TurnView(
        1,
        {},
        {},
        (),
        (action,),
        tuple(OracleView(one.verb, one.arguments, listed=True, verified=True) for one in (action, other)),
        None,
        None,
        None,
        None,
    )
    here = TurnFacts(turn=1, outcome="followed", accepted=True, progress=0.4, cost=0.1, unit="progress", failures=())
    facts = GameFacts(turns=[here], spirals=(), decisive=None, benchmark="craft")
    told = turn_outcome.what_went_wrong(turn, facts, drawing_of("craft"))
    assert told == "It was carried out, but did not lead on. Better: place large green at (1,2), layer 2. It cost .100 of progress."


def test_a_right_action_is_not_called_wrong_for_what_the_other_agent_left_undone() -> None:
    """Two act at once: the Chef's pickup is right, the step was lost by the Assistant, which waited. Its own fault stays its own."""
    both = frozenset({"Chef", "Assistant"})
    here = TurnFacts(
        turn=8, outcome="no_oracle", accepted=True, progress=0.4, cost=1.0, unit="steps", failures=(), actors=both, acted=("Chef",)
    )

    def charged(agent: str | None) -> str:
        link = {"agent": agent, "link": "idle", "status": "answered", "cost": 1.0, "unit": "steps", "evidence": "waited"}
        return dataclasses.replace(here, links=(link,)).name

    assert (charged("Assistant"), charged("Chef"), charged(None)) == ("accepted", "wrong", "lost")
    assert here.name == "wrong"
    assert dataclasses.replace(here, actors=frozenset({"Chef"})).name == "wrong"


@pytest.mark.parametrize(
    ("cost", "agent", "status", "better"),
    [(0.0, "D1", "answered", False), (0.1, None, "answered", False), (0.1, None, "unattributed", True), (None, None, "answered", True)],
)
def test_nothing_is_called_better_than_what_lost_nothing_or_no_agent_could_know(
    cost: float | None, agent: str | None, status: str, *, better: bool
) -> None:
    """The page had "Better: ..." next to "It lost nothing.", and "Better: ..." where attribution had found that no view showed it."""
    rule = {"agent": "Builder", "taxonomy": "craft", "category": "wrong_block", "evidence": "", "meaning": "another block"}
    link = {"agent": agent, "link": "not_seen", "status": status, "cost": 0.1, "unit": "progress", "evidence": "no view shows it"}
    here = TurnFacts(
        turn=1,
        outcome="not_followed",
        accepted=True,
        progress=0.4,
        cost=cost,
        unit="progress",
        failures=(rule,),
        links=(link,) if cost else (),
    )
    oracle = (OracleView("place", {"block": "gl", "position": "(1,2)", "layer": 2}, listed=True, verified=True),)
    turn = TurnView(1, {}, {}, (), (), oracle, None, None, None, None)
    facts = GameFacts(turns=[here], spirals=(), decisive=None, benchmark="craft")
    assert ("Better: place large green" in turn_outcome.what_went_wrong(turn, facts, drawing_of("craft"))) is better


def test_an_action_that_cost_nothing_is_not_called_wrong() -> None:
    """What a rule calls a failure can be right by its exact cost; where no cost is known the rule counts."""
    rule = {"agent": "Alice", "taxonomy": "hanabi_move", "category": "discard_last", "evidence": "", "meaning": "a last copy"}
    here = TurnFacts(turn=1, outcome="no_oracle", accepted=True, progress=0.04, cost=0.0, unit="points", failures=(rule,))
    names = [dataclasses.replace(here, cost=cost).name for cost in (0.0, 1.0, None)]
    assert names == ["accepted", "wrong", "wrong"]


def test_the_better_action_is_the_one_that_the_charge_argues_with() -> None:
    """A turn had another verified action in its headline; a charge that argues with none shows none."""
    done = {"block": "rs", "position": "(0,0)", "layer": 0}
    action = ActionView("Builder", "place", done, accepted=True, error_code=None, error_text=None)
    other = OracleView("place", {"block": "gs", "position": "(1,2)", "layer": 2}, listed=True, verified=True)
    turn = TurnView(1, {}, {}, (), (action,), (other,), None, None, None, None, ())
    here = TurnFacts(turn=1, outcome="not_followed", accepted=True, progress=0.4, cost=0.1, unit="progress", failures=())

    def facts(links: list[dict[str, object]]) -> GameFacts:
        return GameFacts(turns=[dataclasses.replace(here, links=links)], spirals=(), decisive=None, benchmark="craft")

    def shown(*evidences: str) -> str:
        links = [
            {"agent": agent, "link": "wrong_instruction", "status": "answered", "cost": 0.05, "unit": "progress", "evidence": evidence}
            for agent, evidence in zip(("D1", "D2"), evidences, strict=True)
        ]
        told: str = turn_outcome.what_went_wrong(turn, facts(links), drawing_of("craft"))
        return told

    argued = "place rs at (0,1), layer 0: it stands there; remove the block at (2,0), layer 1 would have kept 0.097 more"
    assert "Better: remove the block at (2,0), layer 1." in shown(argued, "the stack is full")
    assert "Better" not in shown("the stack is full", "nothing that was asked for would have kept the rest")


def test_costs_in_tables_are_written_as_in_sentences(played: Store) -> None:
    """The table of page Why wrote 0.176 below a sentence with .176."""
    with reader(played, Address.parse("/why", "")) as read:
        rows = why.TURNS.make(read, "craft")
        costs = [row["cost"] for row in written_rows(read, rows, block(read, rows, RowRange(size=20)).rows)]
    assert costs
    assert not [cost for cost in costs if cost.startswith("0.")]


def test_games_of_several_families_are_listed_family_by_family(played: Store) -> None:
    """Best first over all mixed scores without a common unit, and did not say whose games they were."""
    heads = []
    for search in ("", "?benchmark=craft"):
        with reader(played, Address.parse("/game", search)) as read:
            heads.append(list(game.GAMES.make(read, "").columns))
    assert heads[0] == ["task_id", "benchmark", *heads[1][1:]]


def test_a_store_of_transcripts_has_no_page_of_games(chats: Store, played: Store) -> None:
    """Its menu said Transcripts, and the page Games."""
    heads = [re.findall(r"<h[12][^>]*>([^<]+)<", to_html(page_of(store, game))) for store in (chats, played)]
    assert heads == [["Transcripts"] * 2, ["Games"] * 2]


def test_a_family_that_is_not_in_the_store_has_no_filters(chats: Store) -> None:
    """Remove gap spoke of 0 games and of filters that were not set, and asked for a judge of directors."""
    drawn = draw_page(chats, Address.parse("/remove-gap", ""))
    text = re.sub(r"<[^>]+>", " ", to_html(drawn.content))
    assert drawn.filters is None
    assert "No CRAFT game in this store." in text
    assert "filters" not in text
    assert "Judge spatial_grounding" not in text


def test_what_follows_on_what_is_not_asked_of_transcripts(chats: Store, played: Store) -> None:
    """All of their turns are without an outcome: no move, then no move."""
    assert ["What follows on what" in to_html(page_of(store, effects)) for store in (chats, played)] == [False, True]


def test_few_turns_of_a_curve_have_no_halves(played: Store) -> None:
    """A curve of three turns had 0.5, 1.5 and 2.5 on its axis."""
    rows = report(played, "survival-curves").filter(pl.col("turn") <= 3)
    drawn = effects.survival_figure(rows.filter(pl.col("event") == rows["event"][0]))
    assert drawn is not None
    assert drawn.layout.xaxis.dtick == 1


def test_turns_without_a_failure_are_counted() -> None:
    """`Nothing went wrong` of a hundred transcripts, of which three turns count."""
    rows = pl.DataFrame({"model": ["m"], "category": ["none"], "turns": [3], "denominator": [3], "share": [1.0]})
    assert failures._commonest(rows, "model", {"stall": "stall"}) == "No failure in 3 turns."


def test_votes_are_not_accepted() -> None:
    """Avalon showed `voted to reject accepted`; moves of other families say that they were."""
    action = ActionView("Bob", "vote", {"approve": False}, accepted=True, error_code=None, error_text=None)
    turn = TurnView(1, {}, {}, (), (action,), (), None, None, None, None, ())
    here = TurnFacts(turn=1, outcome="no_oracle", accepted=True, progress=None, cost=None, unit=None, failures=())
    shown = [to_html(turn_outcome.tried(turn, here, drawing_of(name))) for name in ("avalon", "craft")]
    assert ["accepted" in text for text in shown] == [False, True]


def test_proposals_are_called_by_players_task_and_turn(tmp_path: Path) -> None:
    """The table named the games by the files that they were read from, and every line of a game alike."""
    store = Store(tmp_path / "avalon.duckdb")
    ingest_paths([ROOT / "cotrace/demo_games/avalon/mixed-1.jsonl.gz"], store, workers=1)
    ensure_installed(store)
    with reader(store, Address.parse("/avalon", "")) as read:
        rows = read.rows(avalon.PAGE.tables[1].make(read, "").sql, filter_on=())
    assert len(rows) > 1
    ((model, task),) = query(store, "SELECT model, task_id FROM episodes").rows()
    assert rows["game"].to_list() == [f"{model}, {task}, turn {turn}" for turn in rows["turn"]]


def test_the_legend_of_failures_has_colours_alone_and_few_games_are_rings(played: Store) -> None:
    """A category was hatched in the legend where its first bar was one of few turns."""
    with reader(played, Address.parse("/failures", "")) as read:
        drawn = failures.report_figure(read)
    assert drawn is not None
    *colors, scores = (trace for trace in drawn.data if trace.type == "scatter")
    bars = {trace.legendgroup: trace for trace in drawn.data if trace.type == "bar"}
    assert {bar.showlegend for bar in bars.values()} == {False}
    assert {trace.legendgroup: (trace.marker.color, trace.marker.symbol) for trace in colors} == {
        category: (bar.marker.color, "square") for category, bar in bars.items()
    }
    assert set(scores.marker.symbol) == {"circle-open"}


def test_a_long_name_in_a_legend_has_two_lines() -> None:
    """A team of two models was cut off at the edge of a phone."""
    name = "openai/qwen2.5-coder-1.5b+openai/qwen2.5-coder-0.5b"
    drawn = dot_plot([Dot(line="a", value=0.5, series=name), Dot(line="a", value=0.4, series="b")], Axis(title="score"))
    lines = drawn.data[0].name.split("<br>")
    assert max(map(len, lines)) <= 40
    assert "".join(lines) == name


def test_games_of_one_family_are_not_said_to_be_of_several(played: Store) -> None:
    """The list spoke of scores of two families where the store had one."""
    assert "Best first." in told(played, game)


def test_the_head_of_a_game_says_nothing_twice(tmp_path: Path) -> None:
    """`cramped room cramped room`: the condition of some games is their task, or their team."""
    store = ingested(tmp_path, written(tmp_path / "kitchen.jsonl", {"id": "kitchen", "messages": CHAT})).store
    ensure_installed(store)
    episode = query(store, "SELECT episode_id FROM games").item()
    with reader(store, Address.parse("/game", f"?episode={episode}&turn=1")) as read:
        head = to_html(game.content(read)).partition('class="stage-verdict"')[0]
    assert re.sub(r"<[^>]+>", " ", head).split().count("kitchen") == 1


def test_spirals_say_in_words_what_their_colours_mean(played: Store) -> None:
    """The legend has codes such as "undo loop"; one colour a kind is all that the figure encodes."""
    with reader(played, Address.parse("/spirals", "")) as read:
        told = str(spirals.content(read))
    assert "an action refused before is tried again while nothing has changed" in told
    assert "the state returns to an earlier one" in told


def test_no_mark_of_an_outcome_lies_in_the_line_of_its_interval() -> None:
    """A level stroke lay on a level interval: on page Judges nobody saw where the mean of turns without a move was."""
    assert not [symbol for symbol in _MARK_SYMBOLS.values() if symbol.startswith("line-ew")]


def page_of(store: Store, page: ModuleType, search: str = "") -> Part:
    with reader(store, Address.parse(page.PATH, search)) as read:
        return page.content(read)


def told(store: Store, page: ModuleType, search: str = "") -> str:
    """A page as text."""
    return re.sub(r"<[^>]+>", " ", to_html(page_of(store, page, search)))


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A conversation of one message."""
    folder = tmp_path_factory.mktemp("single")
    store = ingested(folder, written(folder / "chat.jsonl", {"id": "x", "messages": CHAT[:1]})).store
    Store.settle(store)
    yield from held_open(store)


def test_one_of_a_thing_is_said_so(single: Store) -> None:
    """It was `1 games, 1 turns`."""
    pages = [told(single, page) for page in (overview, turns, runs)]
    assert "1 transcript, 1 turn." in pages[0]
    assert not [said for said in pages if re.search(r"\b1 (games|turns|teams|transcripts|experiments)\b", said)]


def test_games_of_a_single_turn_are_not_said_to_be_missing(single: Store) -> None:
    """Spirals said `No game under these filters` of games that were there."""
    assert "No game of two turns or more" in told(single, spirals)


def test_a_game_of_thousands_of_turns_leaves_room_for_others() -> None:
    """Beside 5,000 turns the cells of a game of twelve were less than a pixel wide."""
    episodes = pl.DataFrame({"episode_id": ["long", "short"], "task_id": ["a", "b"], "model": ["m", "m"]})
    turns_of = [("long", turn) for turn in range(1, 1001)] + [("short", 1)]
    cells = pl.DataFrame(turns_of, schema=["episode_id", "turn"], orient="row").with_columns(outcome=pl.lit("followed"))
    bars = pl.DataFrame(schema={"episode_id": pl.String, "start_turn": pl.Int64, "end_turn": pl.Int64, "kind": pl.String})
    drawn = spirals.heat_map(episodes, cells, bars)
    assert len(drawn.data[0].x) == 400


def test_the_judge_that_is_proposed_fits_the_games(chats: Store, tmp_path: Path) -> None:
    """For conversations that no engine follows it was CRAFT's rubrics and the engine."""
    assert "--rubric mast --model" in told(chats, judges)
    assert "--rubric spatial_grounding" in told(played_store(tmp_path, judged=False), judges)
