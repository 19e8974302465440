"""Node locks: conversion of locks, given by line and hands, to fixed strategies at nodes and boards of a compiled spot."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.cards.cards import hand_numbers
from treeplex.holdem.engine.form import COUNT, STORE
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.spot_form import FixedStrategy
from treeplex.holdem.policies.line import PLAYERS, Place, chosen, find_place, read_steps
from treeplex.holdem.spots.locks import AnyLock, NodeLock, TextLock

MARGIN = 1e-4
"""Tolerance for a hand's probabilities to sum to 1."""


def solver_locks(game: CompiledSpot, locks: Iterable[AnyLock | FixedStrategy]) -> tuple[FixedStrategy, ...]:
    """Convert locks to the solver's format, one per node and board; if several lock the same hand, the last one applies.

    Args:
        game: the spot, compiled without isomorphism.
        locks: the locks; fixed strategies for the same spot without isomorphism are kept unchanged.

    Raises:
        SpecError: a line ends at no decision, an action is missing, shares do not sum to 1, no hand is in the range, or later
            locks override a lock entirely; the message names the lock and the alternatives.
    """
    strategies: dict[tuple[int, int, int], Floats] = {}
    given: list[tuple[AnyLock, Floats, list[tuple[int, int, int]]]] = []
    for lock in locks:
        if isinstance(lock, FixedStrategy):
            strategies[lock.board, lock.player, lock.node] = lock.strategy.copy()
            continue
        location = decision_of(game, lock)
        node = game.betting.nodes[location.node]
        assert isinstance(node, Decision)
        table, street = table_of(game, lock, node), len(location.roots) - 1
        row = game.forests[street].numbers[node.player].index(location.node)
        keys = [(game.first_boards[street] + number, node.player, row) for number in boards_below(game, location.deals)]
        here = [columns_of(game, table, key) for key in keys]
        if all(np.isnan(columns).any(axis=0).all() for columns in here):
            raise SpecError(f"{lock.place}: {PLAYERS[node.player]} has none of these hands there; name hands of the range")
        for key, columns in zip(keys, here, strict=True):
            locked_columns = strategies.setdefault(key, np.full(columns.shape, np.nan))
            locked = ~np.isnan(columns).any(axis=0)
            locked_columns[:, locked] = columns[:, locked]
        given.append((lock, table, keys))
    for lock, table, keys in given:
        if not any(np.isclose(strategies[key], columns_of(game, table, key)).all(axis=0).any() for key in keys):
            raise SpecError(
                f"{lock.place}: no effect: later locks of {lock.line or 'root'!r} cover the same hands and take "
                "precedence; remove one, or put the lock with fewer hands last"
            )
    return tuple(FixedStrategy(board, player, row, strategy) for (board, player, row), strategy in strategies.items())


def columns_of(game: CompiledSpot, table: Floats, key: tuple[int, int, int]) -> Floats:
    """The columns of a table [actions, H] for the hands on a board, [actions, hands]; ``key`` is (board, player, row)."""
    number, player, _ = key
    street = next(s for s in reversed(range(len(game.boards))) if game.first_boards[s] <= number)
    columns: Floats = table[:, game.boards[street][number - game.first_boards[street]].hands[player]]
    return columns


def with_locks(game: CompiledSpot, average: NDArray[Any], locks: Sequence[FixedStrategy]) -> NDArray[Any]:
    """The average strategy with locks applied to locked hands that are never reached, whose average is zero.

    Returns:
        ``average``, or a modified copy.
    """
    locked_average = average
    for lock in locks:
        row = game.form.boards[lock.board]
        street = next(s for s, first in enumerate(game.first_boards) if lock.board < first + len(game.boards[s]))
        hands, (_, first_action, actions) = int(row[COUNT + lock.player]), game.forests[street].nodes[lock.player][lock.node]
        start = int(row[STORE + lock.player]) + first_action * hands
        here = slice(start, start + actions * hands)
        unknown = (locked_average[here].reshape(actions, hands).sum(axis=0) == 0) & ~np.isnan(lock.strategy).any(axis=0)
        if unknown.any():
            locked_average = average.copy() if locked_average is average else locked_average
            locked_average[here].reshape(actions, hands)[:, unknown] = lock.strategy[:, unknown]
    return locked_average


def decision_of(game: CompiledSpot, lock: AnyLock) -> Place:
    """The decision at the end of a lock's line."""
    try:
        location = find_place(game.spot, game.betting, lock.line, open_cards=True)
    except SpecError as error:
        raise SpecError(f"{lock.place}: {error}") from None
    if not isinstance(game.betting.nodes[location.node], Decision):
        raise SpecError(
            f"{lock.place}: no player acts after {location.line or 'the start'!r}; end the line where a player acts"
        )
    return location


def boards_below(game: CompiledSpot, deals: Sequence[tuple[int, ...]]) -> list[int]:
    """The indices of a street's boards after these deals; an empty deal matches any cards."""
    boards = [0]
    for street, deal in enumerate(deals, 1):
        children = [child for number in boards for child in game.boards[street - 1][number].children]
        before = len(game.boards[street - 1][0].cards)
        wanted = sorted(deal)
        boards = [index for index in children if not deal or sorted(game.boards[street][index].cards[before:]) == wanted]
    return boards


def table_of(game: CompiledSpot, lock: AnyLock, node: Decision) -> Floats:
    """A lock as an array, float64 [actions, H]; NaN for hands that are not locked."""
    size, actions = len(game.spot.format.hands), len(node.actions)
    table = np.full((actions, size), np.nan)
    if isinstance(lock, NodeLock):
        strategy = np.asarray(lock.strategy, np.float64)
        if strategy.shape != (actions, len(lock.hands)):
            raise SpecError(
                f"{lock.place}: strategy has shape {strategy.shape}; {actions} actions and {len(lock.hands)} hands need "
                f"{(actions, len(lock.hands))}"
            )
        table[:, lock.hands] = strategy
    else:
        table[:, wanted_hands(game, lock)] = shares_of(game, lock, node)[:, None]
    given = ~np.isnan(table).any(axis=0)
    sums = table[:, given].sum(axis=0)
    if (table[:, given] < 0).any() or (np.abs(sums - 1) > MARGIN).any():
        raise SpecError(f"{lock.place}: a hand's probabilities are negative or do not sum to 1; correct them")
    table[:, given] = table[:, given] / sums
    return table


def wanted_hands(game: CompiledSpot, lock: TextLock) -> NDArray[np.bool_]:
    """Whether a lock applies to each hand, bool [H]."""
    size = len(game.spot.format.hands)
    if lock.hands is None:
        return np.ones(size, bool)
    if len(lock.hands) == size:
        return lock.hands > 0
    if game.spot.format.hole != 2:
        raise SpecError(
            f"{lock.place}: the hands have two cards, but the format deals one hole card; leave out the "
            "hands to lock all of them"
        )
    return np.asarray(lock.hands[hand_numbers(game.spot.format.hands)] > 0)


def shares_of(game: CompiledSpot, lock: TextLock, node: Decision) -> Floats:
    """The frequency that a lock sets for each action of its decision, [actions]; omitted actions get 0."""
    shares = np.zeros(len(node.actions))
    for word, share in lock.strategy:
        steps = read_steps(word)
        if len(steps) != 1:
            raise SpecError(f"{lock.place}: {word!r} is not an action; write x, c, f, b50%, r300 or a")
        shares[chosen(game.spot, node, steps[0], f"{lock.place}, action {word!r}")] += share
    return shares
