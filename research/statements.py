"""What messages of logged Avalon games state of the record: how many statements are read, how many are true, and a sample to be read blind.

`python -m research statements FOLDER` reads the games of a folder; `--sample N --seed S` prints N of the statements, each with its text
around it and without whether it is true.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from analytics.query import query
from ingest.files.run import ingest_paths
from judges.avalon.checks import record_of
from judges.avalon.record import Fact, facts
from judges.evidence.transcript import load
from schemas.store.store import Store

_AROUND = 110


def stated(store: Store) -> Iterator[tuple[str, str, list[tuple[Fact, bool | None]]]]:
    """Speaker, text, and statements with whether they are true (None: the record does not tell), message by message."""
    episodes = query(store, "SELECT episode_id FROM episodes WHERE benchmark = 'avalon' ORDER BY ALL")["episode_id"].to_list()
    for game in load(store, episodes):
        for turn in game.turns:
            for message in turn.said("public"):
                record = record_of(game, turn.turn)
                yield (
                    message.agent,
                    message.text,
                    [(one, record.holds(one)) for one in facts(message.text, message.agent, list(game.agents))],
                )


def main(arguments: Sequence[str]) -> int:
    """Print the counts, and the sample."""
    parser = argparse.ArgumentParser(prog="python -m research statements", description=__doc__)
    parser.add_argument("folder", type=Path, help="with logs of Avalon")
    parser.add_argument("--sample", type=int, default=0, help="how many statements are printed")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "games.duckdb")
        ingest_paths([options.folder], store)
        messages = list(stated(store))
    counts = Counter((one.kind, {True: "true", False: "false", None: "unknown"}[holds]) for _, _, found in messages for one, holds in found)
    decided = sum(any(holds is not None for _, holds in found) for _, _, found in messages)
    sys.stdout.write(f"{len(messages)} messages, {decided} with a statement that the record decides\n")
    sys.stdout.writelines(f"{kind:8}{truth:10}{count:6}\n" for (kind, truth), count in sorted(counts.items()))
    all_decided = [(who, text, one) for who, text, found in messages for one, holds in found if holds is not None]
    for who, text, one in random.Random(options.seed).sample(all_decided, min(options.sample, len(all_decided))):
        start = max(0, text.find(one.words) - _AROUND)
        shown = " ".join(text[start : start + 2 * _AROUND + len(one.words)].split())
        what = " ".join(filter(None, (one.kind, one.where, "/".join(one.who), one.value, "denied" if one.denied else "")))
        sys.stdout.write(f"\n[{who}] {what}\n  {shown}\n")
    return 0
