"""Walks by the rules are the compiled ones, decision by decision, and learners learn the same from both."""

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.base.arrays import Floats
from treeplex.engine.histories.episodes import play_episodes
from treeplex.engine.histories.recording import RecordedWalks, new_rows, record_external, record_outcomes
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.views.infoset_tensors import states_of
from treeplex.forms.policies.tabular import normalised
from treeplex.forms.policies.views import View, probe
from treeplex.games.base import TERMINAL, Game, State
from treeplex.learn.learner import Learner
from treeplex.learn.neural.fitting.infosets import Infosets
from treeplex.learn.neural.gradients.actor import Actor
from treeplex.learn.neural.gradients.r_nad import RNaD
from treeplex.learn.neural.walks.critics import GameCritic, sampled_regrets
from treeplex.learn.neural.walks.rules_walks import RulesWalks
from treeplex.learn.neural.walks.sampler import EpisodeOptions
from treeplex.learn.train.registry import learner_named
from treeplex.solvers.sampling.solver import laid_out

pytest.importorskip("torch")
GAMES = {"leduc_poker": "tensor", "phantom_ttt(rows=2,line=2)": "tensor", "kuhn_poker": "words"}


class WalkCase:
    """A game, a random policy of it, and the same as walks by the rules ask for it."""

    def __init__(self, game: str) -> None:
        self.game = tp.compile(game)
        assert self.game.rules is not None
        self.view = probe(self.game.rules, GAMES[game]).view
        self.table = normalised(self.game, np.random.default_rng(1).random(len(self.game.action_ids)))
        rows = self.view.rows_of(self.game, 0, len(self.game.infostates))
        self.infosets = {(self.game.player_of(each), row.tobytes()): each for each, row in enumerate(rows)}
        self.walks = RulesWalks(self.game.rules, self.view)

    def asked(self, met: Infosets) -> Floats:
        """The policy, looked up by what infosets look like."""
        found = np.zeros(met.legal.shape)
        for row, (player, features) in enumerate(zip(met.player, met.features, strict=True)):
            sequences = self.game.sequences_at(self.infosets[int(player), features.tobytes()])
            found[row, self.view.columns(self.game.action_ids[sequences].tolist())] = self.table[sequences]
        return found


@pytest.mark.parametrize("game", GAMES)
def test_episodes_are_those_of_the_compiled_game(game: str) -> None:
    given = WalkCase(game)
    compiled, seats = given.game, np.zeros((300, 2), np.int64)
    one = play_episodes(
        histories_of(compiled), compiled.tree.infoset_layout, given.table[None], seats, compiled.size.depth, 7, 11
    )
    other, met = given.walks.episodes([given.asked], seats, EpisodeOptions(7), 11)[:2]
    for name in ("first", "player", "payoffs", "nodes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.probability, other.probability, atol=1e-15)
    numbers = [given.infosets[int(met.player[each]), met.features[each].tobytes()] for each in other.infoset]
    np.testing.assert_array_equal(one.infoset, numbers)
    actions = [compiled.actions_at(infoset)[action] for infoset, action in zip(one.infoset, one.action, strict=True)]
    assert actions == [given.view.actions[column] for column in other.action]


@pytest.mark.parametrize("game", GAMES)
def test_walks_by_external_sampling_are_those_of_the_compiled_game(game: str) -> None:
    given = WalkCase(game)
    layout, _, slots = laid_out(given.game, "history")
    first = np.append(layout.infosets[:, 0], len(slots))
    for player in (0, 1):
        kind = RecordedWalks(histories_of(given.game), first, given.table[slots], player, 7)
        room = new_rows(kind.histories, first, 1 << 14)
        done, rows, others, visited = record_external(kind, 0, 20, room)
        found = given.walks.external(given.asked, player, range(done), 7)
        assert (rows, others, visited) == (len(found.places), len(found.others), found.nodes)
        values = [room.values[row, : first[room.places[row] + 1] - first[room.places[row]]] for row in range(rows)]
        np.testing.assert_allclose(found.values[~np.isnan(found.values)], np.concatenate(values), atol=1e-6)


@pytest.mark.quick_cases("kuhn_poker-True")
@pytest.mark.parametrize(("game", "corrected"), [("kuhn_poker", True), ("leduc_poker", True), ("leduc_poker", False)])
def test_regrets_read_from_a_critic_are_those_of_the_compiled_game(game: str, corrected: bool) -> None:
    """A random critic, which sees what all players know."""
    given, player = WalkCase(game), 1
    layout, _, slots = laid_out(given.game, "history")
    first, histories = np.append(layout.infosets[:, 0], len(slots)), histories_of(given.game)
    acting = np.flatnonzero(histories.nodes[:, 0] >= 0)
    edge = np.full(len(histories.nodes), -1, np.int64)
    edge[acting] = np.cumsum(histories.nodes[acting, 2]) - histories.nodes[acting, 2]
    critic, known = np.zeros(int(histories.nodes[acting, 2].sum())), dict[bytes, Floats]()
    for node, state in states_of(given.game, histories):
        if edge[node] >= 0:
            columns = given.view.columns(list(state.legal_actions()))
            key = np.concatenate([given.view.row(state, each) for each in (0, 1)]).tobytes()
            values = known.setdefault(key, np.random.default_rng(len(known)).normal(size=len(given.view.actions)))
            critic[edge[node] : edge[node] + len(columns)] = values[columns]
    room = new_rows(histories, first, 1 << 12)
    kind = RecordedWalks(histories, first, given.table[slots], player, 7, 0.6, corrected)
    done, rows, others, _, visited = record_outcomes(kind, critic, edge, 0, 60, room)
    seats = np.zeros((done, 2), np.int64)
    played = given.walks.episodes([given.asked], seats, EpisodeOptions(7, player, player, 0.6, histories=True), 0)
    episodes = played.episodes
    size = 2 * len(given.view.scale)
    asked = np.array([known[row[:size].tobytes()] for row in played.histories])
    own, values, weights = sampled_regrets(played, player, asked, corrected=corrected, scale=1.0)
    assert (rows, others, visited) == (len(own), (episodes.player != player).sum(), episodes.nodes)
    np.testing.assert_allclose(weights, room.weights[:rows], rtol=1e-5)
    expected = [room.values[row, : first[room.places[row] + 1] - first[room.places[row]]] for row in range(rows)]
    np.testing.assert_allclose(values[~np.isnan(values)], np.concatenate(expected), rtol=1e-5, atol=1e-5)


ESCHER = {"corrected": True, "width": 16, "layers": 1, "rate": 0.02, "batch": 64, "memory": 4000}


SMALL = {"width": 16, "layers": 1, "rate": 0.02, "batch": 64}
CRITIC = {"walks": 20, "fits": 4, "critic_fits": 4}
STEPS: dict[str, dict[str, Any]] = {
    "ppg": {"batch": 20, "phase": 3},
    "r-nad": {"batch": 20, "phase": 2},
    "sd-cfr": {"walks": 5, "fits": 4, "memory": 2000},
    "dream": {**CRITIC, "memory": 2000, "critic_rounds": 2},
    "armac": {"plays": 20, "past": 2, "fits": 3, "critic_fits": 3, "critic_rounds": 1},
    "psro": {"oracle": "learned", "plays": 20, "batches": 2, "fits": 3, "simulated": 10},
    "escher": {**CRITIC, "memory": 2000, "corrected": True, "value_walks": 20, "average_fits": 5},
    "vr-deep-pdcfr+": {**CRITIC, "critic_rounds": 2, "average_fits": 5},
}
"""Learners by the rules, and settings by which a step is short."""


@pytest.mark.parametrize("name", STEPS)
def test_by_the_rules_they_continue_bit_for_bit(name: str) -> None:
    one, again = (learner(name, rules=True, **{**SMALL, **STEPS[name]}) for _ in range(2))
    for _ in range(2):
        one.step()
    again.restore({key: np.array(array) for key, array in one.state().items()})
    again.generator.bit_generator.state = one.generator.bit_generator.state
    assert one.step() == again.step()
    assert one.effort() == again.effort()
    assert one.measure() == again.measure()


LEARN: dict[str, tuple[int, float, dict[str, Any]]] = {
    "ppg": (20, 0.2, {"batch": 256, "phase": 8}),  # its last policy goes round an equilibrium later
    "r-nad": (400, 0.25, {"batch": 64, "phase": 100, "rate": 0.005}),
    "psro": (8, 0.25, {"oracle": "learned", "plays": 100, "batches": 12, "fits": 20, "simulated": 300}),
    "armac": (15, 0.38, {"plays": 500, "memory": 4000, "critic_memory": 4000, "fits": 30, "critic_fits": 30}),
    "sd-cfr": (10, 0.15, {"walks": 40, "fits": 60, "memory": 8000}),
    "dream": (15, 0.25, {"walks": 150, "fits": 40, "critic_fits": 60, "memory": 8000}),
    "vr-deep-dcfr+": (12, 0.25, {"walks": 300, "fits": 60, "critic_fits": 60, "average_fits": 200}),
    "vr-deep-pdcfr+": (12, 0.25, {"walks": 300, "fits": 60, "critic_fits": 60, "average_fits": 200}),
}
"""Steps, the exploitability to come below (the uniform policy has 0.458), and settings."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARN)
def test_by_the_rules_they_learn(name: str) -> None:
    steps, gain, settings = LEARN[name]
    student = learner(name, rules=True, **{**SMALL, **settings})
    for _ in range(steps):
        student.step()
    assert student.measure()["exploitability"] < gain


@pytest.mark.slow
def test_escher_by_the_rules_learns() -> None:
    escher = learner("escher", rules=True, **ESCHER, walks=150, value_walks=200, fits=40, critic_fits=60, average_fits=150)
    for _ in range(8):
        escher.step()
    assert escher.measure()["exploitability"] < 0.3  # the uniform policy has 0.458


def learner(name: str, game: str = "kuhn_poker", **settings: Any) -> Any:
    kind = learner_named(name)
    return kind.made(tp.load(game), kind.settings().changed(settings))  # type: ignore[attr-defined]


def alike(name: str, **settings: Any) -> tuple[Any, Any]:
    """A learner by the rules and one on the compiled game, from the same weights."""
    one, other = learner(name, rules=True, **settings), learner(name, **settings)
    vars(other.infosets)["features"] = one.sampler.view.rows_of(other.compiled, 0, len(other.compiled.infostates))
    other.generator = np.random.default_rng(0)
    if isinstance(other, Actor):
        other.logits = other.outputs(2 + other.auxiliary)
        if getattr(other, "critic", None) is not None:
            other.critic = other.outputs(other.critic.values().shape[1])
        if isinstance(other, RNaD):
            other.target_logits, other.target_critic = other.copied(other.logits), other.copied(other.critic)
            other.anchors = [other.copied(other.logits) for _ in range(2)]
    else:
        other.begin()
    if isinstance(getattr(other, "critic", None), GameCritic):
        other.critic = GameCritic(other)  # its rows are patched
    if hasattr(other, "latest"):
        other.latest = [other.sampler.approximator(player, other.generator) for player in (0, 1)]
    return one, other


def rows_of_histories(game: Any, _: str) -> np.ndarray:
    """What all players know at each history of a compiled game, as walks by the rules see it."""
    view, histories = probe(game.rules).view, histories_of(game)
    found = np.zeros((len(histories.nodes), game.players * len(view.scale)), np.float32)
    for node, state in states_of(game, histories):
        if histories.nodes[node, 0] >= 0:
            found[node] = np.concatenate([view.row(state, player) for player in range(game.players)])
    return found


LEARNERS = {
    "ppo": {"batch": 60, "rate": 0.01, "result": "last"},
    "mmd": {"batch": 60, "rate": 0.01, "result": "last"},
    "rpg": {"batch": 60, "rate": 0.01},
    "ppg": {"batch": 60, "rate": 0.01, "phase": 2, "result": "last"},
    "r-nad": {"batch": 60, "rate": 0.01, "phase": 2, "target": 0.7, "result": "target"},
    "deep-cfr": {"walks": 20, "fits": 5, "average_fits": 20, "memory": 5000},
    "sd-cfr": {"walks": 20, "fits": 5, "memory": 5000},
    "dream": {"walks": 30, "fits": 5, "memory": 5000, "critic_fits": 6, "critic_rounds": 2},
    "vr-deep-dcfr+": {"walks": 30, "fits": 5, "average_fits": 20, "critic_fits": 6, "critic_rounds": 2},
    "vr-deep-pdcfr+": {"walks": 30, "fits": 5, "average_fits": 20, "critic_fits": 6, "critic_rounds": 2},
}
USUAL = ("ppo", "deep-cfr", "sd-cfr", "dream", "vr-deep-pdcfr+", "ppg", "r-nad")


@pytest.mark.parametrize("name", [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in LEARNERS])
def test_learners_do_not_know_which_walks_they_learn_from(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights after three steps differ only by the order of sums."""
    monkeypatch.setattr("treeplex.learn.neural.walks.critics.history_features", rows_of_histories)
    one, other = alike(name, width=16, layers=1, **LEARNERS[name])
    for _ in range(3):
        one.step()
        other.step()
    assert one.effort() == other.effort()
    found = one.policy().on(other.compiled).probabilities
    np.testing.assert_allclose(found, other.policy().probabilities, atol=2e-5)
    assert np.ptp(found[found < 1.0]) > 0.05
    assert one.measure()["exploitability"] == pytest.approx(other.measure()["exploitability"], abs=1e-4)


@pytest.mark.slow
def test_nfsp_by_the_rules_learns_and_continues_bit_for_bit() -> None:
    settings = {"plays": 200, "width": 16, "layers": 1, "rate": 0.01, "batch": 64, "memory": 4000, "explore_over": 5000}
    nfsp = learner("nfsp", rules=True, **settings)
    for _ in range(40):
        nfsp.step()
    assert nfsp.measure()["exploitability"] < 0.35  # the uniform policy has 0.458
    again = learner("nfsp", rules=True, **settings)
    again.restore({name: np.array(array) for name, array in nfsp.state().items()})
    again.generator.bit_generator.state = nfsp.generator.bit_generator.state
    assert nfsp.step() == again.step()
    np.testing.assert_array_equal(nfsp.averages[1].policy()(ROW), again.averages[1].policy()(ROW))


ROW = np.ones((1, 514), np.float32)


@pytest.mark.slow_cases("ppo-settings8-too many|about")
@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ppo", {"approximator": "table"}, "approximator=table needs all histories, but phantom_ttt.* has too many to store"),
        ("mmd", {"features": "one-hot"}, "features=one-hot needs all histories"),
        ("rcfr", {}, "Rcfr needs all histories, but phantom_ttt.* has too many to store; use deep-cfr, nfsp or ppo"),
        ("ned", {"rules": True}, "Ned needs all histories; use deep-cfr"),
        (
            "vr-deep-pdcfr+",
            {"average": "exact"},
            "average=exact stores one network per policy, but this learner's policies have two",
        ),
        ("r-nad", {"result": "fine_tuned"}, "result=fine_tuned modifies tables, but phantom_ttt.* set result=target"),
        ("psro", {}, "oracle=exact sweeps all infosets, but phantom_ttt.* set oracle=learned"),
        ("neurd", {}, "critic=exact sweeps all infosets, but phantom_ttt.* set critic=learned"),
        ("ppo", {"rules": False}, "too many|about"),
    ],
)
def test_what_cannot_be_done_by_the_rules(name: str, settings: dict[str, Any], message: str) -> None:
    game = "phantom_ttt" if settings.get("rules") is not False else "phantom_ttt(rows=4,columns=4,gameversion=abrupt)"
    with pytest.raises((AlgorithmError, GameError), match=message):
        learner(name, game, **settings)


def test_games_too_large_to_store_are_walked_by_their_rules(capsys: pytest.CaptureFixture[str]) -> None:
    ppo = learner("ppo", "phantom_ttt", batch=8, exact=False)
    ppo.step()
    assert ppo.measure() == {}
    large = learner("ppo", "goofspiel(num_cards=6)", batch=2)
    assert large.measure() == {}
    assert "goofspiel(num_cards=6) is too large for exact evaluation" in capsys.readouterr().err
    assert ppo.sampler.played == 8
    assert "compiled" not in vars(ppo)
    root = tp.load("phantom_ttt").new_initial_state()  # type: ignore[union-attr]
    assert sum(ppo.policy().action_probabilities(root).values()) == pytest.approx(1.0)


class RareState(State):
    """A coin, then for the rarer side an action of its own."""

    def __init__(self, side: int = -1, taken: int = -1) -> None:
        self.side, self.taken = side, taken

    def current_player(self) -> int:
        return -1 if self.side < 0 else TERMINAL if self.taken >= 0 else 0

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 1.0 - 1e-9), (1, 1e-9)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1, 2] if self.side else [0, 1]

    def child(self, action: int) -> "RareState":
        return RareState(action) if self.side < 0 else RareState(self.side, action)

    def returns(self) -> list[float]:
        return [1.0, -1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return f"side {self.side}"


class Rare(Game):
    def new_initial_state(self) -> State:
        return RareState()


def test_an_action_that_random_play_never_met_is_one_line() -> None:
    view = View("words", np.ones(512, np.float32), (0, 1))
    with pytest.raises(GameError, match=r"action 2 did not occur in 200 random playthroughs; .* num_distinct_actions"):
        view.columns(RareState(1).legal_actions())
    found = probe(Rare())
    assert (found.largest, found.constant, found.cooperative) == (1.0, 0.0, False)


def test_cooperative_games_are_allowed_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Each player learns for itself; one line names the learners that are made for such games."""
    game = "matrix(rows=[[2,0],[0,1]],second=[[2,0],[0,1]])"
    for rules in (False, True):
        student: Learner = learner("ppo", game, batch=4, rules=rules)
        assert "receive the same payoff" in capsys.readouterr().err
        student.step()
    learner("ppo", batch=4)
    assert not capsys.readouterr().err
