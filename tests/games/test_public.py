"""Public-tree rules say the same as the rules by histories."""

from collections import defaultdict

import numpy as np
import pytest

from tests.games.walks import histories
from treeplex.errors import GameError
from treeplex.forms.compile import public_tree as public_compile
from treeplex.forms.compile.compile_game import compile_game
from treeplex.games import Chance, Decision, Game, PublicTree, State, Terminal
from treeplex.games.registry import load

NAMES = [
    "leduc_poker",
    "leduc_poker(ranks=2,suits=3,raises=1)",
    "leduc_poker(raises=3,bets=[1;3],ante=2)",
    "liars_dice(dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
    "liars_dice(numdice0=2,dice_sides=2)",
]


def hand_of(state: State, player: int) -> object:
    """What the rules say ``player`` holds after the deal: the card or the sorted dice."""
    if hasattr(state, "hands"):
        return state.hands[player]
    return state.dice[state.game.seats[player]]


def deals_of(game: Game) -> list[tuple[State, float]]:
    """Every full deal with its probability, as histories."""
    found, stack = [], [(game.new_initial_state(), 1.0)]
    while stack:
        state, probability = stack.pop()
        if state.is_chance_node():
            stack += [(state.child(action), probability * chance) for action, chance in state.chance_outcomes()]
        else:
            found.append((state, probability))
    return found


def hands_of(game: Game, tree: PublicTree) -> list[list[object]]:
    """The hands of each player, in the order of the public tree."""
    if hasattr(tree, "hands"):
        return [list(hands) for hands in tree.hands]
    return [list(range(game.ranks * game.suits))] * 2


@pytest.mark.parametrize("name", NAMES)
def test_the_deal(name: str) -> None:
    game = load(name)
    tree = game.public_tree()
    assert isinstance(tree, PublicTree)
    hands = hands_of(game, tree)
    prior, deals = np.zeros_like(tree.prior), np.zeros_like(tree.deals)
    for state, probability in deals_of(game):
        pair = tuple(hands[player].index(hand_of(state, player)) for player in (0, 1))
        prior[pair] += probability
        deals[pair] += 1
    np.testing.assert_allclose(tree.prior, prior, atol=1e-15)
    np.testing.assert_array_equal(tree.deals, deals)
    before = [depth for state, depth in histories(game) if state.is_chance_node() and depth <= tree.deal_depth]
    assert len(before) == tree.deal_histories
    assert max(before) == tree.deal_depth


@pytest.mark.parametrize("name", NAMES)
def test_the_play(name: str) -> None:
    game = load(name)
    tree = game.public_tree()
    assert isinstance(tree, PublicTree)
    hands = hands_of(game, tree)
    outcome_sums: dict[object, float] = defaultdict(float)
    leaves = 0
    for deal, _ in deals_of(game):
        pair = tuple(hands[player].index(hand_of(deal, player)) for player in (0, 1))
        stack = [(deal, tree.root)]
        while stack:
            state, node = stack.pop()
            event = tree.visit(node)
            hash(node)
            if isinstance(event, Terminal):
                leaves += 1
                payoff = event.scale * event.matrix[pair]
                assert list(state.returns()) == pytest.approx([payoff, -payoff])
                continue
            for action in state.legal_actions():
                assert tree.action_to_string(node, action) == state.action_to_string(action)
                stack.append((state.child(action), tree.child(node, action)))
            if isinstance(event, Decision):
                assert event.player == state.current_player()
                assert list(event.actions) == list(state.legal_actions())
                assert tree.infostate(node, event.player, pair[event.player]) == state.information_state_string()
            else:
                assert isinstance(event, Chance)
                chances = {label: weight[pair] for label, weight in event.outcomes if weight[pair]}
                assert chances == pytest.approx(dict(state.chance_outcomes()))
                outcome_sums[pair] = sum(chances.values())
    assert leaves == sum(state.is_terminal() for state, _ in histories(game))
    assert all(total == pytest.approx(1.0) for total in outcome_sums.values())


@pytest.mark.parametrize(
    "name", ["leduc_poker(players=3)", "leduc_poker(suit_isomorphism=true)", "liars_dice(players=3)", "kuhn_poker", "goofspiel"]
)
def test_no_public_tree(name: str) -> None:
    assert load(name).public_tree() is None


def test_tables_that_are_too_large_are_refused() -> None:
    for spec in ("liars_dice(numdice=50)", "leduc_poker(ranks=500)"):
        with pytest.raises(GameError, match="too many hands"):
            load(spec).public_tree()


class HiddenMoves(Game):
    """A matrix game; a public tree with private actions is returned by the method named."""

    def __init__(self, method: str) -> None:
        self.matrix, self.method = load("modified_rps"), method

    def new_initial_state(self) -> State:
        return self.matrix.new_initial_state()

    def public_tree(self) -> PublicTree | None:
        return self.matrix.public if self.method == "public_tree" else None

    def public_game(self) -> PublicTree | None:
        return self.matrix.public if self.method == "public_game" else None


def test_trees_with_private_actions_are_for_search_only() -> None:
    with pytest.raises(GameError, match="return this tree from public_game"):
        compile_game(HiddenMoves("public_tree"))
    game = HiddenMoves("public_game")
    assert isinstance(game.public, PublicTree)
    assert len(compile_game(game).infostates) == 2


def test_walks_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_compile, "MOST_SEQUENCES", 1000)
    with pytest.raises(GameError, match=r"leduc_poker has more than 1,000 sequences"):
        public_compile.compile_public_tree(game := load("leduc_poker"), game.public_tree())


def test_walks_can_be_watched() -> None:
    seen: list[int] = []
    public_compile.compile_public_tree(game := load("liars_dice(dice_sides=4)"), game.public_tree(), watch=seen.append)
    assert seen
    assert seen == sorted(seen)


@pytest.mark.parametrize("name", ["leduc_poker", "liars_dice(numdice=2,dice_sides=2)"])
def test_infostates_of_large_games_are_written_when_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = load(name)
    known = public_compile.compile_public_tree(game, game.public_tree())
    monkeypatch.setattr(public_compile, "WRITTEN", 40)
    lazy = public_compile.compile_public_tree(game, game.public_tree())
    assert isinstance(known.infostates, tuple)
    assert not isinstance(lazy.infostates, tuple)
    assert tuple(lazy.infostates) == known.infostates
    assert lazy.lookup == known.lookup
    assert lazy.identity == known.identity
