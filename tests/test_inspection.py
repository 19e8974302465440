"""What a prompt shows: one line for every kind of object, and histories of runs as data frames."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.games.base import CHANCE, TERMINAL, State
from treeplex.learn.rebel.shipped_nets import shipped_net
from treeplex.search import METHODS, Belief, Horizon, Maxmargin, SubgameSearch, ZeroLeaf, cut, public_game
from treeplex.search.subgames.subgame import Subgame

GAMES = (
    *("leduc_poker", "kuhn_poker(players=3)", "liars_dice", "tic_tac_toe", "goofspiel(num_cards=3)", "oshi_zumo", "battleship"),
    *("phantom_ttt", "rock_paper_scissors", "small_holdem", "holdem", "repeated_poker"),
)
MOST = 200


def leduc_subgame(**options: object) -> Subgame:
    return cut("leduc_poker", [Belief.root("leduc_poker")], Horizon(2), **options)  # type: ignore[arg-type]


def rebel_leaf() -> object:
    pytest.importorskip("torch")
    game = "liars_dice(dice_sides=4)"
    return shipped_net(game).leaf(public_game(game))


OBJECTS: dict[str, tuple[Callable[[], object], str]] = {
    "public game": (lambda: public_game("leduc_poker"), "<LeducPublicTree of leduc_poker: 2 players>"),
    "spot's game": (lambda: public_game("turn_holdem"), "players>"),
    "public state": (lambda: public_game("leduc_poker").first_state(), "<public state of 6 x 6 hands: LeducTable("),
    "belief": (lambda: Belief.root("leduc_poker"), "<belief about 6 and 6 hands at "),
    "subgame": (leduc_subgame, "<subgame of leduc_poker: 4 leaves, policy of 56 numbers at "),
    "leaves": (lambda: leduc_subgame().leaves, "<4 public states of leduc_poker: 6 and 6 hands>"),
    "gadget": (lambda: Maxmargin(0, np.zeros((1, 6))), "<maxmargin gadget: player 0 re-solves, 6 hands>"),
    "search": (
        lambda: SubgameSearch(leduc_subgame(), METHODS["cfr+"], ZeroLeaf()),
        "<search by cfr+: 0 iterations on <subgame of leduc",
    ),
    "structure": (lambda: tp.structure("kuhn_poker"), "<structure of kuhn_poker: perfect recall>"),
    "distances of a device": (
        lambda: tp.correlation.judge(tp.correlation.from_policy(tp.Policy.uniform(tp.compile("kuhn_poker")))),
        "<distances of a device: CCE ",
    ),
    "value network": (rebel_leaf, "<value network "),
    "network's file": (lambda: shipped_net("liars_dice(dice_sides=4)"), "<value network "),
    "judgement": (lambda: tp.judge("kuhn_poker", "uniform"), "Judgement("),
    "comparison": (lambda: tp.compare("kuhn_poker", ["cfr"], iterations=1), "<comparison of 1 algorithms on kuhn_poker"),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_are_one_line(kind: str) -> None:
    make, part = OBJECTS[kind]
    shown = repr(make())
    assert part in shown
    assert "\n" not in shown
    assert len(shown) < MOST


@pytest.mark.parametrize(
    "name",
    [
        "uniform",
        "search(depth=1,leaf=zero)",
        "deepstack(rounds=0)",
        "rules(style=caller)",
        "lbr(against=uniform)",
        "libratus(blueprint=uniform)",
    ],
)
def test_agents_are_one_line(name: str) -> None:
    agent = tp.agent(name, "leduc_poker")
    shown = repr(agent)
    assert shown.startswith(f"<{type(agent).__name__} for leduc_poker: player 0 to act at ")
    assert "\n" not in shown
    assert len(shown) < MOST


@pytest.mark.parametrize("spec", GAMES)
def test_states_are_one_line(spec: str) -> None:
    """Along a random play from the root to the end."""
    state, generator = tp.load(spec).new_initial_state(), np.random.default_rng(3)
    seen = []
    for _ in range(60):
        seen.append(repr(state))
        if state.is_terminal():
            break
        if state.is_simultaneous_node():
            break
        actions = [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        state = state.child(actions[generator.integers(len(actions))])
    assert all(len(shown) < MOST and "\n" not in shown and " object at " not in shown for shown in seen)
    assert all(shown.startswith(f"<{type(state).__name__}: ") for shown in seen)
    assert "to act" in seen[0]


class BareState(State):
    """Rules whose every question fails."""

    def current_player(self) -> int:
        raise ValueError("not written yet")

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        raise NotImplementedError

    def child(self, action: int) -> State:
        raise NotImplementedError

    def returns(self) -> Sequence[float]:
        raise NotImplementedError

    def information_state_string(self, player: int | None = None) -> str:
        raise NotImplementedError


class StartedState(BareState):
    def __init__(self, actor: int) -> None:
        self.actor = actor

    def current_player(self) -> int:
        return self.actor


def test_a_state_of_faulty_rules_has_a_representation() -> None:
    assert repr(BareState()) == "<BareState>"
    assert repr(StartedState(CHANCE)) == "<StartedState: chance to act>"
    assert repr(StartedState(1)) == "<StartedState: player 1 to act>"
    assert repr(StartedState(TERMINAL)) == "<StartedState>"


@pytest.mark.slow
def test_a_comparison_is_its_solutions_and_a_data_frame() -> None:
    pytest.importorskip("pandas")
    comparison = tp.compare("kuhn_poker", ["cfr", "cfr+"], iterations=20, every=5)
    assert [solution.algorithm for solution in comparison] == ["cfr", "cfr+"]
    assert len(comparison) == 2
    frame = comparison.to_dataframe()
    assert len(frame) == sum(len(solution.records) for solution in comparison)
    for solution in comparison:
        rows = frame[frame.algorithm == solution.algorithm]
        assert rows.iterations.tolist() == [record.done for record in solution.records]
        assert rows.exploitability.tolist() == [record.exploitability for record in solution.records]
        assert rows.gain_1.tolist() == [record.gains[1] for record in solution.records]


def test_records_of_a_solution_with_a_measure_are_a_data_frame() -> None:
    pytest.importorskip("pandas")
    solution = tp.solve("kuhn_poker", iterations=10, every=5, measures={"infosets": lambda game, policy: float(len(policy))})
    frame = solution.to_dataframe()
    assert len(frame) == len(solution.records) >= 2
    assert (frame.infosets == 12.0).all()
    assert frame.exploitability.iloc[-1] == solution.exploitability


def test_a_learning_curve_is_a_data_frame(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    settings = {"epochs": 1, "population": 2, "horizon": 20}
    training = tp.train(["kuhn_poker"], "ddcfr", settings=settings, out=tmp_path / "run", workers=1)
    frame = training.to_dataframe()
    assert list(training) == list(training.records)
    assert frame.epochs.tolist() == [record.done for record in training]
    assert repr(training).startswith("<training of ddcfr on kuhn_poker: 1 epoch in ")
    assert "\n" not in repr(training)
