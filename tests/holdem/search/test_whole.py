"""Whole hold'em with ten cards: a blueprint as it is, translated, and with its last streets solved again."""

from functools import cache

import numpy as np
import pytest

from treeplex.errors import FileError, GameError, SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.betting.tree import Decision, tree_from
from treeplex.holdem.blueprint.policy import BLUEPRINT, HoldemBlueprint
from treeplex.holdem.rules.public import HoldemState
from treeplex.holdem.search import whole
from treeplex.holdem.search.promises import promised_by
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.whole.public import hand_of
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.learn.train.train import train
from treeplex.search.agents.agent import play_game
from treeplex.search.named_agents.registry import agent
from treeplex.search.subgames.response import response_values

OWN = "holdem(ranks=5,suits=2,stack=20,preflop=[2.5bb;a],sizes=[100%;a],raises=[2;2;2;2])"
ANY = "holdem(ranks=5,suits=2,stack=20)"
SMALL = BlueprintTraining(boards=200, deals=16, buckets=(6, 4, 4, 3), method="kmeans", discount_every=50)


@cache
def trained(folder):
    return train(OWN, "blueprint", settings=SMALL, out=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("blueprint") / "run"
    trained(where)
    return where


def reach(played, line):
    """What each of some players has seen once all did what ``line`` says: labels, and None for the first card left."""
    for label in line:
        options = played[0].game.options(played[0].state)
        for each in played:
            each.see(options.labels[0] if label is None else label)


def to_the_turn(first=1):
    return [1, 1, None, None, None, 1, first] + ([None] if first == 1 else [])


@pytest.mark.slow
def test_files_keep_what_is_played(folder, tmp_path):
    one = HoldemBlueprint.load(folder)
    one.save(tmp_path / BLUEPRINT)
    two = HoldemBlueprint.load(tmp_path)
    assert two.game == one.game or two.game.spec == one.game.spec
    assert np.array_equal(one.shares, two.shares)
    table = one.policy_at(0, ())
    assert table.shape == (len(one.labels(0)), 45)
    assert np.allclose(table.sum(axis=0), 1.0)
    aces = one.game.rules.format.names().index("AdAc")
    assert table[1 if one.labels(0)[0] == 0 else 0 :, aces].sum() > 0.95
    (tmp_path / BLUEPRINT).write_bytes((tmp_path / BLUEPRINT).read_bytes()[:-9])
    with pytest.raises(FileError):
        HoldemBlueprint.load(tmp_path)


@pytest.mark.slow
def test_a_folder_plays_its_own_game_and_others_with_the_same_stacks(folder):
    for spec in (OWN, ANY):
        game = load(spec)
        players = [agent(str(folder), game, seed=1), agent("rules(style=maniac)", game)]
        results = [play_game(players, np.random.default_rng(seed)) for seed in range(12)]
        assert all(abs(sum(each)) < 1e-9 for each in results)
        assert len(set(results)) > 2
    with pytest.raises(SpecError, match="stacks"):
        agent(str(folder), "holdem(ranks=5,suits=2,stack=30)")
    with pytest.raises(SpecError, match="blueprint of holdem"):
        agent(str(folder), "leduc_poker")


def test_turn_and_river_are_solved_and_what_was_promised_is_carried(folder):
    game = load(ANY)
    player = agent(f"endgames(blueprint={folder},iterations=60,think=100,drop=0)", game, seed=1)
    player.begin(0)
    reach([player], to_the_turn())
    table = player.policy()
    free = player.holdem.free(player.state) > 0
    assert np.allclose(table[:, free].sum(axis=0), 1.0)
    assert player.thought.iterations == 60
    turn = player.solver
    assert turn.game.spot.board == hand_of(player.state).board
    assert turn.game.spot.pot == 4
    assert turn.game.spot.stack == 18
    reach([player], [1, 1, None])
    river = player.solver
    assert river is not turn
    carried = river._stand(0).carried
    assert carried.promised is not None
    player.policy()
    resolved = river._resolved(river._stand(0))
    worth = response_values(resolved.subgame, resolved.policy, 1).at(())
    known = ~np.isnan(carried.promised) & ~np.isnan(worth) & (resolved.subgame.admitted[1][0] > 0)
    assert known.sum() > 5
    assert (worth - carried.promised)[known].max() < 0.2  # chips of a pot of four: safe but for what iterations leave


@pytest.mark.parametrize(("pace", "raises"), [(1e12, (True, True)), (1e3, (False, False))])
def test_trees_fit_the_time(folder, pace, raises):
    game = load("holdem(ranks=5,suits=2,stack=60)")
    guide = agent("uniform", game)
    player = WholeHoldemAgent(game.public, guide, StreetSolving(iterations=2, force_allin=0.0))
    player.think, player.pace = 1.0, pace
    player.begin(0)
    reach([player], to_the_turn())
    plan = player.solver.game.spot.bets
    assert tuple(bool(plan.streets[street][0].raises) for street in (2, 3)) == raises


@pytest.mark.parametrize(("spent", "raises"), [(0.0, True), (60.0, False)])
def test_all_that_a_decision_takes_counts(folder, monkeypatch, spent, raises):
    """What was done while cards were seen is time to think as well; a flop without time for them has no raises."""
    monkeypatch.setattr(whole, "END_SECONDS", 4.0)
    game = load(ANY)
    short = {"bets": ("25%",), "raises": "25%", "force_allin": 0.0, "add_allin": 0.0}
    solving = StreetSolving(start=1, iterations=5, continuations=2, boards=8, **short)
    player = WholeHoldemAgent(game.public, agent(str(folder), game), solving)
    player.think = 100.0
    player.begin(0)
    reach([player], [1, 1, None, None])
    player._spent = spent
    reach([player], [None])
    assert bool(player.solver.game.spot.bets.streets[1][0].raises) == raises
    player.policy()
    assert player.thought.iterations == 5
    assert player.thought.seconds > spent
    assert 0 < player.thought.boards <= 8
    assert player._spent == 0.0


def test_a_flop_without_time_is_played_by_the_blueprint(folder):
    player = agent(f"modicum(blueprint={folder},think=0.1)", load(ANY), seed=1)
    player.begin(0)
    reach([player], [1, 1, None, None, None])
    assert player.solver is None
    assert np.array_equal(player.policy(), player.guide.policy())
    assert player.thought.iterations == 0
    player.think = 100.0
    reach([player], [1, 1, None])
    assert player.solver is not None


def test_bets_off_the_tree_are_added(folder):
    game = load(ANY)
    player = agent(f"endgames(blueprint={folder},iterations=20,think=100)", game, seed=1)
    player.begin(1)
    reach([player], to_the_turn())
    reach([player], [7])  # a bet of five into a pot of four
    inner = player.solver
    assert 5.0 in inner.game.bets(inner.game.first_state()).chips
    table = player.policy()
    labels = list(game.public.options(player.state).labels)
    assert table[labels.index(0)].max() > 0  # some fold
    assert table[labels.index(1)].max() > 0


def test_forks_go_their_own_way(folder):
    game = load(ANY)
    player = agent(f"endgames(blueprint={folder},iterations=10,think=100)", game, seed=1)
    player.begin(None)
    reach([player], to_the_turn())
    other = player.fork()
    other.see(1)
    assert player.state != other.state
    assert player.solver.state != other.solver.state
    assert np.allclose(player.policy().sum(axis=0), 1.0)


def test_copies_solve_a_street_once(folder):
    player = agent(f"endgames(blueprint={folder},iterations=5,think=100)", load(ANY), seed=1)
    other = player.fork()
    for each in (player, other):
        each.begin(0)
    reach([player, other], to_the_turn())
    table = player.policy()
    assert player.thought.subgames == 1
    assert np.array_equal(other.policy(), table)
    assert other.thought.subgames == 0
    reach([player, other], [1, 1, None])
    other.policy(), player.policy()
    assert (player.thought.subgames, other.thought.subgames) == (0, 1)
    third = player.fork()
    third.begin(1)
    assert not player._opened
    reach([third], to_the_turn())
    third.policy()
    assert third.thought.subgames == 1


@pytest.mark.parametrize("seed", range(6))
def test_whole_hands_are_played_whatever_the_other_does(folder, seed):
    game = load(ANY)
    street = ("turn", "flop", "river")[seed % 3]
    player = agent(f"endgames(blueprint={folder},iterations=4,think=100,start={street})", game, seed=1)
    random = agent("uniform", game, seed=seed)
    results = [play_game([player, random] if k % 2 else [random, player], np.random.default_rng([seed, k])) for k in range(6)]
    assert all(abs(sum(each)) < 1e-9 for each in results)


def below_the_flop(player):
    """How the blueprint plays where a player stands, and the ranges that come there."""
    policy, scale = player._below()
    assert scale == 1.0
    return policy, player._likely()


def test_betting_of_a_street_is_that_of_the_rules(folder):
    """A tree from the rules is the tree of the spot wherever a spot can say it."""
    game = load("holdem(ranks=5,suits=2,stack=20,preflop=[100%;a],sizes=[50%;100%;a])").public
    state = game.first_state()
    for label in (1, 1, *game.rules.format.deck[:3]):
        state = game.after(state, label)
    spot = game.rest(state, [np.ones(45)] * 2)
    grown = tree_from(game.rules.betting, state.table)
    assert grown.nodes == spot.tree.nodes
    assert grown.streets == spot.tree.streets
    with pytest.raises(GameError, match="no street begins"):
        tree_from(game.rules.betting, game.after(state, 1).table)


def test_promises_are_best_responses(folder):
    """To the blueprint as it is stored, by a walk of one river after another that knows nothing of the engine."""
    game = load(OWN)
    player = agent(f"endgames(blueprint={folder},iterations=1,drop=0)", game, seed=1)
    player.begin(0)
    reach([player], to_the_turn())
    policy, ranges = below_the_flop(player)
    for own in (0, 1):
        found = promised_by(policy, ranges, own)
        expected = responses(policy, HoldemState(0, policy.game.spot.board), ranges[own], 1 - own)
        met = policy.game.compatible(ranges[own]) * policy.game.free(policy.game.spot.board)
        assert (found * met)[met > 0] == pytest.approx(expected[met > 0], abs=1e-6)
        assert np.isnan(found[met == 0]).all()
        found = promised_by(policy, ranges, own, estimates=True)
        expected = responses(policy, HoldemState(0, policy.game.spot.board), ranges[own], 1 - own, best=False)
        assert (found * met)[met > 0] == pytest.approx(expected[met > 0], abs=1e-6)


def responses(policy, state, reached, player, *, best=True):
    """Counterfactual values of a player's best responses at a state, float64 [H], as the rules of the public game have them.

    Unless ``best``, of the policy itself.
    """
    game, event = policy.game, policy.game.event(state)
    if isinstance(event, Decision):
        classes = policy.classes(state.board)
        table = policy.table(state.node, classes.name)[:, classes.of]
        each = [
            responses(
                policy,
                game.after(state, action),
                reached if event.player == player else reached * table[action],
                player,
                best=best,
            )
            for action in range(len(event.actions))
        ]
        if event.player == player:
            return np.max(each, axis=0) if best else (table * each).sum(axis=0)
        return np.sum(each, axis=0)
    if game.cards_due(state):
        free = len(game.spot.format.deck) - len(state.board) - 4
        return (
            np.sum(
                [
                    responses(policy, game.after(state, card), reached * game.free([card]), player, best=best)
                    * game.free([card])
                    for card in game.options(state).labels
                ],
                axis=0,
            )
            / free
        )
    both = [reached, reached]
    return game.terminal_values(state, both, player)


@pytest.mark.quick_cases("resolve")
@pytest.mark.parametrize("gadget", ["resolve", "maxmargin"])
def test_the_first_solve_keeps_what_the_blueprint_promises(folder, gadget):
    """No hand gets more against what is solved than against the blueprint, but for what iterations leave."""
    game, above = load(OWN), {}
    for promises in ("blueprint", "estimates", "ranges"):
        text = f"endgames(blueprint={folder},iterations=300,think=100,drop=0,gadget={gadget},promises={promises},turn=100%)"
        player = agent(text, game, seed=1)
        player.begin(0)
        reach([player], to_the_turn())
        policy, ranges = below_the_flop(player)
        promised = promised_by(policy, ranges, 0)
        player.policy()
        stand = player.solver._stand(0)
        assert (stand.carried.promised is None) == (promises == "ranges")
        if promises == "blueprint":
            assert stand.carried.promised == pytest.approx(promised, nan_ok=True)
        if promises == "estimates":
            assert (stand.carried.promised <= promised + 1e-9)[~np.isnan(promised)].all()
            assert np.nanmin(stand.carried.promised - promised) < -0.1
        resolved = player.solver._resolved(stand)
        worth = response_values(resolved.subgame, resolved.policy, 1).at(())
        above[promises] = np.nanmax(worth - promised)
    assert above["blueprint"] < 0.05  # chips of a pot of four
    assert gadget == "resolve" or above["blueprint"] < above["ranges"] + 0.01  # the least margin is as large as it can be


def test_libratus_and_modicum_play_whole_holdem(folder):
    """Modicum solves the flop to its end, where the opponent chooses among continuations; then the turn whole."""
    game = load(ANY)
    libratus = agent(f"libratus(blueprint={folder},iterations=5)", game)
    assert libratus.solving.start == 2
    assert libratus.solving.promises == "blueprint"
    assert agent(f"modicum(blueprint={folder})", game).solving.promises == "ranges"
    modicum = agent(f"modicum(blueprint={folder},iterations=20,promises=blueprint)", game, seed=1)
    modicum.begin(0)
    reach([modicum], [1, 1, None, None, None])
    table = modicum.policy()
    free = modicum.holdem.free(modicum.state) > 0
    assert np.allclose(table[:, free].sum(axis=0), 1.0)
    flop = modicum.solver
    assert flop.horizon.rounds == 1
    assert flop.leaves[0].continuations == (1, 4)
    assert modicum.thought.iterations == 20
    reach([modicum], [7])  # a raise that the flop lacks is added, and the flop solved again
    assert 5.0 in flop.game.bets(flop.game.first_state()).chips
    reach([modicum], [1, None])
    turn = modicum.solver
    assert turn is not flop
    assert turn._stand(0).carried.promised is not None
    assert np.allclose(modicum.policy()[:, modicum.holdem.free(modicum.state) > 0].sum(axis=0), 1.0)
    for k, text in enumerate(("libratus", "modicum")):
        player, random = agent(f"{text}(blueprint={folder},iterations=3)", game, seed=1), agent("uniform", game, seed=k)
        results = [play_game([player, random][:: 1 - 2 * (n % 2)], np.random.default_rng([k, n])) for n in range(5)]
        assert all(abs(sum(each)) < 1e-9 for each in results)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "modicum(blueprint={},rounds=2)",
            "'rounds', 'every' and 'skip' have no effect in full-game hold'em .*; leave them",
        ),
        ("modicum(blueprint={},gadget=reach-resolve)", "does not support gadget=reach-resolve; use gadget=none or resolve"),
        ("libratus(blueprint={},every=decision)", "in full-game hold'em"),
    ],
)
def test_settings_that_whole_holdem_does_not_know(folder, text, message):
    with pytest.raises(SpecError, match=message):
        agent(text.format(folder), ANY)


def test_only_whole_no_limit_holdem_is_solved(folder):
    with pytest.raises(SpecError, match="blueprint of"):
        agent(f"endgames(blueprint={folder})", "kuhn_poker")
