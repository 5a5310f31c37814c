"""What messages of Avalon state of the record: plain statements are held against it, all others are left open."""

from __future__ import annotations

from typing import Any

import pytest

from judges.avalon.record import Record, facts, is_read

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Eve")


def proposal(leader: str, team: list[str], approve: list[str]) -> dict[str, Any]:
    """A proposal as the log has it."""
    votes = {name: "approve" if name in approve else "reject" for name in NAMES}
    return {"leader": leader, "team": team, "votes": votes, "approve": len(approve), "reject": len(NAMES) - len(approve)}


RECORD = Record(
    [
        {"mission": 1, "leader": "Bob", "team": ["Bob", "Charlie"], "fails": 0, "result": "success"},
        {"mission": 2, "leader": "Charlie", "team": ["Charlie", "Diana", "Eve"], "fails": 1, "result": "fail"},
    ],
    [
        (1, proposal("Alice", ["Alice", "Bob"], ["Alice", "Bob"])),
        (1, proposal("Bob", ["Bob", "Charlie"], ["Bob", "Charlie", "Diana"])),
        (2, proposal("Charlie", ["Charlie", "Diana", "Eve"], ["Alice", "Charlie", "Diana", "Eve"])),
    ],
)
TRUE = """
Mission 1 succeeded and Mission 2 failed.
Mission 2 failed with one fail.
Quest 1 was a success, but quest 2 failed.
The first mission passed cleanly.
We won mission 1 and lost mission 2.
There was exactly one fail on Mission 2.
Mission 2 came back with a single fail card.
Charlie, Diana and Eve were on the failed mission.
Charlie and Diana were both on Mission 2.
I wasn't on Mission 1.
I was not on the Mission 1 team.
Bob and Charlie went on Mission 1.
Mission 1 with Bob and Charlie succeeded.
Mission 2 (Charlie, Diana, Eve) failed.
Mission 2 failed with Charlie, Diana, and Eve on it.
Bob led Mission 1.
Charlie was the leader of Mission 2.
Mission 1 was led by Bob.
Alice and Eve rejected Mission 1.
Bob voted against Mission 2.
I approved Mission 2.
Charlie's team was approved 4-1.
Mission 1 was approved 3 to 2.
Diana rejected Alice's team.
The score is 1-1.
We are tied 1-1.
We have one success and one fail.
One mission has failed.
The Mission 1 team was Bob and Charlie.
Mission 2 included Diana and Eve.
M1 passed, M2 failed.
The last mission failed.
Alice was never on Mission 1.
Bob voted no on the Mission 2 team.
Alice has not been on a failed mission.
Charlie has been on both missions.
I haven't been on any mission.
Bob's never been on a failed mission, and Alice did not reject Mission 2.
After the clean first mission we lost Mission 2.
Bob and Charlie went on Mission 1 and are fine.
The fail on Mission 2 is news.
Bob did not approve Mission 2.
"""
FALSE = """
Mission 1 failed.
Mission 2 succeeded with Charlie, Diana and Eve.
Mission 2 had two fails.
There were 2 fails on Mission 2.
Alice was on Mission 1.
Bob and Diana were on Mission 2.
I was on Mission 1.
Bob wasn't on Mission 1.
Alice led Mission 2.
Diana was the leader of Mission 1.
Bob approved Mission 2.
Everyone approved Mission 2.
Charlie's team was approved 3-2.
The score is 2-0.
Two missions have failed.
Mission 1 team was Bob and Eve.
Mission 2 was unanimously approved.
The last mission succeeded.
We have two successes and no fails.
Diana voted against Mission 2.
Eve has been on both missions.
Charlie has not been on a failed mission.
Diana was on Mission 1 and is fine.
The failed first mission is a pity.
Bob did not reject Mission 2.
Alice has been on every mission.
"""
OPEN = """
If Mission 1 failed, Bob would be evil.
I think Mission 1 failed on purpose.
Bob claims Mission 1 failed.
Mission 2 probably had two fails.
At least two fails were played on Mission 2.
Either Bob or Alice was on Mission 2.
Did Mission 1 fail?
Had Mission 1 failed, I would worry.
Bob could have failed Mission 1.
None of us failed Mission 1.
It is not true that Mission 1 failed.
Who was on Mission 1 with Alice?
Alice might have voted against Mission 2.
Put Alice on Mission 3.
I would like Bob and Alice for Mission 2 again.
Mission 3 needs two players.
Alice wanted to be on Mission 1.
Bob and Diana should have been on Mission 2.
Bob almost led Mission 2.
Alice proposed Bob and herself.
One of Bob and Charlie was on Mission 2 with Alice.
When Mission 1 failed in my last game, Alice was evil.
Diana's claim that Mission 1 failed is odd.
Without Alice on Mission 1 it was fine.
Alice, who was on Mission 1, is fine.
The team without Bob was on Mission 2.
Unlike Alice, Bob was on Mission 2.
The clean pair from last round is fine.
"""
"""Conditions, doubts, questions, wishes, reports of others, and what only may be about the record."""


def held(text: str) -> list[bool | None]:
    return [RECORD.holds(fact) for fact in facts(text, "Alice", NAMES)]


@pytest.mark.parametrize("text", TRUE.strip().split("\n"))
def test_true_statements_are_read_and_true(text: str) -> None:
    """`I` is Alice. Nothing else of the sentence is about the record."""
    assert set(held(text)) == {True}
    assert is_read(text, "Alice", NAMES, RECORD)


@pytest.mark.parametrize("text", FALSE.strip().split("\n"))
def test_false_statements_contradict_the_record(text: str) -> None:
    assert False in held(text)


@pytest.mark.parametrize("text", OPEN.strip().split("\n"))
def test_what_is_not_stated_is_never_false(text: str) -> None:
    """Nor taken as read, unless it cannot be about the past."""
    assert False not in held(text)
    assert is_read(text, "Alice", NAMES, RECORD) == text.startswith(("Put", "Mission 3 needs"))


def test_a_vote_is_looked_for_in_all_proposals_that_may_be_meant() -> None:
    """Diana rejected the first proposal of mission 1 and approved the second: both may be meant. Others are not over."""
    assert held("Diana rejected Mission 1.") == held("Diana approved Mission 1.") == [True]
    assert held("Mission 3 failed. Alice was on Mission 4.") == [None, None]
