"""`python tools/make_notebooks.py`: executes docs/*.ipynb in an empty folder, and writes what each cell shows into them.

A figure becomes a picture, drawn by Chromium; any other value its HTML or text. `--check` writes nothing: exit 1 where a text differs.
"""

import argparse
import ast
import base64
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parents[1] / "docs"
_WIDTH, _HEIGHT = 1200, 420


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute every notebook."""
    parser = argparse.ArgumentParser(prog="make_notebooks", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a cell shows another text than the notebook has")
    asked = parser.parse_args(arguments)
    stale = False
    for path in sorted(DOCS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        before = texts(notebook)
        execute(notebook, draws=not asked.check)
        if asked.check:
            stale |= texts(notebook) != before
        else:
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name} {'is stale' if stale else 'is executed'}", file=sys.stderr)
    return int(stale)


def execute(notebook: dict[str, Any], *, draws: bool = True) -> list[Any]:
    """Run the cells in order, in an empty folder, and put what they show into the notebook; gives their values.

    Args:
        notebook: changed in place.
        draws: figures become pictures; otherwise their outputs stay as they are.
    """
    names: dict[str, Any] = {}
    values = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder), Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), start=1):
            with redirect_stdout(nowhere), redirect_stderr(nowhere):
                value = _run("".join(cell["source"]), names)
            values.append(value)
            cell["execution_count"] = number
            if draws or not hasattr(value, "to_plotly_json"):
                data = _shown(value)
                cell["outputs"] = (
                    [{"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data}] if data else []
                )
    return values


def texts(notebook: dict[str, Any]) -> list[str]:
    """What its cells show, pictures apart."""
    return [text for data in _outputs(notebook) for kind, lines in data.items() if kind.startswith("text/") for text in lines]


def _outputs(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (output["data"] for cell in notebook["cells"] if cell["cell_type"] == "code" for output in cell["outputs"])


def _run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; gives the value of its last expression, as a kernel does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the documentation's own cells
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None  # noqa: S307


def _shown(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if hasattr(value, "to_plotly_json"):
        return {"image/png": _picture(value), "text/plain": [f"a figure of {len(value.data)} traces"]}
    html = getattr(value, "_repr_html_", None)
    return {"text/html": str(html()).splitlines(keepends=True)} if html else {"text/plain": repr(value).splitlines(keepends=True)}


def _picture(figure: Any) -> str:
    from playwright.sync_api import sync_playwright

    height = int(figure.layout.height or _HEIGHT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": height})
        page.set_content(
            f"<body style='margin:0;background:white'>{figure.to_html(full_html=False, config={'displayModeBar': False})}</body>"
        )
        page.locator(".main-svg").first.wait_for()
        picture = base64.b64encode(page.screenshot()).decode()
        browser.close()
    return picture


if __name__ == "__main__":
    sys.exit(main())
