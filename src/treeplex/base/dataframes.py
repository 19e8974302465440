"""Tables as pandas data frames; pandas is optional."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treeplex.errors import SpecError, TreeplexError


def dataframe(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None, *, error: type[TreeplexError] = SpecError
) -> Any:
    """Return a ``pandas.DataFrame`` of rows.

    Args:
        rows: one mapping from column name to value per row.
        columns: the column names; None takes them from the rows in order of first appearance.
        error: the class of the error raised if pandas is missing.

    Raises:
        SpecError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as missing:
        raise error("a data frame needs pandas; run: pip install pandas") from missing
    return pandas.DataFrame(list(rows), columns=None if columns is None else list(columns))
