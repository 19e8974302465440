"""Write ``docs/papers.md`` from ``papers/results``; every number and sentence in it comes from the runs."""

import json
from typing import Any

from results import RESULTS, ROOT, Table, markdown
from treeplex.storage.files import write_atomically

ORDER = (
    "cfr2007_tables",
    "rebel_table2",
    "rebel_iterations",
    "rebel_curves",
    "rebel_large",
    "rebel_appendix_h",
    "rebel_teh",
    "rebel_turn",
    "rebel_teh_search",
    "rebel_teh_nets",
    "rebel_tic_tac_toe",
    "ddcfr_holdem",
    "ddcfr_curves",
    "ddcfr_table1",
    "ddcfr_table2",
    "ddcfr_table3",
    "ddcfr_table4",
    "ddcfr_figure4",
    "ddcfr_figures7_10",
    "mccfr_article",
    "mccfr_averaging",
    "mccfr_variance",
    "mccfr_survey",
    "vt_study",
    "vt_constants",
)
PAGE = ROOT / "docs" / "papers.md"
HEAD = """<!-- Written by papers/report.py; run `python papers/run.py` to renew it. -->

# Published tables and figures, reproduced

Each section sets what a paper printed beside what this library computes, with the reasons for what differs. Run all of it but
the two longest, `cfr2007_tables` and `rebel_large`, with `python papers/run.py`, or one section with the command under its
title. Published numbers and their sources are in `papers/published.json`, unrounded measurements in `papers/results/`.
Exploitability is the mean over players of what a best response gains, in the game's own units; updates alternate unless a row
says otherwise.

Near ties the last bit of a sum decides what follows, so late iterates carry noise. Of two orders of summation, both right, the
library uses the one whose runs on Leduc poker fall inside the reference ranges ([log](log.md)); closeness at iteration 1000 on
Leduc, and that of linear CFR on Liar's Dice, is therefore no evidence beyond the ranges shown. Iterations 1 and 10 do not
depend on it.

Where DDCFR runs with our own policy: its training games were chosen after scores on Goofspiel-4, Liar's Dice-4, Leduc and
Battleship-2 had been seen ([training](training.md#the-policies-of-the-library)), so on these four it is no clean test; on
Battleship-3, Big Leduc and the hold'em subgames it is.
"""


def read(name: str) -> dict[str, Any] | None:
    """A result, or None where its script has not been run."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def section(record: dict[str, Any]) -> str:
    """One section: where it comes from, findings, pictures, tables, notes."""
    made = record["made"]
    versions = ", ".join(f"{package} {number}" for package, number in made["versions"].items())
    parts = [
        f"## {record['title']}",
        f"{record['source']}.",
        f"`{made['command']}` ({made['seconds']} s; commit {made['commit']}; {made['machine']}; {versions})",
        bullets(record["findings"]),
        *(f"![{picture['alt']}](images/{picture['file']})" for picture in record["pictures"]),
        *(markdown(Table(**table)) for table in record["tables"]),
        "How it was measured:",
        bullets(record["notes"]),
    ]
    return "\n\n".join(parts)


def bullets(lines: list[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def main() -> None:
    records = {name: read(name) for name in ORDER}
    missing = [name for name, record in records.items() if record is None]
    if missing:
        raise SystemExit(f"no result of {', '.join(missing)} in {RESULTS}; run papers/run.py")
    page = "\n\n".join([HEAD.strip(), *(section(record) for record in records.values() if record)]) + "\n"
    write_atomically(PAGE, page.encode())
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
