"""Charts before the flop over HTTP: they are the library's."""

import httpx
import pytest

from treeplex.games.poker.cards.cards import CLASSES
from treeplex.solvers.holdem.push_fold import push_fold


def test_push_or_fold_is_the_librarys(shared: httpx.Client) -> None:
    found = shared.get("/api/preflop/pushfold", params={"stack": 10}).json()
    wanted = push_fold(10)
    assert found["push"] == pytest.approx(wanted.push.tolist(), abs=1e-6)
    assert found["value"] == wanted.value
    chart = shared.get("/api/preflop/chart", params={"to": 8}).json()
    assert chart["push"][CLASSES.index("T3s")] == 7.5  # HoldemResources: pushed up to 7.7 big blinds
    assert chart["push"][CLASSES.index("AA")] == 8


@pytest.mark.parametrize(
    "query", ["pushfold?stack=0.5", "pushfold?stack=nan", "pushfold?stack=10&ante=-1", "chart?to=51", "chart"]
)
def test_what_cannot_be_charted_is_said(shared: httpx.Client, query: str) -> None:
    answer = shared.get(f"/api/preflop/{query}")
    assert (answer.status_code, set(answer.json())) == (400, {"error", "field"})
