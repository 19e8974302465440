"""The conformance suites pass what is right, and name what is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, GameError
from treeplex.games import CHANCE, TERMINAL, Decision, Game, State, Terminal
from treeplex.games.builtin.kuhn_poker import KuhnPoker
from treeplex.search.agents.agent import TableAgent
from treeplex.solvers import Variant, Weights
from treeplex.testing import check_agent, check_game, check_variant


class Guess(State):
    """Player 0 puts a coin, player 1 guesses; one thing may be wrong."""

    def __init__(self, wrong: str = "", moves: tuple[int, ...] = ()) -> None:
        self.wrong, self.moves = wrong, moves

    def current_player(self) -> int:
        if self.wrong in ("nan", "chance") and not self.moves:
            return CHANCE
        if self.wrong == "none" and self.moves:
            return None  # type: ignore[return-value]
        return TERMINAL if len(self.moves) == 2 else (5 if self.wrong == "player" else len(self.moves))

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        outcomes = {0: np.nan, 1: 0.5}
        return list(outcomes.items()) if self.wrong == "nan" else outcomes  # type: ignore[return-value]

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [] if self.is_terminal() else ([0, 0] if self.wrong == "twice" else [0, 1])

    def child(self, action: int) -> "Guess":
        return Guess(self.wrong, (*self.moves, action))

    def returns(self) -> Sequence[float]:
        won = 1.0 if self.moves[0] == self.moves[1] else -1.0
        if self.wrong in ("raises", "text"):
            return [won / 0] if self.wrong == "raises" else ["a", "b"]  # type: ignore[list-item]
        return [-won] if self.wrong == "returns" else [-won, won]

    def information_state_string(self, player: int | None = None) -> str:
        shown = self.moves if self.wrong == "leak" else ()
        return f"{len(self.moves)} {shown}"

    def action_to_string(self, action: int) -> str:
        return "side" if self.wrong == "names" else ("heads", "tails")[action]


class GuessGame(Game):
    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong

    def new_initial_state(self) -> State:
        return Guess(self.wrong)


def test_games_that_are_right():
    assert check_game(GuessGame()).checks == ("100 playthroughs", "states", "2 infosets")
    assert "public tree" in str(check_game("leduc_poker", playthroughs=5))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("player", "at the root: current_player\\(\\) is 5"),
        ("twice", "legal_actions\\(\\) is \\[0, 0\\]"),
        ("names", "two actions the same name"),
        ("returns", "after history \\[.*\\]: returns\\(\\) is"),
        ("nan", "at the root: chance_outcomes\\(\\) is \\[\\(0, nan\\), .* sum to 1, here nan"),
        ("chance", "invalid value at the root: TypeError"),
        ("none", "invalid value after history \\[\\w+\\]: TypeError"),
        ("raises", "test_testing.py:\\d+: ZeroDivisionError: .* \\(in returns, after history \\[\\w+, \\w+\\]\\)"),
        ("text", "invalid value after history \\[\\w+, \\w+\\]: TypeError"),
    ],
)
def test_what_is_wrong_with_a_game_is_named(wrong: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        check_game(GuessGame(wrong))


def test_a_spec_of_another_game():
    game = KuhnPoker(3)
    game.spec = "kuhn_poker(players=2)"
    with pytest.raises(GameError, match="loading its spec"):
        check_game(game)


def test_descriptions_of_one_game_must_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    game = tp.load("leduc_poker")
    other = tp.load("leduc_poker(ranks=2)").public_tree()
    monkeypatch.setattr(game, "public_tree", lambda: other)
    with pytest.raises(GameError, match="in only one of the histories and the public tree"):
        check_game(game, playthroughs=2)


def test_variants():
    assert check_variant("cfr+", game="kuhn_poker").subject == "cfr+"
    late = Variant("late", "", "", lambda t, horizon: Weights(average=t))
    assert check_variant(late, game="kuhn_poker").subject == "late"


def test_a_variant_that_does_not_converge():
    backwards = Variant("backwards", "", "", lambda t, horizon: Weights(regret=-1.0))
    with pytest.raises(AlgorithmError, match="backwards does not converge on kuhn_poker"):
        check_variant(backwards, game="kuhn_poker")


def test_a_variant_whose_weights_depend_on_more_than_the_iteration():
    calls: list[int] = []

    def schedule(t: int, horizon: int) -> Weights:
        calls.append(t)
        return Weights(regret=1.0 + 0.01 * len(calls))

    with pytest.raises(AlgorithmError, match="differs from an uninterrupted run"):
        check_variant(Variant("moody", "", "", schedule), game="kuhn_poker")


GENERATOR = np.random.default_rng(0)


class Wrong(TableAgent):
    """A table with a fault."""

    fault = ""

    def policy(self) -> np.ndarray:
        found = super().policy()
        if self.fault in ("none", "list"):
            return None if self.fault == "none" else found.tolist()  # type: ignore[return-value]
        if self.fault == "shape":
            return found[:, :1]
        if self.fault == "sum":
            return found * 0.9
        return GENERATOR.dirichlet(np.ones(len(found)), found.shape[1]).T if self.fault == "moody" else found


def wrong_agent(fault: str) -> Callable[[], Wrong]:
    def make() -> Wrong:
        agent = Wrong(tp.search.public_tree("kuhn_poker"), tp.Policy.uniform(tp.compile("kuhn_poker")))
        agent.fault = fault
        return agent

    return make


def test_agents_that_are_right():
    assert "repeated" in check_agent("uniform", "kuhn_poker").checks
    assert check_agent(wrong_agent(""), "kuhn_poker").checks[0] == "3 plays"
    assert check_agent(wrong_agent("list"), "kuhn_poker").checks[0] == "3 plays"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("shape", "policy\\(\\) has shape"),
        ("none", "policy\\(\\) has shape"),
        ("sum", "not a distribution"),
        ("moody", "changes when called again"),
    ],
)
def test_what_is_wrong_with_an_agent_is_named(fault: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        check_agent(wrong_agent(fault), "kuhn_poker")


@pytest.mark.parametrize(
    ("wrong", "message"), [("payoffs", "random policy has value"), ("players", "only one of"), ("names", "actions at")]
)
def test_a_public_tree_that_describes_another_game_is_found(wrong, message, monkeypatch: pytest.MonkeyPatch):
    game = tp.load("leduc_poker(ranks=2)")
    tree = game.public_tree()
    visit, name = tree.visit, tree.action_to_string

    def wrong_visit(node):
        found = visit(node)
        if wrong == "payoffs" and isinstance(found, Terminal):
            return replace(found, scale=-found.scale)
        if wrong == "players" and isinstance(found, Decision):
            return replace(found, player=1 - found.player)
        return found

    monkeypatch.setattr(tree, "visit", wrong_visit)
    if wrong == "names":
        monkeypatch.setattr(tree, "action_to_string", lambda node, action: name(node, action).upper())
    monkeypatch.setattr(game, "public_tree", lambda: tree)
    with pytest.raises(GameError, match=message):
        check_game(game, playthroughs=2)


def test_an_agent_that_stays_where_it_is_is_found():
    class Stuck(TableAgent):
        def see(self, event: int) -> None:
            pass

    game = tp.compile("kuhn_poker")
    with pytest.raises(GameError, match=r"after see\(\d+\) the agent is at"):
        check_agent(lambda: Stuck("kuhn_poker", tp.Policy.uniform(game)), "kuhn_poker")
