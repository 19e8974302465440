"""The documents behind the library, item by item: what each prints, what it is here, and what shows it.

``papers/PAPER/claims.json`` lists the tables, figures and theorems of a document. Its numbers of our own are places in stored
results, ``[[STUDY/KEY/KEY:.3f]]``, so that none is typed by hand; published ones are. ``[[STUDY/KEY*10:.0f]]`` has a factor,
for another unit.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from papers.common.results import MARK, PAPERS, ROOT, Table, modified, stored

PLACE = re.compile(r"\[\[([^:*\]]+)(?:\*([^:\]]+))?:([^\]]+)\]\]")
VERDICTS = ("yes", "partly", "no")
"""Whether it is here as published."""
TITLE = "The documents, item by item"
TEXT = """Everything that the documents behind the library print, and what became of it. Bands and reasons in full are in the
sections below; `tests/...` is run by `pytest`. A band is over seeds, trainings or runs that differ by rounding; it is empty
where tests decide. A number with † was measured from a working tree with uncommitted changes."""


@dataclass(frozen=True)
class Claim:
    """A table, figure, theorem or section of a document.

    Attributes:
        item: which.
        published: what it says.
        here: what is found here, with its numbers.
        shown: what shows it: a study, a test, a command, several with ``;`` between them; empty if nothing does.
        as_published: one of :data:`VERDICTS`.
        why: what differs and why; empty where nothing does.
        band: over what and how far the numbers found here vary; empty where there is nothing to vary.
    """

    item: str
    published: str
    here: str
    shown: str
    as_published: str
    why: str = ""
    band: str = ""

    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        found = filled(self.here), filled(self.band), shown(self.shown)
        return self.item, self.published, *found, self.as_published, filled(self.why)


def documents() -> Iterator[tuple[str, Sequence[Claim]]]:
    """All documents that have claims, and these."""
    for path in sorted(PAPERS.glob("*/claims.json")):
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        yield found["document"], [Claim(**row) for row in found["claims"]]


@cache
def numbers_of_study(study: str) -> Mapping[str, Any]:
    """The stored numbers of a study."""
    return stored(study)


def number_at(place: str) -> float:
    """The number at ``PAPER/STUDY/KEY/...``; a key that is a whole number may count the entries of a list.

    Raises:
        KeyError: there is none.
    """
    paper, name, *keys = place.split("/")
    found: Any = numbers_of_study(f"{paper}/{name}")
    for key in keys:
        try:
            found = found[int(key)] if isinstance(found, list) else found[key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise KeyError(f"no number at {place}: {key!r} is not there") from None
    return float(found)


@cache
def modified_runs(study: str) -> Sequence[tuple[str, ...]]:
    """The runs of a study from a modified working tree."""
    return modified(study)


def mark_at(place: str) -> str:
    """:data:`MARK` where the number at ``PAPER/STUDY/KEY/...`` was measured from a modified working tree, else nothing."""
    paper, name, *keys = place.split("/")
    return MARK if any(tuple(keys[: len(run)]) == run for run in modified_runs(f"{paper}/{name}")) else ""


def filled(text: str) -> str:
    """A text with the numbers that its places name, marked where they are from a modified working tree.

    Raises:
        ValueError: a place without the form of its number.
    """
    if "[[" in PLACE.sub("", text):
        raise ValueError(f"a place that cannot be read, write [[STUDY/KEY:.2f]]: {text}")
    return PLACE.sub(lambda found: format(number_at(found[1]) * float(found[2] or 1.0), found[3]) + mark_at(found[1]), text)


def shown(text: str) -> str:
    """Studies as the commands that run them, everything else as it is, in code marks."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return ", ".join(f"`papers/run.py {part}`" if is_study(part) else f"`{part}`" for part in parts)


def is_study(name: str) -> bool:
    """Whether there is a study of that name."""
    return name.count("/") == 1 and (PAPERS / f"{name}.py").exists()


def exists(part: str) -> bool:
    """Whether a study or test that a claim names is there; commands are taken at their word."""
    return part.startswith("treeplex ") or is_study(part) or (ROOT / part.partition("::")[0]).exists()


def tables() -> list[Table]:
    """One for each document."""
    columns = ("item", "published", "here", "band", "shown by", "as published", "what differs, and why")
    return [Table(document, columns, [claim.cells() for claim in claims]) for document, claims in documents()]
