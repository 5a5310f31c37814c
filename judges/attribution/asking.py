"""A model names the decisive error of the selected games: in the three published manners, or by a search with evidence.

Source of the first three: Who&When (arXiv 2505.00212), section 4. Prompts are in `decisive_error.yaml`, in our own words. Answers become
verdicts of the rubric `decisive_error`: question `agent` has a name, question `step` a turn, from 1; the manner is the variant.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, Field, create_model

from judges.attribution.decisive import RUBRIC, decisive_error
from judges.attribution.job import selected_games
from judges.evidence.frame import Entry, Frame, chat, fenced, plain_names, with_plain_names
from judges.evidence.pieces import action_text
from judges.evidence.transcript import Transcript, TurnView, load
from judges.rubric import asked_in, own_words
from judges.runs.job import RunStatus
from judges.runs.outcomes import Progressed, save
from providers.asker import Asker, JournalEntry, ModelJob, Reply, Request, Spent, now, run_to_end
from providers.provider import ModelSettings
from schemas.chat.messages import Message
from schemas.common.errors import StoreError, UsageError
from schemas.common.text import excerpt
from schemas.records import Call, Json, JudgeRun, Verdict
from schemas.store.journal import Journal, made
from schemas.store.store import Store

_WINDOW: Final = 30
"""Turns of a long game that are searched at once."""
_AROUND: Final = 6
"""Turns before and after a suspect that are shown with it."""

Form = TypeVar("Form", bound=BaseModel)


class Answered(NamedTuple):
    """What a model names, and why."""

    agent: str
    """One of the game's, in the spelling of the log."""
    turn: int | None
    """From 1; None if the log has no such turn."""
    reason: str
    agent_spoke: bool | None
    """Whether that agent wrote or did something in that turn; None if there is no such turn."""
    form: BaseModel | None
    """The model's answer that names them; None if the model was asked nothing."""


class _Asked(BaseModel):
    """What a model is asked to fill in."""

    _own = own_words()


class Whole(_Asked):
    """The decisive error."""

    reason: str = Field(description="why it is the decisive error, in one sentence")
    agent: str = Field(description="name of the agent who made it, as it stands in the log")
    turn: int = Field(description="number of the turn, as it stands in the log")


class Step(_Asked):
    """Whether the last turn shown is the decisive error."""

    reason: str = Field(description="why, in one sentence")
    decisive: bool = Field(description="whether it is the decisive error")
    agent: str = Field(description="name of the agent who made it, or who acted in this turn")


class Half(_Asked):
    """Which part holds the decisive error."""

    reason: str = Field(description="why, in one sentence")
    part: Literal["first", "second"]


class Suspect(BaseModel):
    """A turn that could be the decisive error."""

    turn: int = Field(description="its number, as it stands in the log")
    agent: str = Field(description="name of the agent who acted in it, as it stands in the log")
    words: str = Field(description="words of that turn that show the error, copied word for word")


class Suspects(_Asked):
    """Turns that could be the decisive error."""

    suspects: list[Suspect] = Field(description="the likeliest first; empty if there is none")


class Examined(_Asked):
    """How likely a turn is the decisive error."""

    reason: str = Field(description="why, in one sentence")
    likelihood: int = Field(ge=0, le=100, description="a whole number from 0 to 100")


@lru_cache(maxsize=256)
def _among(form: type[BaseModel], agents: tuple[tuple[str, str], ...]) -> type[BaseModel]:
    """The form, in which an agent is one of the game's: (as the log writes it, as the prompt does) of each; case and blanks may differ."""
    written = {name.strip().casefold(): shown for own, shown in agents for name in (own, shown)}

    def read(value: Any) -> Any:
        return written.get(value.strip().casefold(), value) if isinstance(value, str) else value

    names: Any = Literal[tuple(dict.fromkeys(shown for _, shown in agents))]
    fields: dict[str, Any] = {}
    for field, info in form.model_fields.items():
        if field == "agent":
            fields[field] = Annotated[names, BeforeValidator(read)], info
        elif info.annotation == list[Suspect]:
            fields[field] = list[_among(Suspect, agents)], info  # type: ignore[misc]
    return create_model(form.__name__, __base__=form, __doc__=form.__doc__, **fields)


class Ask(NamedTuple):
    """How a manner asks: messages and form in, the form filled in out; None if no usable answer came."""

    put: Callable[[list[Message], type[BaseModel]], Awaitable[BaseModel | None]]
    agents: Mapping[str, str]
    """As the log writes them -> as a prompt does: one of them is named."""

    async def __call__(self, prompt: str, evidence: Frame, form: type[Form]) -> Form | None:
        """Ask one question about one piece of evidence; the form comes last."""
        form_here = _among(form, tuple(self.agents.items()))
        user = Frame("{}\n\n{}", evidence, Frame.own(asked_in(form_here)))
        found: Any = await self.put(chat(Frame.own(decisive_error().prompt(prompt)), user), form_here)
        return found if isinstance(found, form) else None

    def named(self, game: Transcript, agent: str, turn: int, form: BaseModel, reason: str) -> Answered:
        """The agent and the turn that a model names."""
        agent = next(own for own, shown in self.agents.items() if shown == agent)
        if not 1 <= turn <= len(game.turns):
            return Answered(agent, None, f"turn {turn} is not in the log, which has {len(game.turns)} turns: {reason}", None, form)
        return Answered(agent, turn, reason, agent in _acting(game.turn(turn)), form)


Manner = Callable[[Transcript, Ask], Coroutine[Any, Any, Answered | None]]


# -- what is shown ----------------------------------------------------------------------------------------


def _shown(game: Transcript, turns: Sequence[TurnView]) -> Frame:
    """Public messages and actions, turn by turn: no views, no goal, no names of models."""
    entries = with_plain_names([entry for turn in turns for entry in _entries(turn)], [*game.agents])
    nonce = hashlib.blake2b("\0".join(entry.text for entry in entries).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return fenced("log", entries, nonce)


def _entries(turn: TurnView) -> list[Entry]:
    messages = [Entry(Frame("turn {}, {} said:", turn.turn, one.agent), one.text) for one in turn.received()]
    outcome = {True: Frame("carried out"), False: Frame("refused"), None: Frame("nothing to carry out")}
    return messages + [
        Entry(Frame("turn {}, {} tried ({}):", turn.turn, done.agent, outcome[done.accepted]), action_text(done.verb, done.arguments))
        for done in turn.actions
    ]


def _acting(turn: TurnView) -> list[str]:
    """Who writes or does something in a turn, in order."""
    return [one.agent for one in turn.by_channel("public")] + [done.agent for done in turn.actions]


def agents_of(game: Transcript) -> dict[str, str]:
    """Agents of a game, and whoever else writes or does something in it: as the log writes them -> as a prompt does."""
    names = list(dict.fromkeys([*game.agents, *(name for turn in game.turns for name in _acting(turn))]))
    neutral = plain_names(names)
    return {name: neutral.get(name, name) for name in names}


# -- the manners ------------------------------------------------------------------------------------------


async def _all_at_once(game: Transcript, ask: Ask) -> Answered | None:
    filled = await ask("all_at_once", _shown(game, game.turns), Whole)
    return None if filled is None else ask.named(game, filled.agent, filled.turn, filled, filled.reason)


async def _step_by_step(game: Transcript, ask: Ask) -> Answered | None:
    for turn in game.turns:
        filled = await ask("step_by_step", _shown(game, game.turns[: turn.turn]), Step)
        if filled is None:
            return None
        if filled.decisive:
            return ask.named(game, filled.agent, turn.turn, filled, filled.reason)
    return None


async def _halving(game: Transcript, ask: Ask) -> Answered | None:
    turns = game.turns
    filled: Half | None = None
    while len(turns) > 1:
        middle = len(turns) // 2
        borders = [one.turn for one in (turns[0], turns[middle - 1], turns[middle], turns[-1])]
        parts = Frame("The parts: first: turns {} to {}; second: turns {} to {}", *borders)
        filled = await ask("halving", Frame("{}\n\n{}", _shown(game, turns), parts), Half)
        if filled is None:
            return None
        turns = turns[:middle] if filled.part == "first" else turns[middle:]
    if not turns or not (acting := _acting(turns[0])):
        return None
    return Answered(acting[-1], turns[0].turn, filled.reason if filled else "", agent_spoke=True, form=filled)


async def _search(game: Transcript, ask: Ask) -> Answered | None:
    """Suspects window by window, only those whose words stand in their turn; then each on its own, with what led up to it."""
    suspects: dict[int, Suspect] = {}
    for start in range(0, len(game.turns), _WINDOW):
        found = await ask("suspects", _shown(game, game.turns[start : start + _WINDOW]), Suspects)
        for suspect in found.suspects if found else ():
            if 1 <= suspect.turn <= len(game.turns) and _quotes(game.turn(suspect.turn), suspect.words):
                suspects.setdefault(suspect.turn, suspect)
    best: tuple[Examined, Suspect] | None = None
    for turn, suspect in sorted(suspects.items()):
        around = game.turns[max(0, turn - 1 - _AROUND) : turn + _AROUND]
        filled = await ask("examine", Frame("{}\n\nThe turn to be judged: turn {}", _shown(game, around), turn), Examined)
        if filled is not None and (best is None or filled.likelihood > best[0].likelihood):
            best = filled, suspect
    if best is None:
        return None
    filled, suspect = best
    return ask.named(game, suspect.agent, suspect.turn, filled, f'{filled.reason} ("{suspect.words}")')


def _quotes(turn: TurnView, words: str) -> bool:
    """Whether the words stand in the turn, blanks and case aside."""
    texts = " ".join([*(one.text for one in turn.by_channel("public")), *(action_text(done.verb, done.arguments) for done in turn.actions)])
    wanted = " ".join(words.split()).casefold()
    return bool(wanted) and wanted in " ".join(texts.split()).casefold()


MANNERS: Final[Mapping[str, Manner]] = {
    "all_at_once": _all_at_once,
    "step_by_step": _step_by_step,
    "halving": _halving,
    "search": _search,
}
"""Name -> manner."""


_GAMES_AT_ONCE: Final = 64
_LONGEST_REASON: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class AskingRequest(ModelJob):
    """Who is asked about which games, and how."""

    settings: ModelSettings
    manner: str
    where: str = "true"


@dataclass(slots=True)
class AskingReport(Spent):
    """What came of it."""

    games: int = 0
    answered: int = 0
    undecided: int = 0
    """Games in which the model named nothing."""
    failed: int = 0
    """Games without a usable answer."""
    not_asked: int = 0
    """Games about which the budget allowed no (further) question: they have no verdict."""
    first_error: str | None = None
    """Why the first failed game failed."""


def ask_games(request: AskingRequest, store: Store, on_progress: Callable[[int, int], None] | None = None) -> AskingReport:
    """Ask about every selected game; what a start that was interrupted, or stopped by its budget, has asked is not asked again.

    Raises:
        HopelessError: no request can succeed.
        StoreError: the store or the journal cannot be read or written.
        UsageError: there is no such manner, the condition is not SQL, or a limit needs a price that is not known.
    """
    if request.manner not in MANNERS:
        raise UsageError(f"--manner {request.manner}: choose one of {', '.join(MANNERS)}")
    store.create()
    job = _Job(request, store)
    games = [*selected_games(store, request.where)]
    return run_to_end(job.go(games, on_progress))


class _Job:
    def __init__(self, request: AskingRequest, store: Store) -> None:
        self._request, self._store = request, store
        self.report = AskingReport(cost=0.0 if request.price(request.settings) else None)
        self._calls: list[Call] = []
        self._stored: frozenset[str] = frozenset()
        """Calls in the journal that an earlier start has put into the store."""
        settings = self._request.settings
        self._run = JudgeRun(
            judge_run_id=f"judge-{secrets.token_hex(6)}",
            rubric=RUBRIC,
            rubric_hash=decisive_error().hash,
            variant=self._request.manner,
            judge=f"llm:{settings.model}",
            model=settings.model,
            parameters=Json(orjson.dumps({"answering": settings.answering(), "where": self._request.where}).decode()),
            started_at=now(),
            finished_at=None,
            units=0,
            calls=0,
            tokens_in=0,
            tokens_out=0,
            cost=self.report.cost,
            status="running",
        )

    async def go(self, episodes: Sequence[str], on_progress: Callable[[int, int], None] | None) -> AskingReport:
        """Ask, some games at once."""
        journal: Journal[dict[str, str], JournalEntry] = Journal(self._journal_path(), {"job": RUBRIC}, JournalEntry)
        done = False

        def tell() -> None:
            if on_progress is not None:
                on_progress(self.report.games + self.report.not_asked, len(episodes))

        async def of_game(asker: Asker, game: Transcript) -> list[Verdict]:
            verdicts = await self._of_game(asker, game)
            tell()
            return verdicts

        tell()  # before the first, which may take minutes
        try:
            await asyncio.to_thread(self._take_up, journal.before)
            async with self._request.asker(self._request.settings, journal) as asker:
                for start in range(0, len(episodes), _GAMES_AT_ONCE):
                    games = load(self._store, episodes[start : start + _GAMES_AT_ONCE])
                    verdicts = await asyncio.gather(*(of_game(asker, game) for game in games))
                    await asyncio.to_thread(self._save, [one for two in verdicts for one in two], "running")
            await asyncio.to_thread(self._save, [], "stopped_by_budget" if self.report.not_asked else "finished")
            done = not self.report.not_asked
        except BaseException:
            with suppress(StoreError):
                self._save([], "interrupted")
            raise
        finally:
            await journal.close(delete=done)
        return self.report

    def _take_up(self, before: Sequence[JournalEntry]) -> None:
        """Find out what the store has of an earlier start, which is not under way any more: its journal could be opened."""
        if not before:
            return
        with self._store.reading() as connection:
            ids = [entry.call.call_id for entry in before]
            found = connection.execute("SELECT call_id FROM calls WHERE call_id IN (SELECT unnest(?::VARCHAR[]))", [ids]).fetchall()
        self._stored = frozenset(call_id for (call_id,) in found)
        same = [RUBRIC, self._run.judge, self._run.variant]
        where = "rubric = ? AND judge = ? AND variant = ? AND status = 'running'"
        self._store.transact(lambda transaction: transaction.update("judge_runs", "status = 'interrupted'", where, same))

    def _journal_path(self) -> Path:
        folder = made(self._store.journals / RUBRIC)
        name = f"{self._request.settings.model} {self._request.manner}"
        return folder / f"{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}.jsonl"

    async def _of_game(self, asker: Asker, game: Transcript) -> list[Verdict]:
        failed: list[str] = []
        replies: list[Reply] = []

        async def put(messages: list[Message], form: type[BaseModel]) -> BaseModel | None:
            key = f"{game.episode_id} {hashlib.blake2b(orjson.dumps(messages), digest_size=8).hexdigest()}"
            asked = Request(messages=messages, form=form, key=key, purpose="judge", run=self._run.judge_run_id, episode_id=game.episode_id)
            reply = await asker.ask(asked)
            call = reply.call
            if call.attempts and call.call_id not in self._stored:
                self._calls.append(call)
            self.report.spend(reply)
            replies.append(reply)
            if reply.filled is None:
                failed.append(reply.call.error or reply.call.status)
            return reply.filled

        agents = agents_of(game)
        found = await MANNERS[self._request.manner](game, Ask(put, agents)) if agents else None
        if any(reply.call.status == "unasked" for reply in replies):
            self.report.not_asked += 1
            return []
        self.report.games += 1
        status = "answered" if found else "failed" if failed else "undecided"
        self.report.answered += status == "answered"
        self.report.failed += status == "failed"
        if status == "failed":
            self.report.first_error = self.report.first_error or failed[0]
        self.report.undecided += status == "undecided"
        nothing = "no turn was named" if agents else "the log has no agent"
        reason = found.reason if found else failed[0] if failed else nothing
        whence = [reply.call for reply in replies if found is None or reply.filled is found.form][-1:]
        call_id = next((call.call_id for call in whence if call.attempts), None)
        return [self._verdict(game, question, found, (status, reason, call_id)) for question in ("agent", "step")]

    def _verdict(self, game: Transcript, question: str, found: Answered | None, came: tuple[str, str, str | None]) -> Verdict:
        status, reason, call_id = came
        turn = str(found.turn) if found and found.turn else None
        answer = None if found is None else turn if question == "step" else found.agent or None
        return Verdict(
            judge_run_id=self._run.judge_run_id,
            rubric=RUBRIC,
            rubric_hash=self._run.rubric_hash,
            variant=self._run.variant,
            question=question,
            unit_id=game.episode_id,
            unit_hash=hashlib.blake2b(repr(game.turns).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            episode_id=game.episode_id,
            turn=None,
            agent=None,
            judge=self._run.judge,
            repeat=1,
            answer=answer,
            score=None,
            reason=excerpt(reason, _LONGEST_REASON),
            status="undecided" if status == "answered" and answer is None else status,
            call_id=call_id,
            agent_spoke=found.agent_spoke if found else None,
        )

    def _save(self, verdicts: Sequence[Verdict], status: RunStatus) -> None:
        report, calls = self.report, self._calls
        self._calls = []
        self._run = self._run._replace(
            units=report.games,
            calls=report.requests,
            tokens_in=report.tokens_in,
            tokens_out=report.tokens_out,
            cost=report.cost,
            finished_at=None if status == "running" else now(),
            status=status,
        )
        save(self._store, Progressed(self._run, replaces="all"), verdicts, calls)
