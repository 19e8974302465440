"""Policies as files: they come back bit for bit or are refused with a reason."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import load_policy, read_policy_header, save_policy
from treeplex.forms.policies.tabular import Policy, normalised, to_dataframe, to_table
from treeplex.games.base import TERMINAL, Game, State

SUFFIXES = [".safetensors", ".npz", ".json", ".csv"]


def random_policy(spec: str = "kuhn_poker", seed: int = 0) -> Policy:
    game = compile_game(spec)
    weights = np.random.default_rng(seed).random(int(game.tree.sequence_offsets[-1])) ** 8
    return Policy(game, normalised(game, weights))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker", "goofspiel(num_cards=3)"])
def test_policies_come_back_bit_for_bit(tmp_path: Path, suffix: str, spec: str) -> None:
    policy = random_policy(spec)
    path = tmp_path / f"policy{suffix}"
    save_policy(policy, path, metadata={"iterations": 100, "note": "é\n", "nested": {1: [None, 0.1]}})
    np.testing.assert_array_equal(load_policy(path, policy.game).probabilities, policy.probabilities)
    loaded = load_policy(path)
    np.testing.assert_array_equal(loaded.probabilities, policy.probabilities)
    assert loaded.game.identity == policy.game.identity
    header = read_policy_header(path)
    assert header["game"] == policy.game.spec
    assert header["metadata"] == {"iterations": 100, "note": "é\n", "nested": {"1": [None, 0.1]}}
    assert os.listdir(tmp_path) == [path.name]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), suffix=st.sampled_from(SUFFIXES))
def test_any_policy_comes_back(tmp_path: Path, seed: int, suffix: str) -> None:
    policy = random_policy(seed=seed)
    save_policy(policy, tmp_path / f"policy{suffix}")
    np.testing.assert_array_equal(load_policy(tmp_path / f"policy{suffix}").probabilities, policy.probabilities)


class LabelState(State):
    """One decision of player 0, at an infostate of any name."""

    def __init__(self, infostate: str, over: bool = False) -> None:
        self.infostate = infostate
        self.over = over

    def current_player(self) -> int:
        return TERMINAL if self.over else 0

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [] if self.over else [0, 1]

    def child(self, action: int) -> "LabelState":
        return LabelState(self.infostate, over=True)

    def returns(self) -> Sequence[float]:
        return [1.0, -1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return self.infostate


class LabelledGame(Game):
    def __init__(self, infostate: str) -> None:
        self.infostate = infostate

    def new_initial_state(self) -> LabelState:
        return LabelState(self.infostate)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("infostate", ["", " a", "a,b", '"a"', "# a", "a\tb", "a\nb", "a\rb", "a\r\nb", "\u2028", "1"])
def test_any_infostate_comes_back(tmp_path: Path, infostate: str, suffix: str) -> None:
    game = compile_game(LabelledGame(infostate))
    save_policy(Policy(game, np.array([1.0, 0.25, 0.75, 1.0])), tmp_path / f"policy{suffix}")
    assert load_policy(tmp_path / f"policy{suffix}", game)[infostate] == {0: 0.25, 1: 0.75}


def test_safetensors_without_a_suffix(tmp_path: Path) -> None:
    save_policy(random_policy(), tmp_path / "policy")
    assert os.listdir(tmp_path) == ["policy.safetensors"]
    assert load_policy(tmp_path / "policy").game.spec == "kuhn_poker"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_truncation_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"policy{suffix}"
    policy = random_policy()
    save_policy(policy, path)
    whole = path.read_bytes()
    for size in (0, 1, 7, 40, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:size])
        with pytest.raises((FileError, PolicyError), match="policy"):
            load_policy(path, policy.game)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_every_changed_byte_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"policy{suffix}"
    policy = random_policy()
    save_policy(policy, path)
    whole = path.read_bytes()
    start = whole.find(policy.probabilities.tobytes())
    assert start > 0
    for position in range(start, start + policy.probabilities.nbytes, 5):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises((FileError, PolicyError)):
            load_policy(path, policy.game)


def test_arrays_need_a_checksum(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    save_policy(random_policy(), path)
    header = read_policy_header(path)
    del header["checksum"]
    np.savez(path, probabilities=random_policy().probabilities, header=np.array(json.dumps(header)))
    with pytest.raises(FileError, match="checksum mismatch"):
        load_policy(path)


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_edited_text_needs_the_checksum_gone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"policy{suffix}"
    policy = Policy.uniform(compile_game("kuhn_poker"))
    save_policy(policy, path)
    text = path.read_text()
    if suffix == ".json":
        data = json.loads(text)
        data["policy"]["0"]["0"] = {"0": 0.25, "1": 0.75}
        changed, free = json.dumps(data), json.dumps({key: value for key, value in data.items() if key != "checksum"})
    else:
        changed = text.replace(",0.5\n", ",0.25\n", 1).replace(",0.5\n", ",0.75\n", 1)
        first, _, rest = changed.partition("\n")
        header = json.loads(first[1:])
        del header["checksum"]
        free = f"# {json.dumps(header)}\r\n" + rest.replace("\n", "\r\n")
    path.write_text(changed)
    with pytest.raises(FileError, match=r"checksum mismatch.*or delete checksum from its header to accept an edit"):
        load_policy(path)
    path.write_bytes(free.encode())
    assert load_policy(path)[0, policy.game.infostates[0]] == {0: 0.25, 1: 0.75}


def edit(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    """A function that changes the JSON of a file."""

    def apply(path: Path) -> None:
        data = json.loads(path.read_text())
        del data["checksum"]
        change(data)
        path.write_text(json.dumps(data))

    return apply


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda data: data.update(format_version=2), FileError, "format version 2, but this Treeplex reads 1"),
        (lambda data: data.update(format="other"), FileError, "not a policy file"),
        (lambda data: data.pop("game"), FileError, "not a policy file"),
        (lambda data: data.pop("policy"), FileError, "damaged or not a policy file"),
        (lambda data: data.update(policy=[]), FileError, "damaged or not a policy file"),
        (lambda data: data["policy"]["0"].update({"x": {"0": 1}}), PolicyError, "no infostate 'x' of player 0"),
        (lambda data: data["policy"]["0"].pop("0"), PolicyError, "infostate '0' lacks the probability of an action"),
        (lambda data: data["policy"]["0"]["0"].update({"5": 0}), PolicyError, "no action 5 at infostate '0'"),
        (lambda data: data["policy"]["0"]["0"].update({"00": 0.5}), PolicyError, "given twice"),
        (lambda data: data["policy"]["0"]["0"].update({"0": 0.9}), PolicyError, "not a distribution at infostate '0'"),
        (lambda data: data.update(game_identity="0"), PolicyError, "whose rules have changed"),
    ],
)
def test_json_that_does_not_fit(
    tmp_path: Path, change: Callable[[dict[str, object]], object], error: type, message: str
) -> None:
    path = tmp_path / "policy.json"
    save_policy(Policy.uniform(compile_game("kuhn_poker")), path)
    edit(change)(path)
    with pytest.raises(error, match=message):
        load_policy(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_policy_of_another_game(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"policy{suffix}"
    save_policy(random_policy("kuhn_poker"), path)
    with pytest.raises(PolicyError, match=r"for kuhn_poker, not for kuhn_poker\(players=3\)"):
        load_policy(path, compile_game("kuhn_poker(players=3)"))


def test_the_same_game_under_another_name(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    save_policy(random_policy(), tmp_path / "policy")
    assert load_policy(tmp_path / "policy", compile_game("openspiel:kuhn_poker")).game.spec == "openspiel:kuhn_poker"


@pytest.mark.parametrize("spec", ["evil.py:X", "evil.py", "turn_based(game=evil.py:X)"])
def test_loading_runs_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.chdir(tmp_path)
    save_policy(random_policy(), "policy.json")
    edit(lambda data: data.update(game=spec))(tmp_path / "policy.json")
    (tmp_path / "evil.py").write_text("raise SystemExit\n")
    with pytest.raises(FileError, match="never loaded automatically"):
        load_policy("policy.json")


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_pickles_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "policy.npz"
    with path.open("wb") as file:
        np.savez(file, probabilities=np.array([print], dtype=object), header=np.array("{}"))
    target = path.rename(tmp_path / f"policy{suffix}")
    with pytest.raises(FileError, match="damaged or not a policy file"):
        load_policy(target)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        load_policy(tmp_path / "none.npz")
    with pytest.raises(FileError, match=r"unknown kind of policy file .*use \.safetensors, \.npz, \.json, \.csv"):
        load_policy(tmp_path / "policy.pkl")
    with pytest.raises(FileError, match="create the folder"):
        save_policy(random_policy(), tmp_path / "no" / "policy.npz")
    with pytest.raises(FileError, match="metadata must be JSON-serialisable"):
        save_policy(random_policy(), tmp_path / "policy.npz", metadata={"x": object()})
    with pytest.raises(FileError, match="metadata must be JSON-serialisable"):
        save_policy(random_policy(), tmp_path / "policy.npz", metadata={"x": float("nan")})
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_tables() -> None:
    policy = random_policy()
    rows = to_table(policy)
    assert len(rows) == 24
    assert list(rows[0]) == ["player", "infostate", "action", "action_name", "probability"]
    assert sum(row["probability"] for row in rows) == pytest.approx(12.0)
    assert {row["action_name"] for row in rows} == {"Pass", "Bet"}
    pytest.importorskip("pandas")
    frame = to_dataframe(policy)
    assert list(frame.columns) == list(rows[0])
    assert frame.to_dict("records") == rows
