"""The rules against PokerKit: thousands of random lines of random betting trees, replayed action by action."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from pokerkit import Automation, FixedLimitTexasHoldem, NoLimitTexasHoldem, State

from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, Showdown, StreetEnd, betting_tree, payoffs
from treeplex.holdem.cards.cards import cards_to_string, hand_index
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.spots.spot import Rake, Spot

AUTOMATIC = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.RUNOUT_COUNT_SELECTION,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
LINES = 150


@dataclass(frozen=True)
class Deal:
    """Nine cards: the hands of players 0 and 1, then the board."""

    hands: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def random_deal(generator: np.random.Generator) -> Deal:
    cards = [int(card) for card in generator.permutation(52)[:9]]
    return Deal(((cards[0], cards[1]), (cards[2], cards[3])), tuple(cards[4:]))


def deal_cards(state: State, deal: Deal) -> None:
    """Deal whatever PokerKit waits for: the board cards of as many streets as are due."""
    while state.card_burning_status or state.can_deal_board():
        if state.card_burning_status:
            state.burn_card("??")
        start = len(state.board_cards)
        state.deal_board(cards_to_string(deal.board[start : start + (1 if start else 3)]))


def contributions(state: State) -> tuple[int, ...]:
    return tuple(start - stack for start, stack in zip(state.starting_stacks, state.stacks, strict=True))


def check_decision(state: State, node: Decision, smallest: bool) -> None:
    """PokerKit waits for the same player with the same chips, and allows the same kinds of actions."""
    assert state.actor_index == node.player
    assert state.street_index == node.street
    assert contributions(state) == node.contributions
    assert tuple(state.bets) == node.street_bets
    kinds = [action.kind for action in node.actions]
    amount = state.checking_or_calling_amount
    assert amount == max(node.street_bets) - node.street_bets[node.player]
    assert ("fold" in kinds) == ("call" in kinds) == (amount > 0)
    raises = [action.amount for action in node.actions if action.kind in ("bet", "raise", "allin")]
    assert state.can_complete_bet_or_raise_to() == bool(raises)
    for size in raises:
        assert state.can_complete_bet_or_raise_to(int(size))
    if raises and smallest:
        assert raises[0] == state.min_completion_betting_or_raising_to_amount
    if raises and node.actions[-1].kind == "allin":
        assert raises[-1] == state.max_completion_betting_or_raising_to_amount


def act(state: State, kind: str, amount: float) -> None:
    if kind == "fold":
        state.fold()
    elif kind in ("check", "call"):
        state.check_or_call()
    else:
        state.complete_bet_or_raise_to(int(amount))


def check_payoffs(state: State, node: Fold | Showdown, deal: Deal) -> None:
    """The hand is over, and its chips went where the tree says."""
    assert not state.status
    paid = payoffs(node, Rake())
    if isinstance(node, Showdown):
        keys = strengths(deal.board, HOLDEM.hands[[hand_index(*hand) for hand in deal.hands]])
        win, lose, tie = paid
        paid = (tie, tie) if keys[0] == keys[1] else (win, lose) if keys[0] > keys[1] else (lose, win)
    assert tuple(state.payoffs) == pytest.approx(paid, abs=1e-9)


def replay(state: State, tree: BettingTree, generator: np.random.Generator, *, smallest: bool) -> None:
    """One random line of the tree and the same actions in PokerKit, which is the one to say when a street ends."""
    deal = random_deal(generator)
    while state.can_deal_hole():
        assert state.hole_dealee_index is not None
        state.deal_hole(cards_to_string(deal.hands[state.hole_dealee_index]))
    number = 0
    while True:
        node = tree.nodes[number]
        if isinstance(node, Decision):
            check_decision(state, node, smallest)
            choice = random_choice(node, generator)
            act(state, node.actions[choice].kind, node.actions[choice].amount)
            number = node.children[choice]
            continue
        assert state.actor_index is None
        if isinstance(node, Fold):
            break
        deal_cards(state, deal)
        if isinstance(node, Showdown):
            break
        assert isinstance(node, StreetEnd)
        number = node.child
    check_payoffs(state, node, deal)


def random_choice(node: Decision, generator: np.random.Generator) -> int:
    """Fold rarely, so that lines get long."""
    chances = np.array([0.1 if action.kind == "fold" else 1.0 for action in node.actions])
    return int(generator.choice(len(chances), p=chances / chances.sum()))


def halves(dividend: float, divisor: float) -> tuple[float, float]:
    """Split a pot without an odd chip."""
    return dividend / divisor, 0


SIZES = ["33%", "75%", "130%", "e", "2e", "a", "5c"]
RAISES = ["50%", "100%", "2.5x", "3x", "e", "a", "7c2r"]


def random_plan(generator: np.random.Generator) -> tuple[BetPlan, bool]:
    """A plan, and whether it offers the smallest bet and raise everywhere."""
    smallest = bool(generator.integers(2))
    bets, raises = ([str(size) for size in generator.choice(sizes, 2, replace=False)] for sizes in (SIZES, RAISES))
    first = ["0%"] if smallest else []
    plan = BetPlan.same(",".join([*first, *bets]), ",".join([*first, *raises]))
    return plan.override("river", 0, donk="50%,a") if not smallest else plan, smallest


@pytest.mark.quick_cases("0")
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 14))])
def test_no_limit_lines(seed: int) -> None:
    generator = np.random.default_rng(seed)
    big = int(generator.integers(2, 6))
    small, ante, stack = (
        int(generator.integers(1, big)),
        int(generator.integers(0, 3)),
        int(generator.integers(big + 1, 10 * big)),
    )
    plan, smallest = random_plan(generator)
    everything = np.ones(1326)
    spot = Spot((), 2.0 * ante, stack, (everything, everything), plan, blinds=(small, big))
    tree = betting_tree(spot)
    for _ in range(LINES):
        state = NoLimitTexasHoldem.create_state(AUTOMATIC, True, ante, (small, big), big, stack + ante, 2, divmod=halves)
        replay(state, tree, generator, smallest=smallest)


@pytest.mark.quick_cases("7")
@pytest.mark.parametrize("stack", [7, 23, 36, 48, 100, 1000])
def test_fixed_limit_lines(stack: int) -> None:
    generator = np.random.default_rng(stack)
    everything = np.ones(1326)
    bets = FixedLimit((2.0, 2.0, 4.0, 4.0), (5, 4, 4, 4))  # PokerKit does not count the big blind as a bet
    tree = betting_tree(Spot((), 0.0, stack, (everything, everything), bets, blinds=(1.0, 2.0)))
    for _ in range(LINES):
        state = FixedLimitTexasHoldem.create_state(AUTOMATIC, True, 0, (1, 2), 2, 4, stack, 2, divmod=halves)
        replay(state, tree, generator, smallest=True)


def test_lines_reach_every_kind_of_end() -> None:
    """The random lines are worth replaying: most end after the flop, and folds, run-outs and showdowns all come up."""
    generator = np.random.default_rng(0)
    everything = np.ones(1326)
    plan = BetPlan.same("0%,33%,75%", "0%,50%,a")
    tree = betting_tree(Spot((), 0.0, 16, (everything, everything), plan, blinds=(1.0, 2.0)))
    ends = set()
    for _ in range(1000):
        number, streets = 0, [0]
        while isinstance(node := tree.nodes[number], Decision | StreetEnd):
            number = node.child if isinstance(node, StreetEnd) else node.children[random_choice(node, generator)]
            streets.append(node.street)
        assert all(later >= earlier for earlier, later in pairwise(streets))
        ends.add((type(node).__name__, node.street))
    assert ends == {("Fold", street) for street in range(4)} | {("Showdown", street) for street in range(4)}
