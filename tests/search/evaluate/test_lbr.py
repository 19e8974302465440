"""Local best response: figures measured elsewhere, never above the exact best response, and hold'em like public trees."""

import numpy as np
import pytest

from tests.search.agents.test_agent import AGENTS, SPOT, table
from treeplex.errors import GameError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load, public_game, public_tree
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import PublicGame
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.rules.run_outs import pot_shares
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Rake
from treeplex.search import ExactLeaf
from treeplex.search.agents.agent import Agent, BaseAgent, TableAgent, UniformAgent, agent_policy, fork, play_game
from treeplex.search.evaluate.lbr import LocalBestResponse, Moves
from treeplex.search.evaluate.winnings import Winnings, exact_winnings, sampled_winnings
from treeplex.search.subgames.beliefs import Belief
from treeplex.solvers import make_solver

LEDUC = "leduc_poker"
CALL = 1


class Rule(BaseAgent):
    """Plays any game by a rule from the public state, the same with every hand."""

    def __init__(self, game: PublicGame, weights=lambda game, state, count: np.ones(count)) -> None:
        super().__init__(game)
        self.weights = weights

    def begin(self, seat=None, generator=None, *, at: Belief | None = None) -> None:
        self.sit(seat, generator)
        self.state = self.game.first_state()

    def see(self, event: int) -> None:
        self.state = self.game.after(self.state, event)

    def policy(self) -> np.ndarray:
        options = self.game.options(self.state)
        weights = self.weights(self.game, self.state, len(options.labels))
        hands = len(self.game.possible(self.state)[options.player])
        return np.tile((weights / weights.sum())[:, None], (1, hands))


def leduc(policy: Policy | None = None) -> TableAgent:
    return TableAgent(public_tree(LEDUC), policy or Policy.uniform(compile_game(LEDUC)))


def lost(agent: Agent, **options) -> Winnings:
    return exact_winnings(LocalBestResponse(agent, **options), agent)


def cfr(iterations: int, algorithm: str = "cfr") -> Policy:
    solver = make_solver(compile_game(LEDUC), algorithm)
    solver.run(iterations)
    return solver.average_policy()


@pytest.mark.slow
def test_figures_measured_elsewhere():
    """Measured by an independent program: LBR and best response, mean of both seats."""
    uniform, early = lost(leduc()), lost(leduc(cfr(10)))
    assert uniform.value == pytest.approx(2.178, abs=5e-4)
    assert uniform.exact
    assert early.value == pytest.approx(0.686, abs=1e-3)
    assert judge(compile_game(LEDUC), Policy.uniform(compile_game(LEDUC))).exploitability == pytest.approx(2.374, abs=5e-4)
    assert 0 <= lost(leduc(cfr(1000, "dcfr"))).value < 5e-4


def test_a_player_who_always_calls_loses_all_it_can():
    """A calling station never folds, and so checking down is what follows: LBR is a best response up to the sizes of bets."""
    rules = public_tree(LEDUC)
    agent = Rule(rules, lambda game, state, count: np.eye(count)[list(game.options(state).labels).index(CALL)])
    policy = agent_policy(agent, compile_game(LEDUC))
    best = judge(compile_game(LEDUC), policy).best_response_values
    assert lost(agent).value == pytest.approx(1.4667, abs=5e-5) == sum(best) / 2


@pytest.mark.quick_cases("0-kuhn_poker", "1-kuhn_poker", "2-kuhn_poker")
@pytest.mark.parametrize("spec", ["kuhn_poker", LEDUC, "small_holdem", "leduc_poker(ranks=4,raises=1)"])
@pytest.mark.parametrize("seed", range(3))
def test_never_more_than_a_best_response(spec, seed):
    agent = table(spec, seed)
    game = compile_game(spec)
    best = judge(game, agent.table).best_response_values
    for options in ({}, {"moves": Moves("fc")}, {"moves": Moves("fcp", 1)}):
        found = lost(agent, **options).values
        assert all(own <= most + 1e-9 for own, most in zip(found, best, strict=True))
        assert min(found) > -20


@pytest.mark.slow
def test_it_plays_what_it_says():
    """The value over public states is that of its policy table against the agent's, by the sequence form."""
    agent, game = leduc(cfr(3)), compile_game(LEDUC)
    response = LocalBestResponse(agent)
    own = agent_policy(response, game)
    assert {float(p) for p in own.probabilities[1:]} <= {0.0, 0.5, 1 / 3, 1.0}
    values = []
    for seat in (0, 1):
        mixed = agent.table.probabilities.copy()
        for (player, _), infoset in game.lookup.items():
            if player == seat:
                mixed[game.sequences_at(infoset)] = own.probabilities[game.sequences_at(infoset)]
        values.append(judge(game, Policy(game, mixed)).value[seat])
    assert lost(agent).values == pytest.approx(values)


@pytest.mark.slow
def test_moves():
    agent = leduc()
    free, passive, late = lost(agent), lost(agent, moves=Moves("fc")), lost(agent, moves=Moves(first_round=1))
    assert passive.value < late.value < free.value
    assert lost(agent, moves=Moves("fcp")) == lost(agent, moves=Moves("fcpa")) == free  # limit: there is one bet
    assert lost(agent, moves=Moves(first_round=2)).value == pytest.approx(lost(Rule(agent.game), moves=Moves("fc", 9)).value)
    for wrong in ("cf", "fcx", "p", ""):
        with pytest.raises(SpecError, match=r"actions is '.*'; write all, or fc"):
            Moves(wrong)
    with pytest.raises(SpecError, match="first_round"):
        Moves(first_round=-1)


def test_bets_by_letter():
    game = HoldemGame.of(holdem("3s7hTdKsQs", "AA,JTs", "99", pot=10.0, stack=100.0, bets=BetPlan.same("40%,110%,300%,a", "a")))
    bets = game.bets(game.first_state())
    assert game.stakes_at(game.first_state()).paid == (5.0, 5.0)
    assert bets.kinds == ("pass", *["bet"] * 4)
    assert bets.sizes == pytest.approx([0, 0.4, 1.1, 3, 10])
    assert Moves("fc").considered(bets, 3) == [0]
    assert Moves("fcp").considered(bets, 3) == [0, 2]
    assert Moves("fchpa").considered(bets, 3) == [0, 1, 2, 4]
    assert Moves("fcap", first_round=4).considered(bets, 3) == [0]
    assert Moves().considered(bets, 3) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_played_hands_have_the_exact_mean():
    agent = leduc(cfr(10))
    response, exact = LocalBestResponse(agent), lost(agent)
    found = sampled_winnings(response, agent, 600, seed=1)
    assert abs(found.value - exact.value) < 1.5 * found.interval
    assert all(abs(a - b) < 1.7 * i for a, b, i in zip(found.values, exact.values, found.intervals, strict=True))
    assert found.hands == 600
    assert not found.exact
    assert 0.05 < found.interval < 0.5
    assert sampled_winnings(response, agent, 8, seed=1) == sampled_winnings(response, agent, 8, seed=1)


@pytest.mark.slow
def test_dealt_hands_agree():
    """At a table with real hands it wins the same; there it sits as any agent."""
    agent, generator = leduc(), np.random.default_rng(0)
    response = LocalBestResponse(agent)
    paid = [play_game([response, agent], generator)[0] for _ in range(400)]
    assert abs(np.mean(paid) - lost(agent).values[0]) < 4 * np.std(paid) / 400**0.5


def small_spot():
    rules = load("small_holdem(ranks=4,suits=2,deal=[0;1],sizes=[50%;a],stack=6)")
    return rules, rules.spot


@pytest.mark.slow
def test_holdem_as_the_public_tree_has_it():
    """A game as both types of public game: pairs of hands, and card removal."""
    rules, spot = small_spot()
    for weights in (
        lambda game, state, count: np.ones(count),
        lambda game, state, count: np.arange(1.0, count + 1.0)[::-1],
    ):
        by_pairs, by_removal = Rule(public_tree(rules), weights), Rule(HoldemGame.of(spot), weights)
        assert lost(by_removal).values == pytest.approx(lost(by_pairs).values)
        game = compile_game(rules)
        best = judge(game, agent_policy(by_pairs, game)).best_response_values
        assert all(own <= most + 1e-9 for own, most in zip(lost(by_removal).values, best, strict=True))


def test_terminal_values_are_payoffs():
    spot = holdem("3s7hTdKs", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))
    game, generator = HoldemGame.of(spot), np.random.default_rng(0)
    for _ in range(4):
        state = game.first_state()
        while game.options(state).player != TERMINAL:
            state = game.after(state, int(generator.choice(list(game.options(state).labels))))
        ranges = [own * can for own, can in zip(game.first_ranges(), game.possible(state), strict=True)]
        joint = game.joint(state, ranges)
        pairs = [(h, g) for h in np.flatnonzero(ranges[0]) for g in np.flatnonzero(ranges[1]) if joint[h, g] > 0]
        for player in (0, 1):
            paid = sum(joint[pair] * game.payoffs(state, pair)[player] for pair in pairs)
            assert ranges[player] @ game.terminal_values(state, ranges, player) == pytest.approx(paid)


WHOLE = "holdem(ranks=4,suits=2,hole=1,deal=[0;1;1],stack=8,sizes=[100%;a],ante=1)"


@pytest.mark.slow
def test_whole_holdem():
    """From the blinds on: payoffs of all hands at once are those of each pair, and what is won is less than a best response."""
    game, generator = public_game(WHOLE), np.random.default_rng(1)
    for _ in range(6):
        state = game.first_state()
        while not game.stakes_at(state).settled:
            assert game.bets(state) is None or game.bets(state).pot >= sum(game.stakes_at(state).paid)
            state = game.after(state, int(generator.choice(list(game.options(state).labels))))
        ranges = [generator.random(len(own)) * own for own in game.possible(state)]
        joint = game.joint(state, ranges)
        for player in (0, 1):
            paid = sum(weight * dealt_out(game, state, pair, player) for pair, weight in np.ndenumerate(joint) if weight > 0)
            assert ranges[player] @ game.terminal_values(state, ranges, player) == pytest.approx(paid)
    found = lost(UniformAgent(game))
    exact = judge(compile_game(WHOLE), Policy.uniform(compile_game(WHOLE)))
    assert 0 < sum(found.values) / 2 <= exact.exploitability
    assert all(own <= most for own, most in zip(found.values, exact.best_response_values, strict=True))


def dealt_out(game, state, pair, player):
    """A player's payoff, the mean over the cards still to come."""
    if game.options(state).player == TERMINAL:
        return game.payoffs(state, pair)[player]
    labels = zip(game.options(state).labels, game.chances(state, pair), strict=True)
    return sum(chance * dealt_out(game, game.after(state, label), pair, player) for label, chance in labels if chance)


def test_shares_of_the_pot():
    """Against every pair of hands and every river, one by one."""
    form = SPOT.format
    board = tuple(parse_cards("3s7hTdKs"))
    reach = np.random.default_rng(0).random((2, len(form.hands))) * ~np.isin(form.hands, board).any(axis=1)
    found = pot_shares(form, board, reach)
    for hand in (1325, 700, 333):
        if np.isin(form.hands[hand], board).any():
            continue
        won, met = np.zeros(2), np.zeros(2)
        for river in set(range(52)) - set(board) - set(form.hands[hand].tolist()):
            keys = format_strengths(form, (*board, river))
            apart = ~np.isin(form.hands, [*board, river, *form.hands[hand]]).any(axis=1)
            won += reach @ (apart * ((keys < keys[hand]) + 0.5 * (keys == keys[hand])))
            met += reach @ apart
        assert found[:, hand] == pytest.approx(won / met)


def test_turns_of_holdem_against_a_search():
    agent = holdem_agent(SPOT, ExactLeaf(iterations=4), iterations=4, endgame=4)
    response = LocalBestResponse(agent, moves=Moves("fcpa"), models=2)
    found = sampled_winnings(response, agent, 12, seed=3)
    assert found.hands == 12
    assert all(np.isfinite(found.values))
    assert found.error > 0
    assert np.isnan(found.interval)
    assert max(map(abs, found.values)) < SPOT.stack + SPOT.pot
    again = sampled_winnings(response, agent, 4, seed=3, splits=(2,))  # the agent's game changes when the river is dealt
    assert max(map(abs, again.values)) < SPOT.stack + SPOT.pot


def test_games_that_are_no_poker():
    with pytest.raises(GameError, match="needs two-player poker"):
        LocalBestResponse(table("liars_dice(dice_sides=3)"))
    with pytest.raises(GameError, match="same two-player game"):
        exact_winnings(LocalBestResponse(leduc()), leduc())
    with pytest.raises(GameError, match="give at least 4"):
        sampled_winnings(LocalBestResponse(agent := leduc()), agent, 3)


@pytest.mark.parametrize("name", [*AGENTS, "local best response"])
def test_forks_go_their_own_way(name):
    """What a copy sees changes nothing for the agent, and both go on alike where they see the same."""
    agent = LocalBestResponse(leduc()) if name not in AGENTS else AGENTS[name]()
    agent.begin(None, np.random.default_rng(1))
    while (options := agent.game.options(agent.state)).player != TERMINAL:
        before = None if options.player == CHANCE else agent.policy()
        labels = list(options.labels[:1] if options.private else options.labels)
        for label in labels[-2:]:
            other = fork(agent)
            other.see(label)
            if other.game.options(other.state).player >= 0:
                other.policy()
        copied = fork(agent)
        if before is not None:
            assert np.array_equal(agent.policy(), before)
            assert np.array_equal(copied.policy(), before)
        agent.see(labels[0])


def test_agreement_with_matches_of_tables():
    """Winnings of one table from another are the sequence form's expected payoffs."""
    first, second = table(LEDUC, 0), table(LEDUC, 1)
    second = TableAgent(first.game, second.table)
    found = exact_winnings(first, second)
    game = compile_game(LEDUC)
    for seat in (0, 1):
        mixed = second.table.probabilities.copy()
        for (player, _), infoset in game.lookup.items():
            if player == seat:
                mixed[game.sequences_at(infoset)] = first.table.probabilities[game.sequences_at(infoset)]
        assert found.values[seat] == pytest.approx(judge(game, Policy(game, mixed)).value[seat])


def test_rake_and_chips_that_nobody_can_match() -> None:
    """A river of a pot of 20 with 10% rake, and a shove of 60 into 18 chips behind."""
    plan, rake = BetPlan.same("100%", "a"), Rake(0.1, 5.0)
    game = HoldemGame.of(holdem("3s7hTdKs2c", "QQ,JTs", "99,AKs", pot=20.0, stack=30.0, bets=plan, rake=rake))
    response = LocalBestResponse(Rule(game))
    response.begin(0)
    possible = game.possible(game.first_state())
    share, hands = game.pot_shares(game.first_state(), possible, 0), possible[0] > 0
    checked, bet = response.utilities()[:, hands]
    share = share[hands]
    assert checked == pytest.approx(share * (20 - 2))
    # one of three answers is a fold, whatever is held
    assert bet == pytest.approx((20 - 2) / 3 + 2 / 3 * (share * (60 - 5) - 20))

    deep = public_game("holdem(stack=[20;60])")
    caller = LocalBestResponse(UniformAgent(deep), moves=Moves("fc"))
    caller.begin(0)
    caller.see(60)
    weak = int(np.flatnonzero((deep.hands == parse_cards("2c7h")).all(axis=1))[0])
    assert caller.utilities()[:, weak] == pytest.approx([0.0, 0.34583 * 40 - 18], abs=1e-3)
    assert sum(deep.stakes_at(caller.state).paid) == 22
    assert deep.bets(caller.state).pot == 40
