"""A table in place of AlphaHoldem's network: one row per distinct network input, without approximation error."""

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State
from treeplex.learn.alphaholdem.net import Net, Tensor
from treeplex.learn.alphaholdem.planes import Offer, PastAction, PlaneCoder, Planes
from treeplex.learn.common.device import torch_module

MOST_ROWS = 200_000
"""Limit on a table's rows and on the public states searched for them; each row's key alone takes about 100 bytes."""
UNKNOWN = 0
"""Row for unlisted inputs, which occur only after off-tree bets; its policy is always uniform."""


class TableNet(Net):
    """A table with a row of logits and a value for each distinct pair of card and action planes; initially 0.

    Attributes:
        rows: row number, from 1, of each pair of planes, keyed by their bytes.
    """

    def __init__(self, coder: PlaneCoder) -> None:
        """Create a row for every decision of a game.

        Raises:
            GameError: more than :data:`MOST_ROWS` decisions.
        """
        self.rows = rows_of(coder)
        nn, count = torch_module().nn, 1 + len(self.rows)
        tables = {"policy": nn.Embedding(count, coder.columns, UNKNOWN), "value": nn.Embedding(count, 1, UNKNOWN)}
        for table in tables.values():
            nn.init.zeros_(table.weight)
        super().__init__(nn.ModuleDict(tables))

    def outputs(self, cards: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        names = named(cards.numpy(), actions.numpy())
        rows = torch_module().tensor([self.rows.get(name, UNKNOWN) for name in names])
        return self.module["policy"](rows), self.module["value"](rows)


def named(cards: Planes, actions: Planes) -> list[bytes]:
    """Keys of pairs of card and action planes: their packed bytes."""
    flat = np.concatenate([cards.reshape(len(cards), -1), actions.reshape(len(actions), -1)], axis=1)
    return [row.tobytes() for row in np.packbits(flat, axis=1)]


def rows_of(coder: PlaneCoder) -> dict[bytes, int]:
    """All pairs of card and action planes in the game, keyed by their bytes and numbered from 1.

    Raises:
        GameError: more than :data:`MOST_ROWS` pairs.
    """
    rows = dict[bytes, int]()
    hands = np.arange(len(coder.game.hands)).tolist()
    for state, done, offer in decisions(coder):
        cards = coder.cards(state, hands)
        actions: NDArray[np.uint8] = np.broadcast_to(coder.actions(done, offer), (len(hands), *coder.action_shape))
        for name in named(cards, actions):
            rows.setdefault(name, 1 + len(rows))
        if len(rows) > MOST_ROWS:
            raise too_large(f"{MOST_ROWS:,} decisions")
    return rows


def decisions(coder: PlaneCoder) -> Iterator[tuple[State, tuple[PastAction, ...], Offer]]:
    """All public decision states in order of depth, each with the actions so far and the legal actions.

    Raises:
        GameError: more than :data:`MOST_ROWS` public states.
    """
    game, seen = coder.game, 1
    waiting = deque[tuple[State, tuple[PastAction, ...]]]([(game.first_state(), ())])
    while waiting:
        state, done = waiting.popleft()
        options = game.options(state)
        seen += 0 if options.player == TERMINAL else len(options.labels)
        if seen > MOST_ROWS:
            raise too_large(f"{MOST_ROWS:,} public states")
        if options.player == TERMINAL:
            continue
        if options.player == CHANCE:
            waiting += [(game.after(state, label), done) for label in options.labels]
            continue
        offer = coder.offer(state)
        yield state, done, offer
        for label, column in zip(offer.labels, offer.column.tolist(), strict=True):
            waiting.append((game.after(state, label), (*done, PastAction(offer.player, offer.street, column, offer.legal))))


def too_large(count: str) -> GameError:
    """The error for a game with more than ``count`` states or decisions."""
    return GameError(f"the game has more than {count}, too many for a table; set approximator=network, or use a smaller game")
