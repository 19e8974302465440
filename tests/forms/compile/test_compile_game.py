"""Both compile paths: what they count, how they number, that they agree with the oracle and with each other."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property

import numpy as np
import pytest
from hypothesis import example, given

from tests import oracle
from tests.compiled_view import payoffs, structure
from tests.random_games import STEADY, RandomGame, RandomPublicGame, games, public_games
from treeplex.errors import GameError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.public_tree import dense_entries
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import CHANCE, Game, State
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.games.registry import load
from treeplex.solvers import make_solver

GOOFSPIEL = "goofspiel(num_cards={},imp_info=true,points_order=descending)"
BATTLESHIP = "battleship(board_width=2,board_height={},ship_sizes=[2],ship_values=[2],num_shots=3,allow_repeated_shots=false)"
TABLE_4 = {
    "small_matrix": (21, 2, 15, 3, 5),
    "kuhn_poker": (58, 12, 30, 6, 2),
    GOOFSPIEL.format(3): (67, 16, 36, 5, 4),
    GOOFSPIEL.format(4): (1077, 162, 576, 7, 14),
    "liars_dice(dice_sides=3)": (1147, 192, 567, 10, 3),
    "liars_dice(dice_sides=4)": (8181, 1024, 4080, 12, 4),
    "leduc_poker": (9457, 936, 5520, 12, 5),
    BATTLESHIP.format(2): (10069, 3286, 5568, 9, 4),
    BATTLESHIP.format(3): (732607, 81027, 552132, 9, 7),
    "big_leduc": (6178561, 100800, 3953424, 20, 23),
}
"""DDCFR (Xu et al., 2024), Table 4: histories, infosets, terminals, depth, largest infoset."""

BOTH_PATHS = [
    "leduc_poker",
    "leduc_poker(ranks=2,suits=3,raises=1)",
    "leduc_poker(ranks=4,suits=2,raises=1)",
    "leduc_poker(raises=3,bets=[1;3],ante=2)",
    "liars_dice(dice_sides=2)",
    "liars_dice(dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
    "liars_dice(numdice0=2,dice_sides=2)",
]


def check_tree(game: CompiledGame) -> None:
    """The layout that the engine relies on, block by block."""
    tree = game.tree
    sequences, infosets = int(tree.sequence_offsets[-1]), int(tree.infoset_offsets[-1])
    assert len(game.infostates) == infosets
    assert len(game.action_ids) == len(tree.sequence_infoset) == sequences
    assert (tree.sequence_offsets[0], tree.infoset_offsets[0], tree.block_offsets[0]) == (0, 0, 0)
    assert tree.block_offsets[-1] == len(tree.blocks)
    assert all(array.dtype == np.int64 for array in tree)
    taken = np.zeros(sequences, int)
    level = np.full(sequences, -1)
    for player in range(game.players):
        empty = tree.sequence_offsets[player]
        taken[empty] += 1
        level[empty] = 0
        assert tree.sequence_infoset[empty] == -1
        assert game.action_ids[empty] == -1
        expected_infoset = tree.infoset_offsets[player]
        kinds = []
        for first, infoset, n, actions in tree.blocks[tree.block_offsets[player] : tree.block_offsets[player + 1]].tolist():
            assert infoset == expected_infoset
            expected_infoset += n
            depths = set()
            for j in range(n):
                parent = tree.infoset_parent[infoset + j]
                assert tree.sequence_offsets[player] <= parent < first
                assert level[parent] >= 0, "parents come before children"
                depths.add(level[parent])
                for a in range(actions):
                    q = first + a * n + j
                    taken[q] += 1
                    level[q] = level[parent] + 1
                    assert tree.sequence_infoset[q] == infoset + j
                assert tree.infoset_layout[infoset + j].tolist() == [first + j, n, actions]
                assert game.sequences_at(infoset + j).tolist() == [first + a * n + j for a in range(actions)]
                assert game.player_of(infoset + j) == player
            assert len(depths) == 1
            kinds.append((depths.pop(), actions))
        assert kinds == sorted(set(kinds)), "one block for each depth and number of actions, top-down"
        assert expected_infoset == tree.infoset_offsets[player + 1]
    assert (taken == 1).all()
    if game.payoff.sparse.values.size:
        check_sparse(game)


def check_sparse(game: CompiledGame) -> None:
    pointers, others, values = game.payoff.sparse
    assert others.dtype == np.int32
    assert others.shape == (len(values), game.players - 1)
    assert (pointers[0], pointers[-1]) == (0, len(values))
    assert (np.diff(pointers) >= 0).all()
    assert (values != 0).all()
    offsets = game.tree.sequence_offsets
    for player in range(game.players):
        entries = slice(pointers[offsets[player]], pointers[offsets[player + 1]])
        rest = [other for other in range(game.players) if other != player]
        for column, other in enumerate(rest):
            found = others[entries, column]
            assert ((offsets[other] <= found) & (found < offsets[other + 1])).all()


def expected_structure(root: oracle.Node) -> dict[oracle.Key, tuple[tuple[oracle.Key, int] | None, list[int]]]:
    found = {}

    def visit(node: oracle.Node, last: dict[int, tuple[oracle.Key, int]]) -> None:
        if node.key is not None:
            found[node.key] = (last.get(node.player), list(node.actions))
        for action, child in zip(node.actions, node.children, strict=True):
            visit(child, last if node.key is None else {**last, node.player: (node.key, action)})

    visit(root, {})
    return found


def expected_payoffs(root: oracle.Node, players: int, player: int) -> dict[tuple[tuple[oracle.Key, int] | None, ...], float]:
    found: Counter[tuple[tuple[oracle.Key, int] | None, ...]] = Counter()

    def visit(node: oracle.Node, chance: float, last: dict[int, tuple[oracle.Key, int]]) -> None:
        if not node.children:
            found[tuple(last.get(each) for each in range(players))] += chance * float(node.returns[player])
        for k, (action, child) in enumerate(zip(node.actions, node.children, strict=True)):
            if node.key is None:
                visit(child, chance * node.chances[k], last)
            else:
                visit(child, chance, {**last, node.player: (node.key, action)})

    visit(root, 1.0, {})
    return {key: value for key, value in found.items() if abs(value) > 1e-15}


def expected_size(root: oracle.Node, public_states: int | None) -> GameSize:
    members = Counter(node.key for node in oracle.nodes(root) if node.key is not None)

    def depth(node: oracle.Node) -> int:
        return 1 + max(map(depth, node.children), default=0)

    return GameSize(
        histories=sum(1 for _ in oracle.nodes(root)),
        terminals=sum(not node.children for node in oracle.nodes(root)),
        depth=depth(root),
        largest_infoset=max(members.values(), default=0),
        public_states=public_states,
    )


def check_against_oracle(game: CompiledGame, rules: Game) -> None:
    root = oracle.grow(rules)
    check_tree(game)
    assert structure(game) == expected_structure(root)
    assert game.size == expected_size(root, None if game.infostates else 0)
    for player in range(game.players):
        assert payoffs(game, player) == pytest.approx(expected_payoffs(root, game.players, player), abs=1e-12)


@STEADY
@given(games())
def test_walk_against_the_oracle(rules: RandomGame) -> None:
    game = compile_rules(rules)
    check_against_oracle(game, rules)
    assert game.players == rules.num_players
    assert game.zero_sum or not rules.zero_sum
    assert game.spec == rules.spec


@STEADY
@given(games((2, 3), unit=0.5))
def test_equal_sequences_merge_and_zeros_drop(rules: RandomGame) -> None:
    check_against_oracle(compile_rules(rules), rules)


def canonical(game: CompiledGame) -> tuple[object, dict[object, float], dict[str, object]]:
    size = asdict(game.size) | {"infosets": game.infosets, "sequences": game.sequences}
    return structure(game), dict(payoffs(game, 0)), size


def check_same(one: CompiledGame, other: CompiledGame) -> None:
    (structure_one, payoffs_one, size_one), (structure_other, payoffs_other, size_other) = canonical(one), canonical(other)
    assert structure_one == structure_other
    assert size_one == size_other
    assert payoffs_one == pytest.approx(payoffs_other, abs=1e-12)
    assert one.action_names == other.action_names
    assert one.constant == pytest.approx(other.constant, abs=1e-12)


@STEADY
@given(public_games())
@example(RandomPublicGame(seed=391, hands=(1, 1), depth=2))  # chance shows what every pair of hands excludes
@example(RandomPublicGame(seed=742779, hands=(1, 1), depth=2))
@example(RandomPublicGame(seed=0, hands=(1, 1), depth=0))  # nothing is ever paid
def test_both_paths_agree_on_random_games(rules: RandomPublicGame) -> None:
    by_public_tree, by_histories = compile_game(rules), compile_rules(rules)
    check_tree(by_public_tree)
    check_same(by_public_tree, by_histories)


@pytest.mark.slow_cases("leduc_poker(ranks=4,suits=2,raises=1)", "leduc_poker(raises=3,bets=[1;3],ante=2)")
@pytest.mark.parametrize("name", BOTH_PATHS)
def test_both_paths_agree(name: str) -> None:
    by_public_tree, by_histories = compile_game(name), compile_rules(load(name))
    assert by_public_tree.payoff.dense.groups.size
    assert by_histories.payoff.sparse.values.size
    check_tree(by_public_tree)
    check_tree(by_histories)
    check_same(by_public_tree, by_histories)


@pytest.mark.slow_cases("big_leduc")
@pytest.mark.parametrize("name", [name for name in TABLE_4 if name != BATTLESHIP.format(3)])
def test_table_4(name: str) -> None:
    game = compile_game(name)
    size = game.size
    found = (size.histories, sum(game.infosets), size.terminals, size.depth, size.largest_infoset)
    assert found == TABLE_4[name]


@pytest.mark.slow
def test_table_4_battleship_3() -> None:
    game = compile_game(BATTLESHIP.format(3))
    size = game.size
    assert (size.histories, sum(game.infosets), size.terminals, size.depth, size.largest_infoset) == TABLE_4[
        BATTLESHIP.format(3)
    ]
    assert game.infosets == (18152, 62875)
    assert game.sequences == (73130, 253940)
    check_tree(game)


@pytest.mark.parametrize(
    ("name", "infosets", "sequences"),
    [
        ("kuhn_poker", (6, 6), (13, 13)),
        ("leduc_poker", (468, 468), (1093, 1093)),
        ("leduc_poker(suit_isomorphism=true)", (144, 144), (337, 337)),
        ("liars_dice(dice_sides=4)", (512, 512), (1021, 1021)),
        (GOOFSPIEL.format(4), (81, 81), (175, 175)),
        (BATTLESHIP.format(2), (1413, 1873), (2965, 4101)),
    ],
)
def test_infosets_and_sequences_of_each_player(name: str, infosets: tuple[int, ...], sequences: tuple[int, ...]) -> None:
    game = compile_game(name)
    assert (game.infosets, game.sequences) == (infosets, sequences)


def test_public_states_of_kuhn_poker() -> None:
    """Decisions follow "", "p", "b" and "pb"."""
    assert compile_game("kuhn_poker").size.public_states == 4


def test_dense_entries_are_the_sparse_operator() -> None:
    dense, sparse = compile_game("leduc_poker"), compile_rules(load("leduc_poker"))
    rows, columns, values = dense_entries(dense.payoff.dense)
    assert len(rows) == len(columns) == len(values)
    assert values.sum() == pytest.approx(
        sparse.payoff.sparse.values[: sparse.payoff.sparse.pointers[sparse.sequences[0]]].sum()
    )
    empty = dense_entries(sparse.payoff.dense)
    assert all(array.size == 0 for array in empty)


def test_terminals_of_leduc_poker_share_matrices() -> None:
    dense = compile_game("leduc_poker").payoff.dense
    assert len(dense.groups) < len(dense.scales) / 4
    assert (dense.groups[1:, 3] == dense.groups[:-1, 4]).all()


def test_identity() -> None:
    game = compile_game("leduc_poker")
    assert compile_game(load("leduc_poker(ranks=3)")).identity == game.identity
    others = ["leduc_poker(ante=2)", "leduc_poker(ranks=4)", "leduc_poker(raises=1)", "kuhn_poker"]
    assert len({game.identity, *(compile_game(name).identity for name in others)}) == 5
    assert len(game.identity) == 16


def test_the_same_rules_compile_once() -> None:
    rules = load("kuhn_poker")
    game = compile_game(rules)
    assert compile_game(rules) is game
    assert compile_game(game) is game
    assert compile_game(load("kuhn_poker")) is not game


def test_lookup_and_names() -> None:
    game = compile_game("kuhn_poker")
    assert game.lookup[1, "0p"] == game.infostates.index("0p")
    assert game.action_names == ({0: "Pass", 1: "Bet"},) * 2
    assert game.actions_at(game.lookup[0, "2"]) == [0, 1]
    assert repr(game) == "<compiled kuhn_poker: 2 players, 58 histories, infosets 6/6, sequences 13/13>"


@pytest.mark.slow
def test_tic_tac_toe_is_a_draw() -> None:
    """Perfect information: every infoset is one history, and the value is 0."""
    game = compile_game("tic_tac_toe")
    assert (game.size.histories, game.size.terminals, game.size.depth, game.size.largest_infoset) == (549946, 255168, 10, 1)
    solver = make_solver(game, "pdcfr+")
    solver.run(60)
    found = judge(game, solver.average_policy())
    assert found.value[0] == pytest.approx(0.0, abs=1e-5)
    assert 0 <= found.nash_conv < 1e-5


def test_chance_outcomes_of_no_probability_are_no_histories() -> None:
    rules = RandomGame(0, depth=6)
    root = oracle.grow(rules)
    skipped = sum(node.player == CHANCE and len(node.actions) < 3 for node in oracle.nodes(root))
    assert skipped
    assert compile_rules(rules).size.histories == sum(1 for _ in oracle.nodes(root))


def test_a_game_that_cannot_be_hashed_is_compiled_once() -> None:
    class Unhashable(RandomGame):
        __hash__ = None  # type: ignore[assignment]

    game = Unhashable(3, depth=3)
    assert compile_game(game) is compile_game(game)
    assert compile_game(game, refine=True) is compile_game(game, refine=True)


def test_changed_rules_are_compiled_again() -> None:
    class Stakes(Game):
        stake = 1.0

        def __init__(self) -> None:
            self.seed, self.tables, self.unknown = 3, {"payoffs": [1.0]}, object()
            self.payoffs = np.ones(2)

        @cached_property
        def drawn(self) -> int:
            return 3

        def new_initial_state(self) -> State:
            return RandomGame(self.seed, depth=3).new_initial_state()

    game = Stakes()
    compiled = compile_game(game)
    assert game.drawn == 3
    assert compile_game(game) is compiled

    def changed(change: Callable[[], object]) -> bool:
        before = compile_game(game)
        change()
        return compile_game(game) is not before and compile_game(game) is compile_game(game)

    assert changed(lambda: setattr(game, "stake", 2.0))
    assert changed(lambda: setattr(game, "seed", 4))
    assert changed(lambda: game.tables["payoffs"].append(2.0))
    assert changed(lambda: game.payoffs.fill(2.0))
    assert compile_game(game).identity != compiled.identity


def test_refining_a_game_of_perfect_recall_changes_nothing() -> None:
    assert compile_game("leduc_poker", refine=True).identity == compile_game("leduc_poker").identity


def test_the_limit_on_histories() -> None:
    assert compile_game("kuhn_poker", limit=58).size.histories == 58
    with pytest.raises(GameError, match="more than 57 histories"):
        compile_game("kuhn_poker", limit=57)


def test_a_huge_payoff_hides_no_general_sum() -> None:
    general = MatrixGame([[2.0, 0.0], [0.0, 1.0], [-1e10, -1e10]], [[1.0, 0.0], [0.0, 2.0], [1e10, 1e10]])
    assert compile_game(general).constant is None
    constant = MatrixGame([[2.0, 0.5], [-1e10, -1e10]], [[1.0, 2.5], [1e10 + 3, 1e10 + 3]])
    assert compile_game(constant).constant == 3.0


def test_tiny_and_huge_games_have_their_own_identities() -> None:
    tiny = [MatrixGame([[0.0, one], [2e-11, 0.0]]) for one in (1e-11, 3e-11)]
    huge = [f"leduc_poker(ranks=2,raises=1,bets=[{bet};100000000000000])" for bet in (100000000000000, 300000000000000)]
    assert compile_game(tiny[0]).identity != compile_game(tiny[1]).identity
    assert compile_game(huge[0], stored=False).identity != compile_game(huge[1], stored=False).identity


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_sums_are_constant_in_proportion_to_payoffs(unit: float) -> None:
    general = MatrixGame([[2 * unit, 0.0], [0.0, unit]], [[unit, 0.0], [0.0, 2 * unit]])
    assert compile_game(general).constant is None
    tenths = MatrixGame([[0.1 * unit, 0.7 * unit]], [[-0.3 * unit, -0.9 * unit]])
    assert compile_game(tenths).constant == pytest.approx(-0.2 * unit)
