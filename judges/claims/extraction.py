"""How a model reads a text: what it is asked, the form it fills in, what of its answer counts; readings as rows of `claims`.

The form is made from the family's claim types (`judges.<family>.reading.TYPES`). The model sees the text and the speaker's frame of
reference, never board, target or outcome, and answers once a text. An answer counts as far as it quotes: a claim whose words do not
stand in the text is not certain.
"""

import ast
import hashlib
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_type_hints

import orjson
from pydantic import BaseModel, Field, create_model

from judges.claims.reading import Read, ReadClaim, Unread
from judges.evidence.frame import Entry, Frame, chat, fenced
from judges.evidence.transcript import ClaimView, UtteranceView
from judges.rubric import own_words
from schemas.chat.messages import Message
from schemas.claims import kind_of, read_claim, written
from schemas.common.errors import BadInputError
from schemas.common.packages import packaged_yaml
from schemas.common.text import text_hash
from schemas.records import Claim, Json

_PLAIN: Final = str.maketrans("\u2018\u2019\u201c\u201d\u2011\u2013\u2014", "''\"\"---")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_MOST_CLAIMS: Final = 4
"""Of one sentence."""
_PROMPT: Final[Mapping[str, str]] = packaged_yaml(__package__, "extraction.yaml")


class Passage(BaseModel):
    """A stretch of the text that you do not understand, or that may claim something which no kind of claim fits."""

    words: str = Field(description="the stretch, copied from the text word for word")
    why: str = Field(description="what about it is not clear, in a few words")


class Example(BaseModel):
    """A text with the claims that it makes."""

    frame: str
    text: str
    claims: list[dict[str, Any]]
    """As `schemas.claims.written` writes them, with their words."""


@cache
def form_of(types: tuple[type, ...], example: str = "", only: frozenset[str] | None = None) -> type[BaseModel]:
    """The form of an answer: a list of claims of these types, and what was not understood.

    Args:
        types: of the family's claims.
        example: the prompt's, as `messages_for` has it; a reply that copies a part of it is refused.
        only: of one sentence, whose words are those of all its claims: the optional fields that are asked for; None: of a whole text.
    """
    kinds = tuple(_model_of(kind, only) for kind in types)
    claim: Any = kinds[0] if len(kinds) == 1 else Union[kinds]  # noqa: UP007 - the kinds are known at run time only
    described = Field(description="all claims that the text makes, in its order; empty if it makes none")
    unclear = Field(description="what was not understood; empty if everything was")
    of_sentence: Any = Field("", description="why the sentence is not understood; left out if it is")
    most = None if only is None else _MOST_CLAIMS
    return create_model(
        "Claims",
        __doc__="What the text claims.",
        __validators__={"_own": own_words(*_QUOTED.findall(example))},
        claims=(Annotated[list[claim], Field(max_length=most)], described),
        not_understood=(list[Passage], unclear) if only is None else (str, of_sentence),
    )


def _model_of(kind: type, only: frozenset[str] | None) -> type[BaseModel]:
    hints, docs = get_type_hints(kind, include_extras=True), field_docs(kind)
    reported: dict[str, Any] = {"kind": (Literal[kind_of(kind)], ...)}
    for one in fields(kind):
        default = ... if one.default is MISSING else one.default
        if only is not None and default is not ... and one.name not in only:
            continue
        if one.name == "words":
            reported["words"] = (str, Field(description="the words of the text that say so, copied word for word"))
        else:
            reported[one.name] = (hints[one.name], Field(default, description=docs.get(one.name)))
    return create_model(kind.__name__, __doc__=inspect.getdoc(kind), **reported)


def field_docs(kind: type) -> dict[str, str]:
    """The docstrings behind the fields of a dataclass and its bases."""
    docs: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, text in pairwise(statements):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                docs[field.target.id] = inspect.cleandoc(ast.literal_eval(text.value))
    return docs


def messages_for(instructions: str, frame: Frame, text: str, examples: Sequence[Example] = (), form: str = "") -> list[Message]:
    """The chat that has a text read: what is the same for all texts comes first, the form last.

    Args:
        instructions: the family's: what its texts are, and what its claims mean.
        frame: what the speaker's words refer to.
        text: as the log has it.
        examples: texts of other games with their claims.
        form: how the form is filled in, by an example that no text of the game could have.
    """
    shown = "\n\n".join(_shown(example) for example in examples)
    system = "\n\n".join(part for part in (_PROMPT["instructions"].strip(), instructions.strip(), shown) if part)
    asked = Frame.joined("\n\n", [_evidence(frame, text), *(Frame.own(own) for part in (_PROMPT["ask"], form) if (own := part.strip()))])
    return chat(Frame.own(system), asked)


def messages_for_sentence(instructions: str, frame: Frame, sentence: str, form: str) -> list[Message]:
    """The chat that has one sentence read: all that is the same for others comes first, so that a slow server finds it in its cache."""
    system = "\n\n".join(part.strip() for part in (_PROMPT["sentence"], instructions, form))
    return chat(Frame.own(system), Frame.joined("\n\n", [_evidence(frame, sentence), Frame.own(_PROMPT["ask_sentence"].strip())]))


def _evidence(frame: Frame, text: str) -> Frame:
    nonce = hashlib.blake2b(f"{frame}\0{text}".encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return Frame("{}\n\n{}", Frame.taken(frame), fenced("text", [Entry(Frame("It says:"), text)], nonce))


def _shown(example: Example) -> str:
    return f"Example\n\n{_evidence(Frame.own(example.frame), example.text)}\n\nIts claims: {orjson.dumps(example.claims).decode()}"


def read_reply(reply: BaseModel, text: str, types: tuple[type, ...], span: tuple[int, int] | None = None) -> Read[Any]:
    """What of an answer counts.

    Args:
        reply: the filled-in form.
        text: that was read.
        types: of the family's claims.
        span: where the sentence is that the reply is about; None: it is about the whole text, and each claim quotes its words.
    """
    content, sentence = reply.model_dump(), text[slice(*span)] if span else ""
    reported, unread = [], []
    for message in content["claims"]:
        words = message.pop("words", sentence)
        start, end = span or _place(words, text)
        try:
            claim: Any = read_claim(types, {name: value for name, value in message.items() if value is not None}, words)
        except BadInputError as error:
            unread.append(Unread(words, f"the answer cannot be used: {error}", types, start, end))
            continue
        doubt = None if start is not None else "the words it names do not stand in the text"
        reported.append(ReadClaim(claim, start, end, doubt))
        if doubt is not None:
            unread.append(Unread(words, doubt, (type(claim),)))
    passages = content["not_understood"]
    if span:
        unread += [Unread(sentence, passages, types, *span)] if passages else []
    else:
        unread += [Unread(one["words"], one["why"], types, *_place(one["words"], text)) for one in passages]
    return Read(tuple(reported), tuple(unread))


def _place(words: str, text: str) -> tuple[int | None, int | None]:
    """Where words stand in a text; blanks, case and the forms of quotes and dashes aside."""
    wanted = r"\s+".join(re.escape(part) for part in words.translate(_PLAIN).split())
    found = re.search(wanted, text.translate(_PLAIN), re.IGNORECASE) if wanted else None
    return (None, None) if found is None else found.span()


READ: Final = "read"
"""Kind of the row that records that a reader has read a text."""

UNREAD: Final = "unread"
"""Kind of the rows of what it did not understand."""


class TextPlace(NamedTuple):
    """Where a text is."""

    episode_id: str
    turn: int
    message: UtteranceView


def rows_of(read: Read[object], place: TextPlace, reader: str, prompt_hash: str | None = None) -> Iterator[Claim]:
    """The rows of a reading: first the one that records who read the text."""
    reply = place.message
    views = [
        ClaimView(READ, {"kind": READ}, None, None, None, certain=True, reason=None),
        *map(_claim_view, read.claims),
        *map(_unread_view, read.unread),
    ]
    for number, view in enumerate(views):
        key = (place.episode_id, place.turn, reply.seq, reply.agent, reader, number)
        facts = (view.words, view.start, view.end, view.certain, view.reason)
        yield Claim(*key, view.kind, Json(orjson.dumps(view.claim).decode()), *facts, text_hash(reply.text), prompt_hash)


def _claim_view(claimed: ReadClaim[object]) -> ClaimView:
    words = getattr(claimed.claim, "words", "") or None
    return ClaimView(
        kind_of(type(claimed.claim)), written(claimed.claim), words, claimed.start, claimed.end, claimed.certain, claimed.doubt
    )


def _unread_view(clause: Unread) -> ClaimView:
    facts = {"kind": UNREAD, "may_hold": [kind_of(kind) for kind in clause.may_hold]}
    return ClaimView(UNREAD, facts, clause.words, clause.start, clause.end, certain=False, reason=clause.why)


def read_of(views: Iterable[ClaimView], types: Sequence[type]) -> Read[Any] | None:
    """The reading that rows of one text and one reader hold; None without rows: it was not read.

    A claim of no type that the family has, such as another program's log may state, is a stretch that was not understood.
    """
    reported: list[ReadClaim[Any]] = []
    unread: list[Unread] = []
    was_read = False
    vouched: tuple[type, ...] | None = None
    for view in views:
        was_read = True
        if view.kind == READ and "kinds" in view.claim:
            vouched = tuple(kind for kind in types if kind_of(kind) in view.claim["kinds"])
        elif view.kind == UNREAD:
            held = view.claim.get("may_hold")
            kinds = tuple(kind for kind in types if held is None or kind_of(kind) in held)
            unread.append(Unread(view.words or "", view.reason or "", kinds, view.start, view.end))
        elif view.kind != READ:
            doubt = None if view.certain else (view.reason or "the reader is not sure")
            try:
                reported.append(ReadClaim(read_claim(types, view.claim, view.words or ""), view.start, view.end, doubt))
            except BadInputError as error:
                unread.append(Unread(view.words or "", error.reason, tuple(types), view.start, view.end))
    return Read(tuple(reported), tuple(unread), vouched) if was_read else None
