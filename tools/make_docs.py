"""Writes the pages of docs/ that are made from the source: tables, views, command line, rubrics.

`--check` writes nothing and fails when a page is stale, so that a change of a column, a view or a command cannot leave the docs behind.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_type_hints

import click

from judges.rubric import Rubric
from schemas.tables import Column

DOCS = Path(__file__).resolve().parents[1] / "docs"
MADE = "<!-- Made by `make docs` from the source. Do not edit. -->"


def tables_page() -> str:
    """Every table of the store, column by column."""
    from schemas.store.store import SCHEMA_VERSION
    from schemas.tables import TABLES

    lines = [
        "# The store's tables",
        "",
        MADE,
        "",
        f"One DuckDB file, schema version {SCHEMA_VERSION}. These tables are a public contract: any DuckDB client of the same version",
        "can read them.",
        "JSON columns are DuckDB `JSON`. Key columns together identify a row; they are not declared as indexes.",
        "A Pandera schema checks every batch before it is written: types, nulls, what the last column lists, and that a row refers to rows",
        "of the same game. What it refuses is in `rejects`.",
        "",
    ]
    for spec in TABLES:
        lines += [f"## {spec.name}", "", f"One row is: {spec.grain[0].lower()}{spec.grain[1:]}", ""]
        lines += ["| column | type | null? | meaning | unit | allowed |", "|---|---|---|---|---|---|"]
        for column in spec.columns:
            name = f"**{column.name}**" if column.key else column.name
            lines.append(
                f"| {name} | {column.sql_type} | {'yes' if column.nullable else 'no'} | {column.doc} | {column.unit} | {_allowed(column)} |"
            )
        lines += ["", *(f"`{rule.column}`: `{rule.holds}`." for rule in spec.rules)] if spec.rules else []
        lines.append("")
    return "\n".join(lines)


def _allowed(column: Column) -> str:
    known = f"in `{column.refers}`" if column.refers else ""
    values = f"like `{column.matches.replace('|', chr(92) + '|')}`" if column.matches else column.allowed
    return ", ".join(part for part in (values, known) if part)


def views_page() -> str:
    """Every view, and every computed report, with what its columns mean."""
    from analytics.installation import columns, ensure_installed
    from analytics.report_columns import report_columns
    from analytics.reports import COMPUTED, described
    from analytics.views import VIEWS
    from schemas.store.store import Store

    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "blank.duckdb")
        store.create()
        ensure_installed(store)
        with store.reading() as connection:
            meanings = columns(connection)
    lines = [
        "# The views",
        "",
        MADE,
        "",
        "Each view is a commented statement in a `.sql` file of `analytics/`. Every rate has its counts next to it. Reports that are computed",
        "in Python follow the views.",
        "",
    ]
    for view in VIEWS:
        lines += [f"## {view.name}", "", view.summary, "", "| column | unit | meaning |", "|---|---|---|"]
        lines += [f"| {name} | {unit} | {doc} |" for name, (unit, doc) in meanings.get(view.name, view.special).items()]
        lines.append("")
    for name, computed in COMPUTED.items():
        lines += [
            f"## report {name}",
            "",
            f"{described(name)} Computed, no view; see [{computed.page}]({computed.page.removeprefix('docs/')}).",
            "",
        ]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        lines += [f"| {column.name} | {column.kind} | {column.meaning} |" for column in report_columns(name)]
        lines.append("")
    return "\n".join(lines)


def cli_page() -> str:
    """What each command says of itself."""
    from cotrace.cli import cli

    lines = ["# The command line", "", MADE, ""]
    for path, command in _commands("cotrace", cli):
        context = click.Context(command, info_name=path, terminal_width=100)
        lines += [f"## {path}", "", "```", command.get_help(context), "```", ""]
    return "\n".join(lines)


def _commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(f"{path} {name}", inner)


def rubrics_page() -> str:
    """Every rubric that is shipped."""
    from judges.rubric_files.load import load, names

    lines = [
        "# The rubrics",
        "",
        MADE,
        "",
        "Each rubric is one file in `judges/<family>/rubrics/`, or in `judges/rubrics/` where it fits any game.",
        "The file format is described in docs/rubric_files.md.",
        "",
    ]
    lines += _decisive()
    for path in names().values():
        lines += _rubric(load(path))
    return "\n".join([*lines, *_pieces(), *_conditions()])


def _decisive() -> list[str]:
    from judges.attribution.decisive import decisive_error

    own = decisive_error()
    lines = [f"## {own.name}", "", f"Version {own.version}, {own.source}. Unit: {own.unit}. Benchmarks: {', '.join(own.benchmarks)}."]
    lines += ["Answers: an agent, a turn and a reason. `cotrace report attribution-accuracy` scores them.", ""]
    lines += [f"Variant `{name}`: {asked.why}.\n" for name, asked in own.variants.items()]
    lines += ["| question | asks |", "|---|---|"]
    return [*lines, *(f"| {name} | {text} |" for name, text in own.questions.items()), ""]


def _pieces() -> list[str]:
    from judges.evidence.pieces import doc, pieces

    lines = ["## Pieces of evidence", "", "What `shows` can list.", ""]
    lines += ["| piece | what it shows | units | benchmarks |", "|---|---|---|---|"]
    for name, piece in pieces().items():
        shows, where = doc(name, "`window_tokens`"), ", ".join(piece.benchmarks) or "all"
        lines.append(f"| {name} | {shows} | {', '.join(piece.units)} | {where} |")
    return lines


def _conditions() -> list[str]:
    from judges.evidence.pieces import CONDITIONS

    lines = ["", "## Conditions", "", "What `na_if` can list: where one holds, the question does not apply, and no judge is asked.", ""]
    lines += ["| condition | holds when | units |", "|---|---|---|"]
    return lines + [f"| {name} | {condition.doc} | {', '.join(condition.units)} |" for name, condition in CONDITIONS.items()]


def _rubric(rubric: Rubric) -> list[str]:
    lines = [
        f"## {rubric.name}",
        "",
        f"Version {rubric.version}, {rubric.source}. Unit: {rubric.unit}. Benchmarks: {', '.join(rubric.benchmarks)}.",
        f"Answers: {', '.join(rubric.answers)}. The judge sees: {', '.join(rubric.shows)}.",
        "",
    ]
    for name, variant in rubric.variants.items():
        other = f". Not comparable with version {rubric.version}: {', '.join(variant.other_meaning)}" if variant.other_meaning else ""
        lines += [f"Variant `{name}`: {variant.why}{other}", ""]
    lines += ["", "| question | asks | N/A when | N/A by the log | engine check |", "|---|---|---|---|---|"]
    lines += [f"| {q.id} | {q.ask} | {q.na_when or ''} | {', '.join(q.na_if)} | {q.engine or ''} |" for q in rubric.questions.values()]
    return [*lines, ""]


def families_page() -> str:
    """Every family, and what it brings to each room."""
    from schemas.families import FAMILIES, MODULES, module

    titles = " | ".join(family.title for family in FAMILIES)
    lines = [
        "# Game families",
        "",
        MADE,
        "",
        "A family is one entry of `schemas/families.py`, and modules of agreed names in the packages; what it lacks, it does without.",
        "",
        f"| module | what it is for | {titles} |",
        "|---|---|" + "---|" * len(FAMILIES),
    ]
    for room, name, purpose in MODULES:
        brought = " | ".join("yes" if module(family.name, room, name) else "–" for family in FAMILIES)
        lines.append(f"| `{room}/<family>/{name}` | {purpose} | {brought} |")
    lines += ["", "| | " + titles + " |", "|---|" + "---|" * len(FAMILIES)]
    lines.append("| main number | " + " | ".join(f"{family.score} ({family.score_unit})" for family in FAMILIES) + " |")
    lines.append("| roles | " + " | ".join(", ".join(family.roles) for family in FAMILIES) + " |")
    lines.append("| `cotrace play` | " + " | ".join(", ".join(family.plays) for family in FAMILIES) + " |")
    lines += [
        "",
        "## One of your own",
        "",
        "Another distribution brings a family through the entry point group `cotrace.families`: the same modules below a package",
        "of its own, SQL views in `<package>/analytics`, the command of its game in `<package>/cotrace/play_<game>.py`. The folder",
        "[lockbox](lockbox) beside this page is a whole one, two agents who open a lock; a test",
        "installs and plays it:",
        "",
        "```sh",
        "pip install docs/lockbox",
        "cotrace play lockbox --out logs/",
        "cotrace ingest logs/",
        "cotrace judge --rubric lockbox_tells --judge engine",
        "cotrace report families",
        "```",
        "",
        "A game without any rules of its own in Python needs no family: see [your own game](your_own_game.md).",
        "",
    ]
    return "\n".join(lines)


def claims_page() -> str:
    """Every kind of claim, by family."""
    from judges.claims import generic
    from schemas.claims import kind_of
    from schemas.families import FAMILIES, module

    lines = ["# Claims", "", MADE, "", *_CLAIMS.strip().split("\n"), ""]
    rooms = {family.title: module(family.name, "judges", "reading") for family in FAMILIES}
    for title, room in (*rooms.items(), ("Any other game", generic)):
        if room is not None:
            lines += [f"## {title}", "", "| kind | meaning | its fields |", "|---|---|---|"]
            lines += [f"| `{kind_of(kind)}` | {_one_line(kind.__doc__)} | {_claim_fields(kind)} |" for kind in room.READING.types]
            lines.append("")
    return "\n".join(lines)


def _claim_fields(kind: type) -> str:
    from judges.claims.extraction import field_docs

    docs = field_docs(kind)
    return "; ".join(f"`{name}`{': ' + _one_line(docs[name]) if name in docs else ''}" for name in get_type_hints(kind) if name != "words")


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").removesuffix(".")


_CLAIMS = """
Claims are what a text requests, states, denies or confirms, as data in the table `claims`. This page lists the readers that extract them, how to measure a
reader, and the kinds of claims of each benchmark. Engine checks see claims, never a text.

| reader | reads | in `verdicts.judge` |
|---|---|---|
| `rules` | by the family's own rules of plain language; the default | `engine` |
| `planted` | what scripted players know that they claim: shows how good the proofs are by themselves | `engine:planted` |
| `llm:<provider/model>` | rules and a model that fills in the forms below; they must agree | `engine:both:llm:<provider/model>` |
| `llm-only:<provider/model>` | the model alone | `engine:llm-only:<provider/model>` |

    cotrace judge --rubric mind_modeling --judge engine --reader llm:openai/gpt-4o-mini --max-cost 2 --dry-run
    cotrace claims --reader llm-only:openai/gpt-4o-mini --where "turn <= 3"
    cotrace claims --reader llm:openai/gpt-4o-mini --batch && cotrace claims --collect

A model sees the text and the speaker's frame of reference (in CRAFT also the board before the turn), never target, outcome or another text. It is asked once for
each different text; a reading serves all rubrics, and remains when a log is ingested again (`text_hash`). A claim whose quoted words are not in the text is not
certain. A passage that a reader did not understand is a row of kind `unread`; a row of kind `read` marks a text that was read. The column `claim` holds a JSON
object with `kind` and the known fields, `words` the words it rests on.

Of a server that `cotrace doctor --model NAME --base-url URL` has measured at fewer than 20 tokens/s, each sentence is a call of its own: a shorter form, at most 240
tokens, and all that is the same for every sentence comes first, so that the server finds it in its cache. A sentence without a usable reply counts as not understood.

`--batch` submits the texts as the provider's batch, also with `cotrace judge --judge engine --reader llm:...`; `--collect` of either command stores the readings.

## How good a reader is

    cotrace claims --reader llm:openai/gpt-4o-mini --max-cost 2           # of scripted games (`cotrace play`), or of logs with claims
    cotrace report readers
    cotrace claims messages.jsonl --against annotations.jsonl             # of single CRAFT messages that people have annotated

`report readers` compares what each reader understood with what the author of the text claims: precision and recall of each field, by author, with intervals over
games. In cotrace's own log an utterance may have `"claims": [{"kind": "request", "verb": "place", "color": "r", ...}]`, and before them
`{"kind": "read", "kinds": ["request"]}` if only requests were annotated.

A message is a JSON line `{"id", "speaker", "utterance", "board_before"}`, if known with its author (`model` or `author`) and game (`structure_id`); an annotation
is a JSON line `{"id", "claims"}`, claims as `cotrace claims messages.jsonl` prints them. Requests and remarks are compared by author, with intervals over games
(author and structure); annotations with `"ambiguous": true` are left out. Kind `(first)` is the reading of the first instruction, certain or not; the other
kinds count only what the reader is certain of, as the checks do.

`--prompt FILE` changes the prompt of a model, which then reads again ([a search for a better one](optimize.md#a-better-prompt-for-a-reader)):

    benchmark: craft
    instructions: What the texts are, and what the kinds of claim mean.
    examples:
    - frame: The text is a public message of director D1.
      text: Please put a small red block on the left, bottom layer.
      claims: [{kind: request, verb: place, color: r, size: s, cells: ["(0,0)"], layer: 0, words: put a small red block on the left}]
"""


def providers_page() -> str:
    """How each provider is asked."""
    from providers.provider import PROVIDERS
    from schemas.common.packages import EXTRAS

    lines = [
        "# Models and their providers",
        "",
        MADE,
        "",
        "This page lists the providers of models, how they are asked, and which replies count as answers. A model is named `provider/model`, such as",
        "`openai/gpt-4o-mini`, for judges, players and optimisation alike.",
        "",
        "| provider | client | key in | address, or the variable that holds one | extra |",
        "|---|---|---|---|---|",
    ]
    for name, one in PROVIDERS.items():
        keys, places = (" or ".join(f"`{word}`" for word in words if word) for words in (one.keys, (one.base_url, one.url_variable)))
        extra = f"`cotrace[{EXTRAS[one.package.partition('.')[0]]}]`" if one.package else ""
        lines.append(f"| `{name}/` | {one.protocol} | {keys} | {places} | {extra} |")
    return "\n".join([*lines, "", _ASKING])


_ASKING = """\
`--base-url` names another server that speaks the provider's protocol; with a provider that is not on the list, one of OpenAI's kind
(vLLM, SGLang, llama.cpp, LM Studio, a gateway). Then no key is needed, unless `--key-env` names one.

## Models that reason

They get no temperature; `--max-tokens` bounds the reply without the reasoning. `--reasoning-effort` sets how much they may reason (`none`, `minimal`, `low`,
`medium`, `high`). Models that reason are known by name (`providers/models.yaml`); an effort makes any model one. Reasoning tokens are in
`calls.tokens_reasoning`, visible reasoning in `calls.reasoning`.

## What is sent

Every model is asked through [instructor](https://python.useinstructor.com) over its provider's own client. One HTTP transport bounds time and size, follows no
redirect to another host, and removes secrets from replies. A request that is refused for a field (such as `temperature` or `logprobs`) is repeated without
it, and no later request has it. `--request-field NAME=VALUE` adds a field to each request (`--request-field seed=7`), `--header NAME=VALUE` a header.

A prompt that is longer than the server's context, or the account's limit a minute, is a failed call of that unit alone. `calls.served_model` is the model that
the server names in its reply: an alias may be another snapshot tomorrow.

## Typed answers

`--mode tools` has the model call a tool, `json_schema` has the server enforce the schema, `json` only asks for JSON. Without
it the provider's best is taken. For a server of your own (`--base-url`) the first call finds it out: it is asked alone, with `json_schema`
first, and in another mode after a refusal or a reply that is no form. The mode that was found is a line of the terminal.

A reply that is no answer is shown back with the reason and with the form, at most twice. Each further request changes something: a cut
reply is asked for once more with twice the tokens, and a reply that comes a second time is asked for in another mode, or not again.

## What counts as an answer

One rule holds for judges, readers, players, attribution by models, CoordinationQA and optimisation (`schemas/chat/answers.py`). Every protocol hands over
the final text, the thoughts, the tool calls, and how the reply ended. A finished reply with exactly one form counts. `calls.read_as` names the rule:

| `read_as` | meaning |
|---|---|
| `as asked` | the form as the arguments of a call or as the whole text; of a free reply, its text or its calls |
| `unwrapped: ...` | one whole form inside something: `text around`, `tagged call`, `call object` (name and arguments), `own name`, `properties`, `encoded twice`, `inner strings`, `no reason` (an answer without its reason, such as `"SG1": "no"`; the verdict's reason is null), `only question` (the only question's answer without its name) |
| `from thoughts` | the reply ended by itself, has no final text, and its thoughts as a whole are the form |
| `empty`, `only thoughts` | a free reply that the model ended without a text: the text is empty |
| `refused: cut` | it broke off at its longest length, whatever it holds; it is asked for once more with twice the room, never in the same way |
| `refused: interrupted` | the server broke it off |
| `refused: declined` | the model or a filter declines; it is not asked again |
| `refused: contradiction` | it holds forms that differ; identical ones are one, empty calls are none; or a judge's reason is nothing but another answer than the one given |
| `refused: only thoughts` | its answer, if there is one, is in thoughts: apart, in tags (`<think>`, `[THINK]`, `◁think▷`, ...), in channels, or unfinished |
| `refused: echo` | it repeats the example form, or leaves a place of it unfilled |
| `refused: wrong form`, `refused: empty` | no form is in it |

A call is `answered` only if its reply counts. The rules are tested on recorded replies.

With `--logprobs`, `verdicts.probability` is the probability of the answer's tokens after the model's own reason (OpenAI's and Google's protocols). It is not the
probability of being right.

## Prices

A file of yours (`--prices`) comes first, then the list of [genai-prices](https://github.com/pydantic/genai-prices). A line of the file is a model or a pattern,
in USD a million tokens:

```yaml
openai/gpt-4o-mini: {input: 0.15, output: 0.60, cached: 0.075}
house/*:            {input: 0.05, output: 0.20, reasoning: 0.10}
```

A cost that the server states itself (`usage.cost`, xAI's ticks) comes before all prices. Reply tokens are what the server lists, or its total without the prompt
if that is more: some servers bill reasoning in addition. Tokens and cost that a server does not count are null, and a budget counts them at their possible
maximum. `--max-cost` needs a price, and names the line that matched.
"""


PAGES: dict[str, Callable[[], str]] = {
    "tables.md": tables_page,
    "views.md": views_page,
    "cli.md": cli_page,
    "rubrics.md": rubrics_page,
    "families.md": families_page,
    "claims.md": claims_page,
    "providers.md": providers_page,
}


def main() -> int:
    """Write the pages, or with --check say which are stale; 1 if any is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is stale")
    check = parser.parse_args().check
    stale = [name for name, page in PAGES.items() if not _is_current(DOCS / name, page(), write=not check)]
    for name in stale:
        print(f"docs/{name} {'is stale: run `make docs`' if check else 'written'}")
    return 1 if check and stale else 0


def _is_current(path: Path, text: str, *, write: bool) -> bool:
    wanted = text.rstrip() + "\n"
    current = path.is_file() and path.read_text(encoding="utf-8") == wanted
    if write and not current:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted, encoding="utf-8")
    return current


if __name__ == "__main__":
    sys.exit(main())
