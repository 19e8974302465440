"""Correlation devices: distributions over joint plans from which a mediator recommends plans."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base import notebook
from treeplex.base.arrays import Floats, Ints
from treeplex.engine.plans.plans import first_misfit, follow, joint_gradients
from treeplex.errors import PolicyError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, as_compiled, normalised

Plans = NDArray[np.int32]

WEIGHT_TOLERANCE = 1e-9
"""Tolerance for the sum of a device's weights."""
SHOWN_PLANS = 10
"""Number of joint plans shown in a notebook."""


@dataclass(frozen=True, eq=False)
class Device:
    """A distribution over joint reduced plans of a compiled game.

    A **plan** of a player is a pure strategy that is undefined at infosets excluded by its own actions: an action index at
    every infoset that the player's own earlier actions lead to, -1 elsewhere.

    Attributes:
        game: the compiled game; a spec or rules are compiled.
        plans: for each player int32 [P_i, I_i], one plan per row; columns are the player's infosets in compiled order.
        support: int64 [S, N], each row a joint plan: the number of the plan of each player.
        weights: float64 [S], the probability of each joint plan; they sum to 1.

    Raises:
        PolicyError: shapes do not fit the game, a plan is not reduced, a plan number is out of range, or weights are not a
            distribution.
    """

    game: CompiledGame
    plans: tuple[Plans, ...]
    support: Ints
    weights: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", as_compiled(self.game))
        plans = tuple(whole_numbers(table, np.int32) for table in self.plans)
        object.__setattr__(self, "plans", plans)
        object.__setattr__(self, "support", whole_numbers(self.support, np.int64))
        object.__setattr__(self, "weights", np.ascontiguousarray(self.weights, np.float64))
        check_plans(self.game, plans)
        check_support(self)

    def __len__(self) -> int:
        return len(self.weights)

    def _repr_html_(self) -> str:
        likeliest = np.argsort(-self.weights, kind="stable")[:SHOWN_PLANS].tolist()
        players = range(self.game.players)
        rows = [
            (f"{self.weights[row]:.4g}", *(self.plan_text(player, int(self.support[row, player])) for player in players))
            for row in likeliest
        ]
        note = f"{SHOWN_PLANS} of {len(self):,} joint plans" if len(self) > SHOWN_PLANS else ""
        return notebook.table(("probability", *(f"plan of player {player}" for player in players)), rows, str(self.game), note)

    @cached_property
    def _pays(self) -> tuple[Floats, Floats]:
        """Compute mean gradients against the others' plans, float64 [Q], and expected payoffs, float64 [N]."""
        gradients, values = np.empty(int(self.game.tree.sequence_offsets[-1])), np.empty(self.game.players)
        sizes = [table.size for table in self.plans]
        offsets = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        flat = np.concatenate([table.ravel() for table in self.plans])
        joint_gradients(self.game.tree, self.game.payoff, flat, offsets, self.support, self.weights, gradients, values)
        for array in (gradients, values):
            array.setflags(write=False)
        return gradients, values

    @property
    def gradients(self) -> Floats:
        """Expected payoff of each sequence against the others' recommended plans, float64 [Q]."""
        return self._pays[0]

    @property
    def payoffs(self) -> Floats:
        """Expected payoff of each player when all follow the device, float64 [N]."""
        return self._pays[1]

    @property
    def welfare(self) -> float:
        """The sum of the players' expected payoffs."""
        return float(self.payoffs.sum())

    def strategy(self, player: int, plan: int) -> Floats:
        """Return the sequence form of a plan, float64 [Q_i] of zeros and ones."""
        tree = self.game.tree
        whole = np.zeros(int(tree.sequence_offsets[-1]))
        follow(tree, player, self.plans[player][plan], whole)
        return whole[int(tree.sequence_offsets[player]) : int(tree.sequence_offsets[player + 1])]

    def actions(self, player: int, plan: int) -> dict[str, int]:
        """Return a plan as ``{infostate: action id}`` at the infosets that it does not exclude."""
        first, row = int(self.game.tree.infoset_offsets[player]), self.plans[player][plan]
        return {
            self.game.infostates[first + local]: self.game.actions_at(first + local)[row[local]]
            for local in np.flatnonzero(row >= 0).tolist()
        }

    def plan_text(self, player: int, plan: int) -> str:
        """Format a plan: every infostate that it does not exclude, with its action."""
        names = self.game.action_names[player]
        return "; ".join(f"{infostate}: {names.get(a, str(a))}" for infostate, a in self.actions(player, plan).items())

    def shares(self, player: int) -> Floats:
        """Return the probability of each plan of a player, float64 [P_i]."""
        shares = np.bincount(self.support[:, player], weights=self.weights, minlength=len(self.plans[player]))
        return np.asarray(shares, np.float64)

    def average_strategy(self) -> Floats:
        """Return each player's average strategy in sequence form, float64 [Q]."""
        mean = np.zeros(int(self.game.tree.sequence_offsets[-1]))
        for player in range(self.game.players):
            sequences = slice(*(int(q) for q in self.game.tree.sequence_offsets[player : player + 2]))
            for plan, share in enumerate(self.shares(player)):
                mean[sequences] += share * self.strategy(player, plan)
        return mean

    def policy(self) -> Policy:
        """Return the players' marginal policies, without correlation."""
        return Policy(self.game, normalised(self.game, self.average_strategy()))

    def sample(self, generator: np.random.Generator, size: int | None = None) -> Ints:
        """Sample joint plans.

        Args:
            generator: the random generator.
            size: number of joint plans; None for one.

        Returns:
            The numbers of the plans, int64 [N], or [size, N].
        """
        edges = np.cumsum(self.weights)
        rows = np.searchsorted(edges, generator.random(size) * edges[-1], side="right")
        drawn: Ints = self.support[np.minimum(rows, len(self) - 1)]
        return drawn

    def merged(self) -> "Device":
        """Return the device sorted, without duplicate plans or joint plans of weight 0."""
        positive = self.weights > 0.0
        numbers, plans = [], []
        for player, table in enumerate(self.plans):
            used, index = np.unique(self.support[positive, player], return_inverse=True)
            rows, number = np.unique(table[used], axis=0, return_inverse=True)
            plans.append(rows)
            numbers.append(number.reshape(-1)[index.reshape(-1)])
        support, row = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
        weights = np.bincount(row.reshape(-1), weights=self.weights[positive], minlength=len(support))
        return Device(self.game, tuple(plans), support, weights / weights.sum())

    def __repr__(self) -> str:
        counts = "/".join(str(len(table)) for table in self.plans)
        return f"<correlation device for {self.game}: {len(self)} joint plans, plans {counts}>"


def whole_numbers(given: NDArray[Any], kind: type[np.int32] | type[np.int64]) -> NDArray[Any]:
    """Convert to a contiguous array of integers; reject values that would be rounded or truncated."""
    given = np.asarray(given)
    with np.errstate(invalid="ignore"):
        converted = np.ascontiguousarray(given, kind)
    if not np.array_equal(converted, given):
        wrong = given[converted != given].flat[0]
        raise PolicyError(f"plans, actions and support of a device must be integers, not {wrong!s}")
    return converted


def check_plans(game: CompiledGame, plans: tuple[Plans, ...]) -> None:
    """Check that plans fit the game."""
    if len(plans) != game.players:
        raise PolicyError(
            f"{game} has {game.players} players, but the device has plans for {len(plans)}; give one table per player"
        )
    for player, (table, infosets) in enumerate(zip(plans, game.infosets, strict=True)):
        if table.ndim != 2 or table.shape[1] != infosets:
            raise PolicyError(
                f"plans of player {player} of {game} must have {infosets} columns, one per infoset, not shape {table.shape}"
            )
        number, local = first_misfit(game.tree, player, table)
        if number >= 0:
            infoset = int(game.tree.infoset_offsets[player]) + local
            raise PolicyError(
                f"plan {number} of player {player} is not a reduced plan: it has {table[number, local]} at infostate "
                f"{game.infostates[infoset]!r}; give an action number (below {game.tree.infoset_layout[infoset, 2]}) "
                "at infosets that the plan can reach, -1 elsewhere"
            )


def check_support(device: Device) -> None:
    """Check that support and weights form a distribution over joint plans."""
    support, weights, players = device.support, device.weights, device.game.players
    if weights.ndim != 1 or len(weights) == 0 or support.shape != (len(weights), players):
        raise PolicyError(
            f"a device of {players} players needs a support of shape [S, {players}] and S >= 1 weights, not "
            f"shapes {support.shape} and {weights.shape}"
        )
    for player, table in enumerate(device.plans):
        column = support[:, player]
        if column.min() < 0 or column.max() >= len(table):
            row = int(np.argmax((column < 0) | (column >= len(table))))
            raise PolicyError(
                f"joint plan {row} refers to plan {column[row]} of player {player}, who has {len(table)} plans, numbered from 0"
            )
    total = float(weights.sum())
    if not (np.isfinite(weights).all() and weights.min() >= 0.0 and abs(total - 1.0) <= WEIGHT_TOLERANCE):
        raise PolicyError(
            f"weights of a device must be numbers >= 0 that sum to 1; these sum to {total!r}, and the smallest is "
            f"{weights.min()}"
        )
