"""Tables as data frames of pandas, which is optional."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treeplex.errors import SpecError, TreeplexError


def dataframe(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None, *, error: type[TreeplexError] = SpecError
) -> Any:
    """A ``pandas.DataFrame`` of rows by column name.

    Args:
        rows: the rows.
        columns: the names of the columns; None for those of the rows, in the order of their first appearance.
        error: what is raised where pandas is missing.

    Raises:
        SpecError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as missing:
        raise error("a data frame needs pandas; run: pip install pandas") from missing
    return pandas.DataFrame(list(rows), columns=None if columns is None else list(columns))
