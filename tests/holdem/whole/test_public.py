"""Whole hold'em as a public game: the plays of the rules, sums over hands by enumeration, spots for what follows a street."""

import random
from itertools import product

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.registry import load
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.format import small
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import UniformAgent, agent_policy, play_game

GAMES = [
    "holdem(stack=4,ranks=3,suits=2,hole=1,deal=[0;1])",
    "holdem(players=3,stack=[9;12;6],ranks=3,suits=4,deal=[0;3;1],ante=1,sizes=[50%;a],preflop=[2.5bb;3x;a],limps=false)",
    "holdem(players=6,stack=100)",
    "holdem(players=3,bets=[2;2;4;4],rake=0.05,rake_cap=1,no_flop_no_drop=true)",
]


def public_of(spec: str) -> PublicHoldem:
    found = public_game(spec)
    assert isinstance(found, PublicHoldem)
    return found


@pytest.mark.parametrize("spec", GAMES)
def test_random_plays_are_those_of_the_rules(spec: str) -> None:
    rules, game, generator = load(spec), public_of(spec), random.Random(0)
    for _ in range(30):
        state, node = rules.new_initial_state(), game.first_state()
        assert isinstance(state, HoldemHistory)
        while len(state.cards) < state.game.hole_cards:
            state = state.child(generator.choice(state.legal_actions()))
        index = {tuple(sorted(hand)): number for number, hand in enumerate(game.hands.tolist())}
        hands = [index[tuple(sorted(hand))] for hand in state.hands]
        while not state.is_terminal():
            options = game.options(node)
            assert options.player == state.current_player()
            if options.player == CHANCE:
                chances = dict(zip(options.labels, game.chances(node, hands), strict=True))
                assert {card: each for card, each in chances.items() if each} == pytest.approx(dict(state.chance_outcomes()))
            else:
                assert list(options.labels) == list(state.legal_actions())
                found = game.infostate_at(node, options.player, hands[options.player])
                assert found == state.information_state_string()
                assert game.knowledge_at(node, options.player, hands[options.player]) == state.knowledge(options.player)
                assert all(own[hand] for own, hand in zip(game.possible(node), hands, strict=True))
            action = generator.choice(state.legal_actions())
            assert game.action_name(node, action) == state.action_to_string(action)
            features = game.features_at(node)
            assert np.isfinite(features).all()
            state, node = state.child(action), game.after(node, action)
        assert game.options(node).player == TERMINAL
        assert game.payoffs(node, hands) == pytest.approx(tuple(state.returns()))


@pytest.mark.parametrize("spec", ["holdem(ranks=3,suits=4)", "holdem(players=3,ranks=3,suits=4)"])
def test_sums_over_hands(spec: str) -> None:
    """Against every combination of hands on a board of one card."""
    game, generator = public_of(spec), np.random.default_rng(0)
    state = game.first_state()
    while game.options(state).player != CHANCE:
        state = game.after(state, 1)
    state = game.after(state, game.options(state).labels[3])
    ranges = [generator.random(len(game.hands)) for _ in range(game.players)]
    free, apart = game.free(state), game.apart
    for player in range(game.players):
        others = [own * free for seat, own in enumerate(ranges) if seat != player]
        expected = np.zeros(len(game.hands))
        for held in product(range(len(game.hands)), repeat=len(others)):
            weight = np.prod([own[hand] for own, hand in zip(others, held, strict=True)])
            if weight and (len(held) == 1 or apart[held[0], held[1]]):
                expected += weight * free * np.prod([apart[hand] for hand in held], axis=0)
        assert game.opposing(state, ranges, player) == pytest.approx(expected)


def test_hands_are_drawn_apart() -> None:
    game, generator = public_of("holdem(players=6)"), np.random.default_rng(0)
    ranges = [(generator.random(len(game.hands)) < 0.1).astype(float) for _ in range(6)]
    for _ in range(50):
        hands = game.draw(game.first_state(), ranges, generator)
        assert len({card for hand in hands for card in game.hands[hand].tolist()}) == 12
        assert all(own[hand] for own, hand in zip(ranges, hands, strict=True))
    with pytest.raises(GameError, match="no hands in these ranges"):
        game.draw(game.first_state(), [np.eye(len(game.hands))[0]] * 6, generator)


@pytest.mark.slow
def test_two_hands_that_can_hardly_meet_are_drawn_as_well() -> None:
    game = public_of("holdem(ranks=3,suits=4,stack=8,sizes=[100%;a])")
    first, second = np.zeros(len(game.hands)), np.zeros(len(game.hands))
    first[0], second[0] = 1.0, 1.0
    apart = np.flatnonzero(~np.isin(game.hands, game.hands[0]).any(axis=1))[:2]
    second[apart] = 1e-7, 3e-7
    generator = np.random.default_rng(0)
    drawn = [game.draw(game.first_state(), (first, second), generator) for _ in range(60)]
    assert {own for own, _ in drawn} == {0}
    counts = [sum(other == hand for _, other in drawn) for hand in apart]
    assert sum(counts) == len(drawn)
    assert 5 < counts[0] < 27


def test_any_raise_of_the_rules_can_be_played_and_added() -> None:
    game = public_of("holdem(sizes=[100%;a],preflop=[3x;a])")
    state = game.first_state()
    assert list(game.options(state).labels) == [0, 1, 6, 200]
    assert game.with_action(state, 6) == (game, 6)
    wider, label = game.with_action(state, 11)
    assert list(wider.options(state).labels) == [0, 1, 6, 11, 200]
    assert game.after(state, label) == wider.after(state, label)
    assert wider.key != game.key == public_of("holdem(sizes=[100%;a],preflop=[3x;a])").key
    with pytest.raises(GameError, match="whole chips from 4 to 200"):
        game.with_action(state, 3)
    bets = wider.bets(state)
    assert bets is not None
    assert (bets.kinds, bets.pot) == (("fold", "pass", "bet", "bet", "bet"), 4.0)
    assert bets.sizes.tolist() == [0, 0, 1.0, 2.25, 49.5]


@pytest.mark.quick_cases("holdem(stack=60,sizes=[50%;60%;3x],add_allin=3,merge=0.2)")
@pytest.mark.parametrize(
    "spec",
    [
        "holdem(stack=[90;60],sizes=[50%;3x;a],force_allin=0.2,rake=0.05)",
        "holdem(stack=60,sizes=[50%;60%;3x],add_allin=3,merge=0.2)",
        "holdem(bets=[2;2;4;4],ante=2)",
    ],
)
def test_what_follows_a_street_is_a_spot(spec: str) -> None:
    """Actions and payoffs are equal in random plays from the flop or the turn on."""
    game, generator = public_of(spec), np.random.default_rng(0)
    followed = 0
    for _ in range(12 if "bets" in spec else 40):
        state, hands = game.first_state(), game.draw(game.first_state(), game.first_ranges(), generator)
        wanted = int(generator.choice([3, 4]))
        while game.options(state).player != TERMINAL and (spot := game.rest(state, game.possible(state))) is None:
            options = game.options(state)
            chances = (
                game.chances(state, hands) if options.player == CHANCE else np.array([0, *[1.0] * 9])[: len(options.labels)]
            )
            if options.player >= 0 and generator.random() < 0.5:
                chances[1:] = 0
                chances[list(options.labels).index(1)] = 1
            state = game.after(state, options.labels[int(generator.choice(len(chances), p=chances / chances.sum()))])
        if game.options(state).player == TERMINAL or len(state.board) < wanted - 1:
            continue
        assert spot is not None
        there, base = spot.first_state(), state.table.base
        followed += 1
        while game.options(state).player != TERMINAL:
            options, other = game.options(state), spot.options(there)
            assert options.player == other.player
            if options.player == CHANCE:
                label = options.labels[int(generator.choice(len(options.labels), p=game.chances(state, hands)))]
                state, there = game.after(state, label), spot.after(there, label)
                base = state.table.base
                continue
            names = [str(action).replace("allin", "raise").replace("bet", "raise") for action in spot.event(there).actions]
            mine = [
                game.action_name(state, label).replace("allin", "raise").replace("bet", "raise") for label in options.labels
            ]
            cap = min(game.rules.stacks) - base
            mine = [f"raise {min(int(name[6:]), cap)}" if name.startswith("raise") else name for name in mine]
            assert mine == names
            number = int(generator.integers(len(mine)))
            state, there = game.after(state, options.labels[number]), spot.after(there, other.labels[number])
        assert game.payoffs(state, hands) == pytest.approx(spot.payoffs(there, hands))
    assert followed > 3


def test_a_table_of_uniform_agents() -> None:
    game = public_of("holdem(players=6,stack=100,sizes=[50%;a])")
    agents = [UniformAgent(game) for _ in range(6)]
    generator = np.random.default_rng(0)
    for _ in range(5):
        assert sum(play_game(agents, generator)) == pytest.approx(0.0)


def test_agents_have_policies_of_small_games() -> None:
    spec = "holdem(stack=3,ranks=3,suits=1,hole=1,deal=[0;1])"
    compiled = compile_game(load(spec))
    found = agent_policy(UniformAgent(public_of(spec)), compiled)
    assert found.probabilities == pytest.approx(Policy.uniform(compiled).probabilities)


def test_value_is_that_of_the_same_spot() -> None:
    """The blinds, the betting and the showdown, by the rules of spots: an independent tree of the same game."""
    form = small(3, 2, 1, (0, 1, 1))
    plan = BetPlan.same("100%,a", "100%,a", streets=3, min_bet=2)
    spot = PokerGame(Spot((), 0.0, 5.0, all_hands(form), plan, format=form, blinds=(1.0, 2.0)), "spot")
    whole = load("holdem(stack=5,sizes=[100%;a],ranks=3,suits=2,hole=1,deal=[0;1;1])")
    values = [tp.solve(game, "lp").value[0] for game in (spot, whole)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
