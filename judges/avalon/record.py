"""What an Avalon message states about missions, teams, leaders, votes and the score so far, and whether it agrees with the record.

A clause is read by patterns of plain past tense. What is hedged, conditional, asked, or only reported of others states nothing here, and a
clause that may speak of the past without being read is left open: a message states nothing false only if every clause of it is read, or
cannot be about the past. A statement with several meanings is false only if all of them are: a vote is looked for in every proposal meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from schemas.common.packages import packaged_yaml

_NUMBERS: Final = {"no": 0, "zero": 0, "a": 1, "an": 1, "one": 1, "single": 1, "two": 2, "both": 2, "double": 2, "three": 3, "four": 4}
_BOTH: Final = 2
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_NUMBER: Final = r"(?:no|zero|one|a single|both|two|three|four|[0-4])"
_MISSION: Final = (
    r"(?i:(?:the )?(?:mission|quest|m)\s?#?(?:[1-5]|one|two|three|four|five)\b"
    r"|(?:the |our )?(?:first|second|third|fourth|fifth|last|previous|failed|failing|successful|only) (?:mission|quest)\b(?! ?#?\d))"
)
_MOVED: Final = r"(?: (?:just|already|also|clearly|both|all|then|again|actually|unfortunately|only|has|have|had))*"
_SPLIT: Final = re.compile(
    r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s|(?:—)|,? (?:but|because|since|so|while|although|though|which|who|whereas|given that|meaning|after) "
    r"|, (?=and I\b|(?:and )?then\b)"
)
_HEDGE: Final = re.compile(
    r"\b(?:if|unless|would|could|may|might|maybe|perhaps|possibl[ey]|probabl[ey]|likely|seems?|looks?|appears?|think|believe|suspect|guess"
    r"|suppose|assum\w+|should|claim\w*|sa(?:ys?|id)|t(?:ell|old)s?|at least|at most|almost|when|once|until|whether|neither|nor|or|either"
    r"|except|without|every time|whoever|anyone|one of|some of|had (?:we|they|he|she|it|I)\b|as if|imagine|pretend|wish|hope|expect|want\w*"
    r"|unlikely|rather than|instead|all but|other than|besides|unlike)\b|[?\"“”]",
    re.IGNORECASE,
)
_DENIAL: Final = re.compile(r"\b(?:not|never|cannot|none|no one|no ?body)\b|n['’]t\b", re.IGNORECASE)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|been|failed|failing|succeeded|passed|voted|approved|rejected|led|proposed|picked|chose|chosen|went|got|came|ended"
    r"|sabotag\w+|lost|won|included|excluded|score|tied|clean\w*|unanimous\w*|first|second|third|fourth|last|previous|earlier|prior|so far"
    r"|already|twice|both"
    rf"|{_NUMBER} (?:success|fail)\w*|a success|fails?)\b|\b\d\s?(?:-|–|to|:)\s?\d\b",
    re.IGNORECASE,
)
_ABOUT: Final = re.compile(
    r"\b(?:missions?|quests?|m[1-5]|fail\w*|succe\w+|pass\w*|teams?|vote[sd]?|voting|approv\w+|reject\w*|led|leader|score|propos\w+|runs?|results?|rounds?|\d)\b",
    re.IGNORECASE,
)


class Fact(NamedTuple):
    """Something that a message states of the record."""

    kind: str
    """result, fails, team, on, leader, vote, count or score."""
    where: str
    """The mission or team that is meant, in the message's words; empty for the score."""
    who: tuple[str, ...]
    """Players; `everyone`; empty where it is about none."""
    value: str
    """success or fail, a number, approve or reject, or `a-b`."""
    denied: bool
    words: str


@dataclass(frozen=True)
class Record:
    """What a game's log has up to some turn."""

    missions: Sequence[Mapping[str, Any]]
    """Finished ones: mission, leader, team, fails, result."""
    proposals: Sequence[tuple[int, Mapping[str, Any]]]
    """Mission and proposal as logged, in order; without those that are still to be voted on."""

    def missions_meant(self, where: str) -> list[Mapping[str, Any]] | None:
        """The missions that words mean, of finished ones; None if the words do not tell which."""
        word = re.sub(r"\b(?:the|our|of)\b ?", "", where.lower())
        result = {"fail": "fail", "succ": "success", "clea": "success"}.get(re.sub(r"^(?:an?|any|every|each|both|all) ", "", word)[:4])
        fits = [one for one in self.missions if result is None or one["result"] == result]
        if re.match(r"(?:an?|any|every|each|both|all) ", word):
            return fits if fits and (not word.startswith("both") or len(fits) == _BOTH) else None
        digit = re.search(r"[1-5]", word)
        named = next((number for name, number in {**_NUMBERS, **_ORDINALS, "five": 5}.items() if re.search(rf"\b{name}\b", word)), None)
        number = int(digit[0]) if digit else named
        if number is not None:
            return [one for one in self.missions if one["mission"] == number]
        return list(self.missions[-1:]) if re.match("last|previous", word) else fits if len(fits) == 1 else None

    def proposals_meant(self, where: str) -> list[Mapping[str, Any]]:
        """All proposals that words may mean: those of a mission, or of a leader (`NAME's team`)."""
        leader = re.fullmatch(r"(.+?)['’]s? (?:team|proposal)", where)
        if leader is not None and re.match(_MISSION, where) is None:
            return [placed for _, placed in self.proposals if placed["leader"] == leader[1]]
        missions = self.missions_meant(where)
        return [placed for number, placed in self.proposals if number in {one["mission"] for one in missions or ()}]

    def holds(self, fact: Fact) -> bool | None:
        """Whether the record agrees; None where it does not tell."""
        found = _CHECKS[fact.kind](self, fact)
        return None if found is None else found != fact.denied


def _of_mission(check: Callable[[Mapping[str, Any], Fact], bool | None]) -> Callable[[Record, Fact], bool | None]:
    def checked(record: Record, fact: Fact) -> bool | None:
        meant = record.missions_meant(fact.where)
        return None if meant is None else check(meant[0], fact) if meant else None

    return checked


def _on(record: Record, fact: Fact) -> bool | None:
    teams = [set(one["team"]) for one in record.missions_meant(fact.where) or ()]
    if fact.denied or re.match(r"(?:an?|any) ", fact.where):
        return any(team & {*fact.who} for team in teams) if teams else None
    return all({*fact.who} <= team for team in teams) if teams else None


def _leader(record: Record, fact: Fact) -> bool | None:
    placed = record.proposals_meant(fact.where)
    return any(one["leader"] in fact.who for one in placed) if placed else None


def _vote(record: Record, fact: Fact) -> bool | None:
    placed = [one for one in record.proposals_meant(fact.where) if one["votes"]]
    if not placed:
        return None
    who = [tuple(one["votes"]) if fact.who == ("everyone",) else fact.who for one in placed]
    return any(all(one["votes"].get(name) == fact.value for name in names) for one, names in zip(placed, who, strict=True))


def _count(record: Record, fact: Fact) -> bool | None:
    placed = [one for one in record.proposals_meant(fact.where) if one["votes"]]
    counts = tuple(int(part) for part in fact.value.split("-"))
    return any(sorted(counts) == sorted((one["approve"], one["reject"])) for one in placed) if placed else None


def _score(record: Record, fact: Fact) -> bool | None:
    results = [one["result"] for one in record.missions]
    if None in results:
        return None
    done = {"success": results.count("success"), "fail": results.count("fail")}
    if "-" in fact.value:
        return sorted(int(part) for part in fact.value.split("-")) == sorted(done.values())
    result, _, number = fact.value.partition(" ")
    return done[result] == int(number)


_CHECKS: Final[Mapping[str, Callable[[Record, Fact], bool | None]]] = {
    "result": _of_mission(lambda mission, fact: None if mission["result"] is None else mission["result"] == fact.value),
    "fails": _of_mission(lambda mission, fact: None if mission["fails"] is None else mission["fails"] == int(fact.value)),
    "team": _of_mission(lambda mission, fact: sorted(mission["team"]) == sorted(fact.who)),
    "on": _on,
    "leader": _leader,
    "vote": _vote,
    "count": _count,
    "score": _score,
}


@cache
def _patterns(names: tuple[str, ...]) -> list[tuple[str, re.Pattern[str]]]:
    """Kind and pattern, from record.yaml; only patterns without players are read in any case."""
    one = rf"(?:\b(?:{'|'.join(map(re.escape, names))})\b(?!['’]s? (?:team|proposal))|\bI\b|\bme\b|\bmyself\b)"
    join = r"(?:,? and |/| & | ?\+ ?|,? plus )"
    several = "(?:any|an?|every|each|both|all)(?: of)?(?: the| our)?(?: failed| failing| successful| clean)? (?:mission|quest)s?"
    parts = {
        "<TEAM>": rf"(?P<t>{_MISSION}(?:['’]s)?(?: (?:team|proposal))?|\b(?:{'|'.join(map(re.escape, names))})['’]s? (?:team|proposal))",
        "<SOME>": rf"(?>{one}(?:(?:(?:, |/){one})*{join}{one})?)",  # "Ann, Bob was" lists none
        "<LIST>": rf"(?>{one}(?:(?:, |{join}){one})+)",
        "<ONE>": one,
        "<M>": rf"(?P<m>{_MISSION})",
        "<M1>": _MISSION,
        "<SEVERAL>": several,
        "<NUMBER>": _NUMBER,
        "<MOVED>": _MOVED,
    }
    found = []
    for kind, written in packaged_yaml(__package__, "record.yaml").items():
        for pattern in written:
            filled = pattern
            for place, expression in parts.items():
                filled = filled.replace(place, expression)
            found.append((kind, re.compile(filled, re.IGNORECASE if "(?P<who>" not in pattern else 0)))
    return found


def facts(text: str, speaker: str, names: Sequence[str]) -> Iterator[Fact]:
    """What a message states of the record, clause by clause."""
    for clause in _clauses(text):
        yield from _read(clause, speaker, names)[0]


def is_read(text: str, speaker: str, names: Sequence[str], record: Record) -> bool:
    """Whether no clause could state more of the record than `facts` has."""
    finished = [str(one["mission"]) for one in record.missions]
    past = re.compile(rf"\b(?:mission|quest|m)\s?#?(?:{'|'.join(finished) or 'none'})\b", re.IGNORECASE)
    for clause in _clauses(text):
        _, rest = _read(clause, speaker, names)
        is_about = _ABOUT.search(rest) or any(re.search(rf"\b{re.escape(name)}\b", rest) for name in names)
        if past.search(rest) or (is_about and _PAST.search(rest)):
            return False
    return True


def _clauses(text: str) -> list[str]:
    return [part.strip() for part in _SPLIT.split(text) if part and part.strip()]


def _read(clause: str, speaker: str, names: Sequence[str]) -> tuple[list[Fact], str]:
    """The facts of a clause, and what of it was not read."""
    if _HEDGE.search(clause):
        return [], clause
    found, taken = [], [False] * len(clause)
    for kind, pattern in _patterns(tuple(names)):
        for match in pattern.finditer(clause):
            fact = _fact(kind, match, speaker, names)
            if fact is not None:
                found.append(fact)
                taken[match.start() : match.end()] = [True] * (match.end() - match.start())
    rest = "".join(" " if is_taken else letter for letter, is_taken in zip(clause, taken, strict=True))
    return ([], clause) if _DENIAL.search(rest) else (found, rest)


def _fact(kind: str, match: re.Match[str], speaker: str, names: Sequence[str]) -> Fact | None:
    given = match.groupdict()
    who = given.get("who") or ""
    either = "|".join(map(re.escape, (*names, "I", "myself", "me")))
    players = tuple(dict.fromkeys(speaker if word in ("I", "me", "myself") else word for word in re.findall(rf"\b(?:{either})\b", who)))
    if re.fullmatch(r"(?i:everyone|everybody|we all|all of us|unanimously)", who):
        players = ("everyone",)
    value = given.get("value") or ""
    if kind == "score" and not re.search(r"\d\D+\d", value):
        numbers = [_number(one) for one in re.findall(_NUMBER, value, re.IGNORECASE)]
        value = "-".join(map(str, numbers)) if len(numbers) > 1 else f"{'success' if 'succ' in value.lower() else 'fail'} {numbers[0]}"
    elif kind in ("score", "count"):
        value = "-".join(re.findall(r"\d", value))
    elif value:
        value = str(_number(value))
    elif kind in ("result", "vote"):
        value = {("result", True): "success", ("result", False): "fail", ("vote", True): "approve", ("vote", False): "reject"}[
            kind, bool(given.get("yes"))
        ]
    return Fact(kind, given.get("m") or given.get("t") or "", players, value, bool(given.get("not")), match[0].strip())


def _number(word: str) -> int:
    last = word.lower().split()[-1]
    return int(last) if last.isdecimal() else _NUMBERS[last]
