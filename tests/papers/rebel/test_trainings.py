"""Records of trainings: none is lost when settings change, and one of another plan does not count."""

from dataclasses import asdict, replace

import pytest

pytest.importorskip("torch")

from papers.common.results import stored
from papers.rebel import large, trainings
from papers.rebel.trainings import drawn, is_plan, record_of, records, said, tabulated


def test_no_record_is_lost():
    """A new setting whose default is what was done before leaves all of them valid."""
    plans = [*tabulated(), *drawn()]
    assert [plan.name for plan in plans if plan.name in records() and record_of(plan) is None] == []
    assert sum(record_of(plan) is not None for plan in plans) > 200
    for name, game in large.GAMES.items():
        assert is_plan(stored(large.NAME)[name]["plan"], asdict(game))


def test_a_record_is_of_one_plan(monkeypatch):
    plan = next(tabulated())
    other = replace(plan, changes={**plan.changes, "rate": 0.5})
    made = {"plan": said(plan), "judged": []}
    monkeypatch.setattr(trainings, "records", lambda: {plan.name: made})
    assert record_of(plan) == made
    assert record_of(other) is None
    assert record_of(replace(plan, playthroughs=7)) is None
