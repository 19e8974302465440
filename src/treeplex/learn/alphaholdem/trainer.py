"""AlphaHoldem's training: hands against snapshots, trinal-clip PPO, and periodic Elo matches."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.learn.alphaholdem.league import FIRST, Member, best_members, updated_ratings
from treeplex.learn.alphaholdem.net import Net
from treeplex.learn.alphaholdem.planes import PlaneCoder
from treeplex.learn.alphaholdem.self_play import PlanePolicy, PlayedHands, plane_policy, play_hands
from treeplex.learn.alphaholdem.settings import LATEST, AlphaHoldemSettings
from treeplex.learn.alphaholdem.table import TableNet
from treeplex.learn.alphaholdem.towers import Towers
from treeplex.learn.alphaholdem.trinal import policy_loss, traced_advantages, value_loss
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.neural.fitting.approximator import TABLE
from treeplex.learn.neural.fitting.optimised import TrainableModule
from treeplex.learn.neural.frame import named, under
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width


class Batch(NamedTuple):
    """Decisions as tensors for PPO, one per row; values are fractions of the maximum chips a player can put in."""

    cards: Any
    actions: Any
    legal: Any
    column: Any
    log_probability: Any
    advantage: Any
    returns: Any
    lost: Any
    won: Any


class AlphaHoldem:
    """Trains a network or table for poker against its own snapshots.

    Attributes:
        coder: encoder of the game.
        settings: the training settings.
        net: the network.
        members: the snapshots it plays against, best first; initially only itself.
        rating: its Elo rating, which is that of its newest snapshot.
        updates, hands, decisions: counts so far; decisions include both players' and those in Elo matches.
    """

    def __init__(self, coder: PlaneCoder, settings: AlphaHoldemSettings) -> None:
        """Start with random weights.

        Raises:
            GameError: too many decisions for a table.
        """
        self.coder, self.settings = coder, settings
        self.generator = np.random.default_rng(settings.seed)
        self.net = fresh_net(coder, settings)
        adam = torch_module().optim.Adam(self.net.module.parameters(), lr=settings.learning_rate, eps=1e-5)
        self.fitted = TrainableModule(self.net.module, None, adam, most=settings.norm)
        self.updates = self.hands = self.decisions = 0
        self.rating = FIRST
        self.members: tuple[Member, ...] = (Member(self.net.weights(), FIRST, 0),)

    def policy_of(self, member: Member) -> PlanePolicy:
        """A snapshot's policy over planes."""
        return plane_policy(self.net.with_weights(member.weights))

    def step(self) -> dict[str, float]:
        """Run one update: play hands against the snapshots, run PPO, and add a snapshot if one is due; returns losses and
        entropy."""
        settings = self.settings
        current = plane_policy(self.net)
        others = [current] if settings.opponents == LATEST else [self.policy_of(member) for member in self.members]
        played = self.play([current, *others], settings.hands)
        losses = self.learn(played)
        self.updates += 1
        if self.updates % settings.admit == 0:
            self.admit()
        return losses

    def play(self, policies: list[PlanePolicy | None], hands: int) -> PlayedHands:
        """Play hands of the first policy against each of the other policies, alternating seats."""
        seats = np.zeros((hands, 2), np.int64)
        numbers = np.arange(hands)
        others = len(policies) - 1
        seats[numbers, (numbers // others) % 2] = 1 + numbers % others
        played = play_hands(self.coder, policies, seats, self.generator)
        self.hands += hands
        self.decisions += played.decisions
        return played

    def learn(self, played: PlayedHands) -> dict[str, float]:
        """Run PPO on hands; returns the mean losses and entropy."""
        settings, torch = self.settings, torch_module()
        batch = self.batch_of(played)
        count, sums, steps = len(batch.column), np.zeros(3), 0
        for _ in range(settings.passes):
            order = self.generator.permutation(count)
            for part in np.array_split(order, max(1, round(count / settings.minibatch))):
                sums += self.descend(Batch(*(column[torch.from_numpy(part)] for column in batch)))
                steps += 1
        return dict(zip(("policy_loss", "value_loss", "entropy"), (sums / steps).tolist(), strict=True))

    def descend(self, batch: Batch) -> Floats:
        """Take a gradient step; returns policy loss, value loss and entropy."""
        settings, torch = self.settings, torch_module()
        logs, values = self.net(batch.cards, batch.actions, batch.legal)
        taken = logs.gather(1, batch.column[:, None])[:, 0]
        ratios = torch.exp(taken - batch.log_probability)
        policy = policy_loss(ratios, batch.advantage, clip=settings.clip, most=settings.third)
        value = value_loss(values, batch.returns, batch.lost, batch.won)
        entropy = -(logs.exp() * logs.masked_fill(~batch.legal, 0.0)).sum(dim=1).mean()
        self.fitted.descend(policy + settings.value * value - settings.entropy * entropy)
        return np.array([float(term.detach()) for term in (policy, value, entropy)])

    def batch_of(self, played: PlayedHands) -> Batch:
        """Decisions with advantages, normalised to mean 0 and variance 1, and returns."""
        settings, torch, rows = self.settings, torch_module(), played.rows
        payoffs, paid = played.payoffs / self.coder.most, played.paid / self.coder.most
        advantages = np.empty(len(rows.hand))
        ends = np.flatnonzero(np.diff(rows.hand, append=-1)) + 1
        for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            payoff = float(payoffs[rows.hand[first], rows.seat[first]])
            advantages[first:last] = traced_advantages(rows.value[first:last], payoff, settings.discount, settings.trace)
        returns = advantages + rows.value
        scaled = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        lost, won = paid[rows.hand, rows.seat], paid[rows.hand, 1 - rows.seat]
        reals = (torch.from_numpy(column).float() for column in (rows.log_probability, scaled, returns, lost, won))
        return Batch(*(torch.from_numpy(column) for column in (rows.cards, rows.actions, rows.legal, rows.column)), *reals)

    def admit(self) -> None:
        """Take a snapshot, rate it in matches against the others, and keep the best."""
        current, ratings = plane_policy(self.net), [member.rating for member in self.members]
        scores = []
        for member in self.members:
            played = self.play([current, self.policy_of(member)], self.settings.match)
            numbers = np.arange(len(played.payoffs))
            chips = float(played.payoffs[numbers, 1 - numbers % 2].sum())
            scores.append(0.5 + 0.5 * float(np.sign(chips)))
        self.rating, others = updated_ratings(self.rating, ratings, scores)
        newer = Member(self.net.weights(), self.rating, self.updates)
        older = [replace(member, rating=rating) for member, rating in zip(self.members, others, strict=True)]
        self.members = best_members([newer, *older], self.settings.best)

    def against_uniform(self, hands: int, seed: int) -> tuple[float, float]:
        """Mean winnings against uniform play, in chips per hand, and half the width of the 95% interval.

        Plays at least :data:`FEWEST_DEALS` hands, with a separate random stream.
        """
        hands = max(FEWEST_DEALS, hands)
        seats = np.zeros((hands, 2), np.int64)
        seats[np.arange(hands), np.arange(hands) % 2] = 1
        played = play_hands(self.coder, [plane_policy(self.net), None], seats, np.random.default_rng(seed))
        won = played.payoffs[np.arange(hands), 1 - np.arange(hands) % 2]
        return float(won.mean()), half_width(float(won.std(ddof=1)) / hands**0.5, hands)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        counts = np.array([self.updates, self.hands, self.decisions, len(self.members)])
        arrays = {**named("net", self.fitted.state()), "counts": counts, "random": random_state(self.generator)}
        for number, member in enumerate(self.members):
            arrays |= {f"member{number}.{name}": np.asarray(array) for name, array in member.weights.items()}
        arrays["ratings"] = np.array([self.rating, *(member.rating for member in self.members)])
        arrays["taken"] = np.array([member.update for member in self.members])
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`, bit for bit.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        self.fitted.restore(under("net", arrays))
        set_random_state(self.generator, arrays["random"])
        self.updates, self.hands, self.decisions, count = (int(number) for number in arrays["counts"])
        self.rating = float(arrays["ratings"][0])
        names = list(self.net.weights())
        self.members = tuple(
            Member(
                {name: np.array(arrays[f"member{number}.{name}"]) for name in names},
                float(arrays["ratings"][1 + number]),
                int(arrays["taken"][number]),
            )
            for number in range(count)
        )


def fresh_net(coder: PlaneCoder, settings: AlphaHoldemSettings) -> Net:
    """Create a network with random weights from the seed or, depending on the settings, a table.

    Raises:
        GameError: too many decisions for a table.
    """
    if settings.approximator == TABLE:
        return TableNet(coder)
    return Towers(
        coder.card_shape,
        coder.action_shape,
        channels=settings.channels,
        layers=settings.layers,
        width=settings.width,
        seed=settings.seed,
    )
