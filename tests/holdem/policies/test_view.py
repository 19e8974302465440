"""Every node of small solved spots against recursion over pairs of hands with actual cards."""

from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest

from tests.poker_games import SPOTS, THREE_STREETS, TWO_CARDS, limit, no_limit, symmetric_ranges
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, payoffs
from treeplex.holdem.cards.cards import card_to_string, cards_to_string, parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import small
from treeplex.holdem.policies.line import find_place
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake, Spot
from treeplex.holdem.study.report.page_data import report

SWAPPED = ((0, 1, 2, 3), (1, 0, 2, 3))
THREE = tuple((*each, 3) for each in permutations(range(3)))
SUITED = small(ranks=2, suits=3, deal=(0, 1, 1))
CASES = {
    **{name: SPOTS[name] for name in ("three streets", "turn", "blinds", "river, raked")},
    "two suits alike": Spot(
        (), 2, 9, symmetric_ranges(THREE_STREETS, 1, SWAPPED), limit(1, 2, 3, most=1), format=THREE_STREETS
    ),
    "three suits alike": Spot((), 2, 9, symmetric_ranges(SUITED, 3, THREE), limit(1, 2, 3, most=1), format=SUITED),
    "alike, on a board": Spot(
        parse_cards("AcAd"), 4, 6, symmetric_ranges(TWO_CARDS, 2, SWAPPED), no_limit(3), Rake(0.05), TWO_CARDS
    ),
}


@cache
def solution(name):
    return solve_spot(CASES[name], iterations=3, threads=1, storage="float64")


class Slow:
    """Payoffs of pairs of hands under the strategy that views show."""

    def __init__(self, solution):
        self.solution, self.spot, self.tree = solution, solution.spot, solution.tree
        hands = self.spot.format.hands
        self.fit = np.array([[not set(map(int, one)) & set(map(int, two)) for two in hands] for one in hands])
        self.size = len(hands)
        self.payoff, self.showdown = cache(self.find_payoff), cache(self.find_showdown)

    def free(self, board):
        """Pairs of hands that fit each other and the board."""
        ok = ~np.isin(self.spot.format.hands, board).any(axis=1)
        return self.fit & ok[:, None] & ok

    def strategy(self, line):
        """[A, H] of who acts."""
        view = self.solution.at(line)
        table = np.zeros((len(view.actions), self.size))
        table[:, view.hands] = view.strategy
        return table

    def deals(self, place, board):
        street = self.spot.streets[len(place.roots)]
        left = [card for card in self.spot.format.deck if card not in board]
        return list(combinations(left, self.spot.format.deal[street]))

    def find_payoff(self, line):
        """[2, H, H], what each pair of hands wins from here on; also the equity of player 0, [H, H]."""
        place = find_place(self.spot, self.tree, line)
        board = self.solution.at(line).board
        node = self.tree.nodes[place.node]
        if isinstance(node, Decision):
            policy = self.strategy(line)
            children = [self.payoff(child)[0] for child in self.solution.at(line).children()]
            shaped = policy[:, None, :, None] if node.player == 0 else policy[:, None, None, :]
            return (shaped * np.array(children)).sum(axis=0), self.equity(board)
        if isinstance(node, Fold):
            paid = np.array(payoffs(node, self.spot.rake))[:, None, None] * np.ones((self.size, self.size))
            return paid, np.full((self.size, self.size), np.nan)
        if isinstance(node, Showdown):
            return self.showdown(board, payoffs(node, self.spot.rake)), self.equity(board)
        total = np.zeros((2, self.size, self.size))
        deals = self.deals(place, board)
        for deal in deals:
            total += self.free((*board, *deal)) * self.payoff(f"{line},{cards_to_string(deal[::-1])}")[0]
        return total / self.count(board, deals), self.equity(board)

    def count(self, board, deals):
        """How many deals each pair of hands leaves."""
        return np.maximum(sum(self.free((*board, *deal)).astype(int) for deal in deals), 1)

    def find_showdown(self, board, pays):
        """[2, H, H] over all cards to come."""
        left = [card for card in self.spot.format.deck if card not in board]
        runs = list(combinations(left, self.spot.format.board_size - len(board)))
        total = np.zeros((2, self.size, self.size))
        for run in runs:
            strength = format_strengths(self.spot.format, (*board, *run)).astype(int)
            sign = np.sign(strength[:, None] - strength)
            win, lose, tie = pays
            paid = np.array(
                [np.select([sign > 0, sign < 0], [win, lose], tie), np.select([sign < 0, sign > 0], [win, lose], tie)]
            )
            total += self.free((*board, *run)) * paid
        return total / self.count(board, runs)

    def equity(self, board):
        return self.showdown(board, (1.0, 0.0, 0.5))[0]


def check_view(slow, line, weights):
    """One node against the slow payoffs; ``weights`` are range times own reach, [H] for both players."""
    view = slow.solution.at(line)
    payoff, equity = slow.payoff(line)
    fit = slow.free(view.board)
    met = fit @ weights[1], weights[0] @ fit
    for player in (0, 1):
        hands = view.hands_of(player)
        alive = (slow.spot.ranges[player] > 0) & ~np.isin(slow.spot.format.hands, view.board).any(axis=1)
        assert hands.tolist() == np.flatnonzero(alive).tolist()
        assert view.weight_of(player) == pytest.approx(weights[player][hands], rel=1e-5)
        assert view.compatible_of(player) == pytest.approx((weights[player] * met[player])[hands], rel=1e-5)
        pairs = (fit * payoff[player], np.where(fit, equity if player == 0 else 1 - equity, 0.0))
        sums = [each @ weights[1] if player == 0 else weights[0] @ each for each in pairs]
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = [np.where(met[player] > 0, each / met[player], np.nan)[hands] for each in sums]
        if np.isnan(equity).all():
            expected[1] = np.full(len(hands), np.nan)
        assert view.ev_of(player) == pytest.approx(expected[0], abs=1e-5, nan_ok=True)
        assert view.equity_of(player) == pytest.approx(expected[1], abs=1e-5, nan_ok=True)
    if view.player is not None:
        for action, child in enumerate(view.children()):
            after = slow.solution.at(child).ev_of(view.player)
            assert view.action_ev[action] == pytest.approx(after, abs=1e-9, nan_ok=True)
        assert (view.hands == view.hands_of(view.player)).all()
        assert view.strategy.sum(axis=0) == pytest.approx(1)


@pytest.mark.quick_cases("river, raked")
@pytest.mark.parametrize("name", CASES)
def test_all_nodes(name):
    slow = Slow(solution(name))
    waiting, seen = [("", slow.spot.ranges)], 0
    draw = np.random.default_rng(0)
    while waiting:
        line, weights = waiting.pop()
        check_view(slow, line, weights)
        seen += 1
        view = slow.solution.at(line)
        assert view.line == line
        children = view.children()
        if view.player is not None:
            table = slow.strategy(line)
            for action, child in enumerate(children):
                after = [weights[0], weights[1]]
                after[view.player] = weights[view.player] * table[action]
                waiting.append((child, tuple(after)))
        elif children:
            for child in draw.choice(children, min(2, len(children)), replace=False):
                cards = parse_cards(str(child).split(",")[-1])
                gone = np.isin(slow.spot.format.hands, cards).any(axis=1)
                waiting.append((str(child), tuple(np.where(gone, 0, each) for each in weights)))
    assert seen > 10
    root = slow.solution.at("")
    for player in (0, 1):
        shares = root.compatible_of(player)
        assert np.nansum(shares * root.ev_of(player)) / shares.sum() == pytest.approx(slow.solution.ev[player])


def test_isomorphic_boards_are_one_board_renamed():
    few, spot = solution("two suits alike"), CASES["two suits alike"]
    assert [len(boards) for boards in few.game.boards] < [1, 6, 30]
    all_boards = solve_spot(spot, iterations=3, threads=1, storage="float64", isomorphism=False)
    assert few.exploitability == pytest.approx(all_boards.exploitability)
    for card in few.at("x,x").children():
        for line in (card, f"{card},x"):
            one, other = few.at(line), all_boards.at(line)
            assert one.strategy == pytest.approx(other.strategy, abs=1e-6)
            assert one.ev_of(0) == pytest.approx(other.ev_of(0), nan_ok=True)


def test_fields_of_a_view():
    spot = holdem("Td9d6hQc", "AA,KK", "QQ,JTs", pot=200, stack=900, bets=no_limit(4))
    view = solve_spot(spot, iterations=2, threads=1).at("x, b50%")
    assert (view.street, view.player, view.pot, view.line) == (2, 0, 300, "x,b100")
    assert (view.stacks, view.street_bets) == ((900, 800), (0, 100))
    assert list(map(str, view.actions)) == ["fold", "call", "raise 340", "allin 900"]
    assert view.children() == ("x,b100,f", "x,b100,c", "x,b100,r340", "x,b100,a")
    assert view.strategy.dtype == np.float32
    assert repr(view) == "<Td9d6hQc 'x,b100': OOP acts, pot 300 [fold, call, raise 340, allin 900]>"


def test_chance_and_the_end_of_a_hand():
    spot = holdem("Td9d6hQc", "AA,KK", "QQ,JTs", pot=200, stack=900, bets=no_limit(4))
    found = solve_spot(spot, iterations=2, threads=1)
    chance = found.at("x,x")
    assert (chance.player, chance.actions, chance.hands.size, chance.strategy.shape) == (None, (), 0, (0, 0))
    left = [card_to_string(card) for card in range(52) if card not in spot.board]
    assert chance.children() == tuple(f"x,x,{card}" for card in left)
    assert found.at("x,x,2c").street == 3
    folded = found.at("x,b100,f")
    assert folded.children() == ()
    assert folded.ev_of(0) == pytest.approx(-100)
    assert (folded.pot, folded.stacks) == (200, (900, 900))  # the bet of 100 goes back
    assert np.isnan(folded.equity_of(0)).all()
    assert np.isnan(folded.equity_of(1)).all()
    after = report(folded, found.spot).from_the_pot()
    assert [each.mean(each.ev) for each in after.sides] == pytest.approx([0, 200])
    allin = found.at("a,c")
    assert (allin.children(), allin.street, allin.pot) == ((), 2, 2000)
    assert allin.ev_of(0) == pytest.approx(2000 * allin.equity_of(0) - 1000)
    run_out = found.at("a,c,2c")
    assert (run_out.street, run_out.player, run_out.children()) == (3, None, ())
    assert run_out.ev_of(1) == pytest.approx(2000 * run_out.equity_of(1) - 1000)


def test_lines_that_are_not_there():
    found = solution("turn")
    with pytest.raises(SpecError, match="step 2, 'c': there is no such action; IP can x, "):
        found.at("x,c")
    with pytest.raises(SpecError, match="the hand is over after 'a,f'"):
        found.at("a,f,x")
