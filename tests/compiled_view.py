"""Compiled games seen through names: numbering and layout drop out, what remains must agree with the oracle."""

from collections.abc import Mapping

import numpy as np

from tests.oracle import Floats, Key, Table
from tests.oracle import Policy as PolicyDict
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.policies.tabular import Policy

Name = tuple[Key, int] | None
"""A sequence by name: its infoset's key and its action id; None for the empty one."""


def sequence_names(game: CompiledGame) -> list[Name]:
    """The name of every sequence."""
    names: list[Name] = []
    for q, infoset in enumerate(game.tree.sequence_infoset.tolist()):
        if infoset < 0:
            names.append(None)
        else:
            names.append(((game.player_of(infoset), game.infostates[infoset]), int(game.action_ids[q])))
    return names


def array_of(game: CompiledGame, policy: PolicyDict) -> Floats:
    """A policy as the engine's array."""
    return np.array([1.0 if name is None else policy[name[0]][name[1]] for name in sequence_names(game)])


def policy_of(game: CompiledGame, policy: PolicyDict) -> Policy:
    """A policy as the library's."""
    return Policy(game, array_of(game, policy))


def dict_of(policy: Policy) -> dict[Key, dict[int, float]]:
    """The library's policy as a dict."""
    return {key: policy[key] for key in policy}


def table_of(game: CompiledGame, values: Floats) -> Table:
    """Values of sequences as a table over infosets."""
    return {key: values[game.sequences_at(infoset)] for key, infoset in game.lookup.items()}


def structure(game: CompiledGame) -> dict[Key, tuple[Name, list[int]]]:
    """Every infoset: the sequence that leads to it and its actions."""
    names = sequence_names(game)
    return {key: (names[game.tree.infoset_parent[infoset]], game.actions_at(infoset)) for key, infoset in game.lookup.items()}


def payoffs(game: CompiledGame, player: int) -> dict[tuple[Name, ...], float]:
    """The multilinear payoff of one player, entry by entry; names in player order."""
    names = sequence_names(game)
    if game.players == 2:
        matrix = payoff_matrix(game, player).tocoo()
        first, second = game.tree.sequence_offsets[:2]
        matrix.sum_duplicates()
        rows, columns = matrix.coords
        entries = zip(rows + first, columns + second, matrix.data, strict=True)
        return {(names[i], names[j]): float(value) for i, j, value in entries if abs(value) > 1e-15}
    sparse = game.payoff.sparse
    found: dict[tuple[Name, ...], float] = {}
    start, end = game.tree.sequence_offsets[player : player + 2]
    for q in range(start, end):
        for k in range(sparse.pointers[q], sparse.pointers[q + 1]):
            key = [names[other] for other in sparse.others[k]]
            key.insert(player, names[q])
            assert tuple(key) not in found
            found[tuple(key)] = float(sparse.values[k])
    return found


def close_tables(found: Mapping[Key, Floats], expected: Mapping[Key, Floats], tolerance: float = 1e-12) -> None:
    """Assert that two tables agree."""
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=tolerance, atol=tolerance, err_msg=repr(key))


def close_policies(found: PolicyDict, expected: PolicyDict, tolerance: float = 1e-12) -> None:
    """Assert that two policies agree, actions included."""
    assert {key: list(at) for key, at in found.items()} == {key: list(at) for key, at in expected.items()}
    close_tables(
        {key: np.array(list(at.values())) for key, at in found.items()},
        {key: np.array(list(at.values())) for key, at in expected.items()},
        tolerance,
    )
