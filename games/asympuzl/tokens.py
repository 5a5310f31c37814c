"""Counting tokens. Numbers of different tokenizers must not be compared, so the name goes into every log."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from schemas.errors import UsageError

Tokenizer = Callable[[str], int]
"""Text -> number of tokens."""

DEFAULT_TOKENIZER: Final = "regex-v1"
"""Words and single marks; needs no tables (format description, section 8)."""

_PREFIX: Final = "tiktoken:"
_WORDS: Final = re.compile(r"\w+|[^\w\s]")


@cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a name: ``regex-v1`` or ``tiktoken:<encoding>``, such as ``tiktoken:o200k_base``.

    Raises:
        UsageError: there is none of that name, or its tables cannot be had.
    """
    if name == DEFAULT_TOKENIZER:
        return lambda text: len(_WORDS.findall(text))
    if name.startswith(_PREFIX):
        return _tiktoken(name.removeprefix(_PREFIX))
    raise UsageError(f"no tokenizer {name!r}: give {DEFAULT_TOKENIZER} or {_PREFIX}<encoding>, such as {_PREFIX}o200k_base")


def _tiktoken(encoding: str) -> Tokenizer:
    try:
        import tiktoken

        found = tiktoken.get_encoding(encoding)
    except ImportError as error:
        raise UsageError(f"tokenizer {_PREFIX}{encoding} needs the package tiktoken: pip install tiktoken") from error
    except ValueError as error:
        raise UsageError(f"tiktoken has no encoding {encoding!r}: {', '.join(tiktoken.list_encoding_names())}") from error
    except OSError as error:  # its tables are downloaded at first use
        raise UsageError(f"the tables of {_PREFIX}{encoding} cannot be fetched ({error}): use {DEFAULT_TOKENIZER}") from error
    return lambda text: len(found.encode(text, disallowed_special=()))
