"""What a walk over rules refuses, each time naming the place; imperfect recall; simultaneous moves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests import oracle
from tests.random_games import RandomPublicGame, RandomPublicTree
from treeplex.errors import GameError, ImperfectRecallError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.public_tree import compile_public_tree
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.public import Chance, Decision, Terminal
from treeplex.games.registry import load
from treeplex.solvers import make_solver


@dataclass
class Place(State):
    """A state written out: what each player knows (by default all that happened), actions by name and what follows."""

    player: int
    knows: tuple[str, ...] = ("?", "?")
    moves: Sequence[int] = ()
    below: Sequence[Place] = ()
    chances: Sequence[float] = ()
    payoffs: Sequence[float] = ()
    public: Hashable | None = None

    def current_player(self) -> int:
        return self.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return self.moves

    def child(self, action: int) -> Place:
        return self.below[list(self.moves).index(action)]

    def returns(self) -> Sequence[float]:
        return self.payoffs

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return list(zip(self.moves, self.chances, strict=True))

    def information_state_string(self, player: int | None = None) -> str:
        return self.knows[self.player if player is None else player]

    def action_to_string(self, action: int) -> str:
        return f"move{action}"

    def public_state(self) -> Hashable | None:
        return self.public


@dataclass(eq=False)
class WrittenGame(Game):
    root: Place
    num_players: int = 2
    spec: str = field(default="written")

    def new_initial_state(self) -> Place:
        return self.root


def end(*payoffs: float) -> Place:
    return Place(TERMINAL, payoffs=payoffs or (1.0, -1.0))


def decision(player: int, knows: tuple[str, ...], *below: Place, moves: Sequence[int] = (), public: Hashable = None) -> Place:
    return Place(player, knows, moves or range(len(below)), below, public=public)


def chance(*below: Place, chances: Sequence[float] = ()) -> Place:
    return Place(CHANCE, ("", ""), range(len(below)), below, chances or [1 / len(below)] * len(below))


def refused(root: Place, message: str, error: type[GameError] = GameError, players: int = 2) -> None:
    with pytest.raises(error, match=message) as caught:
        compile_rules(WrittenGame(root, players))
    assert type(caught.value) is error


@pytest.mark.parametrize("chances", [(0.5, 0.4), (0.5, 0.5 + 1e-8), (1.5, -0.5), (math.nan, 1.0)])
def test_chance_that_is_no_distribution(chances: tuple[float, float]) -> None:
    root = decision(0, ("start", ""), end(), chance(end(), end(), chances=chances))
    refused(
        root,
        r"chance probabilities after history \[move1\] (sum to (0\.9|1\.00000001|nan), not 1|are negative): "
        r"\[\(0, .*chance_outcomes\(\)",
    )


def test_chance_at_the_root_is_named_so() -> None:
    refused(chance(end(), end(), chances=(0.9, 0.2)), r"chance probabilities at the root sum to 1\.1, not 1")


def test_rounding_of_chance_is_allowed() -> None:
    assert compile_rules(WrittenGame(chance(*[end()] * 7, chances=[1 / 7] * 7))).size.terminals == 7
    assert compile_rules(WrittenGame(chance(end(), end(), chances=(1.0, 0.0)))).size.histories == 2


@pytest.mark.parametrize("payoffs", [(math.nan, 0.0), (math.inf, -math.inf), (1.0,), (1.0, -1.0, 0.0)])
def test_payoffs_that_are_none(payoffs: tuple[float, ...]) -> None:
    root = decision(0, ("start", ""), end(), decision(1, ("", "reply"), end(*payoffs), moves=[7]))
    refused(root, r"returns\(\) is \[.*\] after history \[move1, move7\]; return 2 finite payoffs")


def test_payoffs_may_be_arrays_of_one_number() -> None:
    root = decision(0, ("start", ""), *[end(*map(np.array, (payoff, -payoff))) for payoff in (2.0, 1.0, 2.0)])
    assert compile_rules(WrittenGame(root)).size.terminals == 3


@pytest.mark.parametrize("moves", [(0, 2), (1, 0), (0, 1, 2)])
def test_actions_that_differ_within_an_infostate(moves: tuple[int, ...]) -> None:
    root = chance(decision(0, ("same", ""), end(), end()), decision(0, ("same", ""), *[end()] * len(moves), moves=moves))
    refused(
        root,
        rf"infostate 'same' has actions \[0, 1\] in one history and \[{', '.join(map(str, moves))}\] after history \[move1\]",
    )


def test_no_action() -> None:
    refused(chance(end(), decision(0, ("stuck", ""))), r"no legal action at infostate 'stuck' after history \[move1\]")


def test_repeated_actions() -> None:
    refused(
        decision(1, ("", "twice"), end(), end(), moves=[4, 4]),
        r"legal_actions\(\) is \[4, 4\] at infostate 'twice'.*list each action once",
    )


@pytest.mark.parametrize("player", [2, 5, -3])
def test_a_player_who_does_not_exist(player: int) -> None:
    refused(
        chance(end(), decision(player, ("",) * 6, end())),
        rf"current_player\(\) is {player} after history \[move1\]; return 0 to 1, CHANCE or TERMINAL",
    )


def test_imperfect_recall_by_forgotten_action() -> None:
    root = decision(0, ("start", ""), decision(0, ("later", ""), end(), end()), decision(0, ("later", ""), end(), end()))
    refused(
        root,
        r"player 0 lacks perfect recall at infostate 'later' \(after history \[move1\]\).*refine=True",
        ImperfectRecallError,
    )


def test_imperfect_recall_by_forgotten_knowledge() -> None:
    def branch(card: str) -> Place:
        return decision(1, ("", card), decision(1, ("", "forgot"), end(), end()))

    refused(chance(branch("ace"), branch("king")), "player 1 lacks perfect recall at infostate 'forgot'", ImperfectRecallError)


def test_absent_mindedness() -> None:
    root = decision(0, ("road", ""), end(), decision(0, ("road", ""), end(), end()))
    refused(root, "player 0 lacks perfect recall at infostate 'road'", ImperfectRecallError)


def test_a_public_state_that_leaks() -> None:
    """Player 1 acts without knowing what the public state says that player 1 knows."""
    root = chance(
        decision(0, ("ace", "hidden"), end(), end(), public="ace"), decision(0, ("king", "hidden"), end(), end(), public="king")
    )
    refused(root, r"the public state reveals information to player 1.* .*'king' after history \[move1\].*'hidden'")


def test_public_states_with_equal_hashes() -> None:
    """In Python hash(-1) == hash(-2); the two are still different public states."""
    assert hash((0, -1)) == hash((0, -2))
    root = chance(
        decision(0, ("ace", "hidden"), end(), end(), public=(0, -1)),
        decision(0, ("king", "hidden"), end(), end(), public=(0, -2)),
    )
    refused(root, r"the public state reveals information to player 1")


def test_a_public_state_that_splits() -> None:
    root = chance(
        decision(0, ("same", "a"), end(), end(), public="left"), decision(0, ("same", "b"), end(), end(), public="right")
    )
    refused(root, r"the public state splits infostate 'same': it is 'right' after history \[move1\]")


def test_too_many_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.games.size_estimate.LOOK_EVERY", 10)
    seen: list[int] = []
    with pytest.raises(GameError, match="kuhn_poker has more than 35 histories"):
        compile_rules(load("kuhn_poker"), limit=35, watch=seen.append)
    assert seen == [10, 20, 30]


def test_action_names_that_differ_between_infosets_fall_back_to_numbers() -> None:
    class RenamedPlace(Place):
        def action_to_string(self, action: int) -> str:
            return f"{self.knows[0]}{action}" if action else "check"

    below = [RenamedPlace(0, (name, ""), (0, 1), (end(), end())) for name in "ab"]
    assert compile_rules(WrittenGame(chance(*below))).action_names == ({0: "check", 1: "1"}, {})


def test_constant_and_general_sums() -> None:
    constant = compile_rules(WrittenGame(chance(end(3.0, 2.0), end(1.5, 3.5))))
    assert (constant.constant, constant.zero_sum) == (5.0, False)
    general = compile_rules(WrittenGame(chance(end(3.0, 2.0), end(1.5, 3.6))))
    assert (general.constant, general.zero_sum) == (None, False)
    assert compile_rules(WrittenGame(end(2.0, -2.0))).zero_sum


FORGETFUL = "goofspiel(num_cards=4,imp_info=false,points_order=descending)"
"""With everything public OpenSpiel's infostate strings leave out who bid what when: points and hands only."""


def test_openspiel_goofspiel_is_refused_with_the_infostate() -> None:
    with pytest.raises(ImperfectRecallError, match=r"player \d lacks perfect recall at infostate '.+' \(after history \["):
        compile_game(FORGETFUL)


def test_refined_names_stay_distinct() -> None:
    """Splitting 'x' makes 'x#2', which the rules already use for something else."""
    split = [decision(0, (first,), decision(0, ("x",), end(), end())) for first in ("a", "b")]
    game = compile_rules(WrittenGame(chance(*split, decision(0, ("x#2",), end(), end()))), refine=True)
    assert sorted(game.infostates) == ["a", "b", "x#1", "x#2", "x#3"]
    assert len(game.lookup) == 5


def test_histories_of_refined_games_whose_names_look_like_copies() -> None:
    """Both 'x' and 'x#1' are split, and 'y#1' stands below the same action as a copy of 'y'."""
    split = [chance(*(decision(0, (name,), end(), end()) for name in ("x", "x#1", "y", "y#1"))) for _ in "ab"]
    split[1] = chance(*(decision(0, (name,), end(), end()) for name in ("x", "x#1", "y")))
    game = compile_rules(WrittenGame(decision(0, ("start",), *split)), refine=True)
    nodes = histories_of(game).nodes
    names = [game.infostates[infoset] for infoset in nodes[nodes[:, 0] >= 0, 3]]
    assert names == ["start", "x#2", "x#1#1", "y#2", "y#1", "x#3", "x#1#2", "y#3"]


def test_refining_with_public_states() -> None:
    below = [decision(0, ("y", name), end(), end(0.0, 0.0), public=name) for name in "ab"]
    root = decision(0, ("x", "start"), *below, public="start")
    refused(root, "lacks perfect recall", ImperfectRecallError)
    game = compile_rules(WrittenGame(root), refine=True)
    assert sorted(game.infostates) == ["x", "y#1", "y#2"]
    assert game.size.public_states == 3


@pytest.mark.parametrize("players", [0, 128])
def test_numbers_of_players(players: int) -> None:
    refused(end(), "num_players", players=players)


def test_refined_goofspiel() -> None:
    """Each split infoset gets a name of its own, and the symmetric game keeps its value 0."""
    game = compile_game(FORGETFUL, refine=True)
    assert len(game.lookup) == len(game.infostates)
    assert any(infostate.endswith("#2") for infostate in game.infostates)
    solver = make_solver(game, "lp")
    solver.run(1)
    found = judge(game, solver.average_policy())
    assert found.value[0] == pytest.approx(0.0, abs=1e-9)
    assert abs(found.nash_conv) < 1e-9


def test_refining_changes_nothing_where_recall_is_perfect() -> None:
    game, refined = compile_rules(load("kuhn_poker")), compile_game("kuhn_poker", refine=True)
    assert game.identity == refined.identity
    assert game.size == refined.size


class Toss(State):
    """Chance decides on the stake, then both choose at once: a zero-sum game whose value follows below."""

    def __init__(self, stake: int = 0, moves: tuple[int, ...] = ()) -> None:
        self.stake, self.moves = stake, moves

    def current_player(self) -> int:
        return TERMINAL if self.moves else SIMULTANEOUS if self.stake else CHANCE

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(1, 0.5), (2, 0.5)]

    def child(self, action: int) -> Toss:
        return Toss(self.stake, action) if isinstance(action, tuple) else Toss(action)

    def returns(self) -> list[float]:
        payoff = self.stake * [[1.0, -2.0], [-1.0, 1.0]][self.moves[0]][self.moves[1]]
        return [payoff, -payoff]

    def information_state_string(self, player: int | None = None) -> str:
        return f"stake {self.stake}"


class TossGame(Game):
    spec = "toss"

    def new_initial_state(self) -> Toss:
        return Toss()


def test_simultaneous_moves_become_hidden_ones() -> None:
    """[[1, -2], [-1, 1]] has value (1 - 2) / 5: the row player mixes 2/5 with 3/5."""
    game = compile_game(TossGame())
    assert (game.infosets, game.size.histories, game.size.terminals) == ((2, 2), 15, 8)
    assert game.spec == "toss"
    solver = make_solver(game, "lp")
    solver.run(1)
    found = judge(game, solver.average_policy())
    assert found.value[0] == pytest.approx(1.5 * -1 / 5, abs=1e-12)
    assert abs(found.nash_conv) < 1e-12


def test_a_public_tree_with_a_bad_prior() -> None:
    rules = RandomPublicGame(1)
    tree = RandomPublicTree(rules)
    for prior in (tree.prior * 1.1, np.where(tree.prior > 0, tree.prior, -0.1)):
        tree.prior = prior
        with pytest.raises(
            GameError, match=r"the prior over hands of random_public_game\(seed=1\) sums to .*, not 1, or has negative"
        ):
            compile_public_tree(rules, tree)


def with_event_at_the_root(kind: type[Chance] | type[Terminal]) -> RandomPublicGame:
    """The first game whose public tree starts with chance, or ends at its root."""
    rules = (RandomPublicGame(seed, depth=0 if kind is Terminal else 4) for seed in range(100))
    return next(game for game in rules if isinstance(game.public_tree().visit(()), kind))


def test_a_public_tree_with_bad_chance() -> None:
    rules = with_event_at_the_root(Chance)

    class Bad(RandomPublicTree):
        def visit(self, node: Hashable) -> object:  # type: ignore[override]
            event = super().visit(node)
            if isinstance(event, Chance):
                return Chance(tuple((label, 0.9 * weight) for label, weight in event.outcomes))
            return event

    with pytest.raises(GameError, match=r"chance probabilities at public node \(\) do not sum to 1"):
        compile_public_tree(rules, Bad(rules))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("prior", r"prior of .* has shape \(6,\) and deals \(2, 3\); give both as arrays \[H0, H1\]"),
        ("deals", r"prior of .* has shape \(2, 3\) and deals \(1, 3\)"),
        ("missing", "invalid value at the deal: AttributeError: .* 'deal_histories'"),
        ("player", r"the player at public node \(\) is -1; give 0 or 1"),
        ("none", r"invalid value at public node \(\): AttributeError"),
        ("matrix", r"invalid value at public node \(\): ValueError"),
        ("raises", r"test_walk.py:\d+: ZeroDivisionError: .* \(in visit, at public node \(\)\)"),
    ],
)
def test_faults_of_a_public_tree_are_named(fault: str, message: str) -> None:
    def visit(node: Hashable) -> Any:
        if fault == "raises":
            return 1 / 0
        return {"player": Decision(-1, (0, 1)), "matrix": Terminal(np.ones((3, 3)), 1.0)}.get(fault)

    tree: Any = SimpleNamespace(
        root=(), prior=np.full((2, 3), 1 / 6), deals=np.ones((2, 3), np.int64), visit=visit, deal_depth=1
    )
    tree.future = lambda node: node
    if fault != "missing":
        tree.deal_histories = 1
    if fault == "prior":
        tree.prior = np.full(6, 1 / 6)
    if fault == "deals":
        tree.deals = tree.deals[:1]
    with pytest.raises(GameError, match=message):
        compile_public_tree(RandomPublicGame(1), tree)


def test_a_public_tree_with_a_payoff_that_is_none() -> None:
    rules = with_event_at_the_root(Terminal)

    class Bad(RandomPublicTree):
        def visit(self, node: Hashable) -> object:  # type: ignore[override]
            event = super().visit(node)
            return Terminal(event.matrix * math.nan, 1.0) if isinstance(event, Terminal) else event

    with pytest.raises(GameError, match=r"a payoff at public node \(\) is not finite"):
        compile_public_tree(rules, Bad(rules))


def test_a_public_tree_that_gives_an_infostate_twice() -> None:
    class Bad(RandomPublicTree):
        def infostate(self, node: Hashable, player: int, hand: int) -> str:
            return "always the same"

    rules = next(rules for rules in map(RandomPublicGame, range(100)) if len(oracle.action_sets(oracle.grow(rules))) > 3)
    with pytest.raises(GameError, match=r"infostate 'always the same' of player . occurs at two public nodes"):
        compile_public_tree(rules, Bad(rules))
