"""Trajectory scores, requests and answers: the specification's test vectors and cases worked by hand."""

from __future__ import annotations

import pytest

from games.overcooked.engine.layout import known_actions, known_to_anyone
from games.overcooked.engine.references import published_references
from games.overcooked.measures import Event, TimestepOutput, confusion, d_max, event_of, hand_overs, repaired, score, tes
from games.overcooked.taxonomy import initiating_category, paper_category, responding_category
from games.overcooked.text.replies import NOTHING, calls_in, fields_of, plan_items, requests_in

VECTORS = [
    ("abcde", "abcde", 1.0, 1.0, 1.0),
    ("abcde", "abcxe", 0.6, 0.6, 0.6),
    ("abcde", "abcdez", 1.0, 0.833333, 0.913346),
    ("abcde", "zabcde", 1.0, 0.833333, 0.913346),
    ("abcde", "bcde", 0.0, 0.0, 0.0),
    ("abcde", "aabbcc", 0.6, 0.5, 0.548008),
    ("abcde", "axbycz", 0.6, 0.5, 0.548008),
    ("ab", "abab", 1.0, 0.5, 0.678253),
    ("abcdefghijklm", "abcdefghijkXm", 0.846154, 0.846154, 0.846154),
]
FETCH_EGG = ("pickup(egg,ingredient_dispenser)", "place_obj_on_counter()")


@pytest.mark.parametrize(("reference", "done", "similarity", "precision", "efficiency"), VECTORS)
def test_specified_vectors(reference: str, done: str, similarity: float, precision: float, efficiency: float) -> None:
    """Letters are actions; the prefix rule makes all behind the first unmatched action worthless."""
    found = score(done, [reference])
    assert (found.similarity, found.precision, found.tes) == pytest.approx((similarity, precision, efficiency), abs=1e-6)
    assert found.redundancy == pytest.approx(1 - precision, abs=1e-6)


def test_an_agent_without_actions() -> None:
    """Nothing done is worth nothing, and is not divided by."""
    assert (tes("", "abcde"), score("", ["abcde"]).tes, score("", ["abcde"]).precision) == (0.0, 0.0, 0.0)


def test_the_first_of_equal_references_counts() -> None:
    """Two references fit equally well: the first is named; a better one wins wherever it stands."""
    assert score("ab", ["abc", "abd"]).reference == 0
    assert score("abd", ["abc", "abd"]).reference == 1
    assert d_max("xaxbx", "abd") == 2


def test_known_actions_are_as_many_as_specified() -> None:
    """332 of the Chef, 538 of the Assistant, 761 in all (section 7.2)."""
    assert (len(known_actions(0)), len(known_actions(1)), len(known_to_anyone())) == (332, 538, 761)


def test_requests_are_read_as_published() -> None:
    """Single quotes or none are understood, double ones are not; blanks do not matter."""
    assert requests_in("Chef plan: request('pickup(egg, ingredient_dispenser)');request(place_obj_on_counter())") == FETCH_EGG
    assert requests_in('Chef plan: request("cut(chopping_board0)")') == ('"cut(chopping_board0)',)
    assert calls_in("Assistant plan: wait(1)") == ()
    assert calls_in("Assistant plan: no") is None
    assert plan_items("Chef plan: Cook(pot0); wait(2)") == ("cook(pot0)", " wait(2)")


@pytest.mark.parametrize(
    ("text", "plan", "say"),
    [
        ("Chef analysis: a\nChef plan: wait(1)\nChef say: Hello [END]", "Chef plan: wait(1)", "Hello [END]"),
        ("Chef analysis: a\nChef plan: wait(1)\nChef say: [NOTHING]", "Chef plan: wait(1)", NOTHING),
        ("Chef analysis: a\nChef plan: wait(1)", "Chef plan: wait(1)", NOTHING),
        ("Chef analysis: a\nchef plan: wait(1)\nChef say: x", "", "x"),
        ("Chef analysis: a\nChef plan: first: wait(1)\nChef say: x", "", "x"),
        ("Chef analysis: a\nChef plan: \nChef say: x", "", "x"),
    ],
)
def test_fields(text: str, plan: str, say: str) -> None:
    """Labels of plans are case-sensitive, and the first item has exactly one colon and a name."""
    found = fields_of(text, "Chef")
    assert (found.plan, found.say) == (plan, say)


def test_repaired_fillings() -> None:
    """At the oven a filling is recorded as a put, and once for every step of waiting: it was one filling."""
    logged = ["pickup(dish, counter)", "put_obj_in_utensil(oven0)", "put_obj_in_utensil(oven0)", "deliver_soup()"]
    assert repaired(logged) == ("pickup(dish,counter)", "fill_dish_with_food(oven0)", "deliver_soup()")
    carried = ["pickup(pea, counter)", "put_obj_in_utensil(oven0)"]
    assert repaired(carried) == ("pickup(pea,counter)", "put_obj_in_utensil(oven0)")


def test_required_hand_overs() -> None:
    """One in levels 1 and 2, then one more with each level."""
    orders = ("boiled_egg", "boiled_corn_slices", "baked_carrot_soup", "sliced_pumpkin_and_chickpea_stew")
    assert [hand_overs(order) for order in orders] == [1, 1, 2, 3]
    assert [hand_overs(order) for order in ("mashed_potato_and_pea_patty", "taro_bean_and_bell_pepper_patty")] == [4, 5]


# -- conversations --------------------------------------------------------------------------------


def conversation(request: tuple[str, ...], answer: tuple[str, ...]) -> list[TimestepOutput]:
    asked = ";".join(f"request('{action}')" for action in request)
    return [
        TimestepOutput(0, "a", f"Chef plan: {asked}", "Please."),
        TimestepOutput(1, "a", f"Assistant plan: {';'.join(answer)}", "Sure."),
        TimestepOutput(0, "a", "Chef plan: wait(1)", "Good. [END]"),
    ]


def measured(order: str, done: tuple[str, ...], messages: list[TimestepOutput]) -> Event:
    pairs = published_references(order)
    event = event_of(messages, 7, [(), done], [[pair.chef for pair in pairs], [pair.assistant for pair in pairs]])
    assert event is not None
    return event


def categories(order: str, done: tuple[str, ...], request: tuple[str, ...], answer: tuple[str, ...]) -> tuple[str, str | None, str | None]:
    messages = conversation(request, answer)
    event = measured(order, done, messages)
    own = [pair.assistant for pair in published_references(order)]
    return paper_category(event, own), initiating_category(event, messages, own), responding_category(event, messages, own)


def test_increments_of_a_right_request() -> None:
    """From nothing to all of a reference of two: the request brings 1, and so does the answer that does it."""
    event = measured("boiled_egg", (), conversation(FETCH_EGG, FETCH_EGG))
    assert (event.initiating, event.gap, event.responding, event.process_code) == (1.0, 0.0, 1.0, 0)
    assert confusion([event]) == [[[0, 0], [0, 0]], [[1, 0], [0, 0]], [[0, 0], [0, 0]]]


CARROT_SOUP = tuple(next(iter(published_references("baked_carrot_soup"))).assistant)


def test_hand_overs_of_a_conversation() -> None:
    """Each item passed is told apart, however it is asked for: one alone, both at once, the rest of one; a wrong request brings none on."""
    order, (first, dish) = "baked_carrot_soup", (CARROT_SOUP[:5], CARROT_SOUP[5:])
    assert measured(order, (), conversation(first, first[:2])).asked == {"carrot_slices"}
    assert measured(order, (), conversation(first, first[:2])).answered == {"carrot_slices"}
    assert measured(order, (), conversation(CARROT_SOUP, first)).asked == {"carrot_slices", "dish"}
    assert measured(order, first[:2], conversation(first[2:], ())).asked == {"carrot_slices"}
    assert measured(order, first, conversation(dish, dish)).answered == {"dish"}
    wrong = measured(order, (), conversation(dish, ()))
    assert (wrong.asked, wrong.answered) == (frozenset(), frozenset())


def test_hand_overs_that_the_assistant_asks_the_chef_to_take() -> None:
    """What the Chef does with an item belongs to the hand-over of that item."""
    (pair, *_) = published_references("baked_carrot_soup")
    asked = "; ".join(f"request('{action}')" for action in pair.chef[:2])
    messages = [TimestepOutput(1, "a", f"Assistant plan: {asked}", "Take it."), TimestepOutput(0, "a", "Chef plan: wait(1)", "No.")]
    event = event_of(messages, 9, [(), CARROT_SOUP[:5]], [[pair.chef], [pair.assistant]])
    assert event is not None
    assert (event.asked, event.answered) == (frozenset({"carrot_slices"}), frozenset[str]())


def test_an_answer_that_does_only_half() -> None:
    """One of two actions: TES is 1.9025 / (2 + 0.9025), and the request would have brought more."""
    event = measured("boiled_egg", (), conversation(FETCH_EGG, FETCH_EGG[:1]))
    assert event.responding == pytest.approx(1.9025 / 2.9025)
    assert event.gap == pytest.approx(1 - 1.9025 / 2.9025)


DISH = ("pickup(dish,dish_dispenser)", "place_obj_on_counter()")
CARROT = (
    "pickup(carrot,ingredient_dispenser)",
    "put_obj_in_utensil(chopping_board0)",
    "cut(chopping_board0)",
    "pickup(carrot_slices,chopping_board0)",
    "place_obj_on_counter()",
)
APPLE = ("pickup(apple,ingredient_dispenser)", "place_obj_on_counter()")
CASES = [
    ((), CARROT, CARROT[:3], ("correct", "correct", "correct")),
    ((), DISH, DISH, ("premature", "premature", "followed_wrong_request")),
    (CARROT, CARROT, ("wait(1)",), ("repetitive", "repetitive", "refused")),
    (CARROT, ("pickup(apple,counter)", "place_obj_on_counter()"), DISH, ("irrelevant", "irrelevant", "correct")),
    ((), APPLE, APPLE, ("irrelevant", "wrong_parameter", "followed_wrong_request")),
    ((), ("cook(pot0)",), ("cook(pot0)",), ("irrelevant", "infeasible", "followed_wrong_request")),
    ((), (CARROT[0], CARROT[1], CARROT[3], CARROT[4]), CARROT[:3], ("correct", "missing_step", "correct")),
    ((), CARROT, CARROT[:1], ("correct", "correct", "missing_step")),
    ((), CARROT, ("pickup(carrot,dispenser)", *CARROT[1:]), ("correct", "correct", "wrong_parameter")),
    ((), CARROT, ("bake(oven0)", *CARROT), ("correct", "correct", "infeasible")),
    ((), CARROT, ("wait(1)",), ("correct", "correct", "refused")),
    (CARROT[:1], CARROT[:3], CARROT[1:3], ("correct", "correct", "correct")),
    (CARROT[:4], APPLE, APPLE, ("correct", "irrelevant", "followed_wrong_request")),
    (CARROT[:4], APPLE, CARROT[4:], ("correct", "irrelevant", "correct")),
]


def test_double_quotes_are_quotes() -> None:
    """The published evaluation takes such a request for none; what is right or wrong with it is what it says."""
    messages = [message._replace(plan=message.plan.replace("'", '"')) for message in conversation(CARROT, CARROT)]
    event, own = measured("baked_carrot_soup", (), messages), [pair.assistant for pair in published_references("baked_carrot_soup")]
    assert (event.request, paper_category(event, own)) == ((), "irrelevant")
    assert initiating_category(event, messages, own) == responding_category(event, messages, own) == "correct"


@pytest.mark.parametrize(("done", "request_made", "answer", "expected"), CASES)
def test_categories(
    done: tuple[str, ...], request_made: tuple[str, ...], answer: tuple[str, ...], expected: tuple[str, str | None, str | None]
) -> None:
    """Carrot soup: first the carrot is cut and brought, then the dish."""
    assert categories("baked_carrot_soup", done, request_made, answer) == expected


def test_talk_without_a_request() -> None:
    """Nothing is asked for: the paper's rule has only irrelevant for that."""
    assert categories("boiled_egg", (), (), ("wait(1)",))[:2] == ("irrelevant", "no_request")


def test_a_silent_step_is_no_conversation() -> None:
    """Nobody spoke: there is nothing to measure, where the published script stops with an error."""
    assert event_of([TimestepOutput(0, "a", "Chef plan: wait(1)", NOTHING)], 0, [(), ()], [[FETCH_EGG], [FETCH_EGG]]) is None
