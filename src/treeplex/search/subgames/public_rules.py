"""Public-tree rules for search: those that a game brings, and those of matrix games and games of perfect information."""

import os
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.builtin.kuhn_poker import KuhnPoker, KuhnPublicTree
from treeplex.games.builtin.matrix import MatrixGame, MatrixState
from treeplex.games.public import Chance, Decision, PublicGame, PublicTree, Terminal


def public_rules(game: str | Game | CompiledGame | PublicGame, *, named_in: str | os.PathLike[str] | None = None) -> PublicTree:
    """The public-tree rules of a game, for search.

    Games with public actions and private hands bring them (Kuhn and Leduc poker, Liar's Dice, hold'em). In a matrix game each
    player's action is private, and becomes its hand. In a game of perfect information nobody has a hand, and a public belief
    state is a state of the game. Public-tree rules are returned as they are. ``named_in`` is the file in which a spec stands
    (see ``forms.sources.load.load``).

    Raises:
        GameError: another kind of game, more than two players, or payoffs that do not sum to zero.
    """
    if isinstance(game, PublicTree):
        return game
    if isinstance(game, PublicGame):
        raise GameError(f"{game.title} has no public tree of two players, which this needs")
    rules = load(game, named_in=named_in).enumerable_rules()
    tree = tree_of(rules)
    if tree is not None:
        return tree
    if rules.num_players == 2:
        return PerfectInformation(rules)
    raise GameError(f"{rules} has {rules.num_players} players; search needs two-player zero-sum games")


def tree_of(rules: Game) -> PublicTree | None:
    """The public-tree rules that a game brings, or those of a matrix game; None of others."""
    tree = rules.public_tree()
    if isinstance(tree, PublicTree):
        return tree
    if isinstance(rules, MatrixGame):
        return MatrixPublicTree(rules)
    return KuhnPublicTree() if isinstance(rules, KuhnPoker) and rules.num_players == 2 else None


def public_game(game: str | Game | CompiledGame | PublicGame, *, named_in: str | os.PathLike[str] | None = None) -> PublicGame:
    """The public states and private hands of a game: of two players its public tree if it has one, else as its rules say them.

    Arguments as for :func:`public_rules`; public states are returned as they are.

    Raises:
        GameError: its rules do not say what is public, or payoffs of two players do not sum to zero.
    """
    if isinstance(game, PublicGame):
        return game
    rules = load(game, named_in=named_in)
    tree = tree_of(rules) if rules.num_players == 2 else None
    if tree is not None:
        return tree
    found = rules.public_game()
    if isinstance(found, PublicGame):
        return found
    if rules.num_players == 2:
        return PerfectInformation(rules)
    raise GameError(
        f"{rules} has {rules.num_players} players, and its rules do not say what is public; agents of more than two play "
        "poker such as leduc_poker(players=3), or write Game.public_game for it"
    )


class OneDeal(PublicTree):
    """A public tree whose players are dealt nothing."""

    def __init__(self) -> None:
        self.prior = np.ones((1, 1))
        self.deals = np.ones((1, 1), np.int64)
        self.deal_histories, self.deal_depth = 0, 0


class MatrixPublicTree(OneDeal):
    """A matrix game: nodes count the moves made; a move is seen by its player alone."""

    def __init__(self, game: MatrixGame) -> None:
        super().__init__()
        if np.abs(game.payoffs.sum(axis=0)).max() > 1e-9 * max(1.0, np.abs(game.payoffs).max()):
            raise GameError(f"{game} is not zero-sum; search needs two-player zero-sum games")
        self.game, self.root = game, 0

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, int)
        if node == 2:
            return Terminal(self.game.payoffs[0], 1.0)
        return Decision(node, range(self.game.payoffs.shape[1 + node]), private=True)

    def child(self, node: Hashable, action: int) -> int:
        assert isinstance(node, int)
        return node + 1

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        """The rules' own string. A player's hand is the move it has made; the other's is not in the string."""
        assert isinstance(node, int)
        moves = tuple(hand if mover == player else 0 for mover in range(node))
        return MatrixState(self.game, moves).information_state_string(player)

    def action_to_string(self, node: Hashable, action: int) -> str:
        assert isinstance(node, int)
        return self.game.names[node][action]


class PerfectInformation(OneDeal):
    """A game of perfect information: nodes are states of the rules."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game, self.root = game, game.new_initial_state()

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, State)
        player = node.current_player()
        if player == TERMINAL:
            first, second = node.returns()
            if abs(first + second) > 1e-9 * max(1.0, abs(first)):
                raise GameError(f"payoffs {first} and {second} do not sum to zero; search needs two-player zero-sum games")
            return Terminal(np.ones((1, 1)), first)
        if player == CHANCE:
            return Chance([(action, np.full((1, 1), chance)) for action, chance in node.chance_outcomes() if chance > 0])
        if player < 0:
            raise GameError(
                f"in {self.game} players move at once, which search does not know; write Game.public_tree "
                "for it, or leave search: treeplex solve"
            )
        if node.information_state_string(0) != node.information_state_string(1):
            raise GameError(
                f"in {self.game} players know different things, and its rules do not say what is public, "
                "which search needs; write Game.public_tree for it, or leave search: treeplex solve"
            )
        return Decision(player, list(node.legal_actions()))

    def child(self, node: Hashable, action: int) -> State:
        assert isinstance(node, State)
        return node.child(action)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, State)
        return node.information_state_string(player)

    def action_to_string(self, node: Hashable, action: int) -> str:
        assert isinstance(node, State)
        return node.action_to_string(action)

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, State)
        return node.knowledge(player)

    def picture(self, node: Hashable) -> str | None:
        assert isinstance(node, State)
        return node.picture()

    def future(self, node: Hashable) -> Hashable:
        """What of a state matters, as the rules say (``State.future()``), else the state itself."""
        said = getattr(node, "future", None)
        return node if said is None else said()

    def features(self, node: Hashable) -> "NDArray[np.float64] | None":
        """The state as the rules write it for a network (``State.features()``), where they do."""
        written = getattr(node, "features", None)
        return None if written is None else np.asarray(written(), np.float64)
