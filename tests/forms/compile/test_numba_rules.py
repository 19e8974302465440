"""Rules as Numba functions: the same games as ordinary rules make, stored or walked, and what is said of wrong ones."""

import gc
import os
import signal

import numpy as np
import pytest
from numba import njit

import treeplex as tp
from treeplex.base.notices import telling
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import normalise, reach
from treeplex.engine.tree.walked import walks_raise
from treeplex.engine.uncompiled.rules import mix
from treeplex.errors import AlgorithmError, GameError, GameSizeError, ImperfectRecallError
from treeplex.forms.compile import numba_rules
from treeplex.forms.compile.numba_rules import compile_numba_rules
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.games.registry import load

GAMES = [
    "goofspiel(num_cards=4,imp_info=true)",
    "oshi_zumo(coins=3,size=1,horizon=3)",
    pytest.param("oshi_zumo(coins=4,size=1,horizon=4,min_bid=1)", marks=pytest.mark.slow),
    pytest.param("liars_dice(players=3,numdice=2,dice_sides=2)", marks=pytest.mark.slow),
    pytest.param("liars_dice(numdice=2,dice_sides=2)", marks=pytest.mark.slow),
    pytest.param("goofspiel(num_cards=4,points_order=descending,imp_info=true,num_turns=3)", marks=pytest.mark.slow),
    pytest.param(
        "goofspiel(players=3,num_cards=3,points_order=ascending,imp_info=true,returns_type=total_points)",
        marks=pytest.mark.slow,
    ),
    pytest.param("goofspiel(players=3,num_cards=3,imp_info=true,returns_type=point_difference)", marks=pytest.mark.slow),
    pytest.param("oshi_zumo(coins=5,size=2,horizon=3,alesia=true)", marks=pytest.mark.slow),
    pytest.param("kuhn_poker(players=3)", marks=pytest.mark.slow),
    pytest.param("leduc_poker(players=3,ranks=2,raises=1)", marks=pytest.mark.slow),
    pytest.param("dark_hex(board_size=2,obstype=reveal-numturns)", marks=pytest.mark.slow),
]


def strategy_of(game: tp.CompiledGame, seed: int) -> np.ndarray:
    """Random strategies in which half of all actions are never played."""
    generator = np.random.default_rng(seed)
    weights = generator.random(len(game.action_ids)) * generator.integers(0, 2, len(game.action_ids))
    policy, strategy = np.empty_like(weights), np.empty_like(weights)
    for player in range(game.players):
        normalise(game.tree, player, weights, policy)
        reach(game.tree, player, policy, strategy)
    return strategy


def gradients_of(game: tp.CompiledGame, strategy: np.ndarray) -> np.ndarray:
    values = np.full(len(strategy), np.nan)
    for player in range(game.players):
        gradient(game.tree, game.payoff, player, strategy, values)
    return values


@pytest.mark.slow
@pytest.mark.parametrize("spec", GAMES)
def test_the_game_is_that_of_ordinary_rules(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_rules, "FEW_HISTORIES", 0)
    monkeypatch.setattr(numba_rules, "available_cores", lambda: 3)
    rules = load(spec)
    known = compile_rules(rules)
    made = [compile_numba_rules(rules, rules.numba_rules(), stored=stored) for stored in (True, False)]
    assert made[0].payoff.walk < 0 <= made[1].payoff.walk
    assert made[0].identity == made[1].identity
    for game in made:
        for ours, theirs in zip(game.tree, known.tree, strict=True):
            assert np.array_equal(ours, theirs)
        assert tuple(game.infostates) == known.infostates
        assert np.array_equal(game.action_ids, known.action_ids)
        assert game.action_names == known.action_names
        assert game.constant == known.constant
        assert vars(game.size) | {"public_states": 0} == vars(known.size) | {"public_states": 0}
        for seed in range(3):
            strategy = strategy_of(known, seed)
            assert np.abs(gradients_of(game, strategy) - gradients_of(known, strategy)).max() < 1e-12


@pytest.mark.slow
def test_algorithms_and_judges_run_on_walked_rules(tmp_path) -> None:
    spec = "oshi_zumo(coins=3,size=1,horizon=3)"
    stored, walked = tp.compile(spec), tp.compile(spec, stored=False)
    for algorithm in ("dcfr", "pcfr+", "fp"):  # not longer: where regrets tie, rounding decides
        for updates in ("alternating", "simultaneous"):
            ours, theirs = (tp.solve(game, algorithm, iterations=5, updates=updates) for game in (walked, stored))
            assert ours.exploitability == pytest.approx(theirs.exploitability, abs=1e-9)
    policy = tp.solve(stored, "cfr+", iterations=7).policy
    ours, theirs = tp.judge(walked, tp.Policy(walked, policy.probabilities)), tp.judge(stored, policy)
    assert ours.best_response_values == pytest.approx(theirs.best_response_values, abs=1e-12)
    tp.solve(walked, "dcfr", iterations=10, out=tmp_path / "run")
    resumed = tp.solve(walked, resume=tmp_path / "run", iterations=20)
    straight = tp.solve(walked, "dcfr", iterations=20)
    assert np.array_equal(resumed.policy.probabilities, straight.policy.probabilities)
    with pytest.raises(AlgorithmError, match="needs stored payoffs"):
        tp.solve(walked, "lp")
    pytest.importorskip("torch")
    with pytest.raises(AlgorithmError, match="tensors need stored payoffs"):
        tp.solve(walked, "dcfr", device="torch-cpu")


@pytest.mark.slow
def test_a_walk_lives_as_long_as_its_game() -> None:
    walked = tp.compile("oshi_zumo(coins=3,size=1,horizon=3)", stored=False)
    payoff, tree = walked.payoff, walked.tree
    assert np.isfinite(gradients_of(walked, strategy_of(walked, 0))).all()
    del walked
    gc.collect()
    values = np.zeros(int(tree.sequence_offsets[-1]))
    with pytest.raises(RuntimeError, match="interrupted"):
        gradient(tree, payoff, 0, values.copy(), values)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_walks_with_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_rules, "FEW_HISTORIES", 0)
    monkeypatch.setattr(numba_rules, "available_cores", lambda: 2)
    game = tp.compile("oshi_zumo(coins=3,size=1,horizon=3)", stored=False)
    strategy = strategy_of(game, 0)
    known = gradients_of(game, strategy)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # where it waits for threads that are not there
        os.write(writing, gradients_of(game, strategy).tobytes())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        found = np.frombuffer(pipe.read())
    os.waitpid(child, 0)
    assert np.array_equal(found, known)


@pytest.mark.parametrize(("players", "said"), [(2, False), (4, True)])
def test_how_long_a_walk_will_be_is_said_before_it(players: int, said: bool, capsys: pytest.CaptureFixture[str]) -> None:
    game = load(f"leduc_poker(players={players})")
    functions = game.numba_rules()
    assert isinstance(functions, NumbaRules)
    numba_rules.try_rules(game, NumbaGame(functions), numba_rules.MOST_WALKED)
    line = capsys.readouterr().err
    assert bool(line) == said
    if said:
        assert "leduc_poker(players=4) has about 2" in line
        assert "A full traversal takes about" in line
        assert line.count("\n") == 1


@pytest.mark.slow
def test_too_large_a_game_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GameSizeError, match=r"almost surely at least .*the limit of 20,000,000,000; .*--limit"):
        tp.compile("goofspiel(num_cards=11,imp_info=true)")
    with pytest.raises(GameSizeError, match=r"has about 31 histories .* the limit of 20; .*--limit"):
        tp.compile(coin_game(0), limit=20)
    monkeypatch.setattr(numba_rules, "try_rules", lambda *_: 3)  # the estimate need not tell
    with pytest.raises(GameSizeError, match=r"has more than 20 histories; .*--limit"):
        tp.compile(coin_game(0), limit=20)
    with pytest.raises(GameError, match="tic_tac_toe has no Numba functions"):
        tp.compile("tic_tac_toe", stored=False)


KIND, TURN, COIN, EARLIER, MOVE = range(5)
FORGETS, OTHER_ACTIONS, CHANCE_SUM, NEGATIVE, INFINITE, NOBODY, NO_ACTION, BELOW_ZERO, TWICE = range(1, 10)


@njit
def actor(state):
    if state[KIND] == NOBODY and state[TURN] == 2:
        return 5
    return (CHANCE, 0, 1, 0, TERMINAL)[state[TURN]]


@njit
def actions(state, found):
    found[0], found[1] = 0, 1
    if state[KIND] == TWICE:
        found[1] = 0
    if state[KIND] == NO_ACTION and state[TURN] == 3:
        return 0
    return 1 if state[KIND] == OTHER_ACTIONS and state[TURN] == 2 and state[EARLIER] == 1 else 2


@njit
def play(state, action):
    state[(COIN, EARLIER, MOVE, MOVE)[state[TURN]]] = action
    state[TURN] += 1


@njit
def infoset(state, player):
    """Player 0 sees the coin, but where it forgets not in its second turn; player 1 sees nothing."""
    if state[KIND] == BELOW_ZERO:
        return -1
    coin = 0 if player == 1 or (state[KIND] == FORGETS and state[TURN] == 3) else state[COIN]
    return mix(mix(state[TURN], coin), 0 if player == 1 else state[EARLIER])


@njit
def payoff(state, player):
    if state[KIND] == INFINITE and state[COIN] == 1:
        return np.inf
    return 1.0 if (state[COIN] == state[MOVE]) == (player == 0) else -1.0


@njit
def probability(state, action):
    if state[KIND] == NEGATIVE:
        return 1.5 if action == 0 else -0.5
    return 0.25 if state[KIND] == CHANCE_SUM else 0.5


def coin_game(kind: int) -> NumbaGame:
    """Chance tosses a coin; players 0, 1 and 0 move; kind 0 is right, others have a fault each."""
    return NumbaGame(NumbaRules((kind, 0, 0, 0, 0), actor, actions, play, infoset, payoff, probability, most_actions=2))


@pytest.mark.slow_cases(
    "3-GameError-chance probabilities at the root sum to 0.5, not 1",
    "4-GameError-probability\\\\(\\\\) of action 1 is -0.5 at the root",
)
@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (CHANCE_SUM, GameError, "chance probabilities at the root sum to 0.5, not 1"),
        (NEGATIVE, GameError, r"probability\(\) of action 1 is -0.5 at the root"),
        (INFINITE, GameError, r"payoff\(\) of player 0 is inf after history \[1, 0, 0, 0\]"),
        (
            OTHER_ACTIONS,
            GameError,
            r"of player 1 has actions \[0, 1\] in one history and different actions after history \[0, 1\]",
        ),
        (
            FORGETS,
            ImperfectRecallError,
            r"player 0 lacks perfect recall at infoset \d+ .*\(after history \[1, 0, 0\]",
        ),
        (NOBODY, GameError, r"actor\(\) is 5 after history \[0, 0\]"),
        (NO_ACTION, GameError, r"actions\(\) returns 0 in state .* return 1 to most_actions"),
        (BELOW_ZERO, GameError, r"infoset\(\) is -1 after history \[0\]; return a number from 0"),
        (TWICE, GameError, r"actions\(\) returns 0, negative or twice"),
    ],
)
def test_wrong_rules_are_refused_with_the_place(kind: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tp.compile(coin_game(kind))


def test_a_game_of_ones_own() -> None:
    game = tp.compile(coin_game(0))
    assert game.infosets == (6, 1)
    assert tp.solve(game, "lp").value[0] == pytest.approx(1.0)
    assert tp.compile(game.rules, stored=False).identity == game.identity


@pytest.mark.parametrize("spec", ["kuhn_poker", "leduc_poker(ranks=2)", "oshi_zumo(coins=3,size=1,horizon=3)"])
def test_stored_payoffs_do_not_change_the_identity(spec: str) -> None:
    assert tp.compile(spec, stored=True).identity == tp.compile(spec).identity


@pytest.mark.slow
def test_a_walk_answers_ctrl_c_and_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while compiled code walks; without the answer the run would go on for many seconds."""
    monkeypatch.setattr(numba_rules, "FEW_HISTORIES", 0)
    monkeypatch.setattr(numba_rules, "WATCHED", 0.01)
    monkeypatch.setattr(numba_rules, "LONG", 0.0)
    game = tp.compile("goofspiel(num_cards=4,imp_info=true)", stored=False)
    walk = game.infostates.walk
    strategy, values, told = strategy_of(game, 0), np.zeros(len(game.action_ids)), []

    def interrupt(text: str) -> None:
        told.append(text)
        raise KeyboardInterrupt

    class Slow:
        def result(self) -> None:
            stopped.append(progress[0, 1])

    stopped, progress = [], np.zeros((1, 2), np.int64)
    monkeypatch.setattr(numba_rules, "wait", lambda walks, seconds: type("Waited", (), {"not_done": walks}))
    with telling(interrupt), pytest.raises(KeyboardInterrupt):
        walk._wait([Slow()], progress)
    assert stopped == [1]
    monkeypatch.setattr(walk, "_wait", lambda walks, progress: interrupt(""))
    with pytest.raises(KeyboardInterrupt), walks_raise():
        gradient(game.tree, game.payoff, 0, strategy, values)
    assert told[0].startswith("walking the rules: 0 of up to 26,773 histories")
