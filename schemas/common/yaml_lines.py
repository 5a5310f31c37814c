"""YAML with the line of everything in it, and with the traps that YAML sets to people."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from schemas.common.errors import UsageError
from schemas.common.text import excerpt

NodePath = tuple[str | int, ...]
"""Keys and list indices from the top of the document."""

_BOOLEAN = "tag:yaml.org,2002:bool"
_WORD = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_LONGEST = 4_000_000
"""Characters of a document: reading takes about two seconds a million."""
_FREE = 10_000
_TIMES = 10
"""A document may stand for so many times the values that are written in it, and some thousands: aliases (`*name`) repeat values, and those
that repeat each other fill any memory out of a few lines."""


class YamlLines:
    """Where things stand in a YAML document."""

    def __init__(self) -> None:
        self._by_path: dict[NodePath, int] = {(): 1}
        self.mistakes: list[tuple[int, str]] = []
        """(line from 1, message): keys given twice, and words that YAML does not read as words."""

    def add(self, path: NodePath, line: int) -> None:
        """Remember that what the path leads to starts on that line, from 1."""
        self._by_path[path] = line

    def of(self, path: Sequence[str | int]) -> int:
        """Line, from 1, of what the path leads to, or of the nearest thing above it that exists."""
        known = tuple(path)
        while known not in self._by_path:
            known = known[:-1]
        return self._by_path[known]


def read_with_lines(text: str) -> tuple[Any, YamlLines]:
    """The parsed document and its lines; an empty document is an empty mapping.

    A key that YAML does not read as a word is listed among `mistakes`, and read as the word that was meant, so that what is below it
    can be checked too.

    Raises:
        yaml.MarkedYAMLError: the text is not YAML.
    """
    lines = YamlLines()
    with _single_node(text) as (loader, node):
        if node is None:
            return {}, lines
        _walk(node, (), lines)
        return loader.construct_document(node), lines


def parse_yaml(text: str) -> Any:
    """What a text that somebody else may have written holds; None if it is empty.

    Raises:
        yaml.YAMLError: the text is not YAML, or its aliases repeat more than any document needs.
        ValueError: a date or a number in it cannot be.
        RecursionError: it is nested too deeply.
    """
    with _single_node(text) as (loader, node):
        return None if node is None else loader.construct_document(node)


@contextmanager
def _single_node(text: str) -> Iterator[tuple[yaml.SafeLoader, yaml.Node | None]]:
    """The document's tree before anything is made of it, with the loader that can."""
    if len(text) > _LONGEST:
        raise yaml.MarkedYAMLError(problem=f"it has {len(text):,} characters, and {_LONGEST:,} is the limit: is it the right file?")
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            _refuse_repetition(node)
        yield loader, node
    finally:
        loader.dispose()


def _refuse_repetition(top: yaml.Node) -> None:
    """Look at how much the document expands to, each value once.

    Raises:
        yaml.MarkedYAMLError: it is far more than the document holds, or the document contains itself.
    """
    sizes: dict[int, int] = {}
    under_way: set[int] = set()
    waiting = [(top, False)]
    while waiting:
        node, is_done = waiting.pop()
        parts = _parts(node)
        if is_done:
            under_way.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
            if sizes[id(node)] > _FREE + _TIMES * len(sizes):
                raise yaml.MarkedYAMLError(problem="aliases repeat far more values than the document holds", problem_mark=node.start_mark)
        elif id(node) in under_way:
            raise yaml.MarkedYAMLError(problem="it refers to itself through an alias", problem_mark=node.start_mark)
        elif id(node) not in sizes:
            under_way.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in parts)


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    return [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else []


def read_yaml(path: Path, called: str) -> Any:
    """What a user's file holds; ``called`` is what it is to them, such as the option that names it.

    Raises:
        UsageError: it cannot be read, or is not YAML.
    """
    try:
        return parse_yaml(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{called} {path} cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{called} {path} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{called} {path} is nested too deeply, or refers to itself: is it the right file?") from error
    except (yaml.YAMLError, ValueError) as error:  # a date or a number that cannot be is a ValueError
        raise UsageError(f"{called} {path} is not YAML ({excerpt(' '.join(str(error).split()))}): fix it there") from error


def _walk(node: yaml.Node, path: NodePath, lines: YamlLines) -> None:
    lines.add(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, (*path, index), lines)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            _look_at_key(key, line, seen, lines)
            _walk(value, (*path, str(key.value)), lines)
            lines.add((*path, str(key.value)), line)


def _look_at_key(key: yaml.Node, line: int, seen: set[str], lines: YamlLines) -> None:
    word = str(key.value)
    if key.tag == _BOOLEAN:
        lines.mistakes.append((line, f'{word} without quotes is a boolean in YAML 1.1, not a word: write "{word}"'))
    elif key.tag == _NULL:
        lines.mistakes.append((line, f'{word} without quotes is null in YAML, not a word: write "{word}"'))
    elif not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
        lines.mistakes.append((line, f'the key {word} is not text: write "{word}"'))
    if isinstance(key, yaml.ScalarNode):
        key.tag = _WORD
    if word in seen:
        lines.mistakes.append((line, f"{word} is given twice: delete or rename one of them"))
    seen.add(word)
