"""A reading keeps apart what is claimed, what is not, and what cannot be told because a clause was not understood."""

from __future__ import annotations

import pytest

from judges.claims.reading import Absent, Open, Read, ReadClaim, Shown, TextClaims, Unread, all_whole, find_in

RED, BLUE, SEVEN = "red", "blue", 7


def reading(*claims: object, unsure: tuple[object, ...] = (), unread: tuple[type, ...] = ()) -> TextClaims[object]:
    told = (*(ReadClaim(claim, 0, 1) for claim in claims), *(ReadClaim(claim, 0, 1, "unclear") for claim in unsure))
    return TextClaims(Read(told, (Unread("blah", "blah", unread),) if unread else ()))


def test_a_certain_claim_is_shown_even_beside_words_that_were_not_understood() -> None:
    """What was understood stands, whatever else the text may say."""
    assert reading(RED, BLUE, unread=(str,)).find(str, lambda color: color == BLUE) == Shown((BLUE,))


def test_absence_needs_every_clause_that_might_hold_such_a_claim() -> None:
    """One clause that might say it makes it open; a clause that can only hold other kinds does not."""
    assert reading(RED).find(str, lambda color: color == BLUE) == Absent()
    assert isinstance(reading(RED, unread=(str,)).find(str, lambda color: color == BLUE), Open)
    assert reading(RED, unread=(int,)).find(str, lambda color: color == BLUE) == Absent()


def test_an_uncertain_claim_shows_nothing() -> None:
    """It is the clause it stands in that keeps its absence open."""
    assert isinstance(reading(unsure=(RED,), unread=(str,)).find(str), Open)


def test_all_claims_are_given_only_of_a_text_that_was_understood() -> None:
    """The whole of some kinds, in order; else the words that stand in the way."""
    assert reading(RED, SEVEN, BLUE).whole(str) == (RED, BLUE)
    whole = reading(RED, unread=(str,)).whole(str)
    assert isinstance(whole, Open)
    assert "blah" in whole.why


def test_of_several_texts_one_is_enough_to_show_and_all_are_needed_for_absence() -> None:
    """The rule holds over the messages of a turn as over the clauses of a text."""
    clear, blurred = reading(RED), reading(unread=(str,))
    assert find_in([blurred, clear], str) == Shown((RED,))
    assert isinstance(find_in([blurred, reading()], str), Open)
    assert find_in([reading(), reading()], str) == Absent()
    assert all_whole([clear, reading(BLUE)], str) == (RED, BLUE)
    assert isinstance(all_whole([clear, blurred], str), Open)


@pytest.mark.parametrize("found", [Absent(), Open("why"), Shown((RED,))])
def test_no_finding_can_be_taken_for_a_truth_value(found: object) -> None:
    """`if not found` would mix up absence and ignorance, so it is an error."""
    with pytest.raises(TypeError, match="match"):
        bool(found)
