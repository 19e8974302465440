"""Policies on rules as tables: lookups, conversion, files that are whole or refused."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import treeplex as tp
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.sparse import Infosets, TablePolicy, is_table_policy, load_table_policy, save_table_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load


def table_of(policy: Policy, left_out: int = 0) -> TablePolicy:
    """A table of the policy, without some infosets at the end."""
    players = policy.game.players
    infosets, rows = [Infosets() for _ in range(players)], [list[float]() for _ in range(players)]
    for player, infostate in list(policy)[: len(policy) - left_out]:
        found = policy[player, infostate]
        infosets[player].add(infostate, list(found))
        rows[player] += found.values()
    return TablePolicy(policy.game.spec, infosets, [np.array(row) for row in rows], {"algorithm": "cfr"})


@pytest.fixture(params=["leduc_poker(ranks=2)", "goofspiel(num_cards=3,imp_info=true)"])
def solved(request: pytest.FixtureRequest) -> Policy:
    return tp.solve(request.param, "cfr", iterations=7).policy


def test_a_table_says_what_the_policy_says(solved: Policy) -> None:
    table = table_of(solved)
    assert len(table) == len(solved)
    assert list(table) == sorted(solved, key=lambda key: key[0])
    assert all(table[key] == solved[key] for key in solved)
    assert np.array_equal(table.on(solved.game).probabilities, solved.probabilities)
    state = load(solved.game.spec).new_initial_state()
    while state.current_player() != -4:
        if state.current_player() >= 0:
            assert table.action_probabilities(state) == solved.action_probabilities(state)
        action = state.chance_outcomes()[0][0] if state.is_chance_node() else state.legal_actions()[-1]
        state = state.child(action)


def test_outside_the_table_play_is_uniform(solved: Policy) -> None:
    table = table_of(solved, left_out=9)
    assert len(table) == len(solved) - 9
    outside = list(solved)[-9:]
    whole = table.on(solved.game)
    for key in outside:
        assert key not in table
        assert len(set(whole[key].values())) == 1
        with pytest.raises(PolicyError, match="no infostate"):
            table[key]
    empty = TablePolicy.uniform(solved.game.spec, 2)
    assert np.array_equal(empty.on(solved.game).probabilities, Policy.uniform(solved.game).probabilities)


def test_what_comes_into_the_tables_later_is_not_in_the_policy(solved: Policy) -> None:
    table = table_of(solved)
    table.infosets[0].add("new", [4, 5])
    assert len(table) == len(solved)
    assert (0, "new") not in table
    assert (0, "new") not in list(table)
    with pytest.raises(PolicyError, match="grown"):
        save_table_policy(table, "never")


def test_a_policy_of_another_game_is_refused(solved: Policy) -> None:
    table = table_of(tp.solve("kuhn_poker", "cfr", iterations=3).policy)
    with pytest.raises(PolicyError, match="made for kuhn_poker"):
        table.on(solved.game)
    wrong = Infosets()
    wrong.add(next(iter(solved))[1], [7])
    with pytest.raises(PolicyError, match=r"are \[7\], but"):
        TablePolicy("", [wrong, Infosets()], [np.ones(1), np.empty(0)]).on(solved.game)


def test_files_keep_everything_and_any_reader_can_open_them(solved: Policy, tmp_path: Path) -> None:
    table, path = table_of(solved), tmp_path / "policy.safetensors"
    table.infosets[1].add("Ünïcode ♠\n", [2**40, -3])
    table = TablePolicy(table.spec, table.infosets, [table.probabilities[0], np.append(table.probabilities[1], [0.25, 0.75])])
    save_table_policy(table, path)
    found = load_table_policy(path)
    assert found.spec == solved.game.spec
    assert list(found) == list(table)
    assert all(found[key] == table[key] for key in table)
    assert found[1, "Ünïcode ♠\n"] == {2**40: 0.25, -3: 0.75}
    assert [each.text_bytes for each in found.infosets] == [each.text_bytes for each in table.infosets]
    assert np.array_equal(safetensors.numpy.load_file(path)["probabilities.1"], table.probabilities[1])
    save_table_policy(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["again", "policy.safetensors"]


def test_files_say_what_they_are(solved: Policy, tmp_path: Path) -> None:
    save_table_policy(table_of(solved), tmp_path / "table.safetensors")
    tp.policies.save(solved, tmp_path / "policy.safetensors")
    (tmp_path / "short").write_bytes(b"abc")
    names = ("table.safetensors", "policy.safetensors", "short", "none")
    assert [is_table_policy(tmp_path / name) for name in names] == [True, False, False, False]


def test_an_empty_policy_is_a_file_too(tmp_path: Path) -> None:
    save_table_policy(TablePolicy.uniform("kuhn_poker", 3), tmp_path / "empty")
    assert load_table_policy(tmp_path / "empty").players == 3
    assert len(load_table_policy(tmp_path / "empty")) == 0


def test_files_that_are_not_right_are_refused(solved: Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy"
    save_table_policy(table_of(solved), path)
    data = path.read_bytes()
    for cut in (0, 5, 8, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(FileError, match="truncated or not a tensor file"):
            load_table_policy(path)
    for place in (len(data) - 1, len(data) // 2, data.index(b"leduc" if b"leduc" in data else b"goof")):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FileError, match="checksum"):
            load_table_policy(path)
    path.write_bytes(data + b"more")
    with pytest.raises(FileError, match="truncated"):
        load_table_policy(path)
    with pytest.raises(FileError, match="cannot read"):
        load_table_policy(tmp_path / "none")
    tp.policies.save(solved, tmp_path / "other.safetensors")
    with pytest.raises(FileError, match="not 'treeplex table policy'"):
        load_table_policy(tmp_path / "other.safetensors")


def rewritten(path: Path, **changes: object) -> None:
    """Write a file anew with other tensors or metadata, its checksum right."""
    with TensorFile(path, "treeplex table policy", 1) as file:
        tensors = {name: tensor(file.read(name, entry["dtype"])) for name, entry in file.entries.items()}
        about = {key: value for key, value in file.about.items() if key != "digest"}
    for name, value in changes.items():
        if isinstance(value, np.ndarray):
            tensors[name.replace("_", ".")] = tensor(value)
        else:
            about[name] = str(value)
    write_tensors(path, about, tensors)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "format version 2"),
        ({"players": "x"}, "number of players"),
        ({"players": 3}, "has no I64 tensor 'ends.2'"),
        ({"probabilities_0": np.array([0.5, 0.6, 0.5, 0.5])}, "are not a distribution"),
        ({"probabilities_0": np.array([0.5, 0.5])}, "are not a distribution"),
        ({"probabilities_0": np.array([np.nan, 0.5, 0.5, 0.5])}, "are not a distribution"),
        ({"first_0": np.array([0, 2, 3])}, "do not match"),
        ({"ends_0": np.array([1, 1])}, "do not match"),
        ({"infostates_0": np.array([97, 97], np.uint8)}, "twice"),
        ({"infostates_0": np.array([97, 200], np.uint8)}, "UTF-8"),
        ({"actions_0": np.array([1.0])}, "tensor 'actions.0'"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    infosets = Infosets()
    infosets.add("a", [0, 1])
    infosets.add("b", [0, 1])
    path = tmp_path / "policy"
    save_table_policy(TablePolicy("g", [infosets, Infosets()], [np.full(4, 0.5), np.empty(0)]), path)
    rewritten(path)
    assert load_table_policy(path)[0, "b"] == {0: 0.5, 1: 0.5}
    rewritten(path, **changes)
    with pytest.raises(FileError, match=message):
        load_table_policy(path)


def test_a_header_that_lies_about_sizes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy"
    entry = {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]}
    header = json.dumps({"__metadata__": {"format": "treeplex table policy", "version": "1"}, "x": entry}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"12345678")
    with pytest.raises(FileError, match="data are incomplete"):
        load_table_policy(path)
    path.write_bytes(struct.pack("<Q", 2**62) + header)
    with pytest.raises(FileError, match="header is incomplete"):
        load_table_policy(path)


def test_nothing_is_left_behind_when_writing_fails(solved: Policy, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="create the folder"):
        save_table_policy(table_of(solved), tmp_path / "none" / "policy")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="give a file name"):
        save_table_policy(table_of(solved), tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_compiled_games_of_the_same_rules_take_it() -> None:
    compiled = compile_game("kuhn_poker")
    table = table_of(tp.solve(compiled, "dcfr", iterations=300).policy)
    assert tp.exploitability(compiled, table.on(compiled)) < 1e-3
