"""What calls take, by the server's own count: reasoning that is billed beside the reply, costs that the server states."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Final

import pytest

from providers.asker import JobTerms, Request
from providers.prices import Budget, Price
from schemas.chat.messages import Tokens
from tests.providers.test_answers import PROTOCOLS
from tests.providers.test_asker import ask_all, numbered_prompt, settings
from tests.providers.test_forms import replying, text
from tests.servers.dialects import completion

PRICE: Final = Price(3, 15)
IN_ALL: Final = (1000 * 3 + 3050 * 15) / 1e6
APART: Final = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 4050,
    "completion_tokens_details": {"reasoning_tokens": 3000},
}
WITHIN: Final = APART | {"completion_tokens": 3050}
LISTED: Final = {name: WITHIN[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens")}


def billed(usage: object) -> dict[str, Any]:
    """A reply with that usage."""
    return text("Action: C") | {"usage": usage}


@pytest.mark.parametrize(
    ("usage", "tokens", "cost"),
    [
        (APART, (1000, 3050), IN_ALL),
        ({name: APART[name] for name in LISTED}, (1000, 3050), IN_ALL),
        (WITHIN, (1000, 3050), IN_ALL),
        (LISTED | {"cost": 0.0123}, (1000, 3050), 0.0123),
        (LISTED | {"cost": 0}, (1000, 3050), 0.0),
        (LISTED | {"cost": {"input_tokens_cost": 0.01, "output_tokens_cost": 0.02, "total_cost": 0.03}}, (1000, 3050), 0.03),
        (LISTED | {"cost_in_usd_ticks": 37_756_000}, (1000, 3050), 0.0037756),
        (LISTED | {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}, (1000, 3050), 0.021),
        (LISTED | {"cost": -1}, (1000, 3050), IN_ALL),
        (LISTED | {"cost": "free"}, (1000, 3050), IN_ALL),
        (LISTED | {"cost": True}, (1000, 3050), IN_ALL),
        ({"prompt_tokens": 1000, "completion_tokens": 3050, "total_tokens": 12}, (1000, 3050), IN_ALL),
        ({"prompt_tokens": 1000, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 3000}}, (1000, 3050), IN_ALL),
        ({"prompt_tokens": 1000, "completion_tokens": 50, "reasoning_tokens": 3000, "total_tokens": 1050}, (1000, 3050), IN_ALL),
        ({"prompt_tokens": True, "completion_tokens": True}, (None, None), None),
        ({"total_tokens": 4050}, (None, None), None),
        (None, (None, None), None),
        ({}, (None, None), None),
        ({"cost": 0.5}, (None, None), 0.5),
    ],
)
def test_what_a_call_takes_is_what_the_server_says(usage: object, tokens: tuple[int | None, int | None], cost: float | None) -> None:
    """Its cost, else its total; what it does not say is unknown, and no 0."""
    with replying(billed(usage)) as (url, _):
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))], price=PRICE)
    assert (reply.call.tokens_in, reply.call.tokens_out) == tokens
    assert reply.call.cost == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize("name", ["cached", "written", "reasoning"])
def test_a_part_larger_than_the_whole_gives_no_money_back(name: str) -> None:
    """Servers count parts beside the whole; a cost below nothing would raise what may be spent."""
    price = Price(3.0, 15.0, cached=0.3, written=0.3, reasoning=1.0)
    assert price.of(Tokens(1000, 50)._replace(**{name: 50_000})) > 0.0


def test_a_cost_that_the_server_states_needs_no_price() -> None:
    """All attempts together; one of unknown cost leaves the sum unknown."""
    costs = [0.25, 0.5]
    cut, whole = (completion({"role": "assistant", "content": "Action"}, end) for end in ("length", "stop"))
    for usages, cost in ((({"cost": costs[0]}, {"cost": costs[1]}), sum(costs)), (({"cost": costs[0]}, {}), None)):
        replies = [one | {"usage": one["usage"] | usage} for one, usage in zip((cut, whole), usages, strict=True)]
        with replying(*replies) as (url, _):
            (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])
        assert (reply.answered, reply.call.attempts, reply.call.cost) == (True, 2, cost)


@pytest.mark.parametrize("usage", [APART, {name: APART[name] for name in LISTED}, WITHIN, {"cost": 0.04875}])
def test_a_budget_holds_where_reasoning_is_billed_beside_the_reply(usage: dict[str, Any]) -> None:
    """Of 0.05 USD, one call of 0.04875 is paid."""
    with replying(billed(usage)) as (url, asked):
        terms = JobTerms(budget=Budget(0.05), concurrency=1)
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(6)], terms, PRICE)
    assert len(asked) == 1
    assert [reply.call.status for reply in replies].count("answered") == 1


@pytest.mark.parametrize("usage", [APART, WITHIN | {"cost": 0.09}])
def test_a_budget_holds_for_many_calls_at_once(usage: dict[str, Any]) -> None:
    """The first reply shows what the server bills beyond what was foreseen; the others are reckoned so."""
    with replying(billed(usage)) as (url, asked):
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(40)], JobTerms(budget=Budget(0.5)), PRICE)
    spent = sum(reply.call.cost or 0.0 for reply in replies if reply.answered)
    assert 0.4 < spent <= 0.5
    assert len(asked) == sum(reply.answered for reply in replies)


def test_a_run_says_in_one_line_that_tokens_do_not_add_up(caplog: pytest.LogCaptureFixture) -> None:
    """However many replies it were; not where they do."""
    for usage, count in ((APART, 1), (WITHIN, 0), (WITHIN | {"total_tokens": 4000}, 1)):
        caplog.clear()
        with caplog.at_level(logging.WARNING), replying(billed(usage)) as (url, _):
            ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(3)])
        assert len([line for line in caplog.messages if "3 of the replies of local/fake: the server's total of tokens" in line]) == count


@pytest.mark.parametrize(
    ("protocol", "reply"),
    [
        (
            "google",
            {
                "candidates": [{"content": {"parts": [{"text": "C"}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 50, "totalTokenCount": 4050},
            },
        ),
        (
            "bedrock",
            {
                "output": {"message": {"content": [{"text": "C"}]}},
                "stopReason": "end_turn",
                "usage": {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 4050},
            },
        ),
    ],
)
def test_totals_count_in_other_protocols_too(protocol: str, reply: dict[str, Any]) -> None:
    """Where they are more than what is listed."""
    tokens = PROTOCOLS[protocol](json.dumps(reply).encode()).tokens
    assert (tokens.input, tokens.output) == (1000, 3050)


@pytest.mark.shared
def test_usages_of_public_reports_cost_what_they_cost(shared: Path) -> None:
    """0.04875 USD each."""
    for path in sorted((shared / "cases/replies/04-reasoning-outside-completion").glob("*.usage.json")):
        with replying(billed(json.loads(path.read_bytes()))) as (url, _):
            (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))], price=PRICE)
        assert reply.call.tokens_out == 3050
        assert reply.call.cost == pytest.approx(IN_ALL)
