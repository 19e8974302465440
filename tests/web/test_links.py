"""Links that lead out of the folder are followed neither to read nor to write."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import RIVER, running
from treeplex.errors import FileError
from treeplex.run.job.folder import FORMAT
from treeplex.web.served import Refusal, ServerState

HAND = "variant = 'NT'"


def test_nothing_is_read_through_a_link(tmp_path: Path) -> None:
    folder, outside = tmp_path / "served", tmp_path / "outside"
    outside.mkdir()
    (outside / "run.json").write_text(json.dumps({"format": FORMAT, "kind": "solve", "game": "kuhn_poker"}))
    (outside / "metrics.jsonl").write_text('{"done": 1, "exploitability": 0.5}\n')
    for name, linked in (("a", "run.json"), ("b", "metrics.jsonl"), ("real", "")):
        shutil.copytree(outside, folder / name)
        if not linked:
            continue
        (folder / name / linked).unlink()
        (folder / name / linked).symlink_to(outside / linked)
    (folder / "c").symlink_to(outside)
    (folder / "inner").symlink_to(folder / "real")
    (outside / "spot.yaml").write_text("\n".join(f"{name}: {value}" for name, value in RIVER.items()))
    (folder / "spot.yaml").symlink_to(outside / "spot.yaml")
    (outside / "hand.phh").write_text(HAND)
    (outside / "asked.json").write_text("{}")
    (folder / "hands").symlink_to(outside)
    with running(ServerState(folder, threads=1)) as client:
        for name, status in (("a", 403), ("b", 403), ("c", 403), ("real", 200), ("inner", 200)):
            assert client.get("/api/runs/curves", params={"file": name}).status_code == status, name
        assert "a/run.json" in client.get("/api/runs/curves", params={"file": "a"}).json()["error"]
        assert {run["file"] for run in client.get("/api/runs").json()["runs"]} == {"b", "real"}
        start = client.get("/api/start").json()
        assert start["spot_files"] == []
        assert {run["file"] for run in start["runs"]} == {"b", "real", "inner"}
        assert client.get("/api/spots/file", params={"file": "spot.yaml"}).status_code == 403
        assert client.get("/api/hands").json() == {"hands": [], "reviews": []}
        for path in ("replay", "review"):
            assert client.get(f"/api/hands/{path}", params={"file": "hands/hand.phh"}).status_code == 403
        for body in (
            {"game": "kuhn_poker", "against": "a"},
            {"game": "c"},
            {"game": "kuhn_poker", "against": "blueprint(file=a)"},
        ):
            assert client.post("/api/tables", json=body).status_code == 403, body


def test_a_linked_solution_is_not_listed(client: httpx.Client, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "far.spot").write_bytes((folder / "river.spot").read_bytes())
    (folder / "far.spot").symlink_to(tmp_path / "far.spot")
    (folder / "near.spot").symlink_to(folder / "river.spot")
    listed = {each["file"] for each in client.get("/api/start").json()["solutions"]}
    assert listed == {"river.spot", "mine/turn.spot", "near.spot"}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    folder, outside = tmp_path / "served", tmp_path / "outside"
    outside.mkdir()
    with running(ServerState(folder, threads=1)) as client:
        (folder / "hands").symlink_to(outside)
        (folder / "new.spot").symlink_to(outside / "new.spot")
        (folder / "new.txt").symlink_to(outside / "new.txt")
        (folder / ".web" / "presets.json").symlink_to(outside / "presets.json")
        (folder / ".web" / "tables").symlink_to(outside)
        assert client.post("/api/hands/review", json={"text": HAND}).status_code == 403
        assert client.post("/api/presets", json={"name": "mine", "text": "AA"}).status_code == 403
        assert client.post("/api/tables", json={"game": "kuhn_poker", "against": "uniform"}).status_code == 403
        kind = {"content-type": "application/octet-stream"}
        upload = client.post("/api/upload", params={"name": "new.txt"}, content=b"x", headers=kind)
        assert upload.json()["file"] == "new-2.txt"
        (folder / ".web" / "jobs").rmdir()
        (folder / ".web" / "jobs").symlink_to(outside)
        assert client.post("/api/jobs", json={"fields": RIVER}).status_code == 403
        assert not list(outside.iterdir())


def test_names_where_a_link_leads_nowhere(tmp_path: Path) -> None:
    served = ServerState(tmp_path / "served")
    (served.folder / "new.spot").symlink_to(tmp_path / "new.spot")
    (served.folder / "loop.spot").symlink_to(served.folder / "loop.spot")
    assert served.free_file("new", ".spot").name == "new-2.spot"
    for name in ("new.spot", "loop.spot"):
        with pytest.raises(Refusal, match="leads outside"):
            served.path(name, there=False)


def test_a_server_does_not_keep_its_own_files_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "served" / ".web").mkdir(parents=True)
    (tmp_path / "served" / ".web" / "jobs").symlink_to(tmp_path)
    with pytest.raises(FileError, match="leads outside"):
        ServerState(tmp_path / "served")
