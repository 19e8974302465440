"""Action translation: the mapping's properties, and a coarse policy at the table of a game with more bets."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeplex.errors import GameError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.known import holdem
from treeplex.search import PlaythroughSettings, SearchAgent, ZeroLeaf
from treeplex.search.action_subset import bet_abstraction
from treeplex.search.agents.agent import Agent, TableAgent, play_game
from treeplex.search.subgames.policy_tables import table_at
from treeplex.search.translation.agent import TranslatedAgent
from treeplex.search.translation.exact import translated_policy
from treeplex.search.translation.mapping import pseudo_harmonic
from treeplex.solvers import make_solver

COARSE = "no_limit_leduc(stack=700)"
REAL = "no_limit_leduc(sizes=[50%;100%;200%;a],stack=700)"
FINE = "no_limit_leduc(sizes=[90%;110%;a],stack=700)"
FEW = "no_limit_leduc(sizes=[100%;a],stack=700)"
parts = st.floats(0.0, 20.0)


def solution(spec: str, iterations: int = 50) -> Policy:
    solver = make_solver(compile_game(spec), "cfr+")
    solver.run(iterations)
    return solver.average_policy()


@given(parts, parts, parts)
def test_who_calls_every_size_as_often_as_it_should_still_does(first: float, second: float, third: float) -> None:
    """Facing a bet of s pots, 1 / (1 + s) of all hands must call; the mapping keeps that (Ganzfried and Sandholm 2013)."""
    low, size, high = sorted((first, second, third))
    if high - low < 1e-3:
        return
    shares = pseudo_harmonic(size, np.array([low, high]))
    assert shares @ (1 / (1 + np.array([low, high]))) == pytest.approx(1 / (1 + size), abs=1e-8)
    assert shares.sum() == pytest.approx(1.0)
    likelier = pseudo_harmonic(size, np.array([low, high]), "likelier")
    between = (low + high + 2 * low * high) / (low + high + 2)
    if abs(size - between) > 1e-6:
        assert likelier.tolist() == ([1.0, 0.0] if size < between else [0.0, 1.0])


@pytest.mark.parametrize(
    ("size", "sizes", "expected"),
    [
        (0.5, [0.0, 1.0], [1 / 3, 2 / 3]),
        (0.5, [0.0, 0.5, 1.0], [0.0, 1.0, 0.0]),
        (0.1, [0.5, 1.0], [1.0, 0.0]),
        (7.0, [0.0, 0.5, 1.0], [0.0, 0.0, 1.0]),
        (3.0, [0.0], [1.0]),
    ],
)
def test_sizes_that_are_known_and_sizes_beyond(size: float, sizes: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(pseudo_harmonic(size, np.array(sizes)), expected)


def test_nothing_is_translated_between_equal_games() -> None:
    policy = solution(COARSE)
    game = policy.game
    for mapping in ("random", "likelier"):
        again = translated_policy(game, policy, public_tree(COARSE), mapping=mapping)
        assert judge(game, again).best_response_values == pytest.approx(judge(game, policy).best_response_values, abs=1e-9)


@pytest.mark.slow
def test_a_coarse_game_is_the_real_one_with_only_some_sizes() -> None:
    coarse, real = public_tree(COARSE), compile_game(REAL)
    menu = bet_abstraction(public_tree(REAL), ["100%", "a"])
    policy = solution(COARSE)
    found = [translated_policy(real, policy, rules) for rules in (coarse, menu)]
    np.testing.assert_allclose(found[0].probabilities, found[1].probabilities, atol=1e-12)


@pytest.mark.quick_cases("fewer bets-0")
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("coarse", "real"), [(COARSE, REAL), (FINE, FEW)], ids=["more bets", "fewer bets"])
def test_agents_play_what_the_exact_policy_says(coarse: str, real: str, seat: int) -> None:
    """With fewer bets at the table, two of the agent's are one there: it must not say by its play which one it meant."""
    policy, rules = solution(coarse), public_tree(real)
    exact = translated_policy(compile_game(real), policy, public_tree(coarse), mapping="likelier")
    agent = TranslatedAgent(rules, TableAgent(public_tree(coarse), policy), mapping="likelier")
    waiting, asked = [tuple[int, ...]()], 0
    while waiting:
        path = waiting.pop()
        agent.begin(seat, np.random.default_rng(0))
        for label in path:
            agent.see(label)
        options = rules.options(agent.state)
        if options.player != seat:
            waiting += [(*path, label) for label in options.labels]
            continue
        table, can = agent.policy(), rules.possible(agent.state)[seat] > 0
        np.testing.assert_allclose(table[:, can], table_at(exact, rules, agent.state)[:, can], atol=1e-9)
        waiting += [(*path, label) for label, row in zip(options.labels, table, strict=True) if row.any()]
        asked += 1
    assert asked > 50


def test_the_policy_does_not_depend_on_the_hand_held() -> None:
    """After a bet that two coarse bets are played as, a seat says the same whatever it holds, and where it only saw its bet."""
    rules, said = public_tree(FEW), []
    agent = TranslatedAgent(rules, TableAgent(public_tree(FINE), solution(FINE, 3)), mapping="likelier")
    pot = rules.options(agent.state).labels[1]
    for hand in (None, *range(6)):
        for seed in range(8):
            agent.begin(0, np.random.default_rng(seed))
            if hand is None or agent.act(hand) == pot:
                agent.see(pot)
                agent.see(rules.options(agent.state).labels[-1])  # all-in
                said.append(agent.policy())
    assert len(said) > 12
    for table in said[1:]:
        np.testing.assert_array_equal(table, said[0])


@pytest.mark.slow
def test_what_is_drawn_is_on_average_the_exact_policy() -> None:
    policy, rules = solution(COARSE), public_tree(REAL)
    exact = translated_policy(compile_game(REAL), policy, public_tree(COARSE))
    agent = TranslatedAgent(rules, TableAgent(public_tree(COARSE), policy))
    half_pot, drawn = rules.options(agent.state).labels[1], []
    assert rules.action_to_string(rules.root, half_pot) == "bet 100"
    generator = np.random.default_rng(1)
    for _ in range(600):
        agent.begin(1, generator)
        agent.see(half_pot)
        drawn.append(agent.policy())
    np.testing.assert_allclose(np.mean(drawn, axis=0), table_at(exact, rules, agent.state), atol=0.06)
    assert len({table.tobytes() for table in drawn}) == 2  # as a check, or as a bet of the pot


def test_a_small_raise_that_counts_as_a_call_is_called() -> None:
    rules = public_tree("no_limit_leduc(sizes=[50%;a],stack=4000)")
    coarse = public_tree("no_limit_leduc(sizes=[a],stack=4000)")
    policy = solution("no_limit_leduc(sizes=[a],stack=4000)", 5)
    agent = TranslatedAgent(rules, TableAgent(coarse, policy), mapping="likelier")
    agent.begin(0)
    for name in ("check", "bet 100"):  # after a check, in the coarse game a check as well: a card is due there
        options = rules.options(agent.state)
        agent.see(next(each for each in options.labels if rules.action_to_string(agent.state.node, each) == name))
    assert coarse.options(agent.inner.state).player == CHANCE
    labels = rules.options(agent.state).labels
    assert [rules.action_to_string(agent.state.node, each) for each in labels][:2] == ["fold", "call"]
    np.testing.assert_array_equal(agent.policy()[1], 1.0)


class BareAgent(TableAgent):
    """Plays all actions alike in any public game."""

    def __init__(self, game: HoldemGame) -> None:
        super(TableAgent, self).__init__(game)

    def begin(self, seat=None, generator=None, *, at=None) -> None:
        self.sit(seat, generator)
        self.state = self.game.first_state()

    def see(self, event: int) -> None:
        self.state = self.game.after(self.state, event)

    def policy(self):
        options = self.game.options(self.state)
        return np.full((len(options.labels), len(self.game.possible(self.state)[options.player])), 1 / len(options.labels))


def test_agents_of_holdem_translate_as_well() -> None:
    def spot(sizes: str):
        return holdem("3s7hTdKs2c", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=60.0, bets=BetPlan.same(sizes, sizes))

    game = HoldemGame.of(spot("30%,70%,150%,a"))
    settings = PlaythroughSettings(iterations=2, depth=0)
    coarse = SearchAgent(HoldemGame.of(spot("50%,a")), ZeroLeaf(), settings, endgame=20)
    agents: Sequence[Agent] = [TranslatedAgent(game, coarse), BareAgent(game)]
    generator, won = np.random.default_rng(0), []
    for play in range(20):
        seats = agents if play % 2 else agents[::-1]
        won.append(play_game(seats, generator))
    assert all(sum(each) == pytest.approx(0.0) for each in won)
    assert len(set(won)) > 5


def folds_to(bet: int, inner: Agent, off_tree: str) -> np.ndarray:
    """How often player 1 folds each hand to a first bet, number 1 of half the pot and 2 of the pot, float64 [H]."""
    rules = public_tree(REAL)
    agent = TranslatedAgent(rules, inner, mapping="likelier", off_tree=off_tree)
    agent.begin(1, np.random.default_rng(0))
    agent.see(rules.options(agent.state).labels[bet])
    return agent.policy()[0]


@pytest.mark.slow_cases("a subset")
@pytest.mark.parametrize("menu", [False, True], ids=["its own game", "a subset"])
def test_searches_are_told_of_new_bets(menu: bool) -> None:
    """Who hears half the pot as the pot folds as often as to the pot; who solves with that bet folds less."""
    settings = PlaythroughSettings(iterations=400, depth=0)
    coarse = bet_abstraction(public_tree(REAL), ["100%", "a"]) if menu else public_tree(COARSE)
    inner = SearchAgent(coarse, ZeroLeaf(), settings, drawn=False)
    told, heard = (folds_to(1, inner, off_tree) for off_tree in ("resolve", "translate"))
    assert inner.game is coarse  # of the last play, in which nothing was added
    np.testing.assert_allclose(heard, folds_to(2, inner, "translate"))
    assert 0.01 < told.mean() < heard.mean() - 0.05
    agent = TranslatedAgent(public_tree(REAL), inner, off_tree="resolve")
    agent.begin(1)
    agent.see(agent.game.options(agent.state).labels[1])
    bets = inner.game.bets(inner.game.first_state())
    assert bets is not None
    assert 100.0 in bets.chips
    assert agent.inner.game is not coarse


def test_public_trees_of_poker_take_new_bets() -> None:
    """With a bet of 350 chips the game is the one whose plan has it for the player to act; nothing else changes its name."""
    rules = public_tree(COARSE)
    check, pot, _ = rules.options(first := rules.first_state()).labels
    larger, label = rules.with_action(first, 350)
    assert larger.action_to_string(larger.root, label) == "bet 350"
    assert rules.with_action(first, 200) == (rules, pot)
    after, there = (
        rules.after(first, pot),
        larger.after(larger.first_state(), rules.label_in(first, pot, larger, larger.first_state())),
    )
    assert rules.infostate(after.node, 1, 0) == larger.infostate(there.node, 1, 0)
    assert rules.state_in(after, larger).node == there.node
    assert larger.options(rules.state_in(rules.after(first, check), larger)).player == 1
    with pytest.raises(GameError, match="a bet to a total of 50 chips is not allowed here: at least 100"):
        rules.with_action(first, 50)
    with pytest.raises(GameError, match="a bet to a total of 5000 chips is not allowed here: at most 600, all-in"):
        rules.with_action(first, 5000)
    with pytest.raises(GameError, match="no player acts"):
        rules.with_action(rules.after(rules.after(first, check), check), 350)
    with pytest.raises(GameError, match="fixed-limit betting does not support other bet sizes"):
        public_tree("small_holdem").with_action(public_tree("small_holdem").first_state(), 3)


def test_who_thinks_is_asked() -> None:
    coarse = public_tree(COARSE)
    agent = TranslatedAgent(public_tree(REAL), TableAgent(coarse, solution(COARSE, 2)))
    assert agent.thought is None


def test_errors_name_the_remedy() -> None:
    policy = solution(COARSE, 2)
    inner = TableAgent(public_tree(COARSE), policy)
    with pytest.raises(SpecError, match="unknown mapping 'randm'; did you mean 'random'"):
        TranslatedAgent(public_tree(REAL), inner, mapping="randm")
    with pytest.raises(SpecError, match="a TableAgent does not search and cannot solve new bets"):
        TranslatedAgent(public_tree(REAL), inner, off_tree="resolve")
    with pytest.raises(GameError, match="use the same deck"):
        TranslatedAgent(public_tree("no_limit_leduc(ranks=4,stack=700)"), inner)
    dice = compile_game("liars_dice(dice_sides=2)")
    with pytest.raises(GameError, match="are not bets and cannot"):
        translated_policy(dice, Policy.uniform(dice), public_tree(dice.spec))
    with pytest.raises(SpecError, match="is neither a share of the pot nor all-in"):
        bet_abstraction(public_tree(REAL), ["2.5x"])
    few, limit = bet_abstraction(public_tree(REAL), ["75%"]), bet_abstraction(public_tree(dice.spec), ["a"])
    with pytest.raises(SpecError, match=r"no bet of 75% of the pot"):
        few.visit(few.root)
    with pytest.raises(SpecError, match="has no bets"):
        limit.visit(limit.root)
