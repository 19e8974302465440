"""An agent that plays a bucketed limit hold'em policy at a table with real cards."""

import os
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import FileError, SpecError
from treeplex.forms.policies.files import load_policy, read_policy_header
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.buckets.compile_buckets import Infostates
from treeplex.holdem.buckets.game import BucketGame
from treeplex.holdem.buckets.named import NAME
from treeplex.holdem.buckets.rows import BucketRows
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.spots.known import unbound
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.run.solve.solution import Solution
from treeplex.run.solve.tree_game import policy_file
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

DEEP = 100
"""Minimum stack of the real-card game, in big blinds."""


def bucket_agent(game: PublicHoldem, policy: Any, generator: np.random.Generator | None) -> "BucketAgent | None":
    """The agent for a ``bucketed_holdem`` policy, its file or its run folder; None for any other policy.

    Raises:
        SpecError: the policy's game differs from ``game``.
    """
    if isinstance(policy, str | os.PathLike):
        path, spec = policy_file(policy), ""
        with suppress(FileError):
            spec = read_policy_header(path)["game"]
        policy = load_policy(path) if spec.partition("(")[0] == NAME else None
    elif isinstance(policy, Solution):
        policy = policy.policy
    if not isinstance(policy, Policy) or not isinstance(policy.game.rules, BucketGame):
        return None
    return BucketAgent(game, policy, generator)


class BucketAgent(BaseAgent):
    """Plays limit hold'em in either seat, choosing actions by the bucket of its hand.

    Attributes:
        table: the policy on the compiled bucket game.
    """

    draws = False

    def __init__(self, game: PublicHoldem, policy: Policy, generator: np.random.Generator | None = None) -> None:
        """Create an agent that is not yet seated.

        Raises:
            SpecError: ``game`` is not :func:`limit_holdem` of the policy's game, apart from stacks.
        """
        super().__init__(game, generator)
        rules, infostates = policy.game.rules, policy.game.infostates
        assert isinstance(rules, BucketGame)
        assert isinstance(infostates, Infostates)
        check_table(game, rules)
        self.table, self._betting, self._rows = policy, rules.tree, BucketRows(rules.buckets, recall=True)
        self._infosets_at = cache(infostates.at)
        self._sequences: dict[tuple[int, ...], Ints] = {}
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a hand; see :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.state, self._node, self._sequences = self.game.first_state(), 0, {}

    def see(self, event: int) -> None:
        """Observe an event; see :meth:`treeplex.search.agents.agent.Agent.see`."""
        options, following = self.game.options(self.state), self.game.after(self.state, event)
        if options.player != CHANCE:
            decision = self._betting.nodes[self._node]
            assert isinstance(decision, Decision)
            child = decision.children[list(options.labels).index(event)]
            below = self._betting.nodes[child]
            self._node = below.child if isinstance(below, StreetEnd) else child
        self.state = following

    def policy(self) -> Floats:
        """Return the policy at the current decision [A, H]; uniform for bucket sequences that are never dealt."""
        self.check_acting()
        board = hand_of(self.state).board
        if board not in self._sequences:
            self._sequences = {board: self._rows.at(board)}  # the next call is likely for the same board
        infosets, dealt = self._infosets_at(self._node)
        sequences = self._sequences[board]
        index = np.minimum(np.searchsorted(dealt, sequences), len(dealt) - 1)
        first, step, actions = self.table.game.tree.infoset_layout[infosets[index]].T
        played = self.table.probabilities[first + np.arange(actions[0])[:, None] * step]
        return np.asarray(np.where(dealt[index] == sequences, played, 1.0 / actions))


def limit_holdem(game: BucketGame) -> Holdem:
    """The game with real cards that a bucket game abstracts; its stacks are too deep to run out.

    Raises:
        SpecError: the betting is not fixed limit, or the game begins after the flop.
    """
    spot = game.spot
    if not isinstance(spot.bets, FixedLimit) or spot.blinds is None:
        raise SpecError(
            "a bucket policy plays with real cards only in fixed-limit hold'em with blinds, not in "
            f"{game}; use a policy for such a game"
        )
    deck = spot.format.deck
    return holdem(
        stack=max(DEEP * round(spot.blinds[1]), round(unbound(spot.bets)) + 1),
        blinds=[round(blind) for blind in spot.blinds],
        bets=[round(bet) for bet in spot.bets.bets],
        raises=[spot.bets.most[0] - 1, *spot.bets.most[1:]],  # the limit counts the big blind as the first bet
        ranks=13 if spot.format is HOLDEM else len({card >> 2 for card in deck}),
        suits=4 if spot.format is HOLDEM else len({card & 3 for card in deck}),
    )


def check_table(game: PublicHoldem, buckets: BucketGame) -> None:
    """Reject a table whose game differs from the bucket game in anything except stacks.

    Raises:
        SpecError: the games differ.
    """
    policy_game = limit_holdem(buckets)
    rules, theirs = policy_game.rules, game.rules
    cards, betting, bets = rules.format, rules.betting, buckets.spot.bets
    assert isinstance(bets, FixedLimit)
    alike = (
        (theirs.format.deck, theirs.format.deal, theirs.format.hole) == (cards.deck, cards.deal, cards.hole)
        and (theirs.betting.limits, theirs.betting.most) == (betting.limits, betting.most)
        and (theirs.betting.dealer, theirs.betting.root) == (betting.dealer, rules.betting.root)
        and not any(theirs.antes)
    )
    if not alike or min(theirs.stacks) <= unbound(bets):
        raise SpecError(f"the policy of {buckets} plays {policy_game}; use that game")
