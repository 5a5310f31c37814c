"""What an answer has cost, as far as the server says what it took, and a budget that holds whatever it says."""

from __future__ import annotations

import pytest

from providers.asker import JobTerms, Request, Usage
from providers.prices import Budget, Price
from tests.judges.judged_games import counted
from tests.providers.test_asker import ask_all, numbered_prompt, settings
from tests.servers.stub_server import stub_server


def test_what_the_server_does_not_count_has_no_known_cost() -> None:
    """It is not free."""
    usage = Usage()
    with stub_server("--bills", "0", "0") as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))], JobTerms(usage=usage), Price(3, 15))

    assert (reply.answered, reply.call.tokens_in, reply.call.cost, usage.cost) == (True, None, None, None)


def test_what_is_free_costs_nothing_counted_or_not() -> None:
    """A server of one's own."""
    with stub_server("--bills", "0", "0") as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))], price=Price(0, 0))
    assert reply.call.cost == 0.0


def test_the_budget_holds_though_the_server_counts_nothing() -> None:
    """Each answer counts as the dearest that it can be."""
    prompt, price = [*numbered_prompt(1)[:1], {"role": "user", "content": "x" * 2990}], Price(1, 1)
    dearest = (3000 / 3 + 100) / 1e6
    requests = [Request(messages=[*prompt, *numbered_prompt(n)[1:]]) for n in range(9)]  # type: ignore[list-item]
    usage = Usage()
    with stub_server("--bills", "0", "0") as url:
        replies = ask_all(
            settings(url, max_tokens=100), requests, JobTerms(budget=Budget(4.5 * dearest), concurrency=1, usage=usage), price
        )
        assert counted(url)["requests"] == 4
    assert [reply.call.status for reply in replies] == ["answered"] * 4 + ["unasked"] * 5
    assert usage.asked == 4  # what was not allowed is no call


@pytest.mark.parametrize(
    ("price", "bills"),
    [(Price(1, 1, reasoning=20), [1000, 100, 0, 100]), (Price(1, 1, cached=5), [1000, 100, 1000]), (Price(1, 1), [1000, 100])],
)
def test_many_at_once_stay_within_the_budget(price: Price, bills: list[int]) -> None:
    """Dearer prices of some tokens, and a language that takes a token a letter, are reckoned with before the first count."""
    most = price.most(*bills[:2])
    requests = [Request(messages=[{"role": "user", "content": f"{n:03}" + "位" * 999}]) for n in range(64)]
    usage = Usage()
    with stub_server("--latency-ms", "20", "--bills", *map(str, bills)) as url:
        ask_all(settings(url, max_tokens=100), requests, JobTerms(budget=Budget(10.5 * most), concurrency=64, usage=usage), price)
    assert 0 < (usage.cost or 0.0) <= 10.5 * most
