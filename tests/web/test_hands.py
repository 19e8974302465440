"""Hands of poker rooms judged in a process of their own, and processes that end."""

import json
import os
import signal
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the web extra: pip install 'treeplex[web]'")
pytest.importorskip("pokerkit", reason="hand histories: pip install pokerkit")

from tests.holdem.study.review.hands import STARS
from tests.web.conftest import running
from treeplex.errors import FileError, SpecError
from treeplex.holdem.solve.solution import load_solution
from treeplex.web import hands
from treeplex.web.hosted import Hosts
from treeplex.web.playing.reviewer import ASKED, RESULT, Reviewer
from treeplex.web.served import Refusal, ServerState

RANGES = {"oop": "TT, 99, 66, KJs, 87s", "ip": "AQo, AQs, KQs, QQ", "street": "river", "threads": 1}


def test_a_judged_hand_lies_in_its_folder(tmp_path: Path) -> None:
    reviewer = Reviewer(STARS, str(tmp_path), None, RANGES)
    assert reviewer.about()["cards"] == ("", "AsQd")
    reviewer.run()
    found = json.loads((tmp_path / RESULT).read_text())
    (street,) = found["streets"]
    assert found["lost"] == pytest.approx(sum(choice["lost"] for choice in street["choices"]))
    solution = load_solution(tmp_path / street["file"])
    node = solution.at(street["choices"][0]["line"])
    assert len(node.actions) == len(street["choices"][0]["actions"])


def test_a_text_is_never_the_name_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "hand.txt"
    path.write_text(STARS)
    with pytest.raises(FileError, match="the text"):
        Reviewer(str(path), str(tmp_path), None, RANGES)


class Failing:
    """Reviews of which the first fails and the second does not end by itself."""

    def __init__(self, *arguments: Any) -> None:
        self.runs, self.ended = count(1), Event()

    def open(self, *arguments: Any) -> str:
        return "1"

    def __getitem__(self, name: str) -> "Failing":
        return self

    def call(self, method: str) -> dict[str, Any]:
        return {}

    def call_within(self, seconds: float, method: str) -> None:
        if next(self.runs) == 1:
            raise SpecError("not enough memory")
        self.ended.wait(60)

    def drop(self, name: str) -> None: ...

    def close(self) -> None:
        self.ended.set()


def test_a_review_that_starts_again_has_not_failed(served: ServerState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "Hosts", Failing)
    with running(served) as client:
        state = client.post("/api/hands/review", json={"text": STARS}).json()
        ends = monotonic() + 60
        while state["state"] != "failed":
            assert monotonic() < ends
            state = client.get("/api/hands/review", params={"file": state["file"]}).json()
        assert state["error"] == "not enough memory"
        state = client.post("/api/hands/review", json={"text": STARS, "file": state["file"]}).json()
        assert (state["state"], state["error"]) == ("running", None)


def test_a_review_that_runs_again_does_not_show_its_old_result(served: ServerState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "Hosts", Failing)
    folder = served.folder / "hands" / "review-1"
    folder.mkdir(parents=True)
    (folder / ASKED).write_text(json.dumps({"text": STARS}))
    (folder / RESULT).write_text('{"lost": 1}')
    monkeypatch.setattr(Failing, "call_within", lambda self, seconds, method: self.ended.wait(60))
    with running(served) as client:
        name = {"file": "hands/review-1"}
        assert client.get("/api/hands/review", params=name).json()["result"] == {"lost": 1}
        state = client.post("/api/hands/review", json={"text": STARS, **name}).json()
        assert (state["state"], state["result"]) == ("running", None)
        assert not (folder / RESULT).exists()
        assert client.post("/api/hands/review", json={"text": STARS, **name}).status_code == 409


def test_a_review_of_many_hands_is_no_review_of_a_hand(served: ServerState) -> None:
    folder = served.folder / "reviews" / "mine"
    folder.mkdir(parents=True)
    (folder / ASKED).write_text('{"name": "mine"}')
    with running(served) as client:
        answer = client.post("/api/hands/review", json={"text": STARS, "file": "reviews/mine"})
        assert (answer.status_code, answer.json()["field"]) == (404, "file")
        assert client.get("/api/hands/review", params={"file": "reviews/mine"}).status_code == 404
    assert (folder / ASKED).read_text() == '{"name": "mine"}'


class Odd:
    """Fails in several ways."""

    def __init__(self, fails: bool = False) -> None:
        if fails:
            raise SpecError("not so")

    def pid(self) -> int:
        return os.getpid()

    def fail(self) -> None:
        raise ZeroDivisionError("by  nothing")


@pytest.mark.slow
def test_processes_that_fail_and_end() -> None:
    hosts = Hosts(Odd, 2)
    with pytest.raises(SpecError, match=r"^not so$"):
        hosts.open(fails=True)
    name = hosts.open()
    assert hosts[name].call("pid") != os.getpid()
    with pytest.raises(Exception, match=r"^ZeroDivisionError: by nothing$"):
        hosts[name].call("fail")
    os.kill(hosts[name].call("pid"), signal.SIGKILL)
    with pytest.raises(Refusal, match="its process ended"):
        hosts[name].call("pid")
    hosts.drop(name)
    with pytest.raises(Refusal, match="was closed"):
        hosts[name]
    hosts.close()
