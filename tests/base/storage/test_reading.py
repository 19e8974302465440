"""Files that anybody may have made: no waiting, no flood, no depth without end."""

import io
import json
import os
import signal
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.located_text import read_marked
from treeplex.base.settings import from_yaml
from treeplex.base.storage.reading import MOST_DEPTH, MOST_TEXT, parse_json, read_bytes, read_text, whole_lines
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.forms.policies.files import read_policy_header
from treeplex.forms.policies.sparse import is_table_policy, load_table_policy
from treeplex.forms.sources.liteefg import parse_game_file
from treeplex.forms.sources.load import load
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.libratus_endgames import read_fields
from treeplex.holdem.study.report.hand_history import load_hand
from treeplex.learn.rebel.files import is_net_file, read_net
from treeplex.learn.rebel.settings import RebelSettings
from treeplex.run.job.checkpoint import open_checkpoint
from treeplex.run.job.folder import JobFolder
from treeplex.run.solve.settings import SOLVE

SECONDS = 20
"""What each of these tests may take, on a busy machine; before there were limits, they took for ever or minutes."""
READERS: dict[str, Callable[[Path], object]] = {
    "a.efg": lambda path: load(str(path)),
    "a.game": lambda path: load(str(path)),
    "a.openspiel": lambda path: load(str(path)),
    "a.csv": tp.load_policy,
    "m.csv": lambda path: load(f"matrix(file={path})"),
    "a.json": tp.load_policy,
    "a.npz": tp.load_policy,
    "a.safetensors": tp.load_policy,
    "t.safetensors": load_table_policy,
    "d.json": tp.correlation.load,
    "d.safetensors": tp.correlation.load,
    "s.safetensors": tp.learn.load_discount_policy,
    "n.safetensors": read_net,
    "c.safetensors": open_checkpoint,
    "a.spot": load_solution,
    "a.yaml": read_marked,
    "a.toml": read_marked,
    "settings.yaml": from_yaml,
    "a.txt": read_fields,
    "run.json": lambda path: JobFolder(SOLVE, path.parent).about(),
    "metrics.jsonl": lambda path: JobFolder(SOLVE, path.parent).records(),
}
"""Everything that reads a file, by the name of one."""
TEXTS = [name for name in READERS if not name.endswith((".safetensors", ".npz", ".spot"))]


@pytest.fixture(autouse=True)
def quickly() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refusal(call: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(TreeplexError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in refusal(READERS[name], tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_a_device_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    assert "not a regular file" in refusal(READERS[name], tmp_path / name)


@pytest.mark.parametrize("name", TEXTS)
def test_text_has_an_end(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(2 * MOST_TEXT)
    assert "larger than" in refusal(READERS[name], tmp_path / name)


def test_what_asks_for_the_kind_of_a_file_does_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    os.mkfifo(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert not is_table_policy(path)
    assert not is_net_file(path)
    assert "not a regular file" in refusal(load_hand, path.rename(tmp_path / "a.phh"), 1)


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    assert "is a directory" in refusal(read_bytes, tmp_path)
    assert "no such file" in refusal(read_bytes, tmp_path / "none")
    assert "not a file name" in refusal(read_bytes, "a\0b")
    assert whole_lines(tmp_path / "none") == []
    (tmp_path / "a").write_bytes(b"one\ntwo\nthr")
    assert whole_lines(tmp_path / "a") == ["one", "two"]
    assert read_text(tmp_path / "a", most=11) == "one\ntwo\nthr"
    assert "larger than" in refusal(lambda: read_text(tmp_path / "a", most=10))


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 500 + "1" + "}" * 500])
def test_json_has_a_depth(text: str) -> None:
    with pytest.raises(ValueError, match="nested"):
        parse_json(text)


def test_json_as_deep_as_may_be() -> None:
    assert parse_json("[" * MOST_DEPTH + "]" * MOST_DEPTH)
    with pytest.raises(ValueError, match="nested more than 64 levels deep"):
        parse_json("[" * (MOST_DEPTH + 2) + "]" * (MOST_DEPTH + 2))


def safetensors(header: str) -> bytes:
    """A file with a text as header and no tensors."""
    return len(header.encode()).to_bytes(8, "little") + header.encode()


@pytest.mark.parametrize("name", [name for name in READERS if name.endswith((".json", ".safetensors", ".jsonl", ".npz"))])
@pytest.mark.parametrize("inner", [False, True])
def test_brackets_without_end(tmp_path: Path, name: str, inner: bool) -> None:
    deep = "[" * 100_000
    if name.endswith(".safetensors"):
        data = safetensors(json.dumps({"__metadata__": {"header": deep}}) if inner else deep)
    elif name.endswith(".npz"):
        buffer = io.BytesIO()
        np.savez(buffer, probabilities=np.zeros(2), header=np.array(deep))
        data = buffer.getvalue()
    else:
        data = f'{{"format": {deep}\n'.encode() if inner else f"{deep}\n".encode()
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError):
        READERS[name](tmp_path / name)


def npz(shape: tuple[int, ...], *, zeros: int = 0) -> bytes:
    """An ``.npz`` file whose probabilities say that they have this shape, compressed, with so many bytes of them there."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    text = io.BytesIO()
    np.save(text, np.array(json.dumps({"format": "treeplex policy", "format_version": 1, "game": "kuhn_poker"})))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.npy", text.getvalue())
        with archive.open("probabilities.npy", "w") as file:
            file.write(header.getvalue())
            for _ in range(zeros >> 20):
                file.write(bytes(1 << 20))
    return buffer.getvalue()


def test_arrays_that_are_not_as_large_as_they_say(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(npz((10**12,)))
    assert "probabilities.npy is truncated" in refusal(read_policy_header, tmp_path / "a.npz")


def test_arrays_that_unpack_to_much_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.forms.policies.files.MOST_UNPACKED", 100 << 20)
    (tmp_path / "a.npz").write_bytes(npz((26 << 20,), zeros=208 << 20))
    assert (tmp_path / "a.npz").stat().st_size < 2 << 20
    assert "its unpacked size is more" in refusal(read_policy_header, tmp_path / "a.npz")


def test_archives_that_numpy_does_not_write(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as archive:
            archive.writestr("header.npy", b"x" * 100)
        assert "does not support" in refusal(read_policy_header, tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("header.npy", b"\x93NUMPY\x09\x00" + b"x" * 100)
    assert "header.npy is not an array" in refusal(read_policy_header, tmp_path / "a.npz")


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 800, "a: " + "[" * 5000, "a: " + "{" * 100_000, "- " * 100_000, "a:\n" + "? " * 50_000]
)
@pytest.mark.parametrize("name", ["a.yaml", "settings.yaml"])
def test_yaml_without_end(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert "too deep" in refusal(READERS[name], tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 5000 + "x",
        "1" * 5000 + "%" + " " * 5000,
        "1" * 400_000 + "x",
        "1" * 200_000 + "%" + " " * 200_000 + "x",
        "22:" + "1" * 400_000 + "x",
        "1." * 200_000,
        "." * 400_000,
    ],
)
def test_ranges_are_read_in_one_pass(text: str) -> None:
    with pytest.raises(SpecError, match="range: cannot read"):
        parse_range(text)


@pytest.mark.slow
def test_a_range_has_an_end() -> None:
    with pytest.raises(SpecError, match="range: the text has 4,000,000 characters, more than the limit of 500,000"):
        parse_range("22, " * 1_000_000)
    assert parse_range("22, " * 100_000).sum() == 6
    assert parse_range(" ".join([f"{1 / 3:.17f}"] * 1326)).sum() == pytest.approx(442)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("iterations: 2001-99-99", "iterations must be an integer of at least 1, not '2001-99-99'"),
        ("iterations: " + "9" * 6000, "iterations must be an integer"),
        ("rate: " + "9" * 6000, "rate must be"),
        ("iterations: [1, [2]]", r"settings.yaml:1: setting must be one value"),
        ("iterations: {a: 1}", r"settings.yaml:1: setting must be one value"),
        ("- 1", "not a table of settings"),
    ],
)
def test_settings_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "settings.yaml").write_text(text)
    with pytest.raises(TreeplexError, match=words):
        RebelSettings().changed(from_yaml(tmp_path / "settings.yaml"))


def test_numbers_that_no_float_holds(tmp_path: Path) -> None:
    policy = tp.Policy.uniform(tp.compile("kuhn_poker"))
    tp.policies.save(policy, tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    (tmp_path / "a.json").write_text(text.replace("0.5", "9" * 400, 1))
    assert "damaged" in refusal(tp.load_policy, tmp_path / "a.json")
    (tmp_path / "a.json").write_text(text.replace('"metadata": {}', '"metadata": {"a": NaN}', 1))
    assert "was changed after it was written" in refusal(tp.load_policy, tmp_path / "a.json")
    (tmp_path / "a.json").write_text(text.replace('"metadata": {}', '"metadata": [1]', 1))
    assert "not a policy file" in refusal(tp.load_policy, tmp_path / "a.json")


@pytest.mark.parametrize("players", ["9" * 5000, "1000", "0"])
def test_players_of_a_game_file(players: str) -> None:
    for text in (
        f"# num_players: {players},\nnode / leaf payoffs 1=1\n",
        f"node / player {players} actions a b\n",
        f"node / leaf payoffs {players}=1 2=1\n",
    ):
        assert "1 to 999" in refusal(parse_game_file, text)
