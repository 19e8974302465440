"""Policies: a distribution over actions at every infoset of every player."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.notebook import table
from treeplex.errors import PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.base import Game
from treeplex.games.turn_based import other_names

COLUMNS = ("player", "infostate", "action", "action_name", "probability")
"""Columns of policies as tables."""
SHOWN_INFOSETS = 20
"""Number of infosets shown in a notebook."""
PART = 1 << 18
"""Sequences that are normalised at a time, so that large games need no temporary arrays of their size."""


class AnyState(Protocol):
    """The methods of a state that policies call; both Treeplex's and OpenSpiel's states have them."""

    def current_player(self) -> int: ...
    def information_state_string(self, player: int, /) -> str: ...


class PolicyMapping(Mapping[tuple[int, str], dict[int, float]]):
    """A mapping ``{(player, infostate): {action id: probability}}``, also indexed by infostate alone; compares by identity."""

    def get(self, key: object, default: Any = None) -> Any:
        """``{action id: probability}`` at an infostate or (player, infostate); ``default`` if the game does not have it."""
        if key not in self:
            return default
        return self[key]  # type: ignore[index]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Policy(PolicyMapping):
    """A behaviour policy of all players on a compiled game; also a mapping from infosets to action probabilities.

    ``policy[infostate]`` and ``policy[player, infostate]`` give ``{action id: probability}``;
    ``policy.action_probabilities(state)`` does for any state of the rules, Treeplex's or OpenSpiel's.

    Attributes:
        game: the compiled game.
        probabilities: float64 [Q], the probability of each sequence's last action at its infoset; 1 for empty sequences.
    """

    def __init__(self, game: CompiledGame | str | Game | Any, probabilities: NDArray[np.float64]) -> None:
        """Wrap ``probabilities``, float64 [Q], without copying.

        Args:
            game: the compiled game, or a spec or rules, which are compiled.
            probabilities: float64 [Q].

        Raises:
            PolicyError: wrong shape, NaN, negative, or an infoset whose probabilities do not sum to 1 within 1e-9.
        """
        self.game = as_compiled(game)
        self.probabilities = validated(self.game, probabilities)

    @classmethod
    def uniform(cls, game: CompiledGame | str | Game | Any) -> "Policy":
        """Return the uniform policy of a compiled game, a spec or rules."""
        game = as_compiled(game)
        return cls(game, uniform_probabilities(game))

    @classmethod
    def from_weights(cls, game: CompiledGame, weights: NDArray[np.float64]) -> "Policy":
        """Return the policy proportional to non-negative weights of sequences, float64 [Q]; uniform where all are 0."""
        return cls(game, normalised(game, np.asarray(weights, np.float64)))

    def __getitem__(self, key: str | tuple[int, str]) -> dict[int, float]:
        return self.at(self.infoset(key))

    def __contains__(self, key: object) -> bool:
        return bool(self.known_keys(key))

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self.game.lookup)

    def __len__(self) -> int:
        return len(self.game.infostates)

    def infoset(self, key: str | tuple[int, str]) -> int:
        """Return the infoset of an infostate string, or of a pair (player, string).

        In games with simultaneous moves, the line with the player to act (``Current player: 0``) is optional.
        """
        keys = self.known_keys(key)
        if len(keys) > 1:
            raise PolicyError(f"infostate {key!r} belongs to several players; use policy[player, infostate]")
        if not keys:
            raise PolicyError(f"no infostate {key!r} in {self.game}; list(policy) lists them")
        return self.game.lookup[keys[0]]

    def known_keys(self, key: object) -> list[tuple[int, str]]:
        """Return the pairs (player, infostate) that a key may refer to."""
        lookup = self.game.lookup
        if isinstance(key, str):
            pairs = [(player, key) for player in range(self.game.players)]
        else:
            pairs = [key] if isinstance(key, tuple) and len(key) == 2 else []
        known = [pair for pair in pairs if pair in lookup]
        others = [(player, name) for player, infostate in pairs for name in other_names(player, str(infostate))]
        return known or [pair for pair in others if pair in lookup]

    def at(self, infoset: int) -> dict[int, float]:
        """``{action id: probability}`` at an infoset given by number."""
        sequences = self.game.sequences_at(infoset)
        return {
            int(action): float(probability)
            for action, probability in zip(self.game.action_ids[sequences], self.probabilities[sequences], strict=True)
        }

    def action_probabilities(self, state: AnyState, player_id: int | None = None) -> dict[int, float]:
        """``{action id: probability}`` at a state; the name and meaning are OpenSpiel's.

        Raises:
            PolicyError: no player acts at the state, or all act at once and ``player_id`` is not given.
        """
        player = state.current_player() if player_id is None else player_id
        if player < 0:
            raise PolicyError("no single player acts at this state; give player_id, or a state at which one player acts")
        return self[player, state.information_state_string(player)]

    def to_dict(self) -> dict[str, dict[int, float]]:
        """``{infostate: {action id: probability}}``.

        Raises:
            PolicyError: an infostate string belongs to two players.
        """
        check_distinct(self.game)
        return {self.game.infostates[infoset]: self.at(infoset) for infoset in range(len(self))}

    def to_dataframe(self) -> Any:
        """A ``pandas.DataFrame``, one row per action: ``player``, ``infostate``, ``action``, ``action_name``, ``probability``.

        Raises:
            PolicyError: pandas is not installed.
        """
        return to_dataframe(self)

    def __repr__(self) -> str:
        return f"<policy for {self.game}: {len(self)} infosets>"

    def _repr_html_(self) -> str:
        rows = []
        for infoset in range(min(len(self), SHOWN_INFOSETS)):
            player = self.game.player_of(infoset)
            names = self.game.action_names[player]
            played = ", ".join(f"{names.get(a, str(a))} {p:.3f}" for a, p in self.at(infoset).items())
            rows.append((str(player), self.game.infostates[infoset], played))
        note = f"{SHOWN_INFOSETS} of {len(self):,} infosets" if len(self) > SHOWN_INFOSETS else ""
        return table(("player", "infostate", "policy"), rows, note=note)


def as_compiled(game: CompiledGame | str | Game | Any) -> CompiledGame:
    """Return the compiled game of a spec or rules, or the compiled game itself.

    Raises:
        SpecError, FileError, GameError: as :func:`treeplex.compile`.
    """
    if isinstance(game, CompiledGame):
        return game
    from treeplex.forms.compile.compile_game import compile_game  # which imports this module through OpenSpiel's games

    return compile_game(game)


def to_table(policy: Policy) -> list[dict[str, Any]]:
    """Return one row per action: ``player``, ``infostate``, ``action`` (id), ``action_name``, ``probability``."""
    game = policy.game
    rows = []
    for player, infostate in policy:
        names = game.action_names[player]
        rows += [
            dict(zip(COLUMNS, (player, infostate, action, names.get(action, str(action)), probability), strict=True))
            for action, probability in policy[player, infostate].items()
        ]
    return rows


def to_dataframe(policy: Policy) -> Any:
    """Return :func:`to_table` as a ``pandas.DataFrame``.

    Raises:
        PolicyError: pandas is not installed.
    """
    from treeplex.base.dataframes import dataframe  # imported here, since few runs need it

    return dataframe(to_table(policy), COLUMNS, error=PolicyError)


def uniform_probabilities(game: CompiledGame) -> NDArray[np.float64]:
    """Return 1 / (number of actions) for each sequence, float64 [Q]; 1 for empty sequences."""
    probabilities = np.ones(len(game.tree.sequence_infoset))
    for part in parts(game):
        infoset = game.tree.sequence_infoset[part]
        inner = infoset >= 0
        probabilities[part][inner] = 1.0 / game.tree.infoset_layout[infoset[inner], 2]
    return probabilities


def parts(game: CompiledGame) -> Iterator[slice]:
    """Yield slices of sequences, for sums over large games without temporary arrays of their size."""
    size = len(game.tree.sequence_infoset)
    return (slice(start, min(start + PART, size)) for start in range(0, size, PART))


def infoset_sums(game: CompiledGame, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of ``values`` [Q] over the actions of each infoset, float64 [I]."""
    sums = np.zeros(len(game.infostates))
    for part in parts(game):
        infoset = game.tree.sequence_infoset[part]
        inner = infoset >= 0
        np.add.at(sums, infoset[inner], values[part][inner])
    return sums


def normalised(game: CompiledGame, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalise non-negative weights [Q] to probabilities [Q]; uniform at infosets whose weights sum to zero."""
    sums, probabilities = infoset_sums(game, weights), uniform_probabilities(game)
    for part in parts(game):
        infoset = game.tree.sequence_infoset[part]
        inner, total = infoset >= 0, np.ones(len(infoset))
        total[inner] = sums[infoset[inner]]
        positive = total > 0
        shares = weights[part] / np.where(positive, total, 1.0)
        np.copyto(probabilities[part], np.minimum(shares, 1.0), where=positive)
    probabilities[game.tree.sequence_offsets[:-1]] = 1.0
    return probabilities


def validated(game: CompiledGame, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Validate probabilities as float64 [Q]; a :class:`PolicyError` names the first invalid infostate."""
    array = np.asarray(probabilities, dtype=np.float64)
    size = int(game.tree.sequence_offsets[-1])
    if array.shape != (size,):
        raise PolicyError(f"a policy for {game} needs {size} probabilities, not an array of shape {array.shape}")
    sums = infoset_sums(game, array)
    bad = ~(np.abs(sums - 1.0) <= 1e-9)
    negative = ~(array >= 0.0) & (game.tree.sequence_infoset >= 0)
    bad[game.tree.sequence_infoset[negative]] = True
    if bad.any():
        infoset = int(np.argmax(bad))
        chances: Mapping[int, float] = {int(game.action_ids[q]): float(array[q]) for q in game.sequences_at(infoset)}
        raise PolicyError(
            f"not a distribution at infostate {game.infostates[infoset]!r}: {chances}; give nonnegative numbers that sum to 1"
        )
    return array


def check_distinct(game: CompiledGame) -> None:
    """Reject a game in which two players share an infostate string, which a table by infostate cannot tell apart.

    Raises:
        PolicyError: an infostate string belongs to two players.
    """
    owners: dict[str, int] = {}
    for player, infostate in game.lookup:
        if owners.setdefault(infostate, player) != player:
            raise PolicyError(
                f"infostate {infostate!r} of {game} belongs to players {owners[infostate]} and {player}; save the policy as "
                "safetensors, or give the players' infostates different strings"
            )
