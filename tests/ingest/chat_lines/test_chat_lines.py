"""Chat lines: OpenAI's form by itself, other columns by a mapping, rows that are conversations and rows that are messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analytics.installation import ensure_installed
from analytics.reports import report
from ingest.foreign.chat_lines import MappedChat, reader_for
from schemas.common.errors import UsageError
from tests.ingest.asked import Ingested, ingested, written
from tests.places import DOCS

MAP = """\
benchmark: negotiation
conversation: {id: deal, messages: talk}
message: {speaker: who, text: words, to: heard_by, turn: round}
outcome: {success: won, score: points, task: item, team: played_by}
"""
TALK = [
    {"who": "ann", "words": "Ten?", "heard_by": "bob", "round": 0},
    {"who": "bob", "words": "Nine.", "heard_by": ["ann", "cy"], "round": 0},
    {"who": "cy", "words": "Eight.", "heard_by": "all", "round": 1},
]
DEAL = {
    "deal": "d1",
    "talk": TALK,
    "won": True,
    "points": 9,
    "item": "lamp",
    "day": "Monday",
    "played_by": {"seller": "m-1", "buyer": None},
}


def mapped(tmp_path: Path, text: str, *rows: Any) -> Ingested:
    (tmp_path / "map.yaml").write_text(text, encoding="utf-8")
    return ingested(tmp_path, written(tmp_path / "talks.jsonl", *rows), reader=MappedChat.of(tmp_path / "map.yaml"))


def test_a_mapping_says_who_speaks_to_whom_when_and_how_it_ended(tmp_path: Path) -> None:
    """Turns from 0 count from 1; two messages of a turn keep their order; what is not named is kept as a detail."""
    found = mapped(tmp_path, MAP, DEAL)
    assert found.refused == []
    assert found.rows("SELECT turn, seq, agent, audience, text FROM utterances ORDER BY turn, seq") == [
        (1, 1, "ann", ["ann", "bob"], "Ten?"),
        (1, 2, "bob", ["bob", "ann", "cy"], "Nine."),
        (2, 1, "cy", ["ann", "bob", "cy"], "Eight."),
    ]
    facts = "SELECT benchmark, task_id, success, score, turns_taken, details ->> 'day', team ->> 'seller' FROM episodes"
    assert found.rows(facts) == [("negotiation", "lamp", True, 9.0, 2, "Monday", "m-1")]


def test_rows_that_are_messages_are_gathered_and_put_in_order(tmp_path: Path) -> None:
    """Conversations mixed, rows out of order; the outcome stands in one of the rows; a row without a conversation is told."""
    text = "conversation: {id: game}\nmessage: {speaker: by, text: text, order: at}\noutcome: {score: points, success: won}\n"
    rows = [
        {"game": 1, "by": "a", "text": "second", "at": 10},
        {"game": 2, "by": "b", "text": "only", "at": 1},
        {"game": 1, "by": "b", "text": "first", "at": 9, "points": 0.5, "won": False},
        {"by": "c", "text": "whose?"},
    ]
    found = mapped(tmp_path, text, *rows)
    said = found.rows("SELECT task_id, turn, agent, text, score, success FROM utterances JOIN episodes USING (episode_id) ORDER BY ALL")
    assert said == [("1", 1, "b", "first", 0.5, False), ("1", 2, "a", "second", 0.5, False), ("2", 1, "b", "only", None, None)]
    assert len(found.refused) == 1
    assert "no value in game" in found.refused[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("when", ["2025-01-01T10:00:00", "2025-01-01 10:00:00Z", 1735725600, 1735725600.0, "1735725600", 1735725600000])
def test_times_are_texts_or_seconds_since_1970(tmp_path: Path, when: Any) -> None:
    """As most programs that log chats write them: ISO, or Unix time in seconds or milliseconds."""
    found = mapped(
        tmp_path, "conversation: {id: game}\nmessage: {time: created}\n", {"game": 1, "name": "a", "content": "hi", "created": when}
    )
    assert found.refused == []
    assert found.rows('SELECT CAST("at" AS VARCHAR) FROM turns') == [("2025-01-01 10:00:00",)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("when", [None, 0, 12.5, "soon", True, float("nan"), 1e300, {"at": 1}])
def test_what_is_no_time_is_none(tmp_path: Path, when: Any) -> None:
    """Seconds since the game began are no date."""
    rows = [{"game": 1, "name": "a", "content": "hi", "created": value} for value in (when, 1735725600)]
    found = mapped(tmp_path, "conversation: {id: game}\nmessage: {time: created}\n", *rows)
    assert found.rows('SELECT "at" IS NULL FROM turns ORDER BY turn') == [(True,), (False,)]


def test_openai_chat_is_read_by_itself_with_tools_and_parts(tmp_path: Path) -> None:
    """Names, tool calls with their results, parts, thoughts; a line that is none and one without messages are told."""
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "1+1?"}, {"type": "image_url", "image_url": {"url": "http://x/y.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "I add."},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
        {"role": "assistant", "name": "adder", "content": "2"},
    ]
    path = written(tmp_path / "chat.jsonl", {"id": "x", "messages": chat, "score": 1}, '{"messages": [', {"id": "y", "messages": []})
    found = ingested(tmp_path, path)
    assert found.rows("SELECT agent, text FROM utterances WHERE channel = 'public' ORDER BY turn") == [
        ("system", "Be brief."),
        ("user", "1+1?\n[image_url: http://x/y.png]"),
        ("tool", "2"),
        ("adder", "2"),
    ]
    assert found.rows("SELECT text FROM utterances WHERE channel = 'private'") == [("I add.",)]
    assert found.rows("SELECT verb, arguments ->> 'a', accepted FROM actions") == [("add", "1", True)]
    assert found.rows("SELECT success, score FROM episodes") == [(True, 1.0)]
    assert sorted(reason.split(":")[0] for reason in found.refused) == ["line 2", "line 3"]


def test_the_mappings_of_the_docs_are_mappings(tmp_path: Path) -> None:
    """All forms of docs/formats/chat_lines.md."""
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "formats/chat_lines.md").read_text(encoding="utf-8"), re.DOTALL)
    for index, block in enumerate(blocks):
        path = tmp_path / f"{index}.yaml"
        path.write_text(block, encoding="utf-8")
        assert MappedChat.of(path).mapping.benchmark == "negotiation"
    assert len(blocks) == 3


_LINES = ["I walk to the north", "you take the old key", "we open the door", "it is done now"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("column", "values", "games"),
    [
        *((column, (1, 2, 1, 2), 2) for column in ("game_id", "chat_id", "dialogue_id", "episode", "run_id", "task_id")),
        ("run_id", ("a", "b", "c", "d"), 1),
        ("game", ("chess",) * 4, 1),
        ("match", (1, 1, None, None), 1),
    ],
)
def test_messages_are_gathered_by_what_tells_games_apart(column: str, values: tuple[Any, ...], games: int, tmp_path: Path) -> None:
    """A column of rows that are messages whose values repeat, under any usual name; one that names each message, or all, does not."""
    rows = [
        {column: value, "speaker": "ab"[place // 2], "text": text} for place, (value, text) in enumerate(zip(values, _LINES, strict=True))
    ]
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *rows))
    assert found.refused == []
    assert found.rows("SELECT count(*), sum(turns_taken) FROM episodes") == [(games, 4)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("numbered", "outer", "games"),
    [
        ("episode", ("run_id", "aabb"), 4),
        ("episode", ("task_id", "aabb"), 4),
        ("game", ("seed", (7, 7, 8, 8)), 4),
        ("game_id", ("channel_id", "aabb"), 2),
        ("game_id", ("task_id", "abab"), 2),
    ],
)
def test_games_numbered_anew_in_each_run_stay_apart(numbered: str, outer: tuple[str, Any], games: int, tmp_path: Path) -> None:
    """A number that comes back after others, with another value of a run, task or seed, is another game; what varies in a game is none."""
    column, values = outer
    rows = [
        {numbered: place % 2 if games > 2 else place // 2, column: value, "speaker": speaker, "text": f"{text}, {speaker}"}
        for place, (value, text) in enumerate(zip(values, _LINES, strict=True))
        for speaker in "xy"
    ]
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *rows))
    assert found.rows("SELECT count(*), sum(turns_taken) FROM episodes") == [(games, 8)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("key", "names", "agents"),
    [
        *((key, "xy", ["x", "y", "x", "y"]) for key in ("agent_name", "from_agent", "sender_name", "character", "agent_id")),
        ("player", (0, 1), ["player 0", "player 1", "player 0", "player 1"]),
        ("agent_id", (1, 1), ["user", "agent 1", "user", "agent 1"]),
    ],
)
def test_agents_are_named_by_any_usual_key(key: str, names: tuple[Any, ...], agents: list[str], tmp_path: Path) -> None:
    """Each message is of the agent that it names, not of the last; the one agent of a session does not write the user's messages."""
    roles = ("user", "assistant")
    rows = [{"role": roles[place % 2], key: names[place % 2], "content": text} for place, text in enumerate(_LINES)]
    found = ingested(tmp_path, written(tmp_path / "a.jsonl", *rows), written(tmp_path / "b.jsonl", {"id": "b", "messages": rows}))
    assert found.rows("SELECT list(agent ORDER BY turn) FROM utterances GROUP BY episode_id") == [(agents,), (agents,)]


def test_the_reply_of_a_row_ends_its_messages(tmp_path: Path) -> None:
    """Of rows that are conversations as of those of a file that is one; a reply that the messages have is not said again."""
    asked = [{"role": "user", "content": "1+1?"}]
    rows = [
        {"id": "a", "messages": asked, "final": "2"},
        {"id": "b", "messages": [*asked, {"role": "assistant", "content": "2"}], "final": "2"},
    ]
    found = mapped(tmp_path, "conversation: {id: id, messages: messages, reply: final}", *rows)
    assert found.rows("SELECT agent, text FROM utterances ORDER BY episode_id, turn") == [("user", "1+1?"), ("assistant", "2")] * 2


def test_a_changed_mapping_reads_the_same_file_again(tmp_path: Path) -> None:
    """The same mapping changes nothing."""
    mapped(tmp_path, MAP, DEAL)
    assert mapped(tmp_path, MAP, DEAL).report.unchanged == 1
    changed = mapped(tmp_path, MAP.replace("score: points, ", ""), DEAL)
    assert (changed.report.replaced, changed.report.unchanged) == (1, 0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("conversation: {id: x}\nmessage: {speeker: a}", "did you mean speaker?", id="typo"),
        pytest.param("benchmark negotiation", "the file holds 'benchmark negotiation', not entries: write them as", id="no entries"),
        pytest.param(" \n", "is empty", id="what a guess that found nothing leaves"),
        pytest.param("message: says", "message holds 'says', not entries", id="part without entries"),
        pytest.param("[1, 2", "is not YAML", id="no yaml"),
        pytest.param("9" * 5_000, "is not YAML", id="number without end"),
        pytest.param("0x" + "f" * 5_000, "holds a number of thousands of digits, not entries", id="number that Python writes not"),
        pytest.param("2024-13-45", "is not YAML", id="no date"),
        pytest.param("[" * 1_000, "nested too deeply", id="deep"),
    ],
)
def test_bad_mappings_are_one_line(tmp_path: Path, text: str, told: str) -> None:
    """What, and the mend."""
    (tmp_path / "map.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        MappedChat.of(tmp_path / "map.yaml")
    with pytest.raises(UsageError, match="leave one out"):
        reader_for("craft", tmp_path / "map.yaml")


def test_columns_that_the_mapping_names_and_the_file_lacks_are_told(tmp_path: Path) -> None:
    """Each conversation in a line; a turn that is no number too."""
    found = mapped(tmp_path, MAP, {"deal": "d2", "chat": TALK}, DEAL | {"talk": [TALK[0] | {"round": "late"}]})
    assert found.report.episodes == 0
    assert [("talk is not a list" in reason, "a turn is a whole number" in reason) for reason in found.refused] == [
        (True, False),
        (False, True),
    ]


def test_tool_calls_that_are_no_list_are_told(tmp_path: Path) -> None:
    """A message of another conversation is read."""
    rows = [
        {"id": name, "messages": [{"role": "assistant", "content": "Hi", "tool_calls": calls}]} for name, calls in (("x", 0.5), ("y", []))
    ]
    found = ingested(tmp_path, written(tmp_path / "chat.jsonl", *rows))
    assert found.report.episodes == 1
    assert ["tool_calls is not a list" in reason for reason in found.refused] == [True]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        pytest.param(
            "text: words", "text: wordz", "no message has wordz, which the mapping names as message.text: did you mean words?", id="text"
        ),
        pytest.param(
            "speaker: who", "speaker: name", "no message has name, which the mapping names as message.speaker: there are", id="speaker"
        ),
        pytest.param("id: deal", "id: dael", "no row has dael, which the mapping names as conversation.id: did you mean deal?", id="id"),
        pytest.param("to: heard_by", "to: heardby", "no message has heardby, which the mapping names as message.to: did you mean", id="to"),
        pytest.param(
            "success: won",
            "success: end.wun",
            "no row has end.wun, which the mapping names as outcome.success: did you mean end.won?",
            id="success",
        ),
    ],
)
def test_a_column_that_no_row_has_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    """It would leave texts empty, private words public and outcomes unknown; the rest is read."""
    found = mapped(tmp_path, MAP.replace(old, new), *({**DEAL, "deal": deal, "end": {"won": True}} for deal in ("d1", "d2")))
    assert found.rows("SELECT count(*) FROM episodes") == [(2,)]
    unread = [": 6 of 6 messages have no text and no call; keys not read: words" in reason for reason in found.refused]
    assert unread == ([True, False] if new == "text: wordz" else [False])[::-1]
    assert told in found.refused[0]


def test_columns_that_one_row_has_or_that_hold_nothing_are_no_mistake(tmp_path: Path) -> None:
    """An outcome that one conversation alone lacks, a thought in one message, an error that no conversation met."""
    text = MAP.replace("turn: round", "turn: round, thought: thinks").replace("task: item", "task: item, error: crash")
    thinking = {**DEAL, "deal": "d2", "talk": [*TALK, {"who": "cy", "words": "So.", "thinks": "Hm.", "round": 1}], "won": None}
    assert mapped(tmp_path, text, DEAL, thinking).refused == []
    assert mapped(tmp_path, MAP, {key: value for key, value in DEAL.items() if key not in {"won", "points"}}).refused == []


def test_columns_of_rows_that_are_messages_may_hold_nothing(tmp_path: Path) -> None:
    """An outcome that is null in every row is there, and not known."""
    text = "benchmark: negotiation\nconversation: {id: deal}\nmessage: {speaker: who, text: words}\noutcome: {success: won}"
    rows = [{"deal": deal, "who": "ann", "words": "Ten?", "won": None} for deal in ("d1", "d2")]
    assert mapped(tmp_path, text, *rows).refused == []


def test_what_may_be_meant_is_looked_for_in_all_messages(tmp_path: Path) -> None:
    """Not only in the last one, which may hold little."""
    found = mapped(tmp_path, MAP.replace("text: words", "text: wordz"), DEAL | {"talk": [*TALK, {"who": "cy", "round": 2}]})
    assert ["did you mean words?" in reason for reason in found.refused] == [True, False]
    assert "4 of 4 messages have no text and no call; keys not read: words" in found.refused[1]


BY_MESSAGE = """\
benchmark: negotiation
conversation: {id: game}
message: {speaker: by, text: says, order: at}
outcome: {success: won, score: points}
"""
CSV = """\
game,by,says,at,won,points
g1,ann,"Ten, or less?",1,,
g1,bob,"Nine.
Or eight.",2,yes,0.5
g2,ann,Hi,1,no,
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(CSV.encode(), id="comma"),
        pytest.param(CSV.replace(",", ";").replace("Ten;", "Ten,").encode(), id="semicolon"),
        pytest.param(CSV.replace(",", "\t").replace("Ten\t", "Ten,").encode(), id="tab"),
        pytest.param(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").replace("Nine.\r\n", "Nine.\n").encode(), id="as Excel saves it"),
        pytest.param(CSV.encode("utf-16"), id="UTF-16"),
        pytest.param((CSV + "\n,,,,,\n").encode(), id="blank rows"),
    ],
)
def test_csv_is_read_by_a_mapping(tmp_path: Path, data: bytes) -> None:
    """By comma, semicolon or tab; quoted fields hold them and line breaks; an empty field says nothing."""
    found = csv_by_mapping(tmp_path, data)
    assert found.refused == []
    assert found.rows("SELECT task_id, turn, agent, text FROM utterances JOIN episodes USING (episode_id) ORDER BY ALL") == [
        ("g1", 1, "ann", "Ten, or less?"),
        ("g1", 2, "bob", "Nine.\nOr eight."),
        ("g2", 1, "ann", "Hi"),
    ]
    assert found.rows("SELECT task_id, success, score FROM episodes ORDER BY 1") == [("g1", True, 0.5), ("g2", False, 0.0)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(CSV.encode() + b"g3,ann,hi, there,3,,\n", "line 6: 7 fields where the header has 6", id="delimiter not quoted"),
        pytest.param(CSV.encode() + b'g3,"ann', "no CSV (unexpected end of data)", id="cut in quotes"),
        pytest.param(CSV.replace("game", "gaem").encode(), "no row has game, which the mapping names as conversation.id", id="slip"),
        pytest.param(CSV.encode() + "g3,é,hi,3,,\n".encode("latin1"), "is not UTF-8: convert the file first", id="Latin 1"),
    ],
)
def test_csv_that_cannot_be_used_is_told_by_its_line(tmp_path: Path, data: bytes, told: str) -> None:
    """What is wrong and the mend; whole rows are read."""
    assert any(told in reason for reason in csv_by_mapping(tmp_path, data).refused)


def test_csv_without_a_mapping_and_other_tables_beside(tmp_path: Path) -> None:
    """Named, it is told of the mapping; in a folder only tables with the conversation's column are taken."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/talks.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "logs/prices.csv").write_text("lamp,price\na,1\n", encoding="utf-8")
    assert ["take --map FILE" in reason for reason in ingested(tmp_path, tmp_path / "logs/talks.csv").refused] == [True]
    (tmp_path / "map.yaml").write_text(BY_MESSAGE, encoding="utf-8")
    report = ingested(tmp_path, tmp_path / "logs", reader=MappedChat.of(tmp_path / "map.yaml")).report
    assert (report.episodes, [path for path, _ in report.others]) == (2, [str(tmp_path / "logs/prices.csv")])


def csv_by_mapping(tmp_path: Path, data: bytes) -> Ingested:
    (tmp_path / "map.yaml").write_text(BY_MESSAGE, encoding="utf-8")
    (tmp_path / "talks.csv").write_bytes(data)
    return ingested(tmp_path, tmp_path / "talks.csv", reader=MappedChat.of(tmp_path / "map.yaml"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("outcomes", "rows"),
    [
        pytest.param([(None, 0), (None, 1), (None, 5)], [(None, 0), (None, 1), (None, 5)], id="points"),
        pytest.param([(None, 0.0), (None, 0.4), (None, 1.0)], [(None, 0), (None, 0.4), (None, 1)], id="shares"),
        pytest.param([(None, 0), (None, 1), (None, 1.0)], [(False, 0), (True, 1), (True, 1)], id="grades"),
        pytest.param([("loss", 1), ("win", 0)], [(None, 1), (None, 0)], id="a success in other words"),
        pytest.param([(True, 5), (False, 1)], [(True, 5), (False, 1)], id="success and points"),
    ],
)
def test_a_score_of_0_or_1_is_no_success_where_the_scale_goes_further(tmp_path: Path, outcomes: list[Any], rows: list[Any]) -> None:
    """One point of ten is no success, and a success that cannot be read is not guessed from the score."""
    games = [
        {"id": f"g{index}", "messages": [{"role": "user", "content": "Hi"}], "score": score}
        | ({} if success is None else {"success": success})
        for index, (success, score) in enumerate(outcomes)
    ]
    found = ingested(tmp_path, written(tmp_path / "chat.jsonl", *games))
    assert found.rows("SELECT success, score FROM episodes ORDER BY task_id") == rows


@pytest.mark.parametrize(
    ("values", "told"),
    [
        pytest.param(
            {"won": "win"}, "2 conversations have a won that is not yes or no, true or false, 1 or 0 (such as 'win')", id="success"
        ),
        pytest.param({"won": 3}, "2 conversations have a won that is not yes or no", id="number"),
        pytest.param({"points": "many"}, "2 conversations have a points that is no number (such as 'many')", id="score"),
    ],
)
def test_an_outcome_that_cannot_be_read_is_told(tmp_path: Path, values: dict[str, Any], told: str) -> None:
    """Once a file, and not known; a null says nothing, and nothing is told of it."""
    found = mapped(
        tmp_path, MAP, *({**DEAL, "deal": deal} | more for deal, more in (("d1", values), ("d2", values), ("d3", {"won": None})))
    )
    assert [told in reason for reason in found.refused] == [True]
    assert found.rows("SELECT count(*) FROM episodes") == [(3,)]


@pytest.mark.usefixtures("with_views")
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("form", "key"), [("jsonl", "id"), ("json", "task"), ("parquet", "problem_id")])
def test_repeats_of_a_task_are_attempts_at_it(form: str, key: str, tmp_path: Path) -> None:
    """Without a mapping as with `outcome.task: id`: tasks are the clusters of intervals, and teams are paired on them."""
    rows = [
        {
            key: f"task-{task}",
            "run": n,
            "model": model,
            "success": (task + (model == "b")) % 3 == 0,
            "messages": [{"role": "assistant", "content": f"{n}"}],
        }
        for task in range(6)
        for model in ("a", "b")
        for n in range(3)
    ]
    path = tmp_path / f"runs.{form}"
    if form == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        written(path, *(rows if form == "jsonl" else [rows]))
    (tmp_path / "map.yaml").write_text(
        f"benchmark: chat\nconversation: {{id: {key}, messages: messages}}\noutcome: {{success: success, task: {key}}}\n"
    )
    games = []
    for reader in (MappedChat.of(tmp_path / "map.yaml"), None):
        (tmp_path / str(reader is None)).mkdir()
        found = ingested(tmp_path / str(reader is None), path, reader=reader)
        assert [note.split(":")[0] for _, note in found.report.notes] == ["6 tasks, 2 models, 3 attempts each"]
        assert found.rows("SELECT model, attempt, count(*) FROM episodes GROUP BY ALL ORDER BY ALL") == [
            (model, attempt, 6) for model in ("a", "b") for attempt in (1, 2, 3)
        ]
        games.append(found.rows("SELECT task_id, model, attempt, success, score FROM episodes ORDER BY ALL"))
    assert games[0] == games[1]
    ensure_installed(found.store)
    assert report(found.store, "leaderboard")["tasks"].to_list() == [6, 6]
    assert report(found.store, "compare").select("paired", "tasks", "games_a").rows() == [(True, 6, 18)]


def test_a_text_that_is_the_task_itself_is_not_its_name(tmp_path: Path) -> None:
    """Programs write the whole task under `task`, or what kind it is: such conversations are distinguished by their ids."""
    whole = {"task": "Write a poem.\nIt is about tea.", "seed": 1}
    for facts in (whole, {"task": "poetry"}):
        (folder := tmp_path / str(len(facts))).mkdir()
        rows = [{"id": f"run-{n}", "messages": [{"role": "user", "content": "Hi"}], **facts} for n in (1, 2)]
        found = ingested(folder, written(folder / "runs.jsonl", *rows))
        assert found.rows("SELECT task_id FROM episodes ORDER BY ALL") == [("run-1",), ("run-2",)]


def test_attempts_that_the_log_numbers_keep_their_numbers(tmp_path: Path) -> None:
    """From 0 or 1; a task that is named apart from the id needs no mapping."""
    rows = [{"id": f"run-{n}", "task_id": "lamp", "attempt": n, "messages": [{"role": "user", "content": "Hi"}]} for n in (2, 0, 1)]
    found = ingested(tmp_path, written(tmp_path / "runs.jsonl", *rows))
    assert found.rows("SELECT task_id, attempt, details ->> 'id' FROM episodes ORDER BY attempt") == [
        ("lamp", 1, "run-0"),
        ("lamp", 2, "run-1"),
        ("lamp", 3, "run-2"),
    ]
