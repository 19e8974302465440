"""AIVAT over every hand that can be played: the same mean whatever the values are, and the deviations of a trial elsewhere."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from papers.aivat.every_hand import every_hand
from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame, State
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame, HoldemState
from treeplex.holdem.spots.known import holdem
from treeplex.search.agents.agent import TableAgent
from treeplex.search.evaluate.aivat import Aivat, PolicyValues
from treeplex.search.evaluate.play import HandEvent, MatchTable, PlayedHand, streams_of
from treeplex.search.evaluate.tables import expected_payoffs
from treeplex.solvers import make_solver


def solved(game: CompiledGame, algorithm: str, iterations: int) -> Policy:
    solver = make_solver(game, algorithm)
    solver.run(iterations)
    return solver.average_policy()


def some_policy(game: CompiledGame, seed: int) -> Policy:
    weights = np.random.default_rng(seed).random(int(game.tree.sequence_offsets[-1])) + 0.05
    return Policy(game, normalised(game, weights))


def moments(hands: Sequence[tuple[float, PlayedHand]], judge: Callable[[PlayedHand], Sequence[float]]) -> tuple[float, float]:
    """Mean and standard deviation of what player 0 gets."""
    chances = np.array([chance for chance, _ in hands])
    values = np.array([judge(hand)[0] for _, hand in hands])
    mean = float(chances @ values)
    return mean, float(np.sqrt(chances @ (values - mean) ** 2))


def paid(hand: PlayedHand) -> tuple[float, ...]:
    assert hand.payoffs is not None
    return hand.payoffs


@pytest.mark.parametrize("known", [None, (0,), (1,), ()])
@pytest.mark.parametrize("values", ["good", "bad", "zero"])
def test_no_value_function_and_no_choice_of_known_agents_changes_the_mean(values: str, known: tuple[int, ...] | None) -> None:
    game, rules = compile_game("kuhn_poker"), public_tree("kuhn_poker")
    policies = some_policy(game, 1), some_policy(game, 2)
    hands = list(every_hand(rules, policies))
    assert sum(chance for chance, _ in hands) == pytest.approx(1.0)
    worth = {"good": PolicyValues(rules, policies[0]), "bad": PolicyValues(rules, some_policy(game, 3)), "zero": None}[values]
    (mean, deviation), (before, plain) = moments(hands, Aivat(rules, worth, known=known)), moments(hands, paid)
    assert before == pytest.approx(expected_payoffs(game, policies)[0], abs=1e-12)
    assert mean == pytest.approx(before, abs=1e-12)
    assert deviation < plain or (values, known) == ("zero", ())


def test_other_policies_than_those_played_are_biased() -> None:
    game, rules = compile_game("kuhn_poker"), public_tree("kuhn_poker")
    policies, claimed = (some_policy(game, 1), some_policy(game, 2)), solved(game, "cfr", 3)
    played, said = list(every_hand(rules, policies)), list(every_hand(rules, (claimed, policies[1])))
    tables = {tuple(step.number for step in hand.steps) + hand.dealt: hand for _, hand in said}
    wrong = [
        (chance, replace(hand, steps=tables[key].steps))
        for chance, hand in played
        if (key := tuple(step.number for step in hand.steps) + hand.dealt) in tables
    ]
    assert len(wrong) == len(played)
    values = PolicyValues(rules, claimed)
    assert abs(moments(wrong, Aivat(rules, values))[0] - moments(played, paid)[0]) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("iterations", "plain", "without_luck"),
    [(10, 3.5476, 0.8363), pytest.param(1000, 3.4971, 0.0123, marks=pytest.mark.slow)],
)
def test_an_equilibrium_on_leduc_poker(iterations: int, plain: float, without_luck: float) -> None:
    """Seat 0 knows its own policy only: against 10 iterations of CFR, and against itself."""
    game, rules = compile_game("leduc_poker"), public_tree("leduc_poker")
    nash = solved(game, "cfr+", 1000)
    other = nash if iterations == 1000 else solved(game, "cfr", iterations)
    hands = list(every_hand(rules, (nash, other)))
    mean, deviation = moments(hands, Aivat(rules, PolicyValues(rules, nash), known=(0,)))
    before = moments(hands, paid)
    assert mean == pytest.approx(before[0], abs=1e-10)
    assert (before[1], deviation) == (pytest.approx(plain, abs=1e-4), pytest.approx(without_luck, abs=1e-4))


@pytest.mark.slow
def test_uniform_play_and_chance_alone_on_leduc_poker() -> None:
    game, rules = compile_game("leduc_poker"), public_tree("leduc_poker")
    nash = solved(game, "cfr+", 1000)
    values = PolicyValues(rules, nash)
    hands = list(every_hand(rules, (nash, Policy.uniform(game))))
    assert moments(hands, paid)[1] == pytest.approx(4.157, abs=1e-3)
    assert moments(hands, Aivat(rules, values, known=(0,)))[1] == pytest.approx(1.548, abs=1e-3)
    assert moments(hands, Aivat(rules, values, known=()))[1] == pytest.approx(2.78, abs=0.01)


def test_values_are_those_of_the_judge() -> None:
    game, rules = compile_game("leduc_poker(ranks=2)"), public_tree("leduc_poker(ranks=2)")
    policy = some_policy(game, 5)
    exact = expected_payoffs(game, (policy, policy))
    np.testing.assert_allclose(Aivat(rules, PolicyValues(rules, policy)).expected, exact, atol=1e-12)


def test_private_actions() -> None:
    """In a matrix game the moves are the hands; a known player's are averaged over, and known moves are no luck."""
    game, rules = compile_game("modified_rps"), public_tree("modified_rps")
    policies = some_policy(game, 1), some_policy(game, 2)
    agents = [TableAgent(rules, policy) for policy in policies]
    exact = expected_payoffs(game, policies)
    table, both = MatchTable(rules, agents, asked=True), Aivat(rules, PolicyValues(rules, policies[1]))
    hands = [table.play(*streams_of(0, number, number, 2)) for number in range(300)]
    assert {paid(hand) for hand in hands} != {tuple(exact)}
    for hand in hands[:20]:
        np.testing.assert_allclose(both(hand), exact, atol=1e-12)
    one = np.array([Aivat(rules, PolicyValues(rules, policies[1]), known=(0,))(hand) for hand in hands])
    assert abs(one.mean(axis=0) - exact).max() < 4 * one.std() / np.sqrt(len(one))


class Cards:
    """Values that know nothing but the river card."""

    def __call__(self, state: object, held: tuple[slice, ...]) -> Floats:
        assert isinstance(state, HoldemState)
        return np.array([1.0, -1.0])[:, None, None] * (state.board[-1] % 7)


@pytest.mark.slow_cases("3s7hTdKs-QcQh-values1")
@pytest.mark.parametrize(("board", "first", "values"), [("3s7hTdKs2c", "QQ,65s", None), ("3s7hTdKs", "QcQh", Cards())])
def test_real_cards(board: str, first: str, values: Cards | None) -> None:
    """Where pairs of hands are never enumerated: every hand of hold'em on the river, and of one pair of hands on the turn."""
    plan = BetPlan.same("a", "a")
    game = HoldemGame.of(holdem(board, first, "9c9d,KcQd" if values is None else "9c9d", pot=20.0, stack=20.0, bets=plan))
    hands = list(uniform_hands(game, game.first_state(), None, 1.0, ()))
    assert sum(chance for chance, _ in hands) == pytest.approx(1.0)
    mean, deviation = moments(hands, Aivat(game, values, known=(0,)))
    before, plain = moments(hands, paid)
    assert mean == pytest.approx(before, abs=1e-10)
    assert deviation < plain if values is None else deviation != plain


def uniform_hands(
    game: PublicGame, state: State, dealt: tuple[int, ...] | None, chance: float, steps: tuple[HandEvent, ...]
) -> Iterator[tuple[float, PlayedHand]]:
    """Every hand between players who play all actions alike."""
    if dealt is None:
        joint = game.joint(state, game.first_ranges())
        for pair in np.argwhere(joint > 0).tolist():
            yield from uniform_hands(game, state, tuple(pair), float(joint[tuple(pair)] / joint.sum()), ())
        return
    options = game.options(state)
    if options.player == TERMINAL:
        yield chance, PlayedHand(dealt, steps, game.payoffs(state, dealt))
        return
    count = len(options.labels)
    table = None if options.player == CHANCE else np.full((count, len(game.possible(state)[options.player])), 1.0 / count)
    shares = game.chances(state, dealt) if table is None else table[:, dealt[options.player]]
    for number, (share, label) in enumerate(zip(shares.tolist(), options.labels, strict=True)):
        if share > 0:
            yield from uniform_hands(game, game.after(state, label), dealt, chance * share, (*steps, HandEvent(number, table)))


def test_hands_that_have_no_value() -> None:
    game, rules = compile_game("kuhn_poker"), public_tree("kuhn_poker")
    judge = Aivat(rules, None)
    with pytest.raises(GameError, match="unfinished"):
        judge(PlayedHand((0, 1), (), None))
    never = np.zeros((2, 3))
    never[0] = 1.0
    passed, called = np.full((2, 3), 0.5), HandEvent(1, never)
    assert game.players == 2
    with pytest.raises(GameError, match="has zero probability"):
        judge(PlayedHand((0, 1), (called, HandEvent(0, passed)), (1.0, -1.0)))


def test_which_policies_are_known_does_not_depend_on_the_hand() -> None:
    """Player 1 does not say its policy; its seat must be left out in every hand."""
    game, rules = compile_game("kuhn_poker"), public_tree("kuhn_poker")
    policies = some_policy(game, 1), some_policy(game, 2)
    hands = []
    for chance, hand in every_hand(rules, policies):
        steps = tuple(HandEvent(step.number, None if k % 2 else step.policy) for k, step in enumerate(hand.steps))
        hands.append((chance, replace(hand, steps=steps)))
    values = PolicyValues(rules, policies[0])
    assert moments(hands, Aivat(rules, values, known=(0,)))[0] == pytest.approx(moments(hands, paid)[0], abs=1e-12)
    assert moments(hands, Aivat(rules))[0] == pytest.approx(moments(hands, paid)[0], abs=1e-12)
    with pytest.raises(GameError, match="player 1 acted without reporting its policy; give known="):
        moments(hands, Aivat(rules, values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, -1.0], r"returned '\[1.0, -1.0\]'; return float64 values of shape \(2, 3, 3\)"),
        (None, "returned 'None'"),
        (np.zeros((1, 3, 3)), r"an array of shape \(1, 3, 3\)"),
        (np.zeros((2, 2, 3)), r"an array of shape \(2, 2, 3\)"),
        (np.full((2, 1, 1), np.nan), "not finite"),
    ],
)
def test_a_value_function_that_returns_no_values_is_refused(values: Any, message: str) -> None:
    uniform = some_policy(compile_game("kuhn_poker"), 1)
    rules = public_tree("kuhn_poker")
    _, hand = next(iter(every_hand(rules, (uniform, uniform))))
    with pytest.raises(AlgorithmError, match=message):
        Aivat(rules, lambda state, held: values)(hand)
