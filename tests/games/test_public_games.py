"""Every public game keeps the same laws, whether it has weights for pairs of hands or only cards that exclude each other."""

from functools import cache

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame, PublicTree, pick
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import Format, small
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.spot import Spot
from treeplex.search.subgames.beliefs import Belief

TURN = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
FLOP = small(ranks=4, suits=2, hole=1, deal=(0, 1, 1))
LATE = small(ranks=5, suits=2, hole=2, deal=(0, 2, 1, 1))
GAMES = ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "modified_rps", "tic_tac_toe", "turn", "one card", "flop"]


def spot_of(form: Format, board: str, seed: int) -> Spot:
    """Random ranges, some hands of which are not held at all."""
    generator = np.random.default_rng(seed)
    ranges = tuple(generator.random(len(form.hands)) * (generator.random(len(form.hands)) < 0.8) for _ in range(2))
    return Spot(
        parse_cards(board), 2.0, 4.0, (ranges[0], ranges[1]), BetPlan.same("50%,a", "a", streets=form.streets), format=form
    )


SPOTS = {"turn": (TURN, "TcJdQcKd", 1), "one card": (FLOP, "Jc", 2), "flop": (LATE, "TcJd", 3)}


@cache
def game_of(name: str) -> PublicGame:
    return HoldemGame.of(spot_of(*SPOTS[name])) if name in SPOTS else public_tree(name)


def walk(game: PublicGame, seed: int) -> list[Belief]:
    """A random path of public belief states, to the end."""
    generator = np.random.default_rng(seed)
    belief = Belief.root(game)
    path = [belief]
    while (options := game.options(belief.state)).player != TERMINAL:
        policy = None
        if options.player == CHANCE:
            label = options.labels[pick(generator, game.chances(belief.state, belief.draw(generator)))]
        else:
            hands = len(belief.ranges[options.player])
            policy = generator.dirichlet(np.ones(len(options.labels)), size=hands).T
            label = options.labels[int(generator.integers(len(options.labels)))]
        belief = belief.after(label, policy)
        path.append(belief)
    return path


def paths(name: str) -> list[Belief]:
    return [belief for seed in range(6) for belief in walk(game_of(name), seed)]


@pytest.mark.parametrize("name", GAMES)
def test_shapes_agree(name: str) -> None:
    """One array a player wherever something belongs to players."""
    game = game_of(name)
    for belief in paths(name):
        possible, dealt = game.possible(belief.state), game.dealt(belief.state)
        assert len(possible) == len(dealt) == len(belief.ranges) == game.players
        for player in range(game.players):
            assert possible[player].shape == dealt[player].shape == belief.ranges[player].shape
            assert set(np.unique(possible[player])) <= {0.0, 1.0}
            assert ((dealt[player] > 0) == (possible[player] > 0)).all()
            assert game.opposing(belief.state, belief.ranges, player).shape == possible[player].shape
            several = tuple(np.stack((own, 2.0 * own)) for own in belief.ranges)
            found = game.opposing(belief.state, several, player)
            assert found[1] == pytest.approx(2.0 * found[0])
        assert game.joint(belief.state, belief.ranges).shape == tuple(len(own) for own in possible)


@pytest.mark.parametrize("name", GAMES)
def test_the_mass_that_a_hand_meets_is_a_sum_of_the_joint_distribution(name: str) -> None:
    for belief in paths(name):
        joint = belief.game.joint(belief.state, belief.ranges)
        for player in (0, 1):
            summed = joint.sum(axis=1 - player)
            assert belief.ranges[player] * belief.opposing[player] == pytest.approx(summed, abs=1e-12)
            assert belief.beliefs[player] == pytest.approx(summed / summed.sum(), abs=1e-12)
        assert belief.pairs == pytest.approx(joint.sum())


@pytest.mark.parametrize("name", GAMES)
def test_ranges_are_of_possible_hands_and_sum_to_one(name: str) -> None:
    for belief in paths(name):
        for own, can in zip(belief.ranges, belief.game.possible(belief.state), strict=True):
            assert own.sum() == pytest.approx(1.0)
            assert (own[can == 0] == 0).all()


@pytest.mark.slow_cases("turn", "one card")
@pytest.mark.parametrize("name", GAMES)
def test_hands_are_drawn_from_the_joint_distribution(name: str) -> None:
    generator, draws = np.random.default_rng(0), 2000
    for belief in walk(game_of(name), 1)[::3]:
        expected, drawn = belief.joint, np.zeros(belief.joint.shape)
        for _ in range(draws):
            drawn[belief.draw(generator)] += 1 / draws
        assert (drawn[expected == 0] == 0).all()
        error = np.sqrt(expected * (1 - expected) / draws)
        assert (abs(drawn - expected) < 5 * error + 2 / draws).all()


@pytest.mark.parametrize("name", GAMES)
def test_chance_moves_ranges_as_it_moves_pairs(name: str) -> None:
    """Over all outcomes, weighed by how likely each is for a pair of hands, the joint distribution stays what it was."""
    game, seen = game_of(name), 0
    for belief in paths(name):
        options = game.options(belief.state)
        if options.player != CHANCE or not belief.pairs > 0:
            continue
        before, total = belief.joint, np.zeros(belief.joint.shape)
        pairs = [tuple(pair) for pair in np.argwhere(before > 0)][:40]
        for pair in pairs:
            chances = game.chances(belief.state, pair)
            assert chances.sum() == pytest.approx(1.0)
            for label, chance in zip(options.labels, chances, strict=True):
                after = game.joint(game.after(belief.state, label), belief.ranges)
                blocked = any(
                    can[hand] == 0 for can, hand in zip(game.possible(game.after(belief.state, label)), pair, strict=True)
                )
                assert (chance > 0) == (after[pair] > 0 and not blocked)
                total[pair] += chance
        assert [total[pair] for pair in pairs] == pytest.approx(np.ones(len(pairs)))
        seen += 1
        if seen == 3:
            break


@pytest.mark.parametrize("name", GAMES)
def test_payoffs_sum_to_zero(name: str) -> None:
    generator, ends = np.random.default_rng(0), 0
    for seed in range(6):
        belief = walk(game_of(name), seed)[-1]
        if belief.pairs > 0:
            paid = belief.game.payoffs(belief.state, belief.draw(generator))
            assert len(paid) == belief.game.players
            assert sum(paid) == pytest.approx(0.0)
            ends += 1
    assert ends


@pytest.mark.parametrize("name", GAMES)
def test_what_cannot_happen_is_refused(name: str) -> None:
    game = game_of(name)
    with pytest.raises(GameError, match="no action"):
        game.after(game.first_state(), 10**9)
    with pytest.raises(GameError):
        game.after(walk(game, 0)[-1].state, 0)
    first, *others = game.first_ranges()
    for bad in (-np.ones_like(first), np.full_like(first, np.nan), np.ones(len(first) + 1)):
        with pytest.raises(GameError, match="the range at"):
            Belief.of(game, game.first_state(), [bad, *others])
    with pytest.raises(GameError):
        game.with_action(game.first_state(), 10**9)


@pytest.mark.parametrize("name", list(SPOTS))
def test_hold_em_is_the_same_game_over_hands_and_over_pairs(name: str) -> None:
    """Beliefs along a path and the payoffs at its end are equal for both games."""
    game, tree = game_of(name), PokerGame(spot_of(*SPOTS[name]), "spot").public_tree()
    assert isinstance(tree, PublicTree)
    hands = tree.hands  # type: ignore[attr-defined]
    generator = np.random.default_rng(0)
    for _ in range(5):
        mine, other = Belief.root(game), Belief.root(tree)
        while (options := game.options(mine.state)).player != TERMINAL:
            there = tree.options(other.state)
            assert (there.player, len(there.labels)) == (options.player, len(options.labels))
            assert game.name_of(mine.state)
            for player in (0, 1):
                assert mine.beliefs[player][hands] == pytest.approx(other.beliefs[player], abs=1e-12)
            number, policy = int(generator.integers(len(options.labels))), None
            if options.player >= 0:
                policy = generator.dirichlet(np.ones(len(options.labels)), size=len(mine.ranges[0])).T
            mine = mine.after(options.labels[number], policy)
            label = options.labels[number] if options.player == CHANCE else there.labels[number]
            other = other.after(label, None if policy is None else policy[:, hands])
        first, second = (int(hand) for hand in other.draw(generator))
        paid = game.payoffs(mine.state, (int(hands[first]), int(hands[second])))
        assert paid == pytest.approx(tree.payoffs(other.state, (first, second)))
