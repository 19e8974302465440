"""Streets of whole hold'em on many boards at once: cards, showdowns and betting against enumeration and the hold'em engine."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.forms.sources.load import load
from treeplex.holdem.betting.rules import CALL
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.rows_of_hands import equalise, write_met
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.layout import board_part, store_with
from treeplex.holdem.forms.spot_size import board_counts
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.street_search import showdowns
from treeplex.holdem.street_search.exact import whole_spot
from treeplex.holdem.street_search.showdowns import Showdowns
from treeplex.holdem.street_search.street import Cards, StreetSubgame
from treeplex.holdem.street_search.suits import Suits
from treeplex.search.leaf import NoLeaf
from treeplex.search.methods import METHODS
from treeplex.search.subgame_search import SubgameSearch

TEN = "holdem(ranks=5,suits=2,stack=8,sizes=[100%;a])"
TWELVE = "holdem(ranks=3,suits=4,stack=8,sizes=[100%;a])"


@pytest.fixture(scope="module")
def game():
    return load(TEN).public


@pytest.fixture(scope="module")
def cards(game):
    return Cards(game)


def test_a_flop_of_52_cards_is_shown_down_on_boards_that_all_cards_share(monkeypatch):
    suits, board = Suits(HOLDEM), (0, 5, 30)
    drawn, _ = Showdowns(suits)._complete(board)
    assert len({tuple(sorted(each)) for each in drawn}) == len(drawn) == 196
    for place in (3, 4):
        assert set(Counter(each[place] for each in drawn).values()) == {4}
    near = Showdowns(suits).shares(board)
    monkeypatch.setattr(showdowns, "MOST_ENTRIES", 10**12)
    exact = Showdowns(suits).shares(board)
    meets = (exact + exact.T) > 0
    off = np.where(meets, near - exact, 0).sum(axis=1) / np.maximum(meets.sum(axis=1), 1)
    assert 0 < off[meets.any(axis=1)].std() < 0.01


@pytest.mark.parametrize("spec", [TEN, TWELVE])
def test_canonical_boards_are_those_of_the_engine(spec):
    game = load(spec).public
    suits, counts = Suits(game.rules.format), board_counts(whole_spot(game))
    boards = {(): 1}
    for street, dealt in enumerate((3, 1, 1), start=1):
        below = {}
        for board, weight in boards.items():
            children = suits.deals(board)
            assert sum(children.values()) == comb(len(game.rules.format.deck) - len(board), dealt)
            for child, count in children.items():
                below[child] = below.get(child, 0) + weight * count
        boards = below
        assert len(boards) == counts[street]


def test_a_renaming_of_suits_takes_a_board_and_its_hands_to_the_canonical_ones(game):
    suits, form = Suits(game.rules.format), game.rules.format
    board = tuple(form.deck[k] for k in (9, 4, 1, 6, 2))
    least, number = suits.canonical(board)
    before, after = (format_strengths(form, each) for each in (board, least))
    assert (before == after[suits.maps[number]]).all()
    assert least == min(suits.images_of(board)) != board


@pytest.mark.parametrize("size", [5, 4, 3, 0])
def test_shares_are_means_over_the_boards_to_come(game, size):
    form = game.rules.format
    showdowns, board = Showdowns(Suits(form)), tuple(form.deck[:size])
    found, left = showdowns.shares(board), [card for card in form.deck if card not in board]
    hands = form.hands.astype(int)
    for one, other in ((3, 40), (20, 44), (7, 30)):
        gone = {*hands[one], *hands[other]}
        if len(gone) < 4 or gone & {*board}:
            assert found[one, other] == 0
            continue
        shares = []
        for rest in combinations([card for card in left if card not in gone], 5 - size):
            strengths = format_strengths(form, board + rest)
            shares.append((1 + np.sign(strengths[one] - strengths[other])) / 2)
        assert found[one, other] == pytest.approx(np.mean(shares), abs=1e-6)
        assert found[one, other] + found[other, one] == pytest.approx(1, abs=1e-6)


def test_kernels_do_what_matrices_do(game, cards):
    random = np.random.default_rng(0)
    boards = [(), tuple(game.rules.format.deck[:3])]
    free = np.stack([(~np.isin(game.hands, board).any(axis=1)).astype(float) for board in boards])
    reached = random.random((4, len(game.hands)))
    met = np.empty_like(reached)
    write_met(game.hands, free, reached, 1e-13, met)
    both = np.tile(free, (2, 1))
    assert np.allclose(met, both * ((reached * both) @ cards.showdowns.apart))
    suits = cards.suits
    least = suits.canonical(tuple(game.rules.format.deck[:3]))[0]
    fixing = [number for number, image in enumerate(suits.images_of(least)) if image == least]
    values = random.random((1, len(game.hands)))
    expected = values[0][suits.maps[fixing]].mean(axis=0)
    equalise(suits.orbits(least)[None], values)
    assert np.allclose(values[0], expected)


def test_a_river_is_solved_as_by_the_engine(game, cards):
    rules = game.rules
    table = rules.betting.root
    for _ in range(3):  # limped, checked and checked
        table = rules.betting.to_act(rules.betting.called(rules.betting.called(table)))
    board = tuple(rules.format.deck[k] for k in (0, 3, 5, 6, 8))
    random = np.random.default_rng(1)
    ranges = tuple(random.random((1, len(game.hands))) for _ in (0, 1))
    street = StreetSubgame.of(game, cards, table, [board], ranges)
    search = SubgameSearch(street, METHODS["dcfr"], NoLeaf(), horizon=200)
    search.run(200)
    whole = load(TEN).public
    state = whole.first_state()
    for label in (CALL, CALL, *board[:3], CALL, CALL, board[3], CALL, CALL, board[4]):
        state = whole.after(state, label)
    spot = whole.rest(state, tuple(own[0] for own in ranges)).spot
    compiled = compile_spot(spot, isomorphism=False)
    average, policy = np.zeros(compiled.stored), search.average
    for player in (0, 1):
        begin = 0
        forest, hands = compiled.forests[0], compiled.boards[0][0].hands[player]
        rows = own_rows(compiled, average, player)
        decisions = [k for k, each in enumerate(street.betting.decisions) if each.player == player]
        assert len(decisions) == len(forest.nodes[player])
        for number in decisions:
            block = street.block(policy, number)[:, 0]
            rows[begin : begin + len(block)] = block[:, hands]
            begin += len(block)
    none = np.zeros(0)
    found = judge_spot(compiled, average, store_with(none, none, average), judging_crew(compiled, 1), expected=True)
    assert found.exploitability < 1e-3 * spot.pot
    assert search.mean_values()[0][0] == pytest.approx(found.value[0], abs=2e-3 * spot.pot)


def own_rows(compiled, average, player):
    """The rows of a player on the only board of a compiled river, [actions, hands]."""
    return average[board_part(compiled, 0, 0, player)].reshape(-1, len(compiled.boards[0][0].hands[player]))


def test_streets_refuse_what_they_cannot_search():
    with pytest.raises(GameError, match="two players, not 3"):
        Cards(load("holdem(players=3,ranks=6,suits=2,stack=8,sizes=[a])").public)
    with pytest.raises(GameError, match="leave the rake out"):
        Cards(load("holdem(ranks=5,suits=2,stack=8,sizes=[a],rake=0.05)").public)
    with pytest.raises(GameError, match="two cards"):
        Cards(load("holdem(ranks=5,suits=2,hole=1,stack=8,sizes=[a])").public)
    game = load(TEN).public
    over = game.rules.betting.after(game.rules.betting.root, 0)
    both = np.ones((1, len(game.hands)))
    with pytest.raises(GameError, match="no player acts after f; give the first decision of a street"):
        StreetSubgame.of(game, Cards(game), over, [()], (both, both))
