"""Neural policies on rules: networks map infoset features to action probabilities, for games of any size."""

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, cast, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.base.storage.tensors import TensorFile, tensor, write_tensors
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import FileError, PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.heads import HEADS, SOFTMAX
from treeplex.forms.policies.remembered import HistoryState
from treeplex.forms.policies.sparse import file_format
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.policies.views import View
from treeplex.forms.sources.openspiel import same_rules
from treeplex.games.base import State

Layers = Sequence[tuple[Singles, Singles]]
"""Weights [outputs, inputs] and biases [outputs] of each layer, with ReLU between layers."""
FORMAT, VERSION = "treeplex neural policy", 1
BATCH = 1 << 14
"""Number of infosets evaluated together on a compiled game."""
ARRAYS = 4
"""Number of arrays [Q] in memory while a policy is tabulated."""


@final
class NeuralPolicy:
    """A behaviour policy of all players given by networks, or by a mixture of several networks per player.

    ``policy.action_probabilities(state)`` gives ``{action id: probability}`` at any state of the rules; :meth:`on` tabulates it
    on a compiled game. In a mixture, each player draws one network by its weight and plays it for the whole game. At an
    infoset, a network's share is therefore proportional to its weight times the player's own reach under it (Steinberger 2019,
    equation 6), so states must record their history (:class:`treeplex.forms.policies.remembered.HistoryState`).

    Attributes:
        spec: the text that names the game; empty for rules without a name.
        players: N.
        view: the networks' inputs and output columns.
        networks: one per player, with F inputs, or one for all players, with N more inputs for the one-hot player; in a mixture
            M per player, member by member. Outputs beyond the action columns are ignored.
        about: metadata on its origin.
        head: conversion of outputs to probabilities, from :data:`treeplex.forms.policies.heads.HEADS`.
        weights: float64 [M, N], weight of each member of a mixture; each player's weights sum to 1.
    """

    def __init__(
        self,
        spec: str,
        players: int,
        view: View,
        networks: Sequence[Layers],
        about: Mapping[str, str] | None = None,
        *,
        head: str = SOFTMAX,
        weights: Floats | None = None,
    ) -> None:
        """Wrap networks.

        Raises:
            PolicyError: shapes of the networks do not fit the view, the players or each other.
        """
        self.spec, self.players, self.view = spec, players, view
        self.networks: Final = tuple(tuple(layers) for layers in networks)
        self.about: Mapping[str, str] = dict(about or {})
        self.head, self._of_outputs = head, HEADS[head]
        self.weights: Final = np.ones((1, players)) if weights is None else weights / weights.sum(axis=0)
        if len(self.networks) not in ((1, players) if self.members == 1 else (self.members * players,)):
            raise PolicyError(f"{len(self.networks)} networks for {players} players; give one, or one per player")
        inputs = len(view.scale) + (players if self.shared else 0)
        for layers in self.networks:
            sizes = [inputs, *(len(biases) for _, biases in layers)]
            shapes = [matrix.shape for matrix, _ in layers]
            if shapes != [(after, before) for before, after in pairwise(sizes)] or sizes[-1] < len(view.actions):
                raise PolicyError(
                    f"a network with shapes {shapes} does not fit {inputs} features and {len(view.actions)} actions"
                )

    @property
    def shared(self) -> bool:
        """Whether all players share one network."""
        return len(self.networks) == 1 < self.players

    @property
    def members(self) -> int:
        """The number of networks per player; more than 1 only for mixtures."""
        return len(self.weights)

    def probabilities(self, player: int, rows: Singles, legal: NDArray[np.bool_], member: int = 0) -> Floats:
        """Return a player's policy at infosets with features ``rows``, float64 [n, columns].

        Args:
            player: the player to act.
            rows: float32 [n, F], see :class:`View`.
            legal: bool [n, columns], at least one action per row.
            member: index of the network in a mixture.
        """
        values = with_player(rows, player, self.players) if self.shared else rows
        values = outputs_of(self.networks[0 if self.shared else member * self.players + player], values)
        return self._of_outputs(values[:, : len(self.view.actions)], legal)

    def action_probabilities(self, state: State, player_id: int | None = None) -> dict[int, float]:
        """Return ``{action id: probability}`` at a state, like the method of this name in OpenSpiel.

        Raises:
            PolicyError: no player acts at the state, or all act at once.
            GameError: the state's features do not fit the policy.
        """
        player = state.current_player() if player_id is None else player_id
        if not 0 <= player < self.players:
            raise PolicyError("no single player acts at this state; give player_id, or a state at which one player acts")
        past, at = list[tuple[State, int]](), cast("object", state)
        if self.members > 1:
            if not isinstance(at, HistoryState):
                raise PolicyError("a mixture of networks depends on past play; pass a HistoryState")
            past = list(at.past(player))
        posterior = self.weights[:, player].copy()
        for before, action in past:
            posterior *= self._at(before, player)[:, self.view.column_of[action]]
        actions = list(state.legal_actions())
        if posterior.sum() == 0.0:
            return dict.fromkeys(actions, 1.0 / len(actions))
        chances = (posterior / posterior.sum()) @ self._at(state, player)
        return dict(zip(actions, chances[self.view.columns(actions)].tolist(), strict=True))

    def _at(self, state: State, player: int) -> Floats:
        """Return action probabilities at a state for each network of a mixture, float64 [M, columns]."""
        row, legal = self.view.row(state, player)[None], np.zeros((1, len(self.view.actions)), np.bool_)
        legal[0, self.view.columns(list(state.legal_actions()))] = True
        return np.concatenate([self.probabilities(player, row, legal, member) for member in range(self.members)])

    def on(self, game: CompiledGame) -> Policy:
        """Return the tabular policy on a compiled game, evaluated batch by batch.

        Raises:
            PolicyError: the game has other players or actions, or there is too little memory.
            GameError: the features of the game's infosets do not fit the policy.
        """
        tree, ids = game.tree, np.array(self.view.actions)
        known = np.isin(game.action_ids[game.tree.sequence_infoset >= 0], ids).all()
        other = self.spec and game.spec and self.spec != game.spec and not same_rules(self.spec, game.spec)
        if game.players != self.players or not known or other:
            raise PolicyError(
                f"this is a policy for {self.spec or 'rules without a name'}, not for {game}; train one for this game"
            )
        needed, free = 8 * ARRAYS * len(game.action_ids), available_memory()
        if free is not None and needed > free:
            raise PolicyError(
                f"a table of all {len(game.action_ids):,} sequences of {game} takes {megabytes(needed)}, but only "
                f"{megabytes(free)} "
                "are free; evaluate the policy by playouts instead (treeplex sample --against)"
            )
        if self.members == 1:
            return Policy(game, self._table(game, 0))
        sums, strategy = np.zeros(len(game.action_ids)), np.empty(len(game.action_ids))
        for member, weights in enumerate(self.weights):
            table = self._table(game, member)
            for player, weight in enumerate(weights):
                reach(tree, player, table, strategy)
                sequences = slice(*tree.sequence_offsets[player : player + 2])
                sums[sequences] += weight * strategy[sequences]
        return Policy(game, normalised(game, sums))

    def _table(self, game: CompiledGame, member: int) -> Floats:
        """Return the policy of one network of a mixture on a compiled game, float64 [Q]."""
        tree, ids, table = game.tree, np.array(self.view.actions), np.ones(len(game.action_ids))
        for player in range(self.players):
            first, last = (int(infoset_offset) for infoset_offset in tree.infoset_offsets[player : player + 2])
            for begin in range(first, last, BATCH):
                end = min(begin + BATCH, last)
                start, stride, actions = tree.infoset_layout[begin:end].T[:, :, None]
                numbers = np.arange(int(actions.max()))
                has = numbers < actions
                sequences = np.where(has, start + stride * numbers, 0)
                columns = np.searchsorted(ids, np.where(has, game.action_ids[sequences], ids[0]))
                rows, legal = np.arange(end - begin)[:, None], np.zeros((end - begin, len(ids)), np.bool_)
                legal[np.broadcast_to(rows, has.shape)[has], columns[has]] = True
                chances = self.probabilities(player, self.view.rows_of(game, begin, end), legal, member)
                table[sequences[has]] = chances[rows, columns][has]
        return table

    def save(self, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
        """Write the policy to a ``.safetensors`` file; ``about`` replaces :attr:`about`.

        Raises:
            FileError: the file cannot be written.
        """
        said = {"format": FORMAT, "version": str(VERSION), "game": self.spec, "players": str(self.players)}
        said |= {"networks": str(len(self.networks)), "view": self.view.to_json(), "head": self.head}
        layers = {
            f"{network}.{layer}.{name}": tensor(np.asarray(array, np.float32))
            for network, layers_of in enumerate(self.networks)
            for layer, pair in enumerate(layers_of)
            for name, array in zip(("matrix", "biases"), pair, strict=True)
        }
        mixed = {} if self.members == 1 else {"weights": tensor(self.weights)}
        write_tensors(path, {**{name: str(value) for name, value in (about or self.about).items()}, **said}, layers | mixed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "NeuralPolicy":
        """Read a policy written by :meth:`save`; executes no code and loads no game.

        Raises:
            FileError: the file is missing, changed, or not a neural policy.
        """
        with TensorFile(path, FORMAT, VERSION) as file:
            try:
                count, players = int(file.about["networks"]), int(file.about["players"])
                networks = []
                for network in range(count):
                    depth = sum(name.startswith(f"{network}.") for name in file) // 2
                    names = [(f"{network}.{layer}.matrix", f"{network}.{layer}.biases") for layer in range(depth)]
                    networks.append([(file.read(matrix, "F32"), file.read(biases, "F32")) for matrix, biases in names])
                about = {name: text for name, text in file.about.items() if name not in OWN_FIELDS}
                weights, head = file.read("weights", "F64") if "weights" in file else None, file.about.get("head", SOFTMAX)
                view = View.from_json(file.about["view"])
                return cls(file.about["game"], players, view, networks, about, head=head, weights=weights)
            except (KeyError, ValueError, TypeError, PolicyError) as error:
                raise FileError(f"{path}: the policy is damaged ({error}); restore a backup") from error

    def __repr__(self) -> str:
        return f"<neural policy for {self.spec or 'rules without a name'}>"


OWN_FIELDS = ("format", "version", "game", "players", "networks", "view", "head", "digest")


def outputs_of(layers: Layers, rows: Singles) -> Singles:
    """Return a network's outputs, float32 [n, outputs], for rows float32 [n, F]."""
    for number, (matrix, biases) in enumerate(layers):
        rows = rows @ matrix.T + biases
        if number + 1 < len(layers):
            np.maximum(rows, 0.0, out=rows)
    return rows


def with_player(rows: Singles, player: int | NDArray[np.int64], players: int) -> Singles:
    """Append the one-hot acting player to rows [n, F]; float32 [n, F + N]."""
    acting = np.zeros((len(rows), players), np.float32)
    acting[np.arange(len(rows)), player] = 1.0
    return np.concatenate([rows, acting], axis=1)


def is_neural_policy(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's header declares a neural policy, without validating the file."""
    return file_format(path) == FORMAT
