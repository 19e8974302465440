"""``resolver`` plays whole hands of heads-up no-limit hold'em at any stack, without PyTorch and without a blueprint."""

import subprocess
import sys

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import FileError, SpecError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import CLASSES, parse_cards
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.rules.run_outs import suits_alike
from treeplex.holdem.search import whole
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.preflop_charts import chart_book
from treeplex.learn.resolver.preflop import PreflopCharts, all_in_calls, nearest_books, nearest_charts
from treeplex.search.named_agents.registry import agent

QUICK = "resolver(think=none,iterations=2)"
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import treeplex as tp
player = tp.agent("resolver(think=none,iterations=1)", "holdem(stack=40)")
player.begin(0)
for event in (4, 1, 50, 33, 8):
    player.see(event)
print(player.policy().sum(axis=0).mean())
"""


@pytest.mark.parametrize(
    ("stack", "charts"), [(10, "10bb"), (40, "20bb"), (70, "30bb 50bb"), (150, "50bb 100bb"), (200, "100bb"), (800, "300bb")]
)
def test_the_nearest_charts(stack: int, charts: str) -> None:
    found = nearest_charts(tp.load(f"holdem(stack={stack})").public)  # type: ignore[arg-type]
    assert list(found) == charts.split()
    assert sum(found.values()) == pytest.approx(1.0)
    if stack == 70:
        assert found["30bb"] == pytest.approx(np.log(50 / 35) / np.log(50 / 30))


def spot_of(player: WholeHoldemAgent) -> Spot:
    """The spot that the agent is solving."""
    assert player.solver is not None
    game = player.solver.game
    assert isinstance(game, HoldemGame)
    return game.spot


def calling(stack: int, *events: int) -> float:
    """How much of the range at the table continues after these actions."""
    public = tp.load(f"holdem(stack={stack})").public
    player = PreflopCharts(public, nearest_books(public))  # type: ignore[arg-type]
    for event in events:
        player.see(event)
    reach = sum(line.reach[public.options(player.state).player] for line in player.lines)
    return 1.0 - float(player.policy()[0] @ reach / reach.sum())


def test_fewer_hands_continue_against_a_larger_raise() -> None:
    """The chart's answer to a raise to 2.5 big blinds is scaled by the minimum defence frequency; an all-in is solved alone."""
    shares = [calling(200, raised) for raised in (4, 5, 6, 10, 20, 200)]
    assert (np.diff(shares) < 0).all()
    assert shares[1] == pytest.approx(0.713, abs=0.01)
    assert shares[2] / shares[1] == pytest.approx(1.75 / 2.0, abs=1e-3)
    assert 0.01 < shares[-1] < 0.05
    assert calling(600, 600) < shares[-1] < calling(60, 60) < calling(20, 20)
    assert calling(200, 1, 5) > calling(200, 1, 8)


def test_stacks_between_charts_mix_them() -> None:
    """A mixture of two charts weighs each hand's actions by the reach in each of them."""
    public = tp.load("holdem(stack=70)").public
    player = PreflopCharts(public, nearest_books(public))  # type: ignore[arg-type]
    weights = nearest_charts(public)  # type: ignore[arg-type]
    first = [PreflopCharts(public, chart_book(name)).policy() for name in weights]  # type: ignore[arg-type]
    np.testing.assert_allclose(player.policy(), np.average(first, axis=0, weights=list(weights.values())), atol=1e-9)


def test_calling_an_all_in_is_an_equilibrium() -> None:
    """With both ranges full and ten big blinds, the caller's best response to the raiser's is worth no more."""
    known, one, paid = class_equities(), np.ones(169), 0.1
    calls = all_in_calls(one, one, paid)
    edges = known.pairs * (2 * known.equity - 1)
    pushed = (edges @ calls + paid * (known.pairs @ (1 - calls)) > paid * (edges @ one)).astype(float)
    gain = edges @ pushed + paid * (known.pairs @ pushed)
    assert float((np.maximum(gain, 0) - calls * gain).sum() / known.pairs.sum()) < 0.02
    assert calls[CLASSES.index("AA")] == pytest.approx(1.0, abs=1e-3)
    assert calls[CLASSES.index("72o")] == pytest.approx(0.0, abs=1e-3)


def test_any_raise_is_answered_preflop() -> None:
    """Aces never fold, and seven-deuce offsuit folds to a large raise, whatever the size."""
    game = tp.load("holdem(stack=200)")
    player = PreflopCharts(game.public, chart_book("100bb"))  # type: ignore[arg-type]
    names = [game.public.hand_name(game.public.first_state(), 0, hand) for hand in range(1326)]
    aces, rags = names.index("AsAh"), names.index("7s2h")
    for raised in (4, 5, 6, 9, 14, 30, 77, 199, 200):
        player.begin(0)
        player.see(raised)
        policy = player.policy()
        np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-6)
        assert all(map(suits_alike, policy))
        assert policy[0, aces] < 1e-3
        if raised > 20:
            assert policy[0, rags] > 0.99
    player.begin(1)
    for event in (5, 13, 40):
        assert player.policy()[0, aces] < 1e-3
        player.see(event)
    assert player.policy()[0, rags] > 0.99


@pytest.mark.slow
def test_hands_against_every_kind_of_bet() -> None:
    """Whole hands from 10 to 300 big blinds against an opponent who bets at random."""
    random = np.random.default_rng(0)
    for stack in (20, 100, 600):
        game = tp.load(f"holdem(stack={stack})")
        player = agent(QUICK, game)
        for seat in (0, 1):
            player.begin(seat)
            state, deck = game.public.first_state(), random.permutation(52).tolist()
            while (options := game.public.options(state)).player >= 0 or options.player == CHANCE:
                labels = list(options.labels)
                if options.player == CHANCE:
                    event = deck.pop()
                elif options.player == seat:
                    policy = player.policy()
                    np.testing.assert_allclose(policy.sum(axis=0), 1.0, atol=1e-5)
                    event = labels[int(policy.mean(axis=1).argmax())]
                else:
                    event = labels[int(random.integers(max(len(labels) - 1, 1)))] if random.random() < 0.4 else 1
                    event = event if event in labels else labels[0]
                player.see(event)
                state = game.public.after(state, event)


@pytest.mark.slow
def test_a_made_hand_calls_and_air_folds_on_the_river() -> None:
    """The nuts never fold to an all-in, and the worst hand always does."""
    game = tp.load("holdem(stack=100)")
    player = agent("resolver(think=none,iterations=20)", game)
    assert isinstance(player, WholeHoldemAgent)
    player.begin(0)
    for event in (5, 1, *parse_cards("AhKd7c"), 1, 1, *parse_cards("2s"), 1, 1, *parse_cards("Kh"), 1, 100):
        player.see(int(event))
    policy = player.policy()
    names = [game.public.hand_name(game.public.first_state(), 0, hand) for hand in range(1326)]
    assert policy[0, names.index("KsKc")] < 0.01
    assert policy[0, names.index("4c3d")] > 0.99


@pytest.mark.slow
def test_its_own_range_is_the_one_it_has_played() -> None:
    """A raise that is added to the tree changes the street's solution, but not the bet already made."""
    game = tp.load("holdem(stack=200)")
    player = agent(QUICK, game)
    assert isinstance(player, WholeHoldemAgent)
    player.begin(0)
    played = np.ones(1326)
    for event in (5, 1, *parse_cards("5d7sAd"), 10, 26, 1, *parse_cards("Jd")):
        state = player.state
        if game.public.options(state).player == 0:
            played *= player.policy()[list(game.public.options(state).labels).index(event)]
        player.see(int(event))
    played *= player.holdem.free(player.state)
    tracked = spot_of(player).ranges[0]
    np.testing.assert_allclose(tracked / tracked.sum(), played / played.sum(), atol=1e-5)


@pytest.mark.parametrize(("think", "sizes", "raises"), [(0.05, 1, False), (0.5, 2, False), (2.0, 2, True)])
def test_flops_have_fewer_bets_when_time_is_short(
    think: float, sizes: int, raises: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default of two seconds has all sizes, and no time limit leaves the flop to the chart."""
    monkeypatch.setattr(whole, "perf_counter", lambda: 0.0)
    player = agent(f"resolver(think={think})", tp.load("holdem(stack=200)"))
    assert isinstance(player, WholeHoldemAgent)
    player.begin(0)
    for event in (5, 1, *parse_cards("Td9d6h")):
        player.see(int(event))
    bets = spot_of(player).bets
    assert isinstance(bets, BetPlan)
    flop = bets.streets[1][0]
    assert (len(flop.bets), bool(flop.raises)) == (sizes, raises)


@pytest.mark.slow
def test_it_needs_no_pytorch() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True)
    assert float(done.stdout) == pytest.approx(1.0)


def test_other_games_are_refused() -> None:
    for game, reason in (
        ("holdem(players=3)", "plays two-player holdem with 52 cards"),
        ("holdem(ranks=6)", "plays two-player holdem with 52 cards"),
        ("holdem(rake=0.05)", "resolver does not support rake"),
        ("holdem(ante=1)", "no preflop charts with antes; leave the ante out"),
        ("holdem(stack=200,blinds=[1;10])", "blinds in the ratio 1:2, but the table's are 1 and 10"),
        ("leduc_poker", "plays two-player holdem"),
    ):
        with pytest.raises(SpecError, match=reason):
            agent(QUICK, game)
    with pytest.raises(SpecError, match="in hold'em fp does not support gadgets"):
        agent("resolver(method=fp)", "holdem(stack=200)")
    for missing in ("libratus(blueprint=none)", "modicum(blueprint=none)", "pluribus(blueprint=none)", "blueprint(file=none)"):
        with pytest.raises(FileError, match="none"):
            agent(missing, "holdem(stack=200)")


def test_replies_are_valued_by_the_solve() -> None:
    """On a river: folding is worth nothing, and calling an all-in with the nuts wins everything in the middle."""
    player = tp.agent("resolver(think=none,iterations=20,drop=0)", "holdem(stack=200)", seed=1)
    assert isinstance(player, WholeHoldemAgent)
    player.begin(1)
    assert player.reply_values(1) is None  # preflop there is a chart
    for event in (5, 1, *parse_cards("Ks7d2c")):
        player.see(event)
    for event in (1, 1, *parse_cards("9h"), 1, 1, *parse_cards("3h"), 1):
        player.see(event)
    player.see(200)
    found = player.reply_values(1)
    assert found is not None
    assert found.labels == (0, 1)
    names = player.holdem.rules.format.names()
    kings = names.index("KhKd")
    assert found.values[:, kings] == pytest.approx([0.0, 205.0])
    others = np.isfinite(found.values).all(axis=0)
    assert others.sum() == 1081
    np.testing.assert_allclose(found.values[0, others], 0.0, atol=1e-6)
    assert (found.values[1, others] < 0).mean() > 0.5  # most hands cannot call


def test_a_bet_that_the_solve_lacks_is_valued_and_not_solved_twice() -> None:
    player = tp.agent("resolver(think=none,iterations=20)", "holdem(stack=200,sizes=[37%;a])", seed=1)
    assert isinstance(player, WholeHoldemAgent)
    player.begin(1)
    for event in (4, 1, *parse_cards("Ks7d2c"), 1, 1, *parse_cards("9h"), 1, 1, *parse_cards("3h")):
        player.see(event)
    bet = player.game.options(player.state).labels[1]
    found = player.reply_values(bet)
    assert found is not None
    assert found.labels[found.chosen] == bet
    assert player.solver is not None
    assert bet not in [round(chips) for chips in player.solver.game.bets(player.solver.state).chips]  # type: ignore[union-attr]
    player.see(bet)
    player.policy()
    assert player.thought is not None
    assert player.thought.iterations == 0  # the solve that valued the bet


def test_too_few_iterations_value_nothing() -> None:
    player = tp.agent(QUICK, "holdem(stack=200)", seed=1)
    assert isinstance(player, WholeHoldemAgent)
    player.begin(1)
    for event in (5, 1, *parse_cards("Ks7d2c"), 1, 1, *parse_cards("9h"), 1, 1, *parse_cards("3h")):
        player.see(event)
    assert player.reply_values(1) is None


@pytest.mark.parametrize(("spec", "searches"), [("deepstack(iterations=2)", 2), (QUICK, 1)])
def test_deepstack_solves_at_each_decision_and_resolver_once_a_street(spec: str, searches: int) -> None:
    player = agent(spec, "holdem(stack=40)")
    assert isinstance(player, WholeHoldemAgent)
    player.begin(0)
    for event in (1, 1, *parse_cards("Ks8s3d")):
        player.see(int(event))
    player.policy()
    player.see(1)
    player.see(4)  # a bet of the pot, which the tree has
    player.policy()
    assert player.solver is not None
    assert player.solver.searches == searches


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("rounds=2", "rounds does not apply"),
        ("skip=3", "skip does not apply"),
        ("leaf=zero", "leaf does not apply"),
        ("gadget=reach-maxmargin", "gadget must be"),
    ],
)
def test_deepstack_refuses_settings_without_a_meaning_in_holdem(setting: str, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        agent(f"deepstack({setting})", "holdem(stack=40)")


def test_deepstack_plays_whole_hands_and_solves_sizes_that_its_tree_lacks() -> None:
    spec = "deepstack(iterations=2,think=0.2)"
    found = tp.match("holdem(stack=40,sizes=[37%;a])", [spec, "rules(style=regular)"], hands=6, sampled=True, seed=1)
    assert found.hands == 6
