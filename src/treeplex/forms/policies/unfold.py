"""Conversion of policies for phantom games up to symmetry to policies for the full games."""

from typing import Any

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.base.spec import Spec, parse_spec
from treeplex.errors import PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.phantom import PhantomInfostates
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game


def unfold(policy: Policy, whole: CompiledGame | str | Game | Any = None) -> Policy:
    """Convert a policy for a game with ``symmetric=true`` to the full game, where equivalent cells are equally likely.

    Value and exploitability are preserved.

    Args:
        policy: a policy of the game with ``symmetric=true``.
        whole: the full game as spec, rules or compiled game; default: the policy's game without ``symmetric=true``.

    Raises:
        PolicyError: the policy is not for a symmetric game, or ``whole`` is not its full game.
        GameError: the full game is too large to compile.
    """
    small = policy.game.infostates
    if not (isinstance(small, PhantomInfostates) and small.game.symmetric):
        raise PolicyError(f"{policy.game} is not a phantom game with symmetric=true, so it cannot be unfolded")
    named = parse_spec(policy.game.spec)
    spec = str(Spec(named.name, {key: named.parameters[key] for key in named.parameters if key != "symmetric"}))
    whole = compile_game(spec if whole is None else whole)
    if whole.spec != spec:
        raise PolicyError(f"{policy.game} unfolds to {spec}, not to {whole}")
    assert isinstance(whole.infostates, PhantomInfostates)
    tree, folded, probabilities = whole.tree, SymmetryMap(small), np.ones(len(whole.action_ids))
    infosets, elements = np.empty((2, len(whole.infostates)), np.int64)
    for block, (first, start, many, actions) in enumerate(tree.blocks.tolist()):
        player = int(block >= tree.block_offsets[1])
        here = slice(start, start + many)
        parents = tree.infoset_parent[here]
        before = tree.sequence_infoset[parents]
        if before[0] < 0:
            sequences, elements[here] = np.full(many, small.tree.sequence_offsets[player]), 0
        else:
            sequences, elements[here], _ = folded.sequences(infosets[before], elements[before], whole.action_ids[parents])
        infosets[here] = small.lookup.after(2 * sequences + whole.infostates.put[here])
        for action in range(actions):
            slots = slice(first + action * many, first + (action + 1) * many)
            sequences, _, equal = folded.sequences(infosets[here], elements[here], whole.action_ids[slots])
            probabilities[slots] = policy.probabilities[sequences] / equal
    return Policy(whole, probabilities)


class SymmetryMap:
    """Maps histories of the full game to the game up to symmetry."""

    def __init__(self, infostates: PhantomInfostates) -> None:
        self.tree, self.cells, self.group = infostates.tree, infostates.cells, infostates.game.group
        self.fixing = np.full(len(infostates), len(self.group.elements) - 1)
        for _, start, many, _ in self.tree.blocks.tolist():
            parents = self.tree.infoset_parent[start : start + many]
            before = self.tree.sequence_infoset[parents]
            if before[0] >= 0:
                self.fixing[start : start + many] = self.fixing[before] & self.group.fixing[self.cells[parents]]

    def sequences(self, infosets: Ints, elements: Ints, cells: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the sequences for tries on cells.

        Args:
            infosets, elements: int64 [k], infosets of the symmetric game, and the group elements that map their boards to the
                real ones.
            cells: int64 [k], cells of the real board.

        Returns:
            Sequences of the symmetric game, the group elements after them, and the number of cells equivalent to each cell,
            int64 [k].
        """
        group, fixing = self.group, self.fixing[infosets]
        seen = group.images[group.inverse[elements], cells]
        least = group.least[fixing, seen]
        first, stride, actions = self.tree.infoset_layout[infosets].T
        sequences = np.full(len(cells), -1)
        for action in range(int(actions.max())):
            sequence = first + stride * np.minimum(action, actions - 1)
            sequences = np.where(self.cells[sequence] == least, sequence, sequences)
        turned = group.compose[elements, group.inverse[group.toward[fixing, seen]]]
        equal = group.elements[fixing] // group.elements[fixing & group.fixing[least]]
        return sequences, turned, equal
