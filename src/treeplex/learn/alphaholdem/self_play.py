"""Concurrent hands between networks: each network evaluates, in one batch, all hands in which it acts.

Since no game is compiled and infosets are not numbered, games of any size can be played.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State, pick
from treeplex.learn.alphaholdem.net import Net
from treeplex.learn.alphaholdem.planes import Offer, PastAction, PlaneCoder, Planes
from treeplex.learn.common.device import torch_module

PlanePolicy = Callable[[Planes, Planes, NDArray[np.bool_]], tuple[Floats, Floats]]
"""A policy over planes: maps card planes, action planes and legal columns, one row per decision, to log probabilities [B,
columns] and values [B]."""


class Rows(NamedTuple):
    """The learner's decisions, one per row.

    Attributes:
        cards: uint8 [D, *card_shape].
        actions: uint8 [D, *action_shape].
        legal: bool [D, columns].
        column: int64 [D], the chosen column.
        log_probability: float64 [D], its log probability.
        value: float64 [D], the predicted value.
        hand: int64 [D], the hand's index.
        seat: int64 [D], the learner's seat in that hand.
    """

    cards: Planes
    actions: Planes
    legal: NDArray[np.bool_]
    column: NDArray[np.int64]
    log_probability: Floats
    value: Floats
    hand: NDArray[np.int64]
    seat: NDArray[np.int64]


class PlayedHands(NamedTuple):
    """Finished hands.

    Attributes:
        rows: the learner's decisions, hand by hand in order of play.
        payoffs: float64 [B, 2], in chips.
        paid: float64 [B, 2], chips that each player put in.
        decisions: number of decisions by both players.
    """

    rows: Rows
    payoffs: Floats
    paid: Floats
    decisions: int


class Hand:
    """A hand in progress."""

    __slots__ = ("done", "held", "state")

    def __init__(self, state: State, held: tuple[int, ...]) -> None:
        self.state, self.held = state, held
        self.done: list[PastAction] = []


def play_hands(
    coder: PlaneCoder, policies: Sequence[PlanePolicy | None], seats: NDArray[np.int64], generator: np.random.Generator
) -> PlayedHands:
    """Play a batch of hands to the end.

    Args:
        coder: encoder of the game.
        policies: the policies, the learner's first; only its decisions are recorded. None stands for the uniform policy.
        seats: int64 [B, 2], index of the policy in each seat of each hand.
        generator: random number generator.
    """
    game = coder.game
    first, ranges = game.first_state(), game.first_ranges()
    hands = [Hand(first, game.draw(first, ranges, generator)) for _ in seats]
    payoffs, paid = np.zeros((2, len(seats), 2))
    row_parts: list[tuple[Any, ...]] = []
    decisions, live = 0, list(range(len(seats)))
    while live:
        turns_by_policy: list[list[tuple[int, Offer]]] = [[] for _ in policies]
        going = []
        for number in live:
            hand = hands[number]
            while (options := game.options(hand.state)).player == CHANCE:
                label = options.labels[pick(generator, game.chances(hand.state, hand.held))]
                hand.state = game.after(hand.state, label)
            if options.player == TERMINAL:
                stakes = game.stakes_at(hand.state)
                assert stakes is not None
                payoffs[number], paid[number] = game.payoffs(hand.state, hand.held), stakes.paid
                continue
            going.append(number)
            turns_by_policy[seats[number, options.player]].append((number, coder.offer(hand.state)))
        live = going
        decisions += len(live)
        for index, (policy, turns) in enumerate(zip(policies, turns_by_policy, strict=True)):
            if turns:
                rows = decide(coder, policy, hands, turns, generator)
                if index == 0 and rows is not None:
                    row_parts.append(rows)
    return PlayedHands(learner_rows(coder, row_parts), payoffs, paid, decisions)


def decide(
    coder: PlaneCoder,
    policy: PlanePolicy | None,
    hands: Sequence[Hand],
    turns: Sequence[tuple[int, Offer]],
    generator: np.random.Generator,
) -> tuple[Any, ...] | None:
    """Sample and play a policy's actions in the hands where it acts; returns the fields of :class:`Rows`, or None for uniform
    play."""
    drawn = generator.random(len(turns))
    if policy is None:
        for (number, offer), draw in zip(turns, drawn.tolist(), strict=True):
            played = int(draw * len(offer.labels))
            act(coder, hands[number], offer, int(offer.column[played]), played)
        return None
    cards = np.concatenate([coder.cards(hands[n].state, [hands[n].held[offer.player]]) for n, offer in turns])
    actions = np.stack([coder.actions(hands[n].done, offer) for n, offer in turns])
    legal = np.stack([offer.legal for _, offer in turns])
    logs, values = policy(cards, actions, legal)
    summed = np.cumsum(np.exp(logs), axis=1)
    columns = (drawn[:, None] * summed[:, -1:] >= summed).sum(axis=1)
    for (number, offer), column in zip(turns, columns.tolist(), strict=True):
        act(coder, hands[number], offer, column, int(offer.played[column]))
    numbers = np.array([number for number, _ in turns])
    seats = np.array([offer.player for _, offer in turns])
    return cards, actions, legal, columns, logs[np.arange(len(turns)), columns], values, numbers, seats


def act(coder: PlaneCoder, hand: Hand, offer: Offer, column: int, played: int) -> None:
    """Play the legal action with index ``played`` in a hand."""
    hand.done.append(PastAction(offer.player, offer.street, column, offer.legal))
    hand.state = coder.game.after(hand.state, offer.labels[played])


def learner_rows(coder: PlaneCoder, parts: Sequence[tuple[Any, ...]]) -> Rows:
    """Concatenate the learner's decisions, ordered by hand index."""
    if not parts:
        empty = np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)
        cards, actions = (np.zeros((0, *shape), np.uint8) for shape in (coder.card_shape, coder.action_shape))
        return Rows(cards, actions, np.zeros((0, coder.columns), np.bool_), np.zeros(0, np.int64), *empty)
    rows = Rows._make(np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(rows.hand, kind="stable")
    return Rows._make(column[order] for column in rows)


def plane_policy(net: Net) -> PlanePolicy:
    """A network as a policy over planes."""
    torch = torch_module()

    def ask(cards: Planes, actions: Planes, legal: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            logs, values = net(*(torch.from_numpy(planes) for planes in (cards, actions, legal)))
        return logs.double().numpy(), values.double().numpy()

    return ask
