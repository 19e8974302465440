"""What commands print: tables where there is little room."""

import pytest

from treeplex.play.cli.console import print_table


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_column_vanishes(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = [["cfr-jr(plus=1)", *["1.234567890e-02"] * 6], ["cfr-s", *["-1.0"] * 6]]
    print_table(["algorithm", *(f"number {number}" for number in range(6))], rows, right=range(1, 7))
    lines = capsys.readouterr().out.splitlines()
    assert sum("cfr-jr(plus=1)" in line and line.count("1.234567890e-02") == 6 for line in lines) == 1
    assert sum("cfr-s" in line and line.count("-1.0") == 6 for line in lines) == 1


def test_long_texts_are_folded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_table(["class", "why"], [["nested", "word " * 30]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert "".join(lines).count("word") == 30
