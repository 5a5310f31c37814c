"""Figures in a page of the docs: a command writes them between two marks, and nobody else does."""

import re
from pathlib import Path

__all__ = ["written"]


def written(page: Path, name: str, lines: str) -> None:
    """Put lines between the marks `<!-- name: begin -->` and `<!-- name: end -->` of a page.

    Raises:
        ValueError: the page has no such marks.
    """
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if begin not in text or end not in text:
        raise ValueError(f"{page} has no marks for {name}")
    new = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{lines.strip()}\n{end}", text, flags=re.DOTALL)
    page.write_text(new, encoding="utf-8")
