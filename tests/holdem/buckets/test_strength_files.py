import numpy as np
import pytest

from tests.limit_games import royal_strengths
from treeplex.errors import FileError
from treeplex.holdem.buckets import strength_files
from treeplex.holdem.buckets.strength_files import cache_directory, load_strengths
from treeplex.holdem.cards.format import royal


def test_computed_once_and_then_read(tmp_path, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path))
    assert cache_directory() == tmp_path
    parts = []
    first = load_strengths(royal(), done=lambda n, of: parts.append((n, of)))
    assert parts == [(1, 1)]
    assert np.array_equal(first.turn, royal_strengths().turn)
    assert [file.suffix for file in (tmp_path / "strength").iterdir()] == [".safetensors"]
    monkeypatch.setattr(strength_files, "turn_part", None)  # must not be needed
    assert np.array_equal(load_strengths(royal()).flop, first.flop)


def test_finished_parts_survive_an_interruption(tmp_path, monkeypatch):
    whole = strength_files.turn_part
    monkeypatch.setattr("treeplex.holdem.cards.strength.CHUNK", 100)
    calls = []

    def stopping(*arguments):
        calls.append(arguments[2])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(strength_files, "turn_part", stopping)
    with pytest.raises(KeyboardInterrupt):
        load_strengths(royal(), directory=tmp_path)
    got = load_strengths(royal(), directory=tmp_path)
    assert calls == [0, 1, 2, 2, 3]
    assert np.array_equal(got.turn, royal_strengths().turn)


def test_a_damaged_file_is_computed_again(tmp_path):
    load_strengths(royal(), directory=tmp_path)
    (path,) = (tmp_path / "strength").iterdir()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    assert np.array_equal(load_strengths(royal(), directory=tmp_path).turn, royal_strengths().turn)
    path.write_bytes(b"short")
    assert np.array_equal(load_strengths(royal(), directory=tmp_path).turn, royal_strengths().turn)


def test_a_cache_that_cannot_be_made_says_what_to_set(tmp_path):
    (tmp_path / "strength").write_text("a file in the way")
    with pytest.raises(FileError, match="TREEPLEX_CACHE"):
        load_strengths(royal(), directory=tmp_path)
