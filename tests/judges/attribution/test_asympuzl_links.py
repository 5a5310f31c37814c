"""Whose a turn of AsymPuzl was: hand-worked games of three positions, of which B's clues have the last two exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from analytics.query import query
from games.asympuzl.game import FeedbackMode, GameSettings
from schemas.store.store import Store
from tests.ingest.asympuzl.asympuzl_logs import Line, answer, log_of, replace, write
from tests.judges.attribution.test_craft_attribution import attributed
from tests.masters import held_open

COLORS = "The crescent is brown, the cross is maroon, the triangle is navy."
ORDER = "Position 1 is the crescent, position 2 is the cross, position 3 is the triangle."
RIGHT = (replace(1, "crescent", "brown"), replace(2, "cross", "maroon"), replace(3, "triangle", "navy"))
NOWHERE: Line = {"by": {"shape": "cross", "color": "maroon"}}
Part = tuple[int, str | None, str, float, float | None, str]
"""Turn, whose, link, cost, what its ideal would have kept (known where it is one agent's alone), words of the evidence."""


class Hand(NamedTuple):
    """A game worked by hand, each turn A before B; what is told counts for one turn."""

    answers: Sequence[str]
    expected: Sequence[Part]


def after_colors(a: str, b: str = "") -> tuple[str, ...]:
    """A second turn, after B told all colors and A nothing."""
    return answer(), answer(COLORS), a, b or answer()


def after_all(a: str, *more: str) -> tuple[str, ...]:
    """A second turn, after both told everything and B wrote it."""
    return answer(ORDER), answer(COLORS, *RIGHT), a, *(more or (answer(),))


HANDS = {
    "nobody tells": Hand(
        (answer(), answer()), [(1, "B", "not_said", 1, 1, 'have crescent is brown; it wrote ""; 3 positions were missing')]
    ),
    "two of three told": Hand(
        (answer(), answer("The crescent is brown, the cross is maroon.")), [(1, "B", "not_said", 1, 1, "triangle is navy; it wrote")]
    ),
    "one told wrongly": Hand(
        (answer(), answer("The crescent is brown, the cross is navy, the triangle is navy.")),
        [(1, "B", "wrong_instruction", 1, 1, "cross is maroon; it wrote")],
    ),
    "one told wrongly by its place": Hand(
        (answer(), answer("The crescent is brown, position 2 is navy, the triangle is navy.")),
        [(1, "B", "wrong_instruction", 1, 1, "1 position was missing")],
    ),
    "one told, one wrongly": Hand(
        (answer(), answer("The crescent is brown, the cross is navy.")),
        [(1, "B", "wrong_instruction", 1, 1, "cross is maroon; it wrote")],
    ),
    "B numbers its own list": Hand((answer(ORDER), answer("1. crescent brown, 2. triangle navy, 3. cross maroon", *RIGHT)), []),
    "B cannot be read": Hand((answer(), "???"), [(1, "B", "format", 1, 1, "and its answer cannot be read; 3 positions were missing")]),
    "all told": Hand((answer(ORDER), answer(COLORS, *RIGHT)), []),
    "A writes nothing": Hand(
        after_all(answer()), [(2, "A", "not_heard", 2, 2, "position 1 has crescent without color, and crescent brown could be concluded")]
    ),
    "A neither writes nor tells": Hand(
        after_colors(answer()),
        [(2, "A", "not_heard", 1.2, 1.2, "3 positions were"), (2, "A", "not_said", 0.8, 0.8, "cross at position 2; it wrote")],
    ),
    "A tells nothing": Hand(after_colors(answer("", *RIGHT)), [(2, "A", "not_said", 1, 1, "2 positions were missing")]),
    "A tells two places, B writes none": Hand(
        after_colors(answer("Position 1 is the crescent, position 2 is the cross.", *RIGHT)),
        [(2, "A", "not_said", 0.5, None, "triangle at position 3"), (2, "B", "not_heard", 0.5, None, "position 2 has triangle navy, and")],
    ),
    "A tells a place wrongly": Hand(
        after_colors(answer("Position 2 is the triangle, position 3 is the triangle.", *RIGHT)),
        [(2, "A", "wrong_instruction", 0.5, None, "cross at position 2"), (2, "B", "not_heard", 0.5, None, "position 3 has cross maroon")],
    ),
    "B writes nothing": Hand(after_colors(answer(ORDER, *RIGHT)), [(2, "B", "not_heard", 1, 1, "2 positions were missing")]),
    "B writes another color": Hand(
        after_colors(answer(ORDER, *RIGHT), answer("", replace(2, "cross", "navy"), RIGHT[2])),
        [(2, "B", "misread", 1, 1, "position 2 has cross navy, and cross maroon could be concluded from what A had reported")],
    ),
    "A writes another color": Hand(
        after_all(answer("", *RIGHT[:2], replace(3, "triangle", "brown"))),
        [(2, "A", "misread", 2, 2, "position 3 has triangle brown, and triangle navy could be concluded from what B had reported")],
    ),
    "A undoes what was right": Hand(
        after_all(answer("", *RIGHT[:2]), answer(COLORS), answer("", replace(1, "crescent", "navy")), answer()),
        [
            (2, "A", "not_heard", 1, 1, "position 3 has triangle without color"),
            (3, "A", "acted_wrong", 1, 1, "position 1 has crescent navy, and crescent brown could be concluded: it was right before"),
            (3, "A", "not_heard", 1, 1, "position 3 has triangle without color"),
        ],
    ),
    "A writes to no place": Hand(
        after_all(answer("", *RIGHT[:2], NOWHERE)), [(2, "A", "format", 2, 2, "position 3: its answer, or an action in it, cannot be read")]
    ),
    "A writes past the end": Hand(
        after_all(answer("", *RIGHT[:2], replace(9, "triangle", "navy"))), [(2, "A", "not_heard", 2, 2, "position 3 has triangle")]
    ),
    "A cannot be read": Hand(after_all("???"), [(2, "A", "format", 2, 2, "3 positions were missing")]),
    "B tells again too late": Hand(
        after_all(answer(), answer(), answer(), answer(COLORS)), [(2, "A", "not_heard", 2, 2, "3 positions were missing")]
    ),
    "B tells in words that are not understood": Hand(
        (answer(), answer("Brown is what the crescent wears, the cross is maroon and the triangle shines like a navy coat.")),
        [],
    ),
    "B's words were not understood, and A wrote nothing": Hand(
        (
            answer(ORDER),
            answer("The crescent is brown; the other two are the opposite of what you think.", *RIGHT),
            answer(),
            answer(COLORS),
        ),
        [(2, None, "not_understood", 1, None, "B's message of turn 1 was not understood: the crescent is brown; the other two")],
    ),
    "A's words were not understood": Hand(
        after_colors(answer("I have the crescent, the cross and the triangle.", *RIGHT)),
        [(2, None, "not_understood", 1, None, "A's message of turn 2 was not understood: i have the crescent; the cross; the triangle")],
    ),
    "what A told was taken back in words that are not understood": Hand(
        after_colors(answer(f"{ORDER} No, exactly the other way round!", *RIGHT)),
        [(2, None, "not_understood", 1, None, "no; exactly the other way round")],
    ),
    "A tells what models write": Hand(
        after_colors(answer("Hi! The crescent comes first, at 2 I have the cross, and the last one is the triangle.", *RIGHT)),
        [(2, "B", "not_heard", 1, 1, "2 positions were missing")],
    ),
    "B follows a wrong message": Hand(
        after_colors(
            answer("Position 1 is the cross, position 2 is the crescent, position 3 is the triangle.", *RIGHT),
            answer("", replace(1, "cross", "maroon"), replace(2, "crescent", "brown"), RIGHT[2]),
        ),
        [(2, "A", "wrong_instruction", 1, 1, "crescent at position 1; it wrote")],
    ),
    "A tells one place wrongly and nothing else": Hand(
        after_colors(answer("Position 1 is the cross.", *RIGHT), answer("", replace(1, "cross", "maroon"))),
        [
            (2, "A", "not_said", 1 / 3, 1 / 3, "triangle at position 3"),
            (2, "A", "wrong_instruction", 2 / 3, 2 / 3, "crescent at position 1"),
        ],
    ),
    "A tells nothing, and B writes what its clues exclude": Hand(
        after_colors(answer("", *RIGHT), answer("", replace(2, "cross", "navy"))),
        [
            (2, "A", "not_said", 0.75, None, "cross at position 2"),
            (2, "B", "acted_wrong", 0.25, None, "position 2 has cross navy, against its own clues"),
        ],
    ),
    "A tells nothing, and B cannot be read": Hand(
        after_colors(answer("", *RIGHT), "???"),
        [(2, "A", "not_said", 0.5, None, "2 positions were missing"), (2, "B", "format", 0.5, None, "2 positions were missing")],
    ),
    "B gives up what is right by chance": Hand(
        after_colors(
            answer("Position 2 is the cross, position 3 is the triangle.", *RIGHT), answer("", replace(1, "cross", "maroon"), *RIGHT[1:])
        ),
        [(2, "A", "not_said", 1, 1, "crescent at position 1")],
    ),
    "the log breaks off": Hand(
        (answer(), answer(), answer()),
        [(1, "B", "not_said", 1, 1, "3 positions were missing"), (2, None, "undecided", 1, None, "only one agent has answered")],
    ),
}


SPOILED = (answer("", *RIGHT), answer("", replace(1, "cross", "maroon"), *RIGHT[1:]))
"""A second turn in which A tells nothing and B makes right what was wrong, and wrong what was right by chance from the start."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("none", [("A", "not_said", 1.0)]),
        ("joint", [("A", "not_said", 1.0)]),
        ("both", [("A", "not_said", 1.0)]),
        ("own_detailed", [("B", "acted_wrong", 1.0)]),
        ("both_detailed", [("B", "acted_wrong", 1.0)]),
    ],
)
def test_that_an_entry_was_right_is_known_by_feedback_only(tmp_path: Path, mode: FeedbackMode, expected: Sequence[Any]) -> None:
    path = write(tmp_path / "logs" / "a.jsonl", log_of((answer(), answer(COLORS), *SPOILED), settings=GameSettings(mode=mode)))
    found = query(attributed(path.parent, tmp_path), "select agent, link, cost from attributions where turn = 2").rows()
    assert found == expected


@pytest.fixture(scope="module")
def hands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("asympuzl_hands")
    for name, hand in HANDS.items():
        write(folder / "logs" / f"{name}.jsonl", log_of(hand.answers, run_id=name))
    yield from held_open(attributed(folder / "logs", folder))


@pytest.mark.parametrize("name", HANDS)
def test_hand_worked_games(hands: Store, name: str) -> None:
    found = query(
        hands,
        "select turn, agent, link, attributions.cost, regained, evidence from attributions inner join episodes using (episode_id) "
        "where file = $file order by turn, agent, link",
        {"file": f"{name}.jsonl"},
    ).rows()
    told: list[Any] = [row[:-1] for row in found]
    assert told == [pytest.approx(part[:-1]) for part in HANDS[name].expected]
    for row, part in zip(found, HANDS[name].expected, strict=True):
        assert part[-1] in row[-1]


def test_what_was_told_and_what_became_of_it(hands: Store) -> None:
    """A fact counts when it is first told; B hears it in the same turn, A in the next."""
    found = query(
        hands,
        'select turn, agent, actor, request, followed, "right" from requests inner join episodes using (episode_id) '
        "where file = $file order by turn, agent, request",
        {"file": "B writes another color.jsonl"},
    ).rows()
    assert found == [
        (1, "B", "A", "crescent is brown", "fully", True),
        (1, "B", "A", "cross is maroon", "fully", True),
        (1, "B", "A", "triangle is navy", "fully", True),
        (2, "A", "B", "crescent at position 1", "fully", True),
        (2, "A", "B", "cross at position 2", "fully", True),
        (2, "A", "B", "triangle at position 3", "fully", True),
    ]
