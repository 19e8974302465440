"""Matches between policy tables: exact values, and fast sampling of hands."""

from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.hands import sample_hands
from treeplex.evaluate.judge import check_game, judge
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.search.agents.agent import Agent, checked_policy
from treeplex.search.subgames.policy_tables import sequences_at


def seated(game: CompiledGame, policies: Sequence[Policy]) -> Policy:
    """Combine the policy of each seat into a joint policy.

    Args:
        game: the compiled game.
        policies: the policy of each seat.

    Returns:
        The joint policy.

    Raises:
        PolicyError: a policy belongs to another game.
    """
    probabilities = uniform_probabilities(game)
    for player, policy in enumerate(policies):
        check_game(game, policy)
        sequences = slice(int(game.tree.sequence_offsets[player]), int(game.tree.sequence_offsets[player + 1]))
        probabilities[sequences] = policy.probabilities[sequences]
    return Policy(game, probabilities)


def expected_payoffs(game: CompiledGame, policies: Sequence[Policy]) -> Floats:
    """Exact expected payoffs of the players, given a policy for each seat, float64 [N]."""
    return np.array(judge(game, seated(game, policies)).value)


def seat_policy(agent: Agent, game: CompiledGame, seat: int) -> Policy:
    """Tabulate a non-random agent's policy in one seat of a small game; uniform in the other seats.

    The agent is restarted for every public history, including the other players' actions.

    Args:
        agent: an agent of a game with infostate strings.
        game: the same game, compiled.
        seat: the agent's seat.

    Returns:
        The policy on the compiled game.
    """
    probabilities, waiting = uniform_probabilities(game), [tuple[int, ...]()]
    while waiting:
        path = waiting.pop()
        agent.begin(seat, np.random.default_rng(0))
        for label in path:
            agent.see(label)
        rules = agent.game
        options = rules.options(agent.state)
        if options.player == seat:
            table = checked_policy(agent)
            for hand, sequences in sequences_at(game, rules, agent.state).items():
                probabilities[sequences] = table[:, hand]
        waiting += [(*path, label) for label in (options.labels[:1] if options.private else options.labels)]
    return Policy(game, probabilities)


class TableHands:
    """Plays hands between policy tables of a compiled game, for any number of players.

    Attributes:
        game: the compiled game.
        policies: float64 [E, Q], probabilities of each policy.
    """

    def __init__(self, game: CompiledGame, policies: Sequence[Policy]) -> None:
        """Enumerate the histories of the game, once per game.

        Raises:
            PolicyError: a policy belongs to another game.
            GameError: the game has too many histories.
        """
        for policy in policies:
            check_game(game, policy)
        self.game, self.policies = game, np.stack([policy.probabilities for policy in policies])
        self._histories = histories_of(game)

    def play(self, seats: Ints, *, deals: Ints, hands: Ints, seed: int = 0) -> Floats:
        """Play hands.

        Args:
            seats: int64 [K, N], index of the policy in each seat of every hand.
            deals: int64 [K], number of each hand's deal; equal numbers give equal cards.
            hands: int64 [K], number of each hand, which seeds the players' actions.
            seed: seed of all draws.

        Returns:
            Payoff of each seat, float64 [K, N].
        """
        payoffs = np.empty((len(hands), self.game.players))
        layout = self.game.tree.infoset_layout
        sample_hands(self._histories, layout, self.policies, seats, deals, hands, seed, payoffs)
        return payoffs
