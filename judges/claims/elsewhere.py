"""Readings by a model that runs elsewhere: what it is to be asked goes into a file, its replies come back in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError

from judges.claims.extraction import read_reply
from judges.claims.job import ReadingReport
from judges.claims.questions import ReadingRequest, open_texts
from judges.claims.rows import rows_of
from judges.claims.stored import put
from schemas.errors import UsageError
from schemas.records import Claim
from schemas.store import Store


def record_requests(request: ReadingRequest, store: Store, path: Path) -> int:
    """Write what the model is still to be asked, a JSON object a line: `id`, `messages` (role, content) and `schema` of the reply.

    Returns:
        The number of requests.

    Raises:
        StoreError: the store cannot be opened.
        UsageError: the condition is no SQL, or the file cannot be written.
    """
    questions = open_texts(request, store).questions
    try:
        with path.open("wb") as lines:
            for one in questions:
                schema = one.room.model.model_json_schema()
                lines.write(orjson.dumps({"id": one.key, "messages": one.messages, "schema": schema}) + b"\n")
    except OSError as error:
        raise UsageError(f"--record {path}: cannot be written: {error.strerror}") from error
    return len(questions)


def take_replies(request: ReadingRequest, store: Store, path: Path) -> ReadingReport:
    """Store what the model has read, out of a file with a JSON object a line: `id` as in its request, and `reply`, the filled-in form.

    A reply that cannot be used is counted as failed, and the first of them is named; its text may be asked about again.

    Raises:
        StoreError: the store cannot be read or written.
        UsageError: the condition is no SQL, or the file cannot be read.
    """
    store.update()
    questions, texts, before = open_texts(request, store)
    report = ReadingReport(texts=texts, read_before=before)
    waiting = {one.key: one for one in questions}
    rows: list[Claim] = []
    for number, reply in _replies(path):
        one = waiting.get(str(reply.get("id")))
        if one is None:
            continue
        try:
            read = read_reply(filled_form(reply.get("reply"), one.room.model), one.text, one.room.types)
        except ValueError as error:
            report.failed += len(one.texts)
            report.first_error = report.first_error or f"{path.name}, line {number}: {' '.join(str(error).split())}"
            continue
        report.read += len(one.texts)
        report.claims += len(read.told) * len(one.texts)
        rows += (row for text in one.texts for row in rows_of(read, text.place, request.stored_as, one.key))
        del waiting[one.key]
    put(store, request.stored_as, rows)
    report.not_asked = sum(len(one.texts) for one in waiting.values()) - report.failed
    return report


def _replies(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"--replies {path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                reply = orjson.loads(line)
            except ValueError as error:
                raise UsageError(f"--replies {path}, line {number}: no JSON ({error})") from error
            if not isinstance(reply, dict):
                raise UsageError(f'--replies {path}, line {number}: give an object {{"id": ..., "reply": ...}}')
            yield number, reply


def filled_form(reply: object, form: type[BaseModel]) -> BaseModel:
    """The form that a reply fills in; a claim that does not fit the form counts as not understood.

    Raises:
        ValueError: it is no object with a list of claims.
    """
    said = orjson.loads(reply) if isinstance(reply, str) else reply
    if not isinstance(said, dict) or not isinstance(said.get("claims"), list):
        raise ValueError("the reply is no object with a list of claims")  # noqa: TRY004 - the reply's fault, as bad JSON is
    claims, passages = [], [*(said.get("not_understood") or [])]
    for claim in said["claims"]:
        plain = _without_nulls(claim)
        try:
            form.model_validate({"claims": [plain], "not_understood": []})
        except ValidationError as error:
            words = str(plain.get("words", "")) if isinstance(plain, dict) else ""
            passages.append({"words": words, "why": f"the claim does not fit the form: {error.errors()[0]['msg']}"})
        else:
            claims.append(plain)
    return form.model_validate({"claims": claims, "not_understood": passages})


def _without_nulls(value: Any) -> Any:
    """The value without fields that hold null: nothing is said in them."""
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value
