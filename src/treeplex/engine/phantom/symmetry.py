"""Tables of board symmetries: permutations of cells that preserve wins.

Group elements are numbered, identity first; sets of elements are bit sets.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.kernel import NO_COUNTS, kernel


class Group(NamedTuple):
    """A group of permutations of n cells, of g elements.

    Attributes:
        images: [g, n], image of each cell.
        boards: int32 [g, 2**n], image of each set of cells.
        compose: [g, g], composition: the second element, then the first.
        inverse: [g].
        least: [2**g, n], smallest image of a cell under a subgroup.
        toward: [2**g, n], an element of the subgroup that maps the cell to that image.
        fixing: [n], stabiliser of each cell.
        first: [2**g], cells that are the smallest of their orbit under a subgroup.
        counts: [2**n], size of each set of cells.
        elements: [2**g], size of each set of elements.
    """

    images: Ints
    boards: NDArray[np.int32]
    compose: Ints
    inverse: Ints
    least: Ints
    toward: Ints
    fixing: Ints
    first: Ints
    counts: Ints
    elements: Ints


def permuted(image: Sequence[int]) -> Ints:
    """Map each set of cells to its image, int64 [2**n], given the image of each cell."""
    sets = np.arange(1 << len(image))
    return sum(((sets >> cell & 1) << target for cell, target in enumerate(image)), np.zeros_like(sets))


def group_of(permutations: Ints) -> Group:
    """Build the tables of a group.

    Args:
        permutations: int64 [g, n], the image of each cell; the identity first, and closed under composition.
    """
    order, cells = permutations.shape
    number = {tuple(permutation): index for index, permutation in enumerate(permutations.tolist())}
    compose = np.array([[number[tuple(one[two].tolist())] for two in permutations] for one in permutations])
    sets = np.arange(1 << cells)
    bits = sets[:, None] >> np.arange(cells) & 1
    subsets = np.arange(1 << order)[:, None] >> np.arange(order) & 1  # [2**g, g]
    reached = np.where(subsets[:, :, None] == 1, permutations, cells)  # [2**g, g, n]
    least = np.minimum(reached.min(axis=1), np.arange(cells))
    return Group(
        images=permutations,
        boards=np.array([permuted(image) for image in permutations.tolist()], np.int32),
        compose=compose,
        inverse=compose.argmin(axis=1),
        least=least,
        toward=(reached == least[:, None, :]).argmax(axis=1),
        fixing=((permutations == np.arange(cells)) << np.arange(order)[:, None]).sum(axis=0),
        first=((least == np.arange(cells)) << np.arange(cells)).sum(axis=1),
        counts=bits.sum(axis=1),
        elements=subsets.sum(axis=1),
    )


@kernel(**NO_COUNTS)
def least_board(group: Group, subgroup: int, board: int) -> tuple[int, int, int]:
    """Return the smallest image of a set of cells under a subgroup, a group element that yields it, and its stabiliser."""
    least, toward = board, 0
    for element in range(1, len(group.images)):
        if subgroup >> element & 1 and group.boards[element, board] < least:
            least, toward = group.boards[element, board], element
    fixing = 0
    for element in range(len(group.images)):
        if subgroup >> element & 1 and group.boards[element, least] == least:
            fixing |= 1 << element
    return least, toward, fixing


@kernel(**NO_COUNTS)
def images_of(group: Group, fixing: int) -> int:
    """Return the size of the orbit of a set with this stabiliser."""
    return int(len(group.images) // group.elements[fixing])
