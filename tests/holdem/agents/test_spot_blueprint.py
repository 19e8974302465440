"""Solved spots as blueprints: exact promises, safe play, finer bets later."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from papers.resolving.spot_policy import policy_on_spot
from tests.spot_agents import small_spot
from treeplex.errors import AlgorithmError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import load, public_tree
from treeplex.games.public import Decision, PublicState
from treeplex.holdem.agents.spot_blueprint import SpotBlueprint
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.rules.rules import PokerPublicTree
from treeplex.holdem.spots.spot import Spot
from treeplex.search import play_game
from treeplex.search.named_agents.registry import agent
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.resolved import Trunk, gifts, opponent_values
from treeplex.search.resolving.settings import ResolveSettings
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.policy_tables import sequences_at


@pytest.fixture(scope="module")
def solved() -> tp.holdem.HoldemSolution:
    return tp.solve(small_spot(), "cfr", iterations=20, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("gadget", ["resolve", "maxmargin", "reach-maxmargin"])
def test_rivers_solved_again_are_safe(gadget: str, solved: tp.holdem.HoldemSolution) -> None:
    """Neither player is more exploitable than the blueprint, which knows boards up to suits only."""
    settings = ResolveSettings(gadget=gadget, every="round", iterations=100)
    made = ResolvingAgent(HoldemGame.of(small_spot()), settings, blueprint=SpotBlueprint(solved.policy), start=1, remember=100)
    judged = policy_on_spot(made, small_spot()).judge()
    assert (np.array(judged.best_response_values) <= solved.policy.judge().best_response_values).all()
    assert judged.exploitability < 0.9 * solved.exploitability


def test_ranges_of_different_sizes() -> None:
    """What is promised belongs to the other player's hands, however many they are."""
    whole = small_spot()
    few = whole.ranges[1] * (np.arange(len(whole.ranges[1])) % 3 > 0)
    spot = replace(whole, ranges=(whole.ranges[0], few))
    blueprint, game = SpotBlueprint(tp.solve(spot, "cfr", iterations=20, threads=1).policy), HoldemGame.of(spot)
    path = [0, 0]
    state = game.after(game.after(game.first_state(), 0), 0)
    path.append(game.options(state).labels[0])
    for player in (0, 1):
        for reach in (False, True):
            promised = blueprint.promised(game, tuple(path), player, reach=reach)
            possible = game.possible(game.after(state, path[-1]))[1 - player] > 0
            assert np.isfinite(promised[possible]).all()
            assert np.isnan(promised[~possible]).all()


def test_what_it_plays_is_the_solution(solved: tp.holdem.HoldemSolution) -> None:
    """On boards that are solved under other suits as well."""
    blueprint = SpotBlueprint(solved.policy)
    with pytest.raises(AlgorithmError, match="start is 2; in this spot it must be at most 1"):
        ResolvingAgent(HoldemGame.of(small_spot()), ResolveSettings(iterations=1), blueprint=blueprint, start=2)
    game = HoldemGame.of(small_spot())
    assert solved.game.isomorphism
    for card in game.options(game.state(game.tree.nodes[1].children[0], game.spot.board)).labels[:4]:  # type: ignore[union-attr]
        path = (0, 0, int(card))
        view = solved.at(f"x,x,{tp.holdem.cards_to_string((int(card),))}")
        table = blueprint.policy(game, path)
        assert table[:, view.hands] == pytest.approx(view.strategy, abs=1e-6)
        belief = blueprint.belief(game, path)
        weight = np.zeros(len(belief.ranges[0]))
        weight[view.hands] = view.weight_of(0)
        assert belief.ranges[0] == pytest.approx(weight / weight.sum(), abs=1e-6)


@pytest.mark.parametrize("player", [0, 1])
def test_promises_with_gifts_are_those_of_the_general_engine(player: int) -> None:
    spec = "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[a])"
    rules, compiled = public_tree(spec), compile_game(spec)
    assert isinstance(rules, PokerPublicTree)
    game = HoldemGame.of(rules.game.spot)
    solution = tp.solve(rules.game.spot, "cfr", iterations=4, threads=1)
    blueprint, table = SpotBlueprint(solution.policy), tp.Policy.uniform(compiled).probabilities.copy()

    def path(state: PublicState) -> tuple[int, ...]:
        node, board = state.node  # type: ignore[misc]
        return tuple(game.path_to(game.state(node, board)))

    waiting = [rules.first_state()]
    while waiting:
        state = waiting.pop()
        if isinstance(rules.visit(state.node), Decision):
            own = blueprint.policy(game, path(state))[:, rules.hands]
            for hand, sequences in sequences_at(compiled, rules, state).items():
                table[sequences] = own[:, hand]
        waiting += [each for each in state.successors(rules)[1] if each.weight.any()]
    general = tp.Policy(compiled, table)
    trunk = Trunk.of(general, rules, Horizon(rounds=1))
    promised = opponent_values(trunk.subgames(trunk.starts), general, player)
    given = gifts(trunk, promised, player)
    assert max(gift.max() for gift in given) > 0.1
    for start in trunk.starts:
        wanted = promised[start.start] + given[start.start]
        found = blueprint.promised(game, path(start.state), player, reach=True)[rules.hands]
        known = np.isfinite(wanted)
        assert found[known] == pytest.approx(wanted[known], abs=1e-5)


def finer() -> Spot:
    """More bets on the river."""
    plan, more = BetPlan.same("50%,a", ""), BetPlan.same("25%,50%,100%,a", "")
    return small_spot(replace(plan, streets=(*plan.streets[:-1], more.streets[-1])))


def test_finer_bets_on_the_river(solved: tp.holdem.HoldemSolution, tmp_path: Path) -> None:
    file = solved.save(tmp_path / "turn.spot")
    game = load(finer())
    made = agent(f"libratus(blueprint={file},gadget=maxmargin,iterations=5)", game, seed=1)
    river = game.public.options(game.public.after(game.public.after(game.public.first_state(), 0), 0)).labels[0]
    for label in (0, 0, river):
        made.see(label)
    assert made.policy().shape == (4, 45)
    assert small_spot().bets != finer().bets
    assert all(np.isclose(sum(play_game([made, made], np.random.default_rng(seed))), 0.0) for seed in range(4))


def test_what_is_refused(solved: tp.holdem.HoldemSolution, tmp_path: Path) -> None:
    file = solved.save(tmp_path / "turn.spot")
    other = small_spot(board="TcJdQcKc")
    for text, spot, error, message in (
        ("libratus(blueprint={},gadget=maxmargin)", other, PolicyError, "a solution of another spot: its board differs"),
        ("libratus(blueprint={},start=2)", small_spot(), AlgorithmError, "start is 2; in this spot it must be at most 1"),
    ):
        with pytest.raises(error, match=message):
            agent(text.format(file), spot)
    with pytest.raises(PolicyError, match="a solved spot is a blueprint only for hold'em"):
        SpotBlueprint(solved.policy).check(load("leduc_poker").public, 1)
