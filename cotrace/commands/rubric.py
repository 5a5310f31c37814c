"""`cotrace rubric`: rubrics are files."""

from pathlib import Path
from typing import get_args

import click

from cotrace.options.shared import StoreParameter, say, writing_to
from cotrace.terminal import echo, write
from judges.rubric import UnitKind
from schemas.common.text import in_shell
from schemas.store.store import Store

_folders = click.option("--rubrics", "folders", multiple=True, type=click.Path(path_type=Path), help="Folder with rubrics of your own.")


@click.group()
def command() -> None:
    """List, show, make and check rubrics.

    \b
    Example:
      cotrace rubric new acknowledges_conflict
    """


@command.command("list")
@_folders
def list_(folders: tuple[Path, ...]) -> None:
    """List the rubrics, with what they look at and ask.

    \b
    Example:
      cotrace rubric list --rubrics my_rubrics/
    """
    from judges.attribution.decisive import decisive_error
    from judges.rubric_files.load import clashes, load, names

    own = decisive_error()
    echo(f"{own.name:28} {own.unit:11} {', '.join(own.benchmarks):28} {' '.join(own.questions)}")
    for name, path in sorted(names(folders).items()):
        rubric = load(path)
        echo(f"{name:28} {rubric.unit:11} {', '.join(rubric.benchmarks):28} {' '.join(rubric.questions)}")
    for clash in clashes(folders):
        say(f"left out: {clash}")


@command.command()
@click.argument("name")
@_folders
def show(name: str, folders: tuple[Path, ...]) -> None:
    """Print a rubric's file.

    \b
    Example:
      cotrace rubric show pragmatic_sufficiency
    """
    from judges.attribution.decisive import FILE, RUBRIC, decisive_error
    from judges.rubric_files.load import find, names

    if name == RUBRIC:
        write(FILE.read_text(encoding="utf-8"))
        say(f"{FILE}, hash {decisive_error().hash}; ask it with cotrace judge --rubric {RUBRIC} --variant MANNER --model provider/model")
        return
    found = find(name, folders)
    path = names(folders).get(found.name, Path(name))
    write(path.read_text(encoding="utf-8"))
    say(f"{path}, hash {found.hash}")


@command.command(short_help="Write a rubric file to start from.")
@click.argument("name")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Folder to write it to [default: this one]"
)
@click.option("--unit", type=click.Choice(get_args(UnitKind)), help="What one judgment looks at; the file is then a draft with TODOs.")
@click.option("--benchmark", help="The benchmark that it is for, or any; the file is then a draft with TODOs.")
def new(name: str, folder: Path, unit: UnitKind | None, benchmark: str | None) -> None:
    """Write a commented rubric file to start from; an existing file is left alone.

    \b
    Example:
      cotrace rubric new acknowledges_conflict --dir my_rubrics/
      cotrace rubric new shares_early --unit agent_turn --benchmark negotiation
    """
    from judges.rubric_files.load import draft, shipped, template
    from schemas.common.errors import UsageError

    if shipped(name) is not None:
        raise UsageError(f"{name} is a rubric that is there already (`cotrace rubric show {name}`): choose another name")
    path = folder / f"{name}.yaml"
    if path.exists():
        raise UsageError(f"{path} exists already: choose another name, or edit it")
    text = template(name) if unit is None and benchmark is None else draft(name, unit or "turn", benchmark or "any")
    with writing_to(folder, "--dir"):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    named = in_shell(path)
    say(f"wrote {path}; edit it, then: cotrace rubric check {named} && cotrace judge --rubric {named} --model provider/model --dry-run")


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--store", type=StoreParameter(), help="Try it on this store too, a DuckDB file or a lake.")
def check(file: Path, store: Store | None) -> int:
    """Find every mistake in a rubric file; exit code 2 if there is one. With a store, its query is tried and a unit looked for.

    A piece of evidence that can show what comes after the judged unit is a warning.

    \b
    Example:
      cotrace rubric check my_rubrics/acknowledges_conflict.yaml
    """
    from judges.rubric_files.load import check as problems_of
    from judges.rubric_files.load import warnings_of

    problems = problems_of(file, store)
    for problem in problems:
        say(str(problem))
    for warning in warnings_of(file):
        say(f"warning: {warning}")
    say(f"{file}: {len(problems)} mistakes" if problems else f"{file}: no mistakes")
    return 2 if problems else 0
