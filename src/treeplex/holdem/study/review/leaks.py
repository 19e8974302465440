"""Leaks of a bulk review: EV lost per 100 hands by position, street, action and texture, with 95% intervals; exports.

A decision counts with the EV that it lost, or with 0 if it lost no more than the error of its street's solution.
Decisions whose solution's exploitability exceeds :data:`LEAST_ACCURATE` of the pot are left out and counted, and so are hands
that are no longer in any source.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.study.report.hand_texts import HandText
from treeplex.holdem.study.review.review import FORGIVEN
from treeplex.holdem.study.review.review_file import COLUMNS, ReviewFile
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width

LEAST_ACCURATE = FORGIVEN
"""Exploitability, as a share of the pot, above which a street's decisions are left out."""
VIEWS: Final = ("position", "street", "action", "facing", "suits", "pairing", "high")
"""Columns by which leaks are shown unless others are chosen."""
PER = 100
COUNTED: Final = "CASE WHEN d.lost_bb > d.noise_bb THEN d.lost_bb ELSE 0 END"
MOST_LISTED = 1000
OF_SOURCES: Final = "settings = ? AND digest IN (SELECT digest FROM places)"
"""Condition on a hand: reviewed with some settings, and still in a source; sources may have changed since."""
DECISIONS: Final = f"FROM decisions d JOIN hands h ON h.id = d.hand WHERE h.{OF_SOURCES}"


@final
@dataclass(frozen=True)
class Leak:
    """Decisions with the same values of some columns.

    Attributes:
        group: the values.
        decisions, hands: numbers of decisions, and of hands with such decisions.
        mistakes: number of decisions that are mistakes.
        lost_bb: big blinds lost by these decisions.
        per_100: big blinds lost by these decisions per 100 reviewed hands.
        low, high: 95% interval of ``per_100``, Student's t over hands; None with fewer than 30 ``hands``.
    """

    group: tuple[str, ...]
    decisions: int
    hands: int
    mistakes: int
    lost_bb: float
    per_100: float
    low: float | None
    high: float | None


@final
@dataclass(frozen=True)
class ReviewCounts:
    """Numbers of hands and decisions of a review with some settings.

    Attributes:
        found: hands in all sources; ``duplicates`` of them are repeated.
        reviewed: hands that were reviewed.
        skipped: hands that cannot be reviewed, by reason, the most common first.
        waiting: hands that are not done yet.
        decisions: decisions that count, ``unclear`` ones that do not because their solution is too far off.
        total: the leak of all decisions.
    """

    found: int
    duplicates: int
    reviewed: int
    skipped: Mapping[str, int]
    waiting: int
    decisions: int
    unclear: int
    total: Leak

    def to_json(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)


def counts(file: ReviewFile, settings: int | None = None) -> ReviewCounts:
    """Numbers of hands and decisions; ``settings`` defaults to those of the last run, see :meth:`.ReviewFile.last_settings`."""
    chosen = file.last_settings() if settings is None else settings
    seen = next(file.rows("SELECT COUNT(*) AS found, COUNT(DISTINCT digest) AS different FROM places"))
    query = f"SELECT reason, COUNT(*) AS count FROM hands WHERE {OF_SOURCES} GROUP BY reason ORDER BY count DESC, reason"
    rows = list(file.rows(query, chosen))
    by_reason = {row["reason"]: row["count"] for row in rows}
    reviewed = by_reason.pop(None, 0)
    (total,) = leaks(file, (), settings=chosen) or (Leak((), 0, 0, 0, 0.0, 0.0, None, None),)
    query = f"SELECT COUNT(*) AS count {DECISIONS} AND d.accuracy > ?"
    return ReviewCounts(
        found=seen["found"],
        duplicates=seen["found"] - seen["different"],
        reviewed=reviewed,
        skipped=by_reason,
        waiting=seen["different"] - reviewed - sum(by_reason.values()),
        decisions=total.decisions,
        unclear=next(file.rows(query, chosen, LEAST_ACCURATE))["count"],
        total=total,
    )


def leaks(
    file: ReviewFile,
    by: Sequence[str] = ("street",),
    where: Mapping[str, str] | None = None,
    *,
    settings: int | None = None,
) -> tuple[Leak, ...]:
    """Leaks by the values of some columns, the largest first.

    Args:
        file: the review.
        by: columns of :data:`.review_file.COLUMNS`; none for all decisions together.
        where: only decisions with these values, by column.
        settings: number of the settings; default: those of the last run, see :meth:`.ReviewFile.last_settings`.

    Raises:
        SpecError: there is no such column.
        FileError: the file cannot be read.
    """
    chosen = file.last_settings() if settings is None else settings
    columns, (condition, values) = [column(name) for name in by], conditions(where)
    everyone = f"SELECT COUNT(*) AS count FROM hands WHERE {OF_SOURCES} AND reason IS NULL"
    hands = next(file.rows(everyone, chosen))["count"]
    query = (
        f"SELECT {', '.join([*columns, 'd.hand'])}, COUNT(*) AS decisions, SUM({COUNTED}) AS lost, "
        f"SUM(d.verdict = 'mistake') AS mistakes {DECISIONS} AND d.accuracy <= ?{condition} "
        f"GROUP BY {', '.join([*columns, 'd.hand'])}"
    )
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in file.rows(query, chosen, LEAST_ACCURATE, *values):
        groups.setdefault(tuple(str(row[name]) for name in by), []).append(row)
    found = [leak_of(group, rows, hands) for group, rows in groups.items()]
    return tuple(sorted(found, key=lambda leak: (-leak.lost_bb, leak.group)))


def leak_of(group: tuple[str, ...], rows: Sequence[Mapping[str, Any]], hands: int) -> Leak:
    """The leak of a group with a row for each hand, out of a number of reviewed hands."""
    lost = np.array([row["lost"] for row in rows], np.float64)
    mean, low, high = float(lost.sum()) / hands, None, None
    if len(rows) >= FEWEST_DEALS:
        squares = float(((lost - mean) ** 2).sum()) + (hands - len(rows)) * mean**2
        half = half_width(float(np.sqrt(squares / (hands - 1) / hands)), hands)
        low, high = PER * (mean - half), PER * (mean + half)
    return Leak(
        group=group,
        decisions=sum(row["decisions"] for row in rows),
        hands=len(rows),
        mistakes=sum(row["mistakes"] for row in rows),
        lost_bb=float(lost.sum()),
        per_100=PER * mean,
        low=low,
        high=high,
    )


def column(name: str) -> str:
    """A column of decisions by its name.

    Raises:
        SpecError: there is none.
    """
    if name not in COLUMNS:
        raise SpecError(f"leaks cannot be grouped by {shown(name)}; write {', '.join(COLUMNS)}")
    return f"d.{name}"


def conditions(where: Mapping[str, str] | None) -> tuple[str, tuple[str, ...]]:
    """Conditions of a query on decisions, and their values."""
    chosen = where or {}
    return "".join(f" AND {column(name)} = ?" for name in chosen), tuple(chosen.values())


def values_of(file: ReviewFile, settings: int | None = None) -> dict[str, list[str]]:
    """The values of each column, for filters."""
    chosen = file.last_settings() if settings is None else settings
    found = {}
    for name in COLUMNS:
        query = f"SELECT DISTINCT {column(name)} AS value {DECISIONS}"
        found[name] = sorted(str(row["value"]) for row in file.rows(query, chosen))
    return found


def hands_of(
    file: ReviewFile, where: Mapping[str, str] | None = None, *, settings: int | None = None, most: int = MOST_LISTED
) -> list[dict[str, Any]]:
    """Reviewed hands with a decision with these values, those that lost most first.

    Returns:
        For each hand ``id``, ``title``, ``hero``, ``position``, ``opponent``, ``cards``, ``board``, ``source`` and
        ``number`` in it, and of the decisions with these values ``lost_bb``, ``decisions`` and ``mistakes``.
    """
    chosen = file.last_settings() if settings is None else settings
    condition, values = conditions(where)
    query = (
        f"SELECT h.id, h.title, h.hero, h.position, h.opponent, h.cards, h.board, SUM({COUNTED}) AS lost_bb, "
        "COUNT(*) AS decisions, SUM(d.verdict = 'mistake') AS mistakes, "
        "(SELECT source FROM places p WHERE p.digest = h.digest ORDER BY rowid LIMIT 1) AS source, "
        "(SELECT number FROM places p WHERE p.digest = h.digest ORDER BY rowid LIMIT 1) AS number "
        f"{DECISIONS} AND d.accuracy <= ?{condition} GROUP BY h.id ORDER BY lost_bb DESC, h.id LIMIT ?"
    )
    return list(file.rows(query, chosen, LEAST_ACCURATE, *values, most))


def skipped_hands(file: ReviewFile, reason: str | None = None, *, settings: int | None = None) -> list[dict[str, Any]]:
    """Hands that cannot be reviewed: ``id``, ``title``, ``reason`` and ``detail``."""
    chosen = file.last_settings() if settings is None else settings
    query = (
        f"SELECT id, title, reason, detail FROM hands WHERE {OF_SOURCES} AND reason IS NOT NULL "
        "AND (?2 IS NULL OR reason = ?2) ORDER BY id LIMIT ?3"
    )
    return list(file.rows(query, chosen, reason, MOST_LISTED))


EXPORTED: Final = (
    "h.digest AS hand, h.title, h.hero, h.opponent, h.cards, h.board, h.big_blind, d.number, d.street, d.line, d.position, "
    "d.side, d.facing, d.action, d.best, d.suits, d.pairing, d.high, d.connected, d.pot_bb, d.frequency, "
    "d.lost_bb, d.noise_bb, d.accuracy, d.verdict"
)


def csv_text(file: ReviewFile, where: Mapping[str, str] | None = None, *, settings: int | None = None) -> str:
    """All decisions with these values as CSV with a header, hands in order."""
    chosen = file.last_settings() if settings is None else settings
    condition, values = conditions(where)
    query = f"SELECT {EXPORTED} {DECISIONS}{condition} ORDER BY h.id, d.number"
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(part.split()[-1].rpartition(".")[2] for part in EXPORTED.split(", "))
    for row in file.rows(query, chosen, *values):
        table.writerow(safe_cell(value) for value in row.values())
    return text.getvalue()


def safe_cell(value: Any) -> Any:
    """A CSV cell, escaped so that spreadsheets do not read it as a formula; names and titles are untrusted."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def phh_export(file: ReviewFile, where: Mapping[str, str] | None = None, *, settings: int | None = None) -> Iterator[str]:
    """Reviewed hands with a decision with these values as the parts of a ``.phhs`` text.

    Each has the additional fields ``_lost_bb`` and ``_verdicts``.
    """
    chosen = file.last_settings() if settings is None else settings
    condition, values = conditions(where)
    query = (
        "SELECT h.id, h.text, h.format, h.lost_bb, GROUP_CONCAT(d.verdict) AS verdicts "
        f"{DECISIONS}{condition} GROUP BY h.id ORDER BY h.id"
    )
    for number, row in enumerate(file.rows(query, chosen, *values), start=1):
        history = HandText(row["text"], row["format"]).history()
        marks = {"_lost_bb": row["lost_bb"], "_verdicts": row["verdicts"]}
        history.user_defined_fields = {**(history.user_defined_fields or {}), **marks}
        yield f"[{number}]\n{history.dumps()}\n\n"
