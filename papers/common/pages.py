"""Pages of ``docs/papers``: the studies of each page, and the summary at its top.

A page is a file ``papers/PAPER/PAGE.toml``. Its summary takes our own numbers from stored results, so that none is typed by
hand: ``[[STUDY/KEY/KEY:.3f]]`` is a measured number (see :func:`papers.common.claims.filled`), ``{{STUDY|TABLE|ROW|COLUMN}}``
a cell of a stored table. TABLE counts tables from 0. ROW is the beginning of a row, its cells joined by ``/``. If several
columns have the same heading, ``COLUMN#2`` is the second.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from papers.common.claims import Claim, claims_of, filled
from papers.common.lines import read_lines
from papers.common.results import PAPERS, Picture, results_file

CELL = re.compile(r"\{\{([^|}]+)\|(\d+)\|([^|}]+)\|([^|}]+)\}\}")
GROUPS = (
    "Regret minimization",
    "Sampling",
    "Search and re-solving",
    "Deep learners",
    "Hold'em",
    "Evaluation and larger games",
)
"""Sections of the index page, in order."""


@dataclass(frozen=True)
class Page:
    """One page of ``docs/papers``.

    Attributes:
        name: of the file, without suffix.
        paper: folder of its summary and of ``claims.json``, if there is one.
        title: heading of the page.
        group: one of :data:`GROUPS`.
        place: rank within the group.
        line: result in one sentence, for the index page.
        published: what the paper reports.
        here: the result of this library.
        command: runs the studies of the page.
        studies: names of studies, in the order of their sections.
        picture: the figure at the top; None if the studies draw none.
        items: whether the page shows the table of ``claims.json``, item by item.
        reading: remarks on how to read the numbers, shown under the caveats.
    """

    name: str
    paper: str
    title: str
    group: str
    place: int
    line: str
    published: str
    here: str
    command: str
    studies: Sequence[str] = ()
    picture: Picture | None = None
    items: bool = False
    reading: str = ""

    def claims(self) -> Sequence[Claim]:
        """The items of the paper's ``claims.json``; empty if the page shows none."""
        return claims_of(self.paper) if self.items else ()


@cache
def pages() -> Mapping[str, Page]:
    """All pages by name, ordered by group."""
    found = [read_page(path.parent.name, path.stem) for path in PAPERS.glob("*/*.toml")]
    found.sort(key=lambda page: (GROUPS.index(page.group), page.place, page.name))
    return {page.name: page for page in found}


def read_page(paper: str, name: str) -> Page:
    """The page of ``papers/PAPER/NAME.toml``."""
    settings: dict[str, Any] = tomllib.loads((PAPERS / paper / f"{name}.toml").read_text(encoding="utf-8"))
    if "picture" in settings:
        settings["picture"] = Picture(**settings["picture"])
    return Page(name, paper, **settings)


def with_numbers(text: str) -> str:
    """A summary's text on one line, with its numbers and cells filled in."""
    return filled(CELL.sub(lambda place: cell(place[1], int(place[2]), place[3], place[4]), " ".join(text.split())))


def cell(study: str, table: int, row: str, column: str) -> str:
    """A cell of a stored table.

    Raises:
        KeyError: there is no such row or column.
    """
    stored = read_lines(results_file(study))[0]["tables"][table]
    heading, _, number = column.partition("#")
    places = [place for place, name in enumerate(stored["columns"]) if name == heading]
    if not 0 < int(number or 1) <= len(places):
        raise KeyError(f"table {table} of {study} has no column {column!r}")
    for cells in stored["rows"]:
        if "/".join(cells).startswith(row):
            return str(cells[places[int(number or 1) - 1]])
    raise KeyError(f"table {table} of {study} has no row {row!r}")
