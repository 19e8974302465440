"""Values from Python as marked texts."""

import pytest

from treeplex.base.located_text import MOST_DEPTH, located
from treeplex.errors import FileError


@pytest.mark.parametrize("inner", [lambda value: [value], lambda value: {"a": value}])
def test_nesting_is_bounded(inner) -> None:
    value: object = 1
    for _ in range(MOST_DEPTH):
        value = inner(value)
    assert located(value, "--stack").text is None
    for _ in range(2000):
        value = inner(value)
    with pytest.raises(FileError, match="--stack: lists or tables nested too deeply; use fewer levels"):
        located(value, "--stack")


def test_errors_are_one_line() -> None:
    assert str(FileError("cannot read a\nb.yaml: no such file")) == "cannot read a b.yaml: no such file"
