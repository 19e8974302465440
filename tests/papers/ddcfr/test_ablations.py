"""The ablations of DDCFR's table 1: what is trained next, what is kept, and what is read off."""

from typing import Any

import pytest

from papers.ddcfr import ablations

SCORES = dict.fromkeys(ablations.JUDGED, 1.0)
KEPT = {"DDCFR-1, seed 0": {"asked": 1000, "epochs": 1000, "cpu_seconds": 60.0, "scores": SCORES}}


def test_seed_0_comes_before_the_others() -> None:
    order = ablations.plans()
    assert len(set(order)) == 7 * ablations.SEEDS
    assert [seed for _, seed in order] == [0] * 7 + [1] * 7 + [2] * 7


def test_what_is_stored_is_not_trained_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[Any] = []
    monkeypatch.setattr(ablations, "stored", lambda name: KEPT if name == ablations.NAME else {})
    monkeypatch.setattr(ablations, "last_of", lambda folder: {"done": 0, "cpu_seconds": 0.0})
    monkeypatch.setattr(ablations, "go_on", lambda folder, *given: trained.append(folder.name))
    found = ablations.reproduce()
    assert len(trained) == 20
    assert "DDCFR-1-seed-0-epochs-1000" not in trained
    assert found is not None
    assert found.numbers == {**KEPT, "readings": {"yes": 0, "no": 0, "undecided": 0}}
    ablations.reproduce(epochs=5)
    assert "DDCFR-1-seed-0-epochs-5" in trained  # a training of another length is another one


def test_the_table_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablations, "stored", lambda name: {})
    some = dict.fromkeys(ablations.TESTING, 2.0)
    found = {("DDCFR-1", 0): {"asked": 9, "scores": some}, (ablations.FULL, 0): {"asked": 9, "scores": SCORES}}
    shown = ablations.result(found, 9)
    rows = {row[0]: row[1:] for row in shown.tables[0].rows}
    assert rows["DDCFR-1: trained on the first game only, seed 0"] == ["2.000"] * 4 + ["not judged"] * 2
    assert "DDCFR-1: trained on the first game only, seed 1" not in rows
    assert set(rows["DDCFR-2: trained on the first two games, seed 0"]) == {"not trained"}
    assert list(shown.tables[1].rows[0][1:]) == ["yes"] * 4 + ["not judged"] * 2
    assert shown.findings[0].endswith("yes 1, not judged 2, not trained 18.")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([2.0, 3.0], [1.0, 1.9], "yes"),
        ([1.0, 3.0], [1.5, 2.0], "undecided"),
        ([0.5], [0.6, 2.0], "no"),
        ([], [1.0], "not judged"),
    ],
)
def test_verdicts(first: list[float], second: list[float], expected: str) -> None:
    assert ablations.verdict([(first, second)]) == expected
