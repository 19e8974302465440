"""Classes of extensive forms: the survey's figures and remarks, known games, and definitions checked word by word."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from tests.tree_games import (
    Moves,
    TreeForm,
    drawn_payoffs,
    everything,
    nothing,
)
from treeplex.errors import GameError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.forms.structure.classes import Structure, structure
from treeplex.games.base import CHANCE, TERMINAL, Game, State


def first(moves: Moves) -> object:
    return moves[0]


def structure_of(game: Game | str, *, recall: bool = False) -> Structure:
    return structure(game, refine=recall)


def three(second: object, third: object) -> TreeForm:
    """Three players with two actions each, after the description of the survey's figure 3.1 (a)."""
    return TreeForm((0, 1, 2), [nothing, second, third], [2, 2, 2], 3)  # type: ignore[list-item]


def holding(structure: Structure) -> set[str]:
    return {name for name, verdict in structure.verdicts().items() if verdict}


def test_figure_3_1_a_is_ladder_nested_with_four_sub_forms() -> None:
    found = structure_of(three(first, first))
    assert found.ladder_nested
    assert found.sub_forms == 4
    assert (found.pieces.count, found.pieces.static) == (2, 2)  # type: ignore[union-attr]


def test_figure_3_1_b_acts_twice() -> None:
    found = structure_of(TreeForm((0, 1, 0), [nothing, first, lambda moves: moves], [2, 2, 2]))
    assert not found.single_act
    assert found.single_act.why == "player 0 moves again after [a, a]"
    assert not found.nested
    assert found.sub_forms is None


def test_figure_3_2_has_two_sub_forms() -> None:
    """Three actions of the first player, of which the second learns one: a one-player form and a two by two one."""
    found = structure_of(TreeForm((0, 1), [nothing, lambda moves: moves[0] == 0], [3, 2]))
    assert found.ladder_nested
    assert found.sub_forms == 2
    assert (found.pieces.count, found.pieces.players) == (1, 2)  # type: ignore[union-attr]


def test_remark_3_7_second_player_told_nothing() -> None:
    found = structure_of(three(nothing, first))
    assert found.nested
    assert not found.ladder_nested
    assert found.ladder_nested.why == (
        "player 1 at infostate '1:' cannot tell [a] from [b], and player 2, who moves next, knows more than that"
    )
    assert found.nested_feedback
    assert not found.ladder_nested_feedback


def test_footnote_17_forms_of_two_players_are_ladder_nested() -> None:
    for told in product(range(3), repeat=3):  # what the second learns of three actions
        assert structure_of(TreeForm((0, 1), [nothing, lambda moves, told=told: told[moves[0]]], [3, 2])).ladder_nested


def test_remark_3_7_third_player_told_nothing_and_figure_3_4() -> None:
    found = structure_of(three(first, nothing))
    assert not found.nested
    assert found.nested.why == (
        "player 2 at infostate '2:' cannot tell [a, a] from [b, a], between which player 1 could, who moved before"
    )
    assert found.nested_reordered
    assert found.nested_reordered.why == "with the players in the order 0, 2, 1"
    assert not found.ladder_nested_reordered
    reordered = TreeForm((0, 2, 1), [nothing, nothing, first], [2, 2, 2], 3)
    assert structure_of(reordered).nested


def test_a_player_without_a_choice_may_go_first() -> None:
    """Then nobody comes between the first player's move and the one who sees it."""
    found = structure_of(TreeForm((0, 1, 2), [nothing, nothing, first], [2, 1, 2], 3))
    assert found.nested
    assert not found.ladder_nested
    assert found.ladder_nested_reordered.why == "with the players in the order 1, 0, 2"


def test_no_order_helps_where_each_knows_what_the_other_does_not() -> None:
    sights = [nothing, nothing, lambda moves: moves[0], lambda moves: moves[1]]
    found = structure_of(TreeForm((0, 1, 2, 3), sights, [2] * 4, 4))
    assert not found.nested
    assert found.nested_reordered.why == "in no order of its players"


KNOWN = {
    "kuhn_poker": {"perfect_recall"},
    "rock_paper_scissors": {
        "perfect_recall",
        "single_act",
        "nested",
        "ladder_nested",
        "nested_reordered",
        "ladder_nested_reordered",
        "feedback",
        "nested_feedback",
        "ladder_nested_feedback",
        "open_loop",
    },
    "goofspiel(num_cards=4)": set(),
    "goofspiel(num_cards=4,imp_info=true)": {"perfect_recall"},
}


@pytest.mark.quick_cases("kuhn_poker", "rock_paper_scissors")
@pytest.mark.parametrize("game", KNOWN)
def test_known_games(game: str) -> None:
    assert holding(structure_of(game)) == KNOWN[game]


def test_perfect_information() -> None:
    found = structure_of(TreeForm((0, 1, 0, 1), [everything] * 4, [2] * 4))
    assert holding(found) == {
        "perfect_information",
        "perfect_recall",
        "feedback",
        "nested_feedback",
        "ladder_nested_feedback",
    }
    assert found.levels == (0, 2)
    assert (found.pieces.count, found.pieces.players) == (0, 0)  # type: ignore[union-attr]


@pytest.mark.slow_cases("random")
@pytest.mark.parametrize("order", ["descending", "random"])
def test_goofspiel_with_open_bids_is_a_feedback_game_where_players_remember(order: str) -> None:
    game = f"goofspiel(num_cards=4,points_order={order})"
    found = structure_of(game, recall=True)
    assert holding(found) == {"perfect_recall", "feedback", "nested_feedback", "ladder_nested_feedback"}
    assert found.levels == (0, 2, 4)
    assert "forgets what they did or knew: [" in structure_of(game).perfect_recall.why


def forgetful(depth: int) -> TreeForm:
    """Two players who alternate and never learn anything, their own moves included."""
    return TreeForm([place % 2 for place in range(depth)], [nothing] * depth, [2] * depth)


def test_open_loop_games_lack_recall() -> None:
    found = structure_of(forgetful(4))
    assert holding(found) == {"open_loop"}
    assert found.pieces is None
    assert found.perfect_recall.why == "player 0 at infostate '2:' forgets what they did or knew: [a, a] or [b, a]"
    found = structure_of(TreeForm((0, 1, 0), [nothing, nothing, first], [2, 2, 2]))
    assert found.open_loop.why == "player 0 can tell [a, a] from [b, a]"
    assert found.perfect_recall


class Coin(Game):
    """A coin is tossed, seen or not; two players choose at once; a lottery ends it."""

    spec = "coin"

    def __init__(self, seen: bool, when: int = 0) -> None:
        self.seen, self.when = seen, when

    def new_initial_state(self) -> "CoinState":
        return CoinState(self, ())


class CoinState(State):
    def __init__(self, game: Coin, moves: Moves) -> None:
        self.game, self.moves = game, moves

    def current_player(self) -> int:
        if len(self.moves) in (self.game.when, 3):
            return CHANCE
        return (len(self.moves) - (len(self.moves) > self.game.when)) if len(self.moves) < 3 else TERMINAL

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def child(self, action: int) -> "CoinState":
        return CoinState(self.game, (*self.moves, action))

    def returns(self) -> list[float]:
        return [0.0, 0.0]

    def information_state_string(self, player: int | None = None) -> str:
        tossed = self.moves[self.game.when : self.game.when + 1] if self.game.seen else ()
        return f"player {player if player is not None else self.current_player()} after {len(self.moves)}: {tossed}"


def test_chance_that_all_see_may_start_a_level_and_chance_that_none_see_an_open_loop() -> None:
    seen, hidden = structure_of(Coin(True)), structure_of(Coin(False))
    assert (bool(seen.ladder_nested_feedback), bool(seen.open_loop)) == (True, False)
    assert (bool(hidden.feedback), bool(hidden.open_loop)) == (False, True)
    assert hidden.feedback.why == (
        "player 0 at infostate 'player 0 after 1: ()' cannot tell [chance 0] from [chance 1], "
        "but a level of play would have to begin there, after 0 moves"
    )
    for found in (seen, hidden):
        assert found.single_act
        assert found.nested.why == "chance moves after []; the class is one of games without chance"


@pytest.mark.parametrize("seen", [True, False])
def test_chance_within_a_level_is_none_of_a_feedback_game(seen: bool) -> None:
    found = structure_of(Coin(seen, when=1))
    assert not found.feedback
    assert "a level of play would have to begin there, after 1 moves" in found.feedback.why


def test_lotteries_at_the_end_are_payoffs() -> None:
    assert structure_of(Coin(False, when=2)).ladder_nested


def test_who_moves_must_follow_from_the_number_of_moves() -> None:
    class Choice(TreeForm):
        def new_initial_state(self) -> "ChoiceState":
            return ChoiceState(self, ())

    class ChoiceState(State):
        def __init__(self, form: TreeForm, moves: Moves) -> None:
            self.form, self.moves = form, moves

        def current_player(self) -> int:
            return [0, 1 + sum(self.moves), TERMINAL][len(self.moves)]

        def legal_actions(self, player: int | None = None) -> list[int]:
            return [0, 1]

        def child(self, action: int) -> "ChoiceState":
            return ChoiceState(self.form, (*self.moves, action))

        def returns(self) -> list[float]:
            return [0.0] * 3

        def information_state_string(self, player: int | None = None) -> str:
            return str(self.moves)

    found = structure_of(Choice((), (), (), 3))
    assert found.perfect_information
    assert found.feedback.why == "no fixed order of play: player 1 moves after [0], player 2 after [1]"


def test_games_without_a_choice() -> None:
    found = structure_of(TreeForm((), [], [], 1))
    assert holding(found) == set(found.verdicts())
    assert (found.levels, found.sub_forms) == ((), 0)


def test_too_many_histories() -> None:
    with pytest.raises(GameError, match="has more than 100 histories; choose smaller parameters"):
        structure("leduc_poker", limit=100)


def test_compiled_games() -> None:
    compiled = compile_game("kuhn_poker")
    assert structure(compiled) == structure_of("kuhn_poker") == structure(replace(compiled, rules=None))


def pure_policies(game: CompiledGame) -> list[Policy]:
    """All profiles of pure strategies."""
    found = []
    for chosen in product(*(range(len(game.actions_at(infoset))) for infoset in range(len(game.infostates)))):
        probabilities = uniform_probabilities(game)
        for infoset, action in enumerate(chosen):
            probabilities[game.sequences_at(infoset)] = 0.0
            probabilities[game.sequences_at(infoset)[action]] = 1.0
        found.append(Policy(game, probabilities))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_proposition_3_7_over_all_pure_equilibria(seed: int) -> None:
    """What a single-act game with less information has for equilibria, the one with more has too, and back where it can be.

    Pure strategies of the inferior game are those of the superior one that do the same wherever the inferior cannot tell.
    """
    payoffs = drawn_payoffs(seed, 3, zero_sum=False, whole=True)
    inferior = compile_game(TreeForm((0, 1, 2), [nothing, nothing, first], [2, 2, 2], 3, payoffs, "inferior"))
    superior = compile_game(TreeForm((0, 1, 2), [nothing, first, lambda moves: moves], [2, 2, 2], 3, payoffs, "superior"))
    stable = {played(inferior, policy): judge(inferior, policy).nash_conv < 1e-12 for policy in pure_policies(inferior)}
    assert len(stable) == 2 * 2 * 4
    matched = 0
    for policy in pure_policies(superior):
        also = stable.get(played(superior, policy))
        if also is not None:
            assert also == (judge(superior, policy).nash_conv < 1e-12)
            matched += 1
    assert matched == len(stable)


def played(game: CompiledGame, policy: Policy) -> tuple[tuple[int, ...], ...]:
    """A pure profile as what is done after every history: three tables."""
    form = game.rules
    assert isinstance(form, TreeForm)
    tables = []
    for depth in range(3):
        states = (form.new_initial_state() for _ in range(1))
        for _ in range(depth):
            states = (state.child(action) for state in list(states) for action in (0, 1))  # type: ignore[assignment]
        tables.append(tuple(max(chosen := policy.action_probabilities(state), key=chosen.__getitem__) for state in states))
    return tuple(tables)
