"""Compiler for bucket games: uses betting nodes and bucket sequences, without enumerating pairs of sequences.

All update rules, evaluations and exact methods for compiled games then apply. Chance is in the payoff: all folds share
the table of pairs and all showdowns the table of wins, each summed down to the streets on which the two players last
acted.
"""

from collections.abc import Iterator

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.engine.tree.form import Dense, Payoff
from treeplex.engine.tree.gradient import empty_dense, empty_sparse
from treeplex.errors import GameError
from treeplex.forms.compile.assemble import numbered
from treeplex.forms.compile.compiled_game import CompiledGame, GameSize
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, payoffs
from treeplex.holdem.buckets.game import BucketGame

MOST_SEQUENCES = 50_000_000
"""Maximum number of sequences of both players in a game, about eight gigabytes."""

Last = tuple[int, int, int]
"""A player's own last action: decision (-1 for none), action index, and street (-1 for none)."""


class Infostates(LazyInfostates):
    """The infostate string of every infoset, generated on demand."""

    def __init__(self, game: BucketGame, nodes: Ints, sequences: Ints) -> None:
        """Store the betting-tree node and the bucket sequence of each infoset, int64 [I] each."""
        self._game, self.nodes, self.sequences = game, nodes, sequences
        self._players = [node.player if isinstance(node, Decision) else -1 for node in game.tree.nodes]

    def __len__(self) -> int:
        return len(self.nodes)

    def written(self, infoset: int) -> str:
        node = int(self.nodes[infoset])
        return self._game.infostate(self._players[node], node, int(self.sequences[infoset]))

    def at(self, node: int) -> tuple[Ints, Ints]:
        """The infosets at a node of the betting tree and their bucket sequences, ascending: int64 [n] each."""
        infosets = np.flatnonzero(self.nodes == node)
        return infosets, self.sequences[infosets]

    def __iter__(self) -> Iterator[str]:
        game, players = self._game, self._players
        nodes, sequences = self.nodes.tolist(), self.sequences.tolist()
        return (game.infostate(players[node], node, sequence) for node, sequence in zip(nodes, sequences, strict=True))


class BucketWalk:
    """A traversal of the betting tree that collects terminals and the infosets of every decision."""

    def __init__(self, game: BucketGame) -> None:
        self.game = game
        streets = range(len(game.counts))
        self.possible = [
            [np.flatnonzero(game.pairs_on(s, -1)) for s in streets],
            [np.flatnonzero(game.pairs_on(-1, s)) for s in streets],
        ]
        """Bucket sequences that can be dealt, int64 [n], for each player and street."""
        self.decisions: list[tuple[int, int, int, int, Last, int]] = []
        """For each decision: tree node, player, street, number of actions, the player's last action, and depth."""
        self.ends: list[tuple[bool, float, Last, Last]] = []
        """For each terminal: whether it is a showdown, player 0's chips, and each player's last action."""
        self.depth = 0
        none = (-1, 0, -1)
        stack: list[tuple[int, tuple[Last, Last], tuple[int, int], int]] = [(0, (none, none), (0, 0), 2)]
        while stack:
            number, last, levels, depth = stack.pop()
            node = game.tree.nodes[number]
            self.depth = max(self.depth, depth)
            if isinstance(node, Fold | Showdown):
                self.ends.append((isinstance(node, Showdown), payoffs(node, game.spot.rake)[0], *last))
            elif isinstance(node, Decision):
                player, street, decision = node.player, game.dealt_at(number), len(self.decisions)
                self.decisions.append((number, player, street, len(node.actions), last[player], levels[player]))
                deeper = (levels[0] + 1, levels[1]) if player == 0 else (levels[0], levels[1] + 1)
                for action in range(len(node.actions) - 1, -1, -1):
                    last_action = decision, action, street
                    stack.append(
                        (
                            node.children[action],
                            (last_action, last[1]) if player == 0 else (last[0], last_action),
                            deeper,
                            depth + 1,
                        )
                    )
            else:
                stack.append((node.child, last, levels, depth + 1))


def compile_buckets(game: BucketGame, *, limit: int | None = None) -> CompiledGame:
    """Compile a bucket game.

    Args:
        game: the game.
        limit: most sequences; default :data:`MOST_SEQUENCES`.

    Raises:
        GameError: there are more sequences, or the tables do not fit the game.
    """
    most = MOST_SEQUENCES if limit is None else limit
    needed = sum(game.sequences[game.dealt_at(number)] * len(node.actions) for number, node in game.tree.decisions())
    if needed > most:
        raise GameError(
            f"{game} has about {needed:,} sequences, more than {most:,}; use fewer buckets on the later streets or fewer bet "
            "sizes"
        )
    walk = BucketWalk(game)
    hands = [len(walk.possible[player][street]) for _, player, street, *_ in walk.decisions]
    actions = [row[3] for row in walk.decisions]
    infosets = np.concatenate(([0], np.cumsum(hands)))
    first = 2 + np.concatenate(([0], np.cumsum(np.multiply(hands, actions))))  # after the two empty sequences
    spread = [np.full(count, row) for row, count in enumerate(hands)]
    row_of = np.concatenate(spread)
    columns = np.array([(player, level, count) for _, player, _, count, _, level in walk.decisions])
    position = np.arange(infosets[-1]) - infosets[row_of]
    numbering = numbered(
        player=columns[row_of, 0],
        level=columns[row_of, 1],
        actions=columns[row_of, 2],
        first=first[row_of] + position * columns[row_of, 2],
        parent=np.concatenate([parents(walk, row, first) for row in range(len(walk.decisions))]),
        root_player=np.arange(2),
        root_sequence=np.arange(2),
        sequences=int(first[-1]),
    )
    ids = np.concatenate(
        [[-1, -1], *(np.tile(game.tree.moves[row[0]], count) for row, count in zip(walk.decisions, hands, strict=True))]
    )
    action_ids = np.empty_like(ids)
    action_ids[numbering.final] = ids
    nodes = np.array([row[0] for row in walk.decisions])[row_of]
    sequences = np.concatenate([walk.possible[player][street] for _, player, street, *_ in walk.decisions])
    return CompiledGame(
        spec=game.spec,
        players=2,
        tree=numbering.tree,
        payoff=Payoff(empty_sparse(len(ids), 2), terminals(walk, first, numbering.final)),
        infostates=Infostates(game, nodes[numbering.order], sequences[numbering.order]),
        action_ids=action_ids,
        action_names=tuple(names_of(game, player) for player in (0, 1)),
        size=size_of(walk),
        constant=0.0,
        rules=game,
    )


def parents(walk: BucketWalk, row: int, first: Ints) -> Ints:
    """The provisional sequence that leads to each infoset of a decision, int64 [n]."""
    _, player, street, _, (decision, action, before), _ = walk.decisions[row]
    possible = walk.possible[player][street]
    if decision < 0:
        return np.full(len(possible), player)
    earlier = possible // (walk.game.sequences[street] // walk.game.sequences[before])
    hand = np.searchsorted(walk.possible[player][before], earlier)
    return np.asarray(first[decision] + hand * walk.decisions[decision][3] + action)


def terminals(walk: BucketWalk, first: Ints, final: Ints) -> Dense:
    """The dense operator, in which terminals with the same table and the same streets of last actions form a group."""
    groups: dict[tuple[bool, int, int], list[tuple[int, int, float]]] = {}
    for shown, chips, one, two in walk.ends:
        starts = [int(first[last[0]]) + last[1] if last[0] >= 0 else player for player, last in enumerate((one, two))]
        if chips:
            groups.setdefault((shown, one[2], two[2]), []).append((starts[0], starts[1], chips))
    if not groups:
        return empty_dense()
    matrices, shapes, offset, done = [], [], 0, 0
    for (shown, one_street, two_street), ends in groups.items():
        table = (walk.game.wins_on if shown else walk.game.pairs_on)(one_street, two_street)
        shared_rows = [
            walk.possible[player][street] if street >= 0 else np.zeros(1, np.int64)
            for player, street in enumerate((one_street, two_street))
        ]
        matrix = table[np.ix_(*shared_rows)]
        matrices.append(matrix.ravel())
        shapes.append((offset, *matrix.shape, done, done + len(ends)))
        offset, done = offset + matrix.size, done + len(ends)
    rows = [end for ends in groups.values() for end in ends]
    starts = final[np.array([row[:2] for row in rows])]
    return Dense(np.concatenate(matrices), np.array(shapes), starts, np.array([row[2] for row in rows]))


def names_of(game: BucketGame, player: int) -> dict[int, str]:
    """The names of a player's actions."""
    moves = {move for number, node in game.tree.decisions() if node.player == player for move in game.tree.moves[number]}
    return {move: game.tree.names[move] for move in sorted(moves)}


def size_of(walk: BucketWalk) -> GameSize:
    """The game's size, equal to the one found by enumerating all histories."""
    game = walk.game
    pairs = [game.pairs_on(street, street) > 0 for street in range(len(game.counts))]
    met = [int(possible.sum()) for possible in pairs]
    largest = [max(int(possible.sum(axis=axis).max()) for axis in (0, 1)) for possible in pairs]
    at = [game.dealt_at(number) for number in range(len(game.tree))]
    ends = [isinstance(node, Fold | Showdown) for node in game.tree.nodes]
    return GameSize(
        histories=1 + sum(met[street] for street in at),
        terminals=sum(met[street] for street, end in zip(at, ends, strict=True) if end),
        depth=walk.depth,
        largest_infoset=max(largest[row[2]] for row in walk.decisions),
        public_states=len(walk.decisions),
    )
