"""How agents are asked: what the published code does, what the paper describes, and every switch between (agents of the two, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from games.settings import Settings

Memory = Literal["last", "all", "none"]
"""``last``: the own last four actions, or five where there are no more; ``all``: all of them; ``none``: nothing."""


class AgentRules(Settings):
    """The switches of the agents; all of them are conditions of a run."""

    corrections: int = Field(default=1, ge=0)
    """How often a refused action is corrected before the agent waits instead; above 1 also how often an unreadable output is."""

    rounds: int | None = Field(default=None, ge=0)
    """Answers of the partner after which a conversation is over; None: no maximum; 0: nobody is heard."""

    memory: Memory = "last"
    reflection: bool = False
    """After a corrected refusal the agent writes a lesson; the last three are shown."""

    ends_on_tag: bool = False
    """A conversation ends with ``[END]`` alone; as published the letters "end" inside any word do."""

    keeps_new_say: bool = False
    """What an agent says in a mended output counts; as published the say of the broken one does."""


AGENT_RULES: Final[Mapping[str, AgentRules]] = {
    "published": AgentRules(),
    "paper": AgentRules(corrections=3, rounds=5, memory="all", reflection=True, ends_on_tag=True, keeps_new_say=True),
}
"""As the released code plays, and as the paper describes it; the paper names no numbers for its maxima, these are ours."""
