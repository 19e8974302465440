"""Public games of any number of players: the same deals, infostates and payoffs as the rules by histories."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.sources.load import public_game, public_tree
from treeplex.games.base import CHANCE, TERMINAL, State
from treeplex.games.card_game import CardGame
from treeplex.games.public import PublicGame
from treeplex.games.registry import load
from treeplex.search.subgames.beliefs import Belief

GAMES = ["kuhn_poker(players=3)", "kuhn_poker(players=4)", "leduc_poker(players=3,raises=1)", "leduc_poker(players=4,ranks=3)"]


@cache
def game_of(name: str) -> CardGame:
    found = load(name).public_game()
    assert isinstance(found, CardGame)
    return found


def ranges_of(game: PublicGame, seed: int) -> tuple[np.ndarray, ...]:
    """Random ranges in which some hands are not held."""
    generator = np.random.default_rng(seed)
    hands = [len(own) for own in game.first_ranges()]
    return tuple(generator.random(count) * (generator.random(count) < 0.8) for count in hands)


def dealt(state: State, hands: tuple[int, ...]) -> State:
    for card in hands:
        state = state.child(card)
    return state


@pytest.mark.parametrize("name", GAMES)
def test_every_play_is_that_of_the_rules(name: str) -> None:
    """All histories of one deal, side by side: who acts, what can happen, infostates, chances, payoffs."""
    rules, game, ends = load(name), game_of(name), 0
    deal = tuple(range(1, rules.num_players + 1))
    stack = [(dealt(rules.new_initial_state(), deal), game.first_state())]
    while stack and ends < 3000:
        state, node = stack.pop()
        hash(node)
        options = game.options(node)
        assert options.player == state.current_player()
        if options.player == TERMINAL:
            ends += 1
            assert game.payoffs(node, deal) == pytest.approx(tuple(state.returns()))
            continue
        if options.player == CHANCE:
            chances = dict(zip(options.labels, game.chances(node, deal), strict=True))
            assert {label: chance for label, chance in chances.items() if chance} == pytest.approx(
                dict(state.chance_outcomes())
            )
        else:
            assert list(options.labels) == list(state.legal_actions())
            found = game.infostate_at(node, options.player, deal[options.player])
            assert found == state.information_state_string(options.player)
            assert game.knowledge_at(node, options.player, deal[options.player]) == state.knowledge(options.player)
        for label in state.legal_actions():
            assert game.action_name(node, label) == state.action_to_string(label)
            stack.append((state.child(label), game.after(node, label)))
    assert ends > 10


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("card", [False, True])
def test_masses_are_sums_over_deals(name: str, card: bool) -> None:
    """Against every combination of hands, one after the other."""
    game = game_of(name)
    state = game.first_state()
    if card and "leduc" not in name:
        return
    while card and game.options(state).player != CHANCE:
        state = game.after(state, 1)
    if card:
        state = game.after(state, 2)
    ranges = ranges_of(game, 0)
    count, n = len(ranges[0]), game.players
    joint = np.zeros((count,) * n)
    for hands in product(range(count), repeat=n):
        taken = {*hands, *game.shown(state)}
        if len(taken) == n + len(game.shown(state)):
            joint[hands] = np.prod([own[hand] for own, hand in zip(ranges, hands, strict=True)])
    assert game.joint(state, ranges) == pytest.approx(joint)
    everyone = tuple(np.ones(count) for _ in range(n))
    for player in range(n):
        alone = tuple(np.ones(count) if seat == player else own for seat, own in enumerate(ranges))
        expected = game.joint(state, alone).sum(axis=tuple(seat for seat in range(n) if seat != player))
        assert game.opposing(state, ranges, player) == pytest.approx(expected)
        several = tuple(np.stack((own, 2 * own, one)) for own, one in zip(ranges, everyone, strict=True))
        found = game.opposing(state, several, player)
        assert found[0] == pytest.approx(expected)
        assert found[1] == pytest.approx(2.0 ** (n - 1) * expected)
    belief = Belief.of(game, state, ranges)
    for player in range(n):
        summed = joint.sum(axis=tuple(seat for seat in range(n) if seat != player))
        assert belief.beliefs[player] == pytest.approx(summed / summed.sum())


@pytest.mark.slow
def test_hands_are_drawn_from_the_joint_distribution() -> None:
    """Independently and again, or one after the other where ranges leave few combinations."""
    game, draws = game_of("kuhn_poker(players=3)"), 1500
    narrow = np.array([1.0, 1e-4, 0, 0]), np.array([1.0, 1e-4, 0, 0]), np.array([0, 0, 1.0, 3.0])
    for ranges in (ranges_of(game, 3), narrow):
        belief, generator = Belief.of(game, game.first_state(), ranges), np.random.default_rng(0)
        expected, drawn = belief.joint, np.zeros(belief.joint.shape)
        for _ in range(draws):
            drawn[belief.draw(generator)] += 1 / draws
        assert (drawn[expected == 0] == 0).all()
        error = np.sqrt(expected * (1 - expected) / draws)
        assert (abs(drawn - expected) < 5 * error + 2 / draws).all()
    same = np.array([1.0, 0, 0, 0])
    with pytest.raises(GameError, match="no hands in these ranges"):
        game.draw(game.first_state(), (same, same, np.ones(4)), np.random.default_rng(0))


def test_two_players_are_a_public_tree() -> None:
    """Beliefs along a path equal those from the weights of pairs of hands."""
    cards, tree = game_of("leduc_poker"), public_tree("leduc_poker")
    generator = np.random.default_rng(0)
    for _ in range(5):
        mine, other = Belief.root(cards), Belief.root(tree)
        while (options := cards.options(mine.state)).player != TERMINAL:
            assert list(tree.options(other.state).labels) == list(options.labels)
            policy = None if options.player == CHANCE else generator.dirichlet(np.ones(len(options.labels)), size=6).T
            label = options.labels[int(generator.integers(len(options.labels)))]
            mine, other = mine.after(label, policy), other.after(label, policy)
            for player in (0, 1):
                assert mine.beliefs[player] == pytest.approx(other.beliefs[player])
        hands = other.draw(generator)
        assert cards.payoffs(mine.state, hands) == pytest.approx(tree.payoffs(other.state, hands))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(GameError, match=r"liars_dice\(players=3\) has 3 players and its rules do not define public states"):
        public_game("liars_dice(players=3)")
    with pytest.raises(GameError, match="do not define public states"):
        public_game("leduc_poker(players=3,suit_isomorphism=true)")
    game = game_of("kuhn_poker(players=3)")
    with pytest.raises(GameError, match="no action 7"):
        game.after("", 7)
    big = load("leduc_poker(players=6,ranks=20)").public_game()
    assert isinstance(big, CardGame)
    with pytest.raises(GameError, match="combinations of 40 hands of 6 players"):
        Belief.root(big).opposing
    assert len(set(Belief.root(big).draw(np.random.default_rng(0)))) == 6
