"""Backward recursion: solve the last pieces of a game first and replace them by their equilibrium payoffs.

Basar and Olsder 1999, *Dynamic Noncooperative Game Theory*, sections 2.4, 2.5 and 3.5: saddle points of feedback games,
Nash equilibria of ladder-nested ones. The decomposition of the tree is computed by
``forms.structure.decomposition``, so games need no fixed order of play, and publicly observed chance is averaged.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY
from treeplex.engine.histories.subtrees import fold
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.correlation.plans import written
from treeplex.forms.policies.tabular import normalised, uniform_probabilities
from treeplex.forms.structure.decomposition import Decomposition, StaticPart, cut
from treeplex.games.base import TERMINAL, Game, State
from treeplex.solvers.base import Solver
from treeplex.solvers.exact.static import constant_sum, static_equilibrium

MOST_ENTRIES = 1_000_000
"""Largest number of pure plan profiles of a piece that is expanded to a static game."""

Local = dict[int, Floats]
"""A policy on a piece: action probabilities by infoset with a choice."""


class Recursive(Solver):
    """Exact equilibria by backward recursion in one iteration; every piece is in equilibrium, also off the path of play.

    Attributes:
        pieces: number of pieces with imperfect information.
        largest: maximum number of infosets with a choice in a piece.
    """

    exact = True

    def __init__(self, game: CompiledGame) -> None:
        """Create the solver; :meth:`run` solves the game."""
        self.game, self.algorithm = game, "recursive"
        self.average = uniform_probabilities(game)
        self.pieces, self.largest = 0, 0

    def run(self, iterations: int) -> None:
        """Solve; further iterations change nothing.

        Raises:
            AlgorithmError: no method applies to a piece, or none found an equilibrium; the message names the piece.
            GameError: the rules have changed since compiling.
        """
        if self.iteration == 0 and iterations > 0:
            self.average[:] = self._policy()
        self.iteration += iterations

    def arrays(self) -> dict[str, Floats]:
        """Return the solution as a behaviour policy, which is also defined off the path of play."""
        return {"average": self.average}

    def notes(self) -> list[str]:
        """Return a summary of the decomposition."""
        if not self.pieces:
            return ["backward induction: every decision had perfect information"] if self.iteration else []
        count = f"{self.pieces:,} piece{'s' if self.pieces > 1 else ''}"
        return [f"backward recursion: {count}; the largest has {self.largest:,} infosets with a choice"]

    def _policy(self) -> Floats:
        tree = histories_of(self.game)
        parts = cut(tree, len(self.game.infostates))
        values = np.zeros((len(tree.nodes), self.game.players))
        choices = np.full(len(self.game.infostates), -1, np.int32)
        policy = uniform_probabilities(self.game)
        known: dict[tuple[tuple[int, ...], bytes], list[Floats]] = {}
        below = len(tree.nodes)
        for root in parts.roots():
            fold(tree, parts.closed, below - 1, root + 1, values, choices)
            self._solve_root(parts, root, values, policy, known)
            below = root
        fold(tree, parts.closed, below - 1, 0, values, choices)
        infosets = np.flatnonzero(choices >= 0)
        first, stride, _ = self.game.tree.infoset_layout[infosets].T
        policy[np.isin(self.game.tree.sequence_infoset, infosets)] = 0.0
        policy[first + stride * choices[infosets]] = 1.0
        return policy

    def _solve_root(
        self,
        parts: Decomposition,
        root: int,
        values: Floats,
        policy: Floats,
        known: dict[tuple[tuple[int, ...], bytes], list[Floats]],
    ) -> None:
        """Solve the pieces at a root, and choose among (or average over) its groups of branches."""
        tree = parts.tree
        actor, first, count, infoset = (int(n) for n in tree.nodes[root, [ACTOR, CHILD, CHILDREN, KEY]])
        outcomes: list[tuple[Floats, tuple[int, ...], Floats]] = []
        for branches in parts.groups(root):
            worth, mixed = values[branches[0]], np.ones(1)
            if len(branches) > 1:
                piece = parts.piece(root, branches)
                local = solve_piece(self.game, piece, values, known)
                self.pieces += 1
                self.largest = max(self.largest, sum(map(len, piece.choices.values())))
                worth, mixed = expected(piece, local, values), local.pop(infoset, mixed) if actor >= 0 else mixed
                for inner, probabilities in local.items():
                    self._write(policy, inner, probabilities)
            outcomes.append((worth, branches, mixed))
        if actor == CHANCE:
            start = infoset - first
            values[root] = sum(worth * tree.chance[start + np.array(branches)].sum() for worth, branches, _ in outcomes)
            return
        values[root], branches, mixed = max(outcomes, key=lambda outcome: float(outcome[0][actor]))
        probabilities = np.zeros(count)
        probabilities[np.array(branches) - first] = mixed
        self._write(policy, infoset, probabilities)

    def _write(self, policy: Floats, infoset: int, probabilities: Floats) -> None:
        policy[self.game.sequences_at(infoset)] = probabilities


def expected(piece: StaticPart, local: Local, values: Floats) -> Floats:
    """Return the expected payoffs of a piece under a policy, float64 [N]."""
    total = np.zeros(values.shape[1])
    for leaf, chance, moves in piece.leaves:
        total += values[leaf] * chance * prod(float(local[infoset][action]) for infoset, action in moves if infoset in local)
    return total


def solve_piece(
    game: CompiledGame, piece: StaticPart, values: Floats, known: dict[tuple[tuple[int, ...], bytes], list[Floats]]
) -> Local:
    """Return an equilibrium of a piece with leaf payoffs ``values`` [H, N]; ``known`` caches solved static games.

    Raises:
        AlgorithmError: the piece is too large, or no method finds an equilibrium.
    """
    choosers = piece.choosers
    if not choosers:
        return {}
    payoffs = np.array([values[leaf, list(choosers)] for leaf, _, _ in piece.leaves]).T
    if not piece.static and (len(choosers) == 1 or (len(choosers) == 2 and constant_sum(payoffs))):
        return by_linear_program(piece, choosers, values)
    plans = piece.plans()
    if prod(plans) * len(plans) > MOST_ENTRIES:
        count = written(prod(plans))
        raise refusal(game, piece, f"a piece has {count} plan profiles, too many for a static game")
    matrix = normal_form(piece, plans, values)
    key = matrix.shape, matrix.tobytes()
    if key not in known:
        try:
            strategies = static_equilibrium(matrix)
        except AlgorithmError as error:
            raise refusal(game, piece, str(error)) from error
        if strategies is None:
            raise refusal(game, piece, "found no equilibrium of a piece")
        known[key] = strategies
    return behaviour(piece, known[key])


def refusal(game: CompiledGame, piece: StaticPart, what: str) -> AlgorithmError:
    """Return the error for a piece, with its players and first infostate."""
    infostate = next(game.infostates[infoset] for infosets in piece.choices.values() for infoset in infosets)
    who = " and ".join(map(str, piece.choosers))
    return AlgorithmError(
        f"recursive cannot solve {game}: {what} (choices by players {who}, first infostate {shown(infostate)}); "
        "try an iterative algorithm such as cfr+"
    )


def consistent(infosets: list[int], counts: list[int]) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return for each infoset and action the indices of a player's pure plans that play it."""
    plans = np.array(list(product(*map(range, counts))))
    return {
        (infoset, action): np.flatnonzero(plans[:, column] == action)
        for column, (infoset, count) in enumerate(zip(infosets, counts, strict=True))
        for action in range(count)
    }


def tables(piece: StaticPart) -> Iterator[dict[tuple[int, int], NDArray[np.int64]]]:
    """Yield :func:`consistent` for every player with a choice."""
    return (consistent(infosets, [piece.actions[i] for i in infosets]) for infosets in piece.choices.values())


def normal_form(piece: StaticPart, plans: tuple[int, ...], values: Floats) -> Floats:
    """Return the piece as a static game: float64 ``[N', plans of the first, ...]`` for the N' players with a choice."""
    matrix = np.zeros((len(plans), *plans))
    choosers, tabled = list(piece.choosers), list(tables(piece))
    for leaf, chance, moves in piece.leaves:
        chosen = []
        for table, count in zip(tabled, plans, strict=True):
            allowed = [table[move] for move in moves if move in table]
            chosen.append(allowed[0] if len(allowed) == 1 else common(allowed, count))
        cells = np.ix_(np.arange(len(plans)), *chosen)
        matrix[cells] += (chance * values[leaf, choosers]).reshape(-1, *[1] * len(plans))
    return matrix


def common(allowed: list[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """Return the plans that every list contains; all plans if there are no lists."""
    allowed_plans = np.ones(count, bool)
    for plans in allowed:
        allowed_plans &= np.isin(np.arange(count), plans)
    return np.flatnonzero(allowed_plans)


def behaviour(piece: StaticPart, mixed: list[Floats]) -> Local:
    """Convert mixtures over plans to an equivalent behaviour policy (Kuhn 1953); uniform at zero own reach."""
    own_moves: dict[int, list[tuple[int, int]]] = {}
    for _, _, moves in piece.leaves:
        for number, (infoset, _) in enumerate(moves):
            own_moves.setdefault(infoset, [move for move in moves[:number] if piece.players[move[0]] == piece.players[infoset]])
    local: Local = {}
    for (_, infosets), table, strategy in zip(piece.choices.items(), tables(piece), mixed, strict=True):
        for infoset in infosets:
            before = common([table[move] for move in own_moves[infoset] if move in table], len(strategy))
            count = piece.actions[infoset]
            weights = np.array([strategy[np.intersect1d(before, table[infoset, action])].sum() for action in range(count)])
            local[infoset] = weights / weights.sum() if weights.sum() > 0.0 else np.full(count, 1 / count)
    return local


def by_linear_program(piece: StaticPart, choosers: tuple[int, ...], values: Floats) -> Local:
    """Solve a one-player or constant-sum two-player piece by the sequence-form linear program."""
    from treeplex.forms.compile.views.matrix_form import payoff_matrix
    from treeplex.solvers.exact.lp import equilibrium

    game = compile_rules(PieceGame(piece, choosers, values))
    probabilities = normalised(game, equilibrium(game, payoff_matrix(game)))
    return {int(game.infostates[i]): probabilities[game.sequences_at(i)] for i in range(len(game.infostates))}


class PieceGame(Game):
    """A piece as a two-player game; a one-player piece gets an opponent with negated payoffs and no moves."""

    spec = "a piece"

    def __init__(self, piece: StaticPart, choosers: tuple[int, ...], values: Floats) -> None:
        self.piece, self.choosers, self.values = piece, choosers, values

    def new_initial_state(self) -> "PieceState":
        return PieceState(self, self.piece.root)


class PieceState(State):
    """A history of a piece, after all forced moves."""

    def __init__(self, game: PieceGame, history: int) -> None:
        self.game = game
        self.children = game.piece.children(history) if self.inside(history) else []
        while len(self.children) == 1:
            history = self.children[0][0]
            self.children = game.piece.children(history) if self.inside(history) else []
        self.history = history

    def inside(self, history: int) -> bool:
        """Return whether a history is inside the piece and not a leaf."""
        return history == self.game.piece.root or not self.game.piece.cut.closed[history]

    def current_player(self) -> int:
        if not self.children:
            return TERMINAL
        actor = int(self.game.piece.cut.tree.nodes[self.history, ACTOR])
        return CHANCE if actor == CHANCE else self.game.choosers.index(actor)

    def legal_actions(self, player: int | None = None) -> range:
        return range(len(self.children))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(number, chance) for number, (_, chance) in enumerate(self.children)]

    def child(self, action: int) -> "PieceState":
        return PieceState(self.game, self.children[action][0])

    def returns(self) -> list[float]:
        payoffs = [float(self.game.values[self.history, player]) for player in self.game.choosers]
        return payoffs if len(payoffs) == 2 else [payoffs[0], -payoffs[0]]

    def information_state_string(self, player: int | None = None) -> str:
        return str(int(self.game.piece.cut.tree.nodes[self.history, KEY]))
