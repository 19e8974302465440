"""Whole passes against recursion over the betting tree with dense matrices over all hands of the format."""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pytest

from tests.poker_games import SPOTS, limit, no_limit
from treeplex.base.arrays import Floats
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, small
from treeplex.holdem.engine import passes
from treeplex.holdem.engine.form import BOARDS, COUNT, STORE
from treeplex.holdem.engine.passes import BEST, EXPECT
from treeplex.holdem.engine.showdowns.terminal import COLUMNS
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.policies.judge import judging_crew, root_values
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Rake, Spot


class Dense:
    """Values of all hands of a format by recursion; boards are those of a game compiled without isomorphism."""

    def __init__(self, game: CompiledSpot, average: Floats) -> None:
        self.game, self.spot, self.average = game, game.spot, average
        cards = game.spot.format.hands
        self.compatible = ~(cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
        self.numbers = {
            board.cards: number + first
            for boards, first in zip(game.boards, game.first_boards, strict=True)
            for number, board in enumerate(boards)
        }
        self.signs = cache(self.sign)

    def sign(self, board: tuple[int, ...]) -> Floats:
        strength = format_strengths(self.spot.format, board) if self.spot.strengths is None else self.spot.strengths
        return np.asarray(np.sign(strength[:, None] - strength[None, :]), np.float64) * self.compatible

    def free(self, board: tuple[int, ...]) -> Floats:
        return (~np.isin(self.spot.format.hands, board).any(axis=1)).astype(np.float64)

    def policy(self, number: int, node: Decision, board: tuple[int, ...]) -> Floats:
        """[actions, H], uniform where the average is zero and for hands that are not held."""
        at = self.numbers[board]
        street = int(np.searchsorted(self.game.form.streets[:, BOARDS], at, side="right")) - 1
        forest, row = self.game.forests[street], self.game.form.boards[at]
        _, first, actions = forest.nodes[node.player][forest.numbers[node.player].index(number)]
        count, base = row[COUNT + node.player], row[STORE + node.player]
        weights = np.zeros((actions, len(self.compatible)))
        hands = self.game.boards[street][at - self.game.first_boards[street]].hands[node.player]
        weights[:, hands] = self.average[base + first * count :][: actions * count].reshape(actions, count)
        total = weights.sum(axis=0)
        return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / actions)

    def values(self, player: int, best: bool) -> Floats:
        """[H] at the root, in chips times the opponent's compatible weight; ``best``: the player best-responds."""
        return self.below(0, self.spot.board, self.spot.ranges[1 - player], player, best)

    def below(self, number: int, board: tuple[int, ...], reach: Floats, player: int, best: bool) -> Floats:
        node = self.game.betting.nodes[number]
        if isinstance(node, Decision):
            policy = self.policy(number, node, board)
            if node.player != player:
                children = zip(node.children, policy, strict=True)
                return np.sum([self.below(child, board, reach * share, player, best) for child, share in children], axis=0)
            found = np.stack([self.below(child, board, reach, player, best) for child in node.children])
            return found.max(axis=0) if best else (policy * found).sum(axis=0)
        if isinstance(node, Fold):
            return self.free(board) * payoffs(node, self.spot.rake)[player] * (self.compatible @ reach)
        form = self.spot.format
        street = form.board_sizes.index(len(board)) + 1
        if isinstance(node, Showdown) and street == form.streets:
            win, lose, tie = payoffs(node, self.spot.rake)
            sign = self.signs(board)
            paid = np.where(sign > 0, win, np.where(sign < 0, lose, tie)) * self.compatible
            return self.free(board) * (paid @ reach)
        left = [card for card in form.deck if card not in board]
        chance = 1.0 / comb(len(left) - 2 * form.hole, form.deal[street])
        child = node.child if isinstance(node, StreetEnd) else number
        total = np.zeros(len(reach))
        for cards in combinations(left, form.deal[street]):
            free = self.free(cards)
            total += chance * free * self.below(child, (*board, *cards), reach * free, player, best)
        return total


def holdem_river(rake: Rake, keep: float = 0.8) -> Spot:
    generator = np.random.default_rng(5)
    first, second = (generator.random(1326) * (generator.random(1326) < keep) for _ in range(2))
    return Spot(parse_cards("Td9d6hQc2s"), 20, 90, (first, second), BetPlan.same("50%,a", "60%,a"), rake)


def large_deck(rake: Rake) -> Spot:
    """One card each of a full deck, three-card hands, one board card to come."""
    form = small(ranks=13, suits=4, deal=(1, 1), ranking="three")
    generator = np.random.default_rng(6)
    return Spot(parse_cards("Th"), 5, 12, (generator.random(52), generator.random(52)), no_limit(2), rake, form)


def many_terminals() -> Spot:
    """More showdowns and folds than are treated side by side."""
    sizes = ",".join(f"{size}c" for size in range(1, 4))
    form = small(ranks=4, suits=2, hole=2, deal=(2, 1))
    generator = np.random.default_rng(7)
    ranges = generator.random(len(form.hands)), generator.random(len(form.hands))
    return Spot(parse_cards("AcKd"), 10, 40, ranges, BetPlan.same(sizes, "20c,a", streets=2), format=form)


LARGE = {
    "hold'em river": holdem_river(Rake()),
    "hold'em river, raked": holdem_river(Rake(0.05, 3.0)),
    "full deck": large_deck(Rake()),
    "full deck, raked": large_deck(Rake(0.1)),
    "many terminals": many_terminals(),
    "misread river": Spot(
        parse_cards("Td9d6hQc2s"), 20, 90, holdem_river(Rake()).ranges, limit(2, 2, 4, 4), strengths=np.arange(1326) // 7
    ),
}


@pytest.mark.quick_cases("one card", "leduc", "blinds", "river", "river, raked", "turn")
@pytest.mark.parametrize("name", [*SPOTS, *LARGE])
def test_values_of_random_strategies(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "NUMBERS_A_STREET", 0)
    spot = (SPOTS | LARGE)[name]
    game = compile_spot(spot, isomorphism=False)
    generator = np.random.default_rng(8)
    average = generator.random(game.stored) * (generator.random(game.stored) < 0.7)
    store = HoldemSolver(game, threads=1, storage="float64").store._replace(average=average)
    crews, dense = [judging_crew(game, threads) for threads in (1, 2)], Dense(game, average)
    for player in (0, 1):
        hands = game.boards[0][0].hands[player]
        for mode in (EXPECT, BEST):
            expected = dense.values(player, mode == BEST)[hands]
            for crew in crews:
                found = root_values(crew, player, mode, average, store)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_threads_share_boards_only_if_there_are_many_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_spot(SPOTS["turn"])
    assert 0 < game.stored < passes.NUMBERS_A_STREET
    assert [judging_crew(game, 2).threads, HoldemSolver(game, threads=2).crew.threads] == [1, 1]
    monkeypatch.setattr(passes, "NUMBERS_A_STREET", game.stored)
    assert [judging_crew(game, 2).threads, HoldemSolver(game, threads=2).crew.threads] == [2, 2]


def test_many_terminals_are_many() -> None:
    (forest,) = compile_spot(many_terminals()).forests[1:]
    assert len(forest.showdowns) > COLUMNS
    assert len(forest.folds) > COLUMNS


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+", "apcfr+", "vt-cfr+"])
def test_threads_inside_one_board_change_no_bit(algorithm: str, storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "NUMBERS_A_THREAD", 1)
    if storage == "int16" and algorithm in ("apcfr+", "vt-cfr+"):
        pytest.skip("not offered")
    game = compile_spot(holdem_river(Rake(0.05, 3.0)))
    assert min(game.form.boards[0, COUNT : COUNT + 2]) > 600
    one, two = (HoldemSolver(game, algorithm, threads=threads, storage=storage) for threads in (1, 2))
    one.run(12)
    two.run(5)
    two.run(7)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, two.arrays()[name], err_msg=name)


def test_decks_hold_what_a_format_says() -> None:
    assert compile_spot(LARGE["hold'em river"]).spot.format is HOLDEM
    assert len(compile_spot(LARGE["full deck"], isomorphism=False).boards[1]) == 51
