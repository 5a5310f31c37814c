"""Notes: everything that people wrote about turns, in one list."""

from typing import Final

from dashboards.address import GAME, game_at
from dashboards.grid import Grid, TableRows, columns_of, grid, table_links
from dashboards.parts import Part, card, html, note
from dashboards.reader import Reader

PATH = "/notes"
TITLE = "Notes"
IN_MENU = False
ORDER = 93

_NOTES: Final = "SELECT * FROM turn_notes WHERE {filters} ORDER BY written_at DESC, note_id"


def content(read: Reader) -> Part:
    """All notes, the last one first; a click leads to its turn."""
    if read.rows("SELECT 1 FROM turn_notes WHERE {filters} LIMIT 1").is_empty():
        return note("No notes yet: open a turn of a game and press the key c.", html.A("Games", href=GAME))
    listing = card("Notes on turns", grid(read, NOTES, fills=True), menu=table_links(read, NOTES), hint="Newest first.")
    return html.Div([html.H1(TITLE), listing])


def _rows(_: Reader, __: str) -> TableRows:
    return TableRows(
        sql=_NOTES,
        columns=columns_of("notes", "rows"),
        link=lambda row: game_at(row["episode_id"], row["turn"]),
    )


NOTES: Final = Grid("notes", _rows, "Notes on turns")
TABLES = (NOTES,)
