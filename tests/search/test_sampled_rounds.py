"""Rounds searched by sampling, against the same rounds as compiled games and against slow sums."""

from functools import cache

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.many_players import RoundSubgame, cut_round
from treeplex.forms.subgames.policy_tables import table_at
from treeplex.forms.subgames.public_rules import public_game
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.card_game import CardGame
from treeplex.search.many_players import Continuations
from treeplex.search.sampled_rounds import DrawnDeals, GuidedBetting, SampledFound, SampledRounds

KUHN, LEDUC = "kuhn_poker(players=3)", "leduc_poker(players=3,ranks=2,suits=2,raises=1)"


@cache
def blueprint(spec: str, iterations: int = 5) -> tuple[CardGame, Policy]:
    game = compile_game(spec)
    found = public_game(spec)
    assert isinstance(found, CardGame)
    return found, tp.solve(game, "cfr", iterations=iterations).policy


@cache
def guided(spec: str) -> GuidedBetting:
    return GuidedBetting.of_policy(*blueprint(spec))


def in_subgame(found: SampledFound, subgame: RoundSubgame, ranges: tuple[np.ndarray, ...]) -> Policy:
    """What a search by sampling found, its choices among continuations included, in the same round as a compiled game."""
    rules, searched = subgame.game, found.cut.round
    compiled = subgame.compiled(ranges)
    policy, waiting = np.ones(int(compiled.tree.sequence_offsets[-1])), [subgame.state]
    while waiting:
        state = waiting.pop()
        options = rules.options(state)
        if options.player >= 0:
            table, sequences = found.table(state, average=True), subgame.sequences[state]
            for hand in np.flatnonzero(sequences[0] >= 0):
                policy[sequences[:, hand]] = table[:, hand]
            waiting += [rules.after(state, label) for label in options.labels]
        elif options.player == CHANCE:
            leaf = searched.leaves.tolist().index(found.guided.find(rules.after(state, options.labels[0])))
            for player, row in enumerate(searched.choices[leaf].tolist()):
                for hand in range(len(rules.hands)):
                    text = f"continuation of {hand} at {rules.name_of(state)}"
                    if row >= 0 and (player, text) in compiled.lookup:
                        own = compiled.sequences_at(compiled.lookup[player, text])
                        policy[own] = found.tables.average[row : row + len(own), hand]
        else:
            assert options.player == TERMINAL
    return Policy(compiled, normalised(compiled, policy))


@pytest.mark.parametrize("spec", [KUHN, LEDUC])
def test_sampling_finds_the_equilibrium_that_sums_over_deals_find(spec: str) -> None:
    """What all players can gain in the enumerated round, choices among continuations included, goes to zero."""
    rules, policy = blueprint(spec)
    belief = Belief.root(rules)
    subgame = cut_round(rules, belief.state, Continuations(rules, policy))
    gains = []
    for iterations in (20, 1500):
        found = SampledRounds(guided(spec), iterations=iterations, deals=8, seed=1).solve(belief.state, belief.ranges, {})
        gains.append(tp.nash_conv(subgame.compiled(belief.ranges), in_subgame(found, subgame, belief.ranges)))
    print(gains)
    assert gains[1] < 0.03
    assert gains[1] < 0.2 * gains[0]
