"""``docs/papers``: a page for each paper, written from the stored results and the summaries in the papers' folders."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from papers.common import claims
from papers.common.lines import read_lines
from papers.common.pages import GROUPS, Page, pages, with_numbers
from papers.common.results import MARK, ROOT, Picture, Result, Table, modified_note, results_file
from treeplex.base.storage.files import write_atomically

FOLDER = ROOT / "docs" / "papers"
LOCAL_LINK = re.compile(r"\]\((?!https?:|#|\.\./)")
"""Links of stored texts to pages of ``docs``, which are one folder above."""
WRITTEN = "<!-- Written by papers/run.py from papers/{}; do not edit. -->"
INDEX = """# Published results, reproduced

Each page compares what a paper reports with what this library computes. It opens with a summary, then lists the paper's
tables, figures and theorems item by item, then shows every measurement. Caveats are at the end of a page.

```sh
python papers/run.py --list          # every study, its time and its requirements
python papers/run.py rebel/table2    # one study
python papers/run.py --all           # all studies of at most an hour
```
"""
READING = """## How to read the numbers

- Published numbers and their sources are in `papers/PAPER/published.json`, and unrounded measurements in
  `papers/PAPER/results/`.
- Exploitability is the mean over players of a best response's gain, in the game's own units. Updates alternate unless a row
  says otherwise.
- A number with † was measured from a working tree with uncommitted changes.
- A band is a range over seeds, training runs, or runs that differ by rounding.
- Near ties, the last bit of a sum decides the next policy, so late iterates carry noise. Of two correct orders of summation,
  the library uses the one whose runs on Leduc poker fall inside the reference ranges ([log](../log.md)). Agreement at iteration
  1000 on Leduc, or of linear CFR on Liar's Dice, is therefore no evidence beyond the ranges shown. Iterations 1 and 10 do not
  depend on the order.
- Training runs with few seeds are compared by an exact permutation test of ranks. If a method is compared with itself, at
  most one comparison in twenty is significant (`papers/common/comparison.py`).
- If two algorithms are ranked because their ranges do not overlap, each has at least four runs. Two sets of four runs of
  one algorithm are disjoint one time in 35.
- Intervals are 95% t intervals. None is given below 30 deals.
"""


def markdown(table: Table, *, numbers: str = "---:") -> str:
    """The table in Markdown under a bold caption; names left-aligned, numbers right-aligned."""
    rule = ["---", *[numbers] * (len(table.columns) - 1)]
    lines = ["| " + " | ".join(row) + " |" for row in (table.columns, rule, *table.rows)]
    return (f"**{table.caption}**\n\n" if table.caption else "") + "\n".join(lines)


def bullets(lines: Sequence[str]) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def print_result(title: str, result: Result) -> None:
    """Print a result's tables and findings."""
    print(f"## {title}\n")
    for table in result.tables:
        print(markdown(table) + "\n")
    print(bullets(result.findings))


def from_docs(text: str) -> str:
    """A stored text with links to pages of ``docs`` relative to ``docs/papers``."""
    return LOCAL_LINK.sub("](../", text).replace("](../papers/", "](")


def section(name: str, title: str, header: Mapping[str, Any], top: Picture | None = None) -> str:
    """One study: source, findings, pictures, tables, notes and command.

    Tables with runs from a modified tree are marked. The picture at the ``top`` of the page is not repeated.
    """
    made, note, top_file = header["made"], modified_note(name), top.file if top else ""
    tables = [Table(**table) for table in header["tables"]]
    if note:
        tables = [replace(table, caption=f"{table.caption} {MARK}") for table in tables]
    versions = ", ".join(f"{package} {number}" for package, number in made["versions"].items())
    parts = [
        f"## {title} {{ #{name.partition('/')[2]} }}",
        f"Source: {header['source']}.",
        bullets(header["findings"]),
        *(f"![{picture['alt']}](../images/{picture['file']})" for picture in header["pictures"] if picture["file"] != top_file),
        *map(markdown, tables),
        *([note] if note else []),
        "How it was measured:",
        bullets(
            [
                *header["notes"],
                f"`python papers/run.py {name}` ({made['seconds']} s; commit {made['commit']}; {made['machine']}; {versions})",
            ]
        ),
    ]
    return "\n\n".join(part for part in map(from_docs, parts) if part)


def verdicts(items: Sequence[claims.Claim]) -> str:
    """Number of items as published, as a sentence."""
    count = Counter(item.as_published for item in items)
    return f"{count['yes']} of {len(items)} items are as published, {count['partly']} partly, {count['no']} not."


def summary(page: Page) -> str:
    """The summary at the top of a page."""
    figure = page.picture
    return "\n\n".join(
        [
            WRITTEN.format(f"{page.paper}/{page.name}.toml and stored results"),
            f"# {page.title}",
            f"**Published.** {with_numbers(page.published)}",
            f"**Here.** {with_numbers(page.here)}",
            *([f"![{figure.alt}](../images/{figure.file})"] if figure else []),
            f"```sh\n{page.command}\n```",
        ]
    )


def item_by_item(page: Page) -> str:
    """The table of a paper's items."""
    items = page.claims()
    text = f"{verdicts(items)} See [caveats](#caveats) for reasons, bands and evidence."
    return f"## {claims.TITLE} {{ #items }}\n\n{text}\n\n{markdown(claims.table(items), numbers='---')}"


def caveats(page: Page) -> str:
    """Differences from the paper, and the evidence for each item."""
    parts = ["## Caveats { #caveats }"]
    parts += [page.reading.strip()] if page.reading else []
    parts += [bullets([item.caveat() for item in page.claims()])] if page.items else []
    return "\n\n".join(parts)


def whole_page(page: Page, titles: Mapping[str, str]) -> str:
    """A page of ``docs/papers``.

    Args:
        page: its summary and studies.
        titles: of studies by name; studies without a result are skipped.
    """
    headers = {name: lines[0] for name in page.studies if (lines := read_lines(results_file(name)))}
    parts = [from_docs(summary(page))]
    parts += [from_docs(item_by_item(page))] if page.items else []
    parts += [section(name, titles[name], header, page.picture) for name, header in headers.items()]
    parts += [from_docs(caveats(page))] if page.items or page.reading else []
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The page that lists all others."""
    parts = [WRITTEN.format("*/*.toml and stored results"), INDEX.strip()]
    for group in GROUPS:
        rows = [
            (f"[{page.title}]({page.name}.md)", with_numbers(page.line), verdicts(page.claims()) if page.items else "")
            for page in pages().values()
            if page.group == group
        ]
        parts.append(f"## {group}\n\n" + markdown(Table("", ("page", "result", "items"), rows), numbers="---"))
    return "\n\n".join([*parts, READING.strip()]) + "\n"


def all_pages(titles: Mapping[str, str]) -> dict[str, str]:
    """The up-to-date content of every file of ``docs/papers`` by name."""
    return {"index.md": index(), **{f"{page.name}.md": whole_page(page, titles) for page in pages().values()}}


def write_all(titles: Mapping[str, str]) -> None:
    """Regenerate ``docs/papers``; files of removed pages are deleted."""
    wanted = all_pages(titles)
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        write_atomically(FOLDER / name, text.encode())
    print(f"wrote {len(wanted)} pages to {FOLDER.relative_to(ROOT)}")
