"""Reads logs of Inspect AI (`.eval` and `.json`) through the library inspect_ai: a sample and epoch is a game, a message a turn.

Samples are read one by one: one that is damaged costs no other, and a log of a run under way or broken off gives what it holds. Samples
that the log lists and does not hold are told.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from ingest.conversation.rows import reading_of, settled
from ingest.inspect_logs.sample import DESERIALIZING, conversation_of, sample_of
from ingest.reading.adapter_types import Place, Reading
from ingest.reading.json_text import loads, utf8
from schemas.errors import BadInputError
from schemas.text import excerpt

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

__all__ = ["FORMAT", "KEYS", "PATH_PARTS", "VERSION", "read", "resembles", "sniff"]

FORMAT: Final = "inspect"
VERSION: Final = 6
PATH_PARTS: Final = 0

_ZIP: Final = re.compile(rb"\APK\x03\x04.{26}(?:_journal/|samples/|header\.json|summaries\.json|reductions\.json)", re.DOTALL)
_JSON: Final = re.compile(rb'\A\s*\{\s*"(?:version|status|eval)"\s*:')
_JSON_MARKS: Final = (re.compile(rb'"eval"\s*:\s*\{'), re.compile(rb'"(?:task_id|run_id|eval_id|task_version|task_file)"\s*:'))
_SAMPLE: Final = re.compile(r"samples/.+\.json")
_SUMMARY: Final = re.compile(r"summaries\.json|_journal/summaries/\d+\.json")


_MOST_OF_A_MEMBER: Final = 128 * 2**20
_MOST_IN_ALL: Final = 2 * 2**30
"""Bytes that a log may unpack to; no program of Inspect writes more, and a few packed ones can claim any number."""


KEYS: Final = (frozenset({"eval", "status", "version"}),)
"""Of a document whose beginning does not say what it is."""


def sniff(head: bytes) -> bool:
    """Tell from a file's first bytes whether this is a log of Inspect."""
    return _ZIP.match(head) is not None or (_JSON.match(head) is not None and all(mark.search(head) for mark in _JSON_MARKS))


def resembles(_head: bytes, name: str) -> bool:
    """Tell whether a file that does not begin so is a damaged log: no other program calls its files so."""
    return name.lower().endswith(".eval")


def read(data: bytes, place: Place) -> Reading:
    """Read a log.

    Raises:
        BadInputError: inspect_ai is not installed, or the log holds no sample that can be read.
    """
    if find_spec("inspect_ai") is None:
        raise BadInputError("an Inspect log, and inspect_ai is not installed: pip install 'cotrace[inspect]'")
    if data[:2] == b"PK":
        return _from_zip(data, place)
    raw = _object(loads(data), "")
    samples = raw.pop("samples", None)
    log = _header(raw)
    if not samples:
        raise _without_samples(log)
    if not isinstance(samples, list):
        raise BadInputError("samples is no list: the log is damaged, copy it again", locator="samples")
    return _gathered(((f"samples[{index}]", sample) for index, sample in enumerate(samples)), log, place)


def _from_zip(data: bytes, place: Place) -> Reading:
    import inspect_ai.log  # noqa: F401 - teaches zipfile the compression of newer logs, where Python does not know it

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _from_archive(archive, place)
    except zipfile.BadZipFile as error:
        raise BadInputError(f"the zip is not whole ({error}): the log was cut, copy it again") from error


def _from_archive(archive: zipfile.ZipFile, place: Place) -> Reading:
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > _MOST_IN_ALL:
        raise BadInputError(
            f"it unpacks to {_mib(unpacked)}, and no more than {_mib(_MOST_IN_ALL)} are read: split the log into smaller ones"
        )
    names = list(dict.fromkeys(archive.namelist()))
    beginning = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
    if beginning is None:
        raise BadInputError("neither header.json nor _journal/start.json: the log does not say what was run")
    log = _header(_object(_member(archive, beginning), beginning))
    held = [name for name in names if _SAMPLE.fullmatch(name)]
    reading = _gathered(((name, _Member(archive, name)) for name in held), log, place)
    reading.rejects += _missing(archive, names, held)
    if not reading.episodes and not reading.rejects:
        raise _without_samples(log)
    return reading


class _Member:
    """A sample that is read when its turn comes, so that one at a time is in memory."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive, self._name = archive, name

    def read(self) -> Any:
        return _member(self._archive, self._name)


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    size = archive.getinfo(name).file_size
    if size > _MOST_OF_A_MEMBER:
        raise BadInputError(f"it unpacks to {_mib(size)}, and no more than {_mib(_MOST_OF_A_MEMBER)} of one part are read", locator=name)
    try:
        return loads(utf8(archive.read(name)))
    except BadInputError as error:
        raise BadInputError(error.reason, locator=name, excerpt=error.excerpt) from error
    except Exception as error:  # each compression has errors of its own
        raise BadInputError(f"cannot be unpacked ({excerpt(str(error))}): the log is damaged, copy it again", locator=name) from error


def _mib(size: int) -> str:
    return f"{size // 2**20} MiB"


def _gathered(samples: Iterator[tuple[str, Any]], log: EvalLog, place: Place) -> Reading:
    """The samples that can be read; each of the others is told."""
    reading = Reading()
    times: Counter[str] = Counter()
    for locator, sample in samples:
        reading.take(locator, partial(_sample, sample, locator, log, place, times))
    return settled(reading)


def _sample(sample: Any, locator: str, log: EvalLog, place: Place, times: Counter[str]) -> Reading:
    raw = _object(sample.read() if isinstance(sample, _Member) else sample, locator)
    found = conversation_of(sample_of(raw), log)
    if not found.messages and found.error is None and found.score is None:
        raise BadInputError("no message, no score and no error: the sample was logged without its conversation")
    name = f"{found.task}/{found.seed}"
    times[name] += 1
    return reading_of(found, place, name if times[name] == 1 else f"{name}/{times[name]}")


def _header(raw: dict[str, Any]) -> EvalLog:
    from inspect_ai.log import EvalLog
    from pydantic import ValidationError

    try:
        return EvalLog.model_validate(raw, context=DESERIALIZING)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInputError(f"the header is no Inspect log: {first['msg']}", locator=".".join(map(str, first["loc"]))) from error
    except Exception as error:  # what mends older logs there trips over damage in ways of its own
        raise BadInputError(f"the header is no Inspect log ({excerpt(str(error))}): the log is damaged, copy it again") from error


def _missing(archive: zipfile.ZipFile, names: list[str], held: list[str]) -> Iterator[BadInputError]:
    """Samples that summaries list and that the log does not hold."""
    listed: dict[str, Mapping[str, Any]] = {}
    for name in filter(_SUMMARY.fullmatch, names):
        entries = _member(archive, name)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping) and "id" in entry:
                listed[f"samples/{entry['id']}_epoch_{entry.get('epoch', 1)}.json"] = entry
    for name in listed:
        if name not in held:
            yield BadInputError("listed in the log's summaries, and not in the log: it was not written, or cut out", locator=name)


def _object(value: Any, locator: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadInputError("no JSON object where Inspect writes one: the log is damaged", locator=locator, excerpt=excerpt(str(value)))
    return value


def _without_samples(log: EvalLog) -> BadInputError:
    return BadInputError(
        f"a log of {log.eval.task} (status {log.status}) without samples: write it with samples, or name the log that has them"
    )
