"""What is carried from solve to solve: ranges by Bayes; promises read off a solve, against promises computed anew."""

from functools import cache

import numpy as np
import pytest

import treeplex as tp
from tests.random_games import RandomPublicGame
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import PublicTree, pair_state
from treeplex.search import (
    METHODS,
    Belief,
    ExactLeaf,
    Horizon,
    LeafValue,
    NoLeaf,
    SubgameSearch,
    cut,
    opponent_values,
    public_tree,
)
from treeplex.search.resolving.carried import ResolvedSubgame, ResolvingState
from treeplex.search.subgames.policy_tables import subgame_policy, table_at
from treeplex.search.subgames.response import response_values

ROUND = Horizon(rounds=1, dealt=True)
BET, CALL = 2, 1
LEDUC = (BET, CALL)


@cache
def some_policy(spec: str) -> Policy:
    game, generator = tp.compile(spec), np.random.default_rng(3)
    weights = generator.random(int(game.tree.sequence_offsets[-1])) + 0.1
    inner = game.tree.sequence_infoset >= 0
    totals = np.bincount(game.tree.sequence_infoset[inner], weights=weights[inner])
    weights[inner] /= totals[game.tree.sequence_infoset[inner]]
    weights[~inner] = 1.0
    return Policy(game, weights)


def paths_of(rules: PublicTree, most: int = 60) -> list[tuple[int, ...]]:
    """Some paths to public states, breadth first."""
    found, queue = [], [((), rules.first_state())]
    while queue and len(found) < most:
        path, state = queue.pop(0)
        if not state.weight.any():
            continue
        found.append(path)
        options = rules.options(state)
        labels = options.labels[:1] if options.private else options.labels
        queue.extend(((*path, label), rules.after(state, label)) for label in labels)
    return found


def solved(horizon: Horizon, leaf: LeafValue, iterations: int = 200) -> tuple[SubgameSearch, Belief]:
    rules = public_tree("leduc_poker")
    belief = Belief.root(rules)
    search = SubgameSearch(cut(rules, [belief], horizon), METHODS["cfr+"], leaf, horizon=iterations, keep_leaf_values=True)
    search.run(iterations)
    return search, belief


@pytest.mark.slow_cases("0-leduc_poker", "1-leduc_poker")
@pytest.mark.parametrize("spec", ["leduc_poker", "kuhn_poker", "modified_rps", "liars_dice(dice_sides=2)"])
@pytest.mark.parametrize("player", [0, 1])
def test_values_at_every_public_state(spec: str, player: int) -> None:
    """They are what a subgame that begins there promises, by a best response computed in it alone."""
    rules, policy = public_tree(spec), some_policy(spec)
    whole = cut(rules, [Belief.root(rules)])
    responses = response_values(whole, subgame_policy(policy, whole), 1 - player)  # type: ignore[arg-type]
    compared = 0
    for path in paths_of(rules):
        belief = Belief.along(rules, path, lambda at: table_at(policy, rules, pair_state(at.state)))
        if rules.options(belief.state).player != -2 and rules.options(belief.state).labels:
            expected = opponent_values(cut(rules, [belief]), policy, player)[0]
            assert responses.at(path) == pytest.approx(expected, nan_ok=True, abs=1e-9)
            compared += 1
    assert compared >= 2


def test_values_in_a_game_of_ones_own() -> None:
    """Hands that exclude each other, chance in between, several actions."""
    game = tp.compile(RandomPublicGame(4, (3, 4), depth=5))
    rules, policy = public_tree(game.rules), tp.Policy.uniform(game)
    whole = cut(rules, [Belief.root(rules)])
    for player in (0, 1):
        responses = response_values(whole, subgame_policy(policy, whole), 1 - player)  # type: ignore[arg-type]
        for path in paths_of(rules, 30):
            belief = Belief.along(rules, path, lambda at: table_at(policy, rules, pair_state(at.state)))
            if rules.options(belief.state).labels:
                expected = opponent_values(cut(rules, [belief]), policy, player)[0]
                assert responses.at(path) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_values_of_leaves() -> None:
    """At the root a best response gets what hands got over the iterations, up to how far these have converged."""
    search, _ = solved(ROUND, ExactLeaf(method="cfr+", iterations=20), 60)
    for player in (0, 1):
        found = ResolvedSubgame.of(search, player).responses.at(())
        assert (found >= search.root_values()[1 - player][0] - 0.02).all()
        assert found == pytest.approx(search.root_values()[1 - player][0], abs=0.1)
    values = search.leaf_values(0)
    assert values.shape == (len(search.subgame.leaves), 6)
    assert np.abs(values).max() <= 13


def test_ranges_and_promises_along_a_play() -> None:
    """Player 0 bets and is called, then a card comes: what changes is what the table in the module says."""
    search, belief = solved(Horizon(), NoLeaf())
    own, rules = ResolvedSubgame.of(search, 0), belief.game
    begun = ResolvingState(0, belief)
    table = own.policy_at(())
    bet = begun.after(own, LEDUC[:1])
    labels = list(rules.options(belief.state).labels)
    played = table[labels.index(BET)]
    assert bet.belief.ranges[0] == pytest.approx(played / played.sum())
    assert bet.belief.ranges[1] == pytest.approx(belief.ranges[1])
    assert bet.promised == pytest.approx(own.responses.at(LEDUC[:1]))
    called = begun.after(own, LEDUC)
    assert called.belief.ranges[0] == pytest.approx(bet.belief.ranges[0])
    assert called.promised == pytest.approx(bet.promised)
    card = rules.options(called.belief.state).labels[0]
    dealt = begun.after(own, (*LEDUC, card))
    gone = rules.possible(dealt.belief.state)[0] == 0
    assert gone.sum() == 1
    assert (dealt.belief.ranges[0][gone] == 0).all()
    assert dealt.promised is not None
    assert (np.isnan(dealt.promised) == gone).all()
    assert dealt.promised == pytest.approx(own.responses.at((*LEDUC, card)), nan_ok=True)
    assert dealt.promised[~gone] != pytest.approx(bet.promised[~gone])  # type: ignore[index]


def test_promises_of_the_first_to_act_are_those_of_the_root() -> None:
    search, belief = solved(Horizon(), NoLeaf())
    found = ResolvingState(1, belief).after(ResolvedSubgame.of(search, 1), LEDUC[:1])
    assert found.promised == pytest.approx(search.root_values()[0][0], abs=0.02)
    assert found.belief.ranges[1] == pytest.approx(belief.ranges[1])


def test_what_is_refused() -> None:
    search, belief = solved(Horizon(rounds=1), ExactLeaf(iterations=2), 2)
    card = 0
    with pytest.raises(AlgorithmError, match="the gadget needs values after a deal, but subgames end before it"):
        ResolvingState(0, belief).after(ResolvedSubgame.of(search, 0), (*LEDUC, card))
    with pytest.raises(GameError, match="the subgame has no decision after"):
        ResolvedSubgame.of(search, 0).responses.at((*LEDUC, card))
    with pytest.raises(AlgorithmError, match="give leaf_values"):
        response_values(search.subgame, search.average_policy(), 0)
