"""Counts words that the glossary replaced, package by package, and refuses more of them than `tools/words.json` records.

The recorded numbers may only fall: `--write` lowers them to what is there now and never raises one. `--list PACKAGE` prints every place.
Words are found in identifiers too (`told_apart`, `NobodyThere`).
Some are right in places, such as the rooms of a game: the numbers allow them.
A move of code between packages moves its words: change the two numbers by hand.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = Path(__file__).with_suffix(".json")
SUFFIXES = frozenset({".py", ".sql", ".md", ".yaml", ".yml", ".js", ".ipynb", ".toml"})
NOT_COUNTED = ("tools/", "CHANGELOG.md", "docs/dev/decisions.md", "judges/craft/language/")
"""Where the words themselves are data (of players, too), or history."""
WITH_ROOMS = "coordination"
"""Part of the names of files about games that are played in rooms: the word is theirs."""


def pattern(words: dict[str, str]) -> re.Pattern[str]:
    """Finds any of the words: whole, as a part of snake_case, or as a part of CamelCase."""
    either = "|".join(sorted(words, key=len, reverse=True))
    camel = "|".join(word.capitalize() for word in words if " " not in word)
    # "there is no" is plain English
    return re.compile(
        rf"(?<![A-Za-z])(?<![Tt]here )(?i:{either})(?![A-Za-z])|(?<![A-Z])(?:{camel})(?=[A-Z]|$)|(?<=[a-z])(?:{camel})(?![a-z])"
    )


def places(root: Path, words: re.Pattern[str]) -> Iterator[tuple[str, str, int, str]]:
    """Package, file, line and word of each place; the package of a file at the top is `.`."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = root / name
        if path.suffix in SUFFIXES and path.is_file() and not name.startswith(NOT_COUNTED):
            package = name.partition("/")[0] if "/" in name else "."
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for found in words.finditer(line):
                    if WITH_ROOMS not in name or found[0].lower() not in {"room", "rooms"}:
                        yield package, name, number, found[0]


def main(arguments: list[str] | None = None, *, root: Path = ROOT, record: Path = RECORD) -> int:
    """Compare the numbers with those recorded; 1 if a package has more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", metavar="PACKAGE", help="print every place in this package, with what to write")
    parser.add_argument("--write", action="store_true", help="record lower numbers")
    options = parser.parse_args(arguments)
    data = json.loads(record.read_text(encoding="utf-8"))
    words, most = data["words"], data["most"]
    found = list(places(root, pattern(words)))
    if options.list:
        for package, name, number, word in found:
            if package == options.list:
                print(f"{name}:{number}: {word} -> {words[word.lower()]}")
        return 0
    counts = Counter(package for package, *_ in found)
    more = {package: count for package, count in counts.items() if count > most.get(package, 0)}
    for package, count in sorted(more.items()):
        allowed = f"{package}: {count} replaced words, {most.get(package, 0)} allowed"
        print(f"{allowed}: `tools/words.py --list {package}` shows them and what to write (docs/glossary.md)")
    if options.write:
        data["most"] = {package: min(count, counts[package]) for package, count in most.items()}
        record.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
