"""Claims of papers, item by item: the published statement, the result here, and its evidence.

``papers/PAPER/claims.json`` lists the tables, figures and theorems of a document. Our own numbers are references to stored
results, ``[[STUDY/KEY/KEY:.3f]]``, never typed by hand; published numbers are typed. ``[[STUDY/KEY*10:.0f]]`` multiplies by a
factor, for another unit.
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
"""Whether the result here is as published."""
TITLE = "Item by item"


@dataclass(frozen=True)
class Claim:
    """A table, figure, theorem or section of a document.

    Attributes:
        item: which.
        published: the published statement.
        here: the result here, with its numbers.
        shown: evidence: studies, tests or commands, separated by ``;``; empty if there is none.
        as_published: one of :data:`VERDICTS`.
        why: what differs and why; empty if nothing does.
        band: source and size of the variation of the results here; empty if there is none.
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
        return self.item, self.published, filled(self.here), self.as_published

    def caveat(self) -> str:
        """What differs, the band and the evidence, in Markdown."""
        parts = [f"**{self.item}** ({self.as_published})."]
        parts += [f"Differs: {filled(self.why)}."] if self.why else []
        parts += [f"Band: {filled(self.band)}."] if self.band else []
        return " ".join([*parts, f"Evidence: {shown(self.shown)}."])


def claims_of(paper: str) -> Sequence[Claim]:
    """The items of ``papers/PAPER/claims.json``."""
    return [Claim(**row) for row in json.loads((PAPERS / paper / "claims.json").read_text(encoding="utf-8"))["claims"]]


def documents() -> Iterator[tuple[str, Sequence[Claim]]]:
    """All documents with claims, and the claims."""
    for path in sorted(PAPERS.glob("*/claims.json")):
        yield json.loads(path.read_text(encoding="utf-8"))["document"], claims_of(path.parent.name)


@cache
def numbers_of_study(study: str) -> Mapping[str, Any]:
    """The stored numbers of a study."""
    return stored(study)


def number_at(place: str) -> float:
    """The number at ``PAPER/STUDY/KEY/...``; an integer key may index a list.

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
    """A text with its references replaced by numbers, marked if they are from a modified working tree.

    Raises:
        ValueError: a reference without the format of its number.
    """
    if "[[" in PLACE.sub("", text):
        raise ValueError(f"malformed reference; write [[STUDY/KEY:.2f]]: {text}")
    return PLACE.sub(lambda found: format(number_at(found[1]) * float(found[2] or 1.0), found[3]) + mark_at(found[1]), text)


def shown(text: str) -> str:
    """Evidence as code: studies as the commands that run them, everything else unchanged."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return ", ".join(f"`papers/run.py {part}`" if is_study(part) else f"`{part}`" for part in parts)


def is_study(name: str) -> bool:
    """Whether a study has that name."""
    return name.count("/") == 1 and (PAPERS / f"{name}.py").exists()


def exists(part: str) -> bool:
    """Whether a study or test named by a claim exists; commands are not checked."""
    return part.startswith("treeplex ") or is_study(part) or (ROOT / part.partition("::")[0]).exists()


def table(claims: Sequence[Claim]) -> Table:
    """The items of one paper, one row each."""
    return Table("", ("item", "published", "here", "as published"), [claim.cells() for claim in claims])
