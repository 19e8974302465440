"""Exact distances of a correlation device to six kinds of correlated equilibrium.

A mediator draws a joint plan from the device and recommends every player its own part; ``Q`` counts sequences, ``I``
infosets, ``N`` players. A player may deviate while the others follow. The concepts differ in the time of the
deviation, the recommendations seen by then, and the play afterwards (u is the player's payoff, mu the device):

========  ==========================================================================================================
CCE       normal-form coarse: before any recommendation; then plays independently (Moulin and Vial 1978; Farina, Bianchi
          and Sandholm 2020, "Coarse correlation in extensive-form games")
EFCCE     extensive-form coarse: at an infoset reached by following, before its recommendation; then plays independently
          (Farina, Bianchi and Sandholm 2020)
EFCE      extensive-form: as EFCCE, after the recommendation (von Stengel and Forges 2008, "Extensive-form correlated
          equilibrium")
CE        normal-form: after seeing the whole plan at the start; plays independently (Aumann 1974), with reduced plans
AFCCE     agent-form coarse: at one infoset, before its recommendation, takes another action there; follows afterwards
AFCE      agent-form: as AFCCE, after the recommendation
========  ==========================================================================================================

After deviating, a player receives no more recommendations in CCE, EFCCE and EFCE, but remembers the earlier ones: at an infoset
reached by following, these are the own sequence to it.

The **distance** is OpenSpiel's (``corr_dist.h``): the sum over players of the best-response gain in the game
that starts with the mediator's draw and has deviating as an action. It is 0 exactly at an equilibrium of the concept. A best
response may deviate at many places, one after each history of recommendations. The **gap** is that of Farina, Bianchi and
Sandholm and of Celli et al. (2020, "No-regret learning dynamics for extensive-form correlated equilibrium"): the largest gain
of a player who deviates at one place only (after one recommendation, if it is seen), weighted by the probability of reaching
it. It is at most the distance, 0 if and only if the distance is 0, and negative if every trigger loses.

Always CCE <= EFCCE <= EFCE <= CE and AFCCE <= AFCE <= EFCE in distance. In agent form a player who has deviated from
a recommendation follows later recommendations, also at infosets that the own plan excludes, where a reduced plan is undefined.
There the player follows the device's average recommendation at that infoset (uniform if it never recommends an action).
OpenSpiel, which does not reduce plans, finds such recommendations in the plans themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.notebook import table
from treeplex.base.notices import reporting, tell
from treeplex.engine.plans.correlation import (
    BEST_BY_PLAN,
    EMPTY,
    EXPECTED,
    LARGEST_BY_PLAN,
    DeviationSums,
    Preorder,
    add_plans,
    best_deviation,
    extended_value,
)
from treeplex.engine.tree.form import Tree
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.correlation.device import Device

CONCEPTS = ("CCE", "EFCCE", "EFCE", "CE", "AFCCE", "AFCE")
"""Equilibrium concepts of :func:`judge_device`, in order."""
MOST_WORK = 20_000_000_000
"""Maximum of joint plans times payoff entries (a few minutes)."""
MOST_NUMBERS = 250_000_000
"""Maximum size of one player's tables (two gigabytes)."""


@dataclass(frozen=True)
class Trigger:
    """The best single deviation of a player.

    Attributes:
        player: the player.
        infoset: the compiled infoset; None for deviations before the game starts.
        told: index of the recommended action at the infoset; None if it is not seen.
        gain: gain in expected payoff, in the game's units.
    """

    player: int
    infoset: int | None
    told: int | None
    gain: float


@dataclass(frozen=True)
class Distance:
    """The distance of a device from one kind of correlated equilibrium, in the game's units.

    Attributes:
        concept: one of :data:`CONCEPTS`.
        gains: best-response gain of each player in the game with the mediator; never negative.
        triggers: best single deviation of each player; the gain may be negative for the coarse concepts, since deviating
            without seeing the recommendation forgoes its value.
    """

    concept: str
    gains: tuple[float, ...]
    triggers: tuple[Trigger, ...]

    @property
    def distance(self) -> float:
        """The sum of the gains."""
        return sum(self.gains)

    @property
    def gap(self) -> float:
        """The largest gain from any single deviation."""
        return max(trigger.gain for trigger in self.triggers)


@dataclass(frozen=True, repr=False)
class DeviceJudgement:
    """Result of :func:`judge_device` in the game's units; ``judgement["EFCE"]`` is a :class:`Distance`.

    Attributes:
        value: expected payoff of each player when all follow.
        distances: one for each of :data:`CONCEPTS`.
    """

    value: tuple[float, ...]
    distances: tuple[Distance, ...]

    @property
    def welfare(self) -> float:
        """The sum of the expected payoffs."""
        return sum(self.value)

    def __len__(self) -> int:
        return len(self.distances)

    def __iter__(self) -> Iterator[Distance]:
        return iter(self.distances)

    def __repr__(self) -> str:
        values = ", ".join(f"{value:+.4g}" for value in self.value)
        distances = ", ".join(f"{distance.concept} {distance.distance:.3g}" for distance in self.distances)
        return f"<distances of a device: {distances}; value ({values})>"

    def __getitem__(self, concept: str) -> Distance:
        for distance in self.distances:
            if distance.concept == concept.upper():
                return distance
        raise SpecError(f"unknown concept {concept!r}; choose from {', '.join(CONCEPTS)}")

    def _repr_html_(self) -> str:
        rows = ((distance.concept, f"{distance.distance:.4g}", f"{distance.gap:.4g}") for distance in self.distances)
        caption = "value " + ", ".join(f"{value:+.6g}" for value in self.value)
        return table(("concept", "distance", "gap"), rows, caption)


def judge_device(device: Device, *, progress: bool | None = None) -> DeviceJudgement:
    """Compute the distance of a device to every kind of correlated equilibrium.

    This takes one gradient per joint plan (fewer if many differ in only one player's plan) and one sweep per plan of a player,
    O(support x terminals) in all, independent of the number of plans of the game.

    Args:
        device: joint plans and their probabilities.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Returns:
        Expected payoffs, and for each concept the distance, gains and triggers, in the game's units.

    Raises:
        AlgorithmError: the support or the game is too large.
    """
    merged = device.merged()
    check_size(merged)
    players, text = merged.game.players, f"judging {len(merged):,} joint plans"
    views, distances = list[View](), list[Distance]()
    with reporting(progress, text):
        for player in range(players):
            tell(f"{text}: deviation gains of player {player} of {players}")
            views.append(view_of(merged, player))
        for concept in CONCEPTS:
            tell(f"{text}: {concept}")
            distances.append(distance_to(concept, views))
    return DeviceJudgement(tuple(float(view.seen.totals[EXPECTED]) for view in views), tuple(distances))


@dataclass(frozen=True, eq=False)
class View:
    """One player's recommendations and the payoffs from deviating.

    Attributes:
        game: the compiled game.
        player: the player.
        order: the player's places.
        seen: sums over the joint plans.
        following: float64 [K], payoff of each place when recommended and followed.
        told: float64 [K], value of following from the recommendation of a place on.
        leaving: float64 [K] or [n] for each of ``EFCE``, ``EFCCE``, ``AFCE``, ``AFCCE``: best payoff of deviating there.
    """

    game: CompiledGame
    player: int
    order: Preorder
    seen: DeviationSums
    following: Floats
    told: Floats
    leaving: dict[str, Floats]


def view_of(device: Device, player: int) -> View:
    """Return one player's view of the device; joint plans are sorted so that gradients can be shared."""
    game = device.game
    tree = game.tree
    order = preorder(tree, player)
    places, widest = len(order.sequence), int(order.actions.max(initial=1))
    seen = DeviationSums(np.zeros(int(order.table[-1])), np.zeros((places, widest)), np.zeros(places), np.zeros(4))
    others = [other for other in range(game.players) if other != player]
    rows = np.lexsort([device.support[:, column] for column in [*reversed(others), player]])
    flat = np.concatenate([table.ravel() for table in device.plans])
    offsets = np.concatenate(([0], np.cumsum([table.size for table in device.plans])[:-1])).astype(np.int64)
    behaviour = np.ascontiguousarray(device.policy().probabilities[order.sequence])
    add_plans(
        tree,
        game.payoff,
        player,
        order,
        flat,
        offsets,
        np.ascontiguousarray(device.support[rows]),
        device.weights[rows],
        behaviour,
        seen,
    )
    infoset_at, number = infosets_of_places(order)
    informed, uninformed = np.zeros(places), np.zeros(len(order.start))
    best_deviation(order, seen, informed, uninformed)
    together = np.zeros((len(order.start), widest))
    np.add.at(together, infoset_at, seen.swapped)
    real = np.arange(widest) < order.actions[:, None]
    return View(
        game,
        player,
        order,
        seen,
        following=seen.gradients[order.table[:-1] + number] if places else np.zeros(0),
        told=seen.swapped[np.arange(places), number],
        leaving={
            "EFCE": informed,
            "EFCCE": uninformed,
            "AFCE": np.where(real[infoset_at], seen.swapped, -np.inf).max(axis=1, initial=-np.inf),
            "AFCCE": np.where(real, together, -np.inf).max(axis=1, initial=-np.inf),
        },
    )


def infosets_of_places(order: Preorder) -> tuple[Ints, Ints]:
    """Return the infoset (in preorder) and the action index of each place, int64 [K] each."""
    infoset_at, number = np.zeros((2, len(order.sequence)), np.int64)
    for infoset, (start, actions) in enumerate(zip(order.start.tolist(), order.actions.tolist(), strict=True)):
        infoset_at[start : start + actions] = infoset
        number[start : start + actions] = np.arange(actions)
    return infoset_at, number


def distance_to(concept: str, views: Sequence[View]) -> Distance:
    """Return the distance to one concept."""
    gains = [gain_of(concept, view) for view in views]
    return Distance(concept, tuple(gain for gain, _ in gains), tuple(trigger for _, trigger in gains))


def gain_of(concept: str, view: View) -> tuple[float, Trigger]:
    """Return one player's best-response gain and best single deviation."""
    order, totals = view.order, view.seen.totals
    expected = float(totals[EXPECTED])
    if concept == "CE":
        gain = float(totals[BEST_BY_PLAN]) - expected
        return max(0.0, gain), Trigger(view.player, None, None, float(totals[LARGEST_BY_PLAN]))
    if concept == "CCE":
        best = float(totals[EMPTY]) + float(view.leaving["EFCCE"][order.parent < 0].sum())
        return max(0.0, best - expected), Trigger(view.player, None, None, best - expected)
    informed, leaving = concept in ("EFCE", "AFCE"), view.leaving[concept]
    stay = extended_value(order, view.following.copy(), np.full(len(leaving), -np.inf), informed)
    best = extended_value(order, view.following.copy(), leaving, informed)
    return max(0.0, best - stay), single_trigger(view, leaving, informed)


def single_trigger(view: View, leaving: Floats, informed: bool) -> Trigger:
    """Return the best single deviation at any place that the device reaches."""
    order, followed, shares = view.order, view.told, view.seen.shares
    if not len(order.start):
        return Trigger(view.player, None, None, 0.0)
    infoset_at, number = infosets_of_places(order)
    if not informed:
        followed, shares = (np.bincount(infoset_at, weights=column).astype(np.float64) for column in (followed, shares))
    gains = np.where(shares > 0.0, leaving - followed, -np.inf)
    best = int(np.argmax(gains))
    infoset = int(infoset_at[best]) if informed else best
    return Trigger(
        view.player,
        int(view.game.tree.infoset_offsets[view.player] + order.infoset[infoset]),
        int(number[best]) if informed else None,
        float(gains[best]),
    )


def preorder(tree: Tree, player: int) -> Preorder:
    """Return a player's sequences in preorder."""
    first, last = (int(n) for n in tree.infoset_offsets[player : player + 2])
    below: dict[int, list[int]] = {}
    for infoset in range(last - 1, first - 1, -1):
        below.setdefault(int(tree.infoset_parent[infoset]), []).append(infoset)
    root = int(tree.sequence_offsets[player])
    stack = [(infoset, -1) for infoset in below.get(root, [])]
    infosets, starts, counts, parents, sequences, depths, depth_at = (list[int]() for _ in range(7))
    while stack:
        infoset, parent = stack.pop()
        start, stride, actions = (int(n) for n in tree.infoset_layout[infoset])
        infosets.append(infoset - first)
        starts.append(len(sequences))
        counts.append(actions)
        parents.append(parent)
        depths.append(0 if parent < 0 else depth_at[parent] + 1)
        for action in range(actions - 1, -1, -1):
            stack += [(column, starts[-1] + action) for column in below.get(start + action * stride, [])]
        sequences += range(start, start + actions * stride, stride)
        depth_at += [depths[-1]] * actions
    after = next_above(depths)
    ends = [*starts, len(sequences)]
    end = [ends[column] for column in after]
    rows = np.repeat(np.array(end, np.int64) - np.array(starts, np.int64), counts)
    table = np.concatenate(([0], np.cumsum(rows)))
    return Preorder(
        *(np.array(column, np.int64) for column in (infosets, starts, counts, end, after, parents, sequences, table))
    )


def next_above(depths: Sequence[int]) -> list[int]:
    """Return, for each entry of a preorder, the next entry outside its subtree."""
    after, open_at = [len(depths)] * len(depths), list[int]()
    for position, depth in enumerate(depths):
        while open_at and depths[open_at[-1]] >= depth:
            after[open_at.pop()] = position
        open_at.append(position)
    return after


def check_size(device: Device) -> None:
    """Check the limits on time and memory."""
    game = device.game
    game.need_stored("the distance of a device")
    entries = len(game.payoff.sparse.values) + sum(
        int(rows * columns * (last - begin)) for _, rows, columns, begin, last in game.payoff.dense.groups
    )
    work = len(device) * entries
    if work > MOST_WORK:
        raise AlgorithmError(
            f"this device has {len(device):,} joint plans on a game with {entries:,} payoff entries; "
            f"their product exceeds {MOST_WORK:,}, so use only the {MOST_WORK // entries:,} most likely joint plans"
        )
    for player in range(game.players):
        numbers = int(preorder(game.tree, player).table[-1])
        if numbers > MOST_NUMBERS:
            raise AlgorithmError(
                f"{game} is too large to evaluate correlation devices: the deviations of player {player} need "
                f"{numbers:,} array entries, more than {MOST_NUMBERS:,}; choose a smaller game"
            )
