"""Preflop equities of the 169 hand classes against each other, over all boards.

It writes the file of :mod:`treeplex.holdem.cards.class_equities`, in half a minute of CPU time:

    python -m bench.class_equities
"""

import itertools

import numpy as np

from treeplex.base.workers.executor import in_threads
from treeplex.engine.threads import available_cores
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.class_equities import FILE, SIZE, counted
from treeplex.holdem.cards.format import HOLDEM

PARTS = 64


def main() -> None:
    """Count all boards and write the file."""
    boards = canonical_boards(HOLDEM, 5)
    cuts = np.linspace(0, len(boards.boards), PARTS + 1).astype(int)
    slices = [slice(start, end) for start, end in itertools.pairwise(cuts)]
    margins = sum(in_threads(available_cores(), lambda each: counted(boards.boards[each], boards.weights[each]), slices))
    np.savez_compressed(FILE, margins=np.asarray(margins)[np.triu_indices(SIZE, 1)].astype(np.int32))


if __name__ == "__main__":
    main()
