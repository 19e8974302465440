"""Bulk reviews over HTTP: from texts and folders, stopped and resumed, with leaks, hands and exports."""

import csv
import io
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the web extra: pip install 'treeplex[web]'")
pytest.importorskip("pokerkit", reason="hand histories: pip install pokerkit")

import httpx

from tests.holdem.study.review.hands import STARS
from tests.holdem.study.review.many import PREFLOP, numbered
from treeplex.holdem.study.report.hand_texts import split_hands
from treeplex.holdem.study.review.review_file import ReviewFile
from treeplex.web.playing.bulk_reviews import BulkRequest, BulkReviews
from treeplex.web.served import ServerState

ASKED = {"oop": "QQ,TT", "ip": "KK,AQo", "street": "river"}
WAIT = 600.0
"""Seconds; the first hand waits for kernels to compile."""


def until_done(client: httpx.Client, file: str) -> dict[str, Any]:
    """The state of a review once it has ended."""
    ends = time.monotonic() + WAIT
    while time.monotonic() < ends:
        found: dict[str, Any] = client.get("/api/reviews/state", params={"file": file}).json()
        if found["state"] != "running":
            return found
        time.sleep(0.1)
    raise AssertionError("the review does not end")


def test_from_texts_and_a_folder(client: httpx.Client, folder: Path) -> None:
    (folder / "evening").mkdir()
    (folder / "evening" / "table.txt").write_text("\n\n".join([numbered(STARS, 1), PREFLOP]))
    made = client.post("/api/reviews", json={**ASKED, "name": "my review!", "folder": "evening"}).json()
    file = made["file"]
    assert (file, made["state"], made["counts"]) == ("reviews/my-review", "stopped", None)
    assert client.post("/api/reviews/texts", json={"file": file, "text": numbered(STARS, 2)}).json() == {"texts": 1}
    assert client.post("/api/reviews/start", json={"file": file}).json()["state"] == "running"
    done = until_done(client, file)
    assert (done["state"], done["error"]) == ("done", None)
    counts = done["counts"]
    assert (counts["found"], counts["reviewed"], counts["skipped"]) == (3, 2, {"ended before the flop": 1})
    assert done["values"]["street"] == ["river"]
    (leak,) = client.get("/api/reviews/leaks", params={"file": file, "by": "street,action"}).json()["leaks"]
    assert (leak["group"], leak["decisions"], leak["low"]) == (["river", "fold"], 2, None)
    assert client.get("/api/reviews/leaks", params={"file": file, "where": "action=call"}).json()["leaks"] == []
    hands = client.get("/api/reviews/hands", params={"file": file, "where": "action=fold;street=river"}).json()["hands"]
    assert len(hands) == 2
    hand = client.get("/api/reviews/hand", params={"file": file, "id": hands[0]["id"]}).json()
    assert hand["review"]["streets"][0]["choices"][0]["actions"][:2] == ["fold", "call"]
    (skipped,) = client.get("/api/reviews/skipped", params={"file": file, "reason": "ended before the flop"}).json()["hands"]
    assert skipped["title"].startswith("PokerStars Hand #")
    table = client.get("/api/reviews/export", params={"file": file, "kind": "csv"})
    assert table.headers["content-disposition"] == 'attachment; filename="my-review.csv"'
    assert len(list(csv.DictReader(io.StringIO(table.text)))) == 2
    assert len(split_hands(client.get("/api/reviews/export", params={"file": file, "kind": "phh"}).text)) == 2
    (folder / "evening" / "later.txt").write_text(numbered(STARS, 3))
    assert client.post("/api/reviews/start", json={"file": file}).status_code == 200
    assert until_done(client, file)["counts"]["reviewed"] == 3
    assert client.get("/api/reviews").json() == {"reviews": [file]}
    assert client.delete("/api/reviews", params={"file": file}).json() == {}
    assert client.get("/api/reviews").json() == {"reviews": []}


def test_a_stopped_review_resumes(client: httpx.Client, folder: Path) -> None:
    """It is stopped at its first hand; the second text, too long to be reviewed by then, is shortened before it resumes."""
    file = client.post("/api/reviews", json={**ASKED, "name": "stopped"}).json()["file"]
    texts = [[numbered(STARS, 1000 * text + number) for number in range(size)] for text, size in enumerate((3, 400))]
    for text in texts:
        client.post("/api/reviews/texts", json={"file": file, "text": "\n\n".join(text)})
    client.post("/api/reviews/start", json={"file": file})
    assert client.post("/api/reviews/start", json={"file": file}).status_code == 409
    assert client.delete("/api/reviews", params={"file": file}).status_code == 409
    ends = time.monotonic() + WAIT
    while time.monotonic() < ends:
        now = client.get("/api/reviews/state", params={"file": file}).json()
        if now["counts"] and now["counts"]["reviewed"]:
            break
        time.sleep(0.02)
    stopped = client.post("/api/reviews/stop", json={"file": file}).json()
    assert stopped["state"] == "stopped"
    assert (stopped["counts"]["found"], 0 < stopped["counts"]["reviewed"] < 403) == (403, True)
    (folder / file / "hands" / "00002.txt").write_text("\n\n".join(texts[1][:5]))
    client.post("/api/reviews/start", json={"file": file})
    done = until_done(client, file)
    assert (done["state"], done["counts"]["reviewed"], done["counts"]["waiting"]) == ("done", 8, 0)
    (leak,) = client.get("/api/reviews/leaks", params={"file": file}).json()["leaks"]
    assert (leak["hands"], leak["decisions"]) == (8, done["counts"]["decisions"])


def test_a_review_that_is_stopped_while_it_starts_does_not_run(served: ServerState) -> None:
    reviews = BulkReviews(served)
    name = reviews.create(BulkRequest(**ASKED))
    reviews.add(name, numbered(STARS, 1))
    opened = reviews._hosts.open

    def stop_meanwhile(*arguments: Any) -> str:
        number = opened(*arguments)
        reviews.stop(name)
        return number

    reviews._hosts.open = stop_meanwhile  # type: ignore[method-assign]
    reviews.start(name)
    assert reviews.state(name)["state"] == "stopped"
    assert reviews._hosts.names() == []
    reviews._hosts.open = opened  # type: ignore[method-assign]
    reviews.start(name)  # the next one is not refused
    assert reviews.state(name)["state"] == "running"
    reviews.close()


def test_a_new_review_has_nothing_of_a_deleted_one(served: ServerState) -> None:
    reviews = BulkReviews(served)
    name = reviews.create(BulkRequest(**ASKED))
    reviews._failed[name] = "the disk is full"
    assert reviews.state(name)["state"] == "failed"
    reviews.remove(name)
    assert reviews.create(BulkRequest(**ASKED)) == name
    state = reviews.state(name)
    assert (state["state"], state["error"]) == ("stopped", None)


def test_texts_that_arrive_at_once_are_all_kept(served: ServerState) -> None:
    reviews = BulkReviews(served)
    name, texts = reviews.create(BulkRequest()), [f"hand {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda text: reviews.add(name, text), texts))
    assert sorted(numbers) == list(range(1, 41))
    assert {path.read_text() for path in (served.folder / name / "hands").iterdir()} == set(texts)


def test_exports_of_a_review_with_any_name(client: httpx.Client, folder: Path) -> None:
    file = client.post("/api/reviews", json={"name": "Č"}).json()["file"]
    ReviewFile(folder / file / "review.sqlite").close()
    answer = client.get("/api/reviews/export", params={"file": file, "kind": "csv"})
    assert (answer.status_code, answer.headers["content-disposition"]) == (200, "attachment; filename*=utf-8''%C4%8C.csv")


def test_requests_that_are_refused(client: httpx.Client, served: ServerState, tmp_path: Path) -> None:
    for wrong, field in (({"oop": "AAA"}, "oop"), ({"budget": "soon"}, "budget"), ({"folder": "river.spot"}, "folder")):
        refused = client.post("/api/reviews", json=wrong)
        assert (refused.status_code, refused.json()["field"]) == (400, field), refused.text
    assert client.post("/api/reviews", json={"folder": "../other"}).status_code == 403
    assert client.get("/api/reviews/state", params={"file": "mine"}).status_code == 404
    file = client.post("/api/reviews", json={}).json()["file"]
    empty = client.post("/api/reviews/start", json={"file": file})
    assert (empty.status_code, empty.json()["error"]) == (400, "there are no hands; paste some, choose files, or name a folder")
    assert client.get("/api/reviews/leaks", params={"file": file}).status_code == 400
    assert client.get("/api/reviews/hand", params={"file": file, "id": 10**30}).status_code == 400
    (served.folder / "hands" / "one").mkdir(parents=True)  # a review of a single hand
    (served.folder / "hands" / "one" / "asked.json").write_text("{}")
    assert client.delete("/api/reviews", params={"file": "hands/one"}).status_code == 404
    (tmp_path / "outside").mkdir()
    (served.folder / "away").symlink_to(tmp_path / "outside")
    assert client.post("/api/reviews", json={"folder": "away"}).status_code == 403
