"""How agents are asked: what the published code does, what the paper describes, and every switch between (agents of the two, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from schemas.errors import BadInputError

__all__ = ["AGENT_RULES", "AgentRules", "Memory", "agent_rules_of"]

Memory = Literal["last", "all", "none"]
"""``last``: the own last four actions, or five where there are no more; ``all``: all of them; ``none``: nothing."""


_MEMORIES: Final[tuple[Memory, ...]] = get_args(Memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRules:
    """The switches of the agents; all of them are conditions of a run."""

    corrections: int = 1
    """How often a refused action is corrected before the agent waits instead; above 1 also how often an unreadable output is."""

    rounds: int | None = None
    """Answers of the partner after which a conversation is over; None: no maximum; 0: nobody is heard."""

    memory: Memory = "last"
    reflection: bool = False
    """After a corrected refusal the agent writes a lesson; the last three are shown."""

    ends_on_tag: bool = False
    """A conversation ends with ``[END]`` alone; as published the letters "end" inside any word do."""

    keeps_new_say: bool = False
    """What an agent says in a mended output counts; as published the say of the broken one does."""

    def to_json(self) -> dict[str, Any]:
        """As conditions hold it."""
        return asdict(self)


AGENT_RULES: Final[Mapping[str, AgentRules]] = {
    "published": AgentRules(),
    "paper": AgentRules(corrections=3, rounds=5, memory="all", reflection=True, ends_on_tag=True, keeps_new_say=True),
}
"""As the released code plays, and as the paper describes it; the paper names no numbers for its maxima, these are ours."""


def agent_rules_of(condition: Mapping[str, Any]) -> AgentRules:
    """Give the switches back from a run's condition.

    Raises:
        BadInputError: one is missing or has a value that does not exist.
    """
    corrections, rounds = condition.get("corrections"), condition.get("rounds")
    memory = next((known for known in _MEMORIES if known == condition.get("memory")), None)
    flags = {name: condition.get(name) for name in ("reflection", "ends_on_tag", "keeps_new_say")}
    if memory is None or not isinstance(corrections, int) or corrections < 0:
        raise BadInputError(f"memory must be one of {', '.join(_MEMORIES)}, corrections a count", locator="line 1.run.condition")
    if not (rounds is None or isinstance(rounds, int)) or not all(isinstance(flag, bool) for flag in flags.values()):
        raise BadInputError(f"rounds must be a count or null, {', '.join(flags)} true or false", locator="line 1.run.condition")
    return AgentRules(corrections=corrections, rounds=rounds, memory=memory, **{name: bool(flag) for name, flag in flags.items()})
