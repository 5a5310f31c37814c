"""What gateways and providers answer besides completions: errors with the status of success, flagged prompts, empty accounts."""

from __future__ import annotations

import pytest

from providers.asker import Request
from providers.faults import HopelessError
from tests.providers.test_asker import ask_all, numbered_prompt, settings
from tests.servers.stub_server import stub_server


@pytest.mark.parametrize("fault", ["200-error", "200-limited", "failed-behind"])
def test_an_error_with_the_status_of_success_is_no_answer(fault: str) -> None:
    """It is asked again, not taken for an empty reply."""
    with stub_server("--fault", fault) as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])

    assert (reply.answered, reply.text, reply.call.attempts) == (True, "Action: C", 2)


@pytest.mark.parametrize(("fault", "told"), [("200-error", "overloaded"), ("failed-behind", "provider is down")])
def test_an_error_with_the_status_of_success_is_told_in_its_words(fault: str, told: str) -> None:
    """What the gateway says, not which field of a completion is missing."""
    with stub_server("--fault", f"{fault}:1:99") as url:
        (reply,) = ask_all(settings(url), [Request(messages=numbered_prompt(1))])

    assert told in (reply.call.error or "")


def test_an_account_without_money_stops_the_run() -> None:
    """Every other call would be told the same, and games would be played on without their players."""
    with stub_server("--fault", "402:1:99") as url, pytest.raises(HopelessError, match=r"no money left .*Insufficient Balance"):
        ask_all(settings(url), [Request(messages=numbered_prompt(1))])


def test_a_server_that_is_closed_for_an_hour_is_not_waited_for() -> None:
    """Whatever its status: what is longer than the patience ends the run, which can be started again."""
    with stub_server("--fault", "503-hour:1:99") as url, pytest.raises(HopelessError, match=r"asks to wait 3600 s"):
        ask_all(settings(url), [Request(messages=numbered_prompt(1))])


def test_a_prompt_that_a_gateway_does_not_let_through_costs_itself_alone() -> None:
    """The key is as good as before."""
    with stub_server("--fault", "403-flagged:0.4:99") as url:
        replies = ask_all(settings(url), [Request(messages=numbered_prompt(n)) for n in range(12)])

    failed = [reply for reply in replies if not reply.answered]
    assert 0 < len(failed) < 12
    assert {reply.call.attempts for reply in failed} == {1}
    assert all("flagged" in (reply.call.error or "") for reply in failed)
