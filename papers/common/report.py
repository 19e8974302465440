"""``docs/papers.md``, written from the stored results; every number and sentence in it comes from the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from papers.common import claims
from papers.common.lines import read_lines
from papers.common.results import MARK, ROOT, Result, Table, modified_note, results_file
from treeplex.base.storage.files import write_atomically

PAGE = ROOT / "docs" / "papers.md"
HEAD = """<!-- Written by papers/run.py from papers/*/results; do not edit. -->

# Published tables and figures, reproduced

Each section sets what a paper printed beside what this library computes, with the reasons for what differs. Run all but the
longest with `python papers/run.py --all`, or one section with the command under its title. Published numbers and their sources
are in `papers/PAPER/published.json`, unrounded measurements in `papers/PAPER/results/`.
Exploitability is the mean over players of what a best response gains, in the game's own units; updates alternate unless a row
says otherwise.

Near ties the last bit of a sum decides what follows, so late iterates carry noise. Of two orders of summation, both right, the
library uses the one whose runs on Leduc poker fall inside the reference ranges ([log](log.md)); closeness at iteration 1000 on
Leduc, and that of linear CFR on Liar's Dice, is therefore no evidence beyond the ranges shown. Iterations 1 and 10 do not
depend on it.

Trainings by few seeds are compared by an exact permutation test of ranks; at most one comparison in twenty of a method with
itself comes out as a difference (`papers/common/comparison.py`). Where two algorithms are ordered because the ranges of their
runs do not overlap, there are four runs of each or more: of one and the same algorithm four runs each are apart one time in 35.
Intervals are 95% t intervals, and none is given below 30 deals.

Where DDCFR runs with our own policy: its training games were chosen after scores on Goofspiel-4, Liar's Dice-4, Leduc and
Battleship-2 had been seen ([training](training.md#the-policies-that-come-with-the-library)), so on these four it is no clean
test; on Battleship-3, Big Leduc and the hold'em subgames it is.
"""


def markdown(table: Table, *, numbers: str = "---:") -> str:
    """The table in Markdown, its caption in bold above it; names to the left, numbers to the right."""
    rule = ["---", *[numbers] * (len(table.columns) - 1)]
    lines = ["| " + " | ".join(row) + " |" for row in (table.columns, rule, *table.rows)]
    return f"**{table.caption}**\n\n" + "\n".join(lines)


def bullets(lines: Sequence[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def print_result(title: str, result: Result) -> None:
    """Tables and findings, for whoever waits for them."""
    print(f"## {title}\n")
    for table in result.tables:
        print(markdown(table) + "\n")
    print(bullets(result.findings))


def section(name: str, title: str, header: Mapping[str, Any]) -> str:
    """One section: where it comes from, findings, pictures, tables, notes; tables of runs from a modified tree are marked."""
    made, note = header["made"], modified_note(name)
    tables = [Table(**table) for table in header["tables"]]
    if note:
        tables = [replace(table, caption=f"{table.caption} {MARK}") for table in tables]
    versions = ", ".join(f"{package} {number}" for package, number in made["versions"].items())
    parts = [
        f"## {title}",
        f"{header['source']}.",
        f"`python papers/run.py {name}` ({made['seconds']} s; commit {made['commit']}; {made['machine']}; {versions})",
        bullets(header["findings"]),
        *(f"![{picture['alt']}](images/{picture['file']})" for picture in header["pictures"]),
        *map(markdown, tables),
        *([note] if note else []),
        "How it was measured:",
        bullets(header["notes"]),
    ]
    return "\n\n".join(parts)


def items() -> str:
    """The documents, item by item."""
    return "\n\n".join([f"## {claims.TITLE}", claims.TEXT, *(markdown(table, numbers="---") for table in claims.tables())])


def page(titles: Mapping[str, str]) -> str:
    """The whole page.

    Args:
        titles: of the studies on it, by name and in order; one without a result is left out.
    """
    headers = {name: lines[0] for name in titles if (lines := read_lines(results_file(name)))}
    sections = (section(name, titles[name], header) for name, header in headers.items())
    return "\n\n".join([HEAD.strip(), items(), *sections]) + "\n"


def write_page(titles: Mapping[str, str]) -> None:
    """Renew ``docs/papers.md``."""
    write_atomically(PAGE, page(titles).encode())
    print(f"wrote {PAGE.relative_to(ROOT)}")
