"""A walk over the timelines of a phantom game: the order of placed stones, without failed tries.

A player's failed tries depend only on the opponent's stones. Given a timeline, the compatible own histories of the two players
therefore form a full product, and a terminal timeline is one value times two lists of sequences. The list of player 0 depends
on its own stones and, at each failed try (in a classical game at each turn), on the opponent's stones at that time, so few
lists serve many timelines. The walk visits each list of player 0 once, together with its *pairs*: all nodes of player 1 that
form a timeline with it. In abrupt versions, where a failed try ends the turn, a timeline also records the turns of failed
tries.

With symmetry, one image of each list of player 0 is walked and counted for all images.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.phantom.histories import (
    NO_ROOM,
    NODES,
    NONE,
    POOL,
    Histories,
    Side,
    add_closure,
    add_failed,
    add_list,
    add_placed,
    failed,
    fits,
    open_node,
    placed,
    waiting_list,
)
from treeplex.engine.phantom.symmetry import Group, images_of, least_board

Won = NDArray[np.bool_]
OTHERS, PAIRS = 0, 1
HISTORIES, TERMINALS, DEPTH = range(3)
EXPAND, TURN, PLACE, GROUPS = range(4)
(
    STAGE,
    NODE,
    PAIRS_BEGIN,
    PAIRS_END,
    AT,
    HERE,
    HERE_BEGIN,
    HERE_END,
    CELL,
    GROUP,
    GROUPS_END,
    TERMS,
    NODES_MARK,
    POOL_MARK,
    PAIRS_MARK,
    NODES_HERE,
    POOL_HERE,
    FIELDS,
) = range(18)
"""Fields of a frame (a turn of player 0): its node; its pairs, and the next pair to expand for player 1; the node at which
stones are placed and its pairs; the next cell; groups of pairs by player 1's stones; the start of its list's terms; and the
sizes of tables before it.
"""


class TimelineWalk(NamedTuple):
    """State of a walk; it pauses when a table is full and resumes after the table has grown.

    Attributes:
        own: own histories of both players.
        first, second: nodes of player 0 on the current path, and all nodes of player 1.
        ends, values: [lists of player 0], end of each list's terms, and player 0's payoff.
        others: [K], list of player 1 of each term.
        pairs: packed nodes of player 1 that form a timeline with a node of player 0, frame by frame.
        frames: [depth, fields].
        depth: [1], current frame; -1 at the end.
        tally, boards: [2**n], scratch: count of each set of stones (zero between uses), and the sets that occur.
        found: [n], scratch: contents of each cell.
        filled, wanted: [2], sizes of terms and pairs, as in :class:`Histories`.
        sizes: [3], number of histories, of terminal histories, and of nodes on the longest path.
    """

    own: Histories
    first: Side
    second: Side
    ends: Ints
    values: Floats
    others: SmallInts
    pairs: SmallInts
    frames: Ints
    depth: Ints
    tally: Ints
    boards: Ints
    found: Ints
    filled: Ints
    wanted: Ints
    sizes: Ints


@kernel(**NO_COUNTS)
def advance(walk: TimelineWalk, group: Group, won: Won, abrupt: bool, most: int) -> bool:
    """Advance the walk by at most ``most`` steps; return False if a table is full."""
    for _ in range(most):
        depth = walk.depth[0]
        if depth < 0:
            break
        frame = walk.frames[depth]
        stage = frame[STAGE]
        if stage == EXPAND:
            going = expand(walk, group, won[1], abrupt, frame)
        elif stage == TURN:
            going = begin_turn(walk, group, abrupt, frame)
        elif stage == PLACE:
            going = place_stone(walk, group, won[0], frame)
        else:
            going = next_group(walk, group, abrupt, frame)
        if not going:
            return False
    return True


@kernel(**NO_COUNTS)
def push(walk: TimelineWalk, node: int, nodes: int, pool: int, begin: int, end: int, mark: int) -> None:
    """Push a frame with a node of player 0 and its pairs; player 1 acts next."""
    walk.depth[0] += 1
    frame = walk.frames[walk.depth[0]]
    frame[STAGE], frame[NODE], frame[PAIRS_BEGIN], frame[PAIRS_END], frame[AT] = EXPAND, node, begin, end, begin
    frame[TERMS], frame[HERE_BEGIN] = walk.filled[OTHERS], walk.filled[PAIRS]
    frame[NODES_MARK], frame[POOL_MARK], frame[PAIRS_MARK] = nodes, pool, mark


@kernel(**NO_COUNTS)
def pop(walk: TimelineWalk, frame: Ints) -> None:
    """Pop a frame."""
    walk.first.filled[NODES], walk.first.filled[POOL] = frame[NODES_MARK], frame[POOL_MARK]
    walk.filled[PAIRS] = frame[PAIRS_MARK]
    walk.depth[0] -= 1


@kernel(**NO_COUNTS)
def end_list(walk: TimelineWalk, number: int, value: float) -> None:
    """Complete the terms of player 0's current list."""
    walk.ends[number], walk.values[number] = walk.filled[OTHERS], value


@kernel(**NO_COUNTS)
def expand(walk: TimelineWalk, group: Group, won: Won, abrupt: bool, frame: Ints) -> bool:
    """Expand player 1's next moves, pair by pair; return False if a table is full."""
    histories, second, order, cells = walk.own, walk.second, len(group.images), group.images.shape[1]
    compose, inverse, boards = group.compose, group.inverse, group.boards
    pairs, others, filled, children = walk.pairs, walk.others, walk.filled, second.children
    full, after_cell = (1 << cells) - 1, walk.found
    node = frame[NODE]
    stones, many, tries = walk.first.stones[node], walk.first.size[node], walk.first.tries[node]
    weight = images_of(group, walk.first.fixing[node])
    if not fits(filled, walk.wanted, OTHERS, cells * (frame[PAIRS_END] - frame[AT]), len(others)):
        return False
    if not fits(filled, walk.wanted, PAIRS, (cells + 1) * (frame[PAIRS_END] - frame[AT]), len(pairs)):
        return False
    for at in range(frame[AT], frame[PAIRS_END]):
        frame[AT] = at
        here, element = pairs[at] // order, pairs[at] % order
        if abrupt:
            if second.opened[here] == 0 and not open_node(histories, group, second, here, 1):
                return False
        else:
            packed = failed(histories, group, second, here, boards[inverse[element], stones], 1, abrupt)
            if packed == NO_ROOM:
                return False
            here, element = packed // order, compose[element, packed % order]
        other, mine = boards[inverse[element], stones], second.stones[here]
        taken = mine | other
        for cell in range(cells):
            if not taken >> cell & 1 and (won[mine | 1 << cell] or taken | 1 << cell != full):
                after_cell[cell] = NONE
                if second.first_child[here] != NONE:
                    after_cell[cell] = children[second.first_child[here] + group.counts[~mine & ((1 << cell) - 1)]]
                if after_cell[cell] == NONE:
                    after_cell[cell] = placed(histories, group, second, here, cell, won)
                if after_cell[cell] == NO_ROOM:
                    return False
        refused = failed(histories, group, second, here, other, 1, abrupt) if abrupt else NONE
        if refused == NO_ROOM:
            return False
        second.visits[here] += weight * many
        ways, over = weight * many * second.size[here], 0
        for cell in range(cells):
            if taken >> cell & 1:
                continue
            if won[mine | 1 << cell]:
                over += 1
                others[filled[OTHERS]] = after_cell[cell]
                filled[OTHERS] += 1
            elif taken | 1 << cell == full:
                over += 1
            else:
                pairs[filled[PAIRS]] = after_cell[cell] // order * order + compose[element, after_cell[cell] % order]
                filled[PAIRS] += 1
        if over:
            walk.sizes[TERMINALS] += over * ways
            walk.sizes[DEPTH] = max(walk.sizes[DEPTH], tries + second.tries[here] + 2)
        walk.sizes[HISTORIES] += (1 + over) * ways
        if refused != NONE:
            pairs[filled[PAIRS]] = refused // order * order + compose[element, refused % order]
            filled[PAIRS] += 1
    frame[AT] = frame[PAIRS_END]
    if filled[OTHERS] > frame[TERMS]:
        number = waiting_list(histories, group, walk.first, node)
        if number == NO_ROOM:
            return False
        end_list(walk, number, -float(weight))
    frame[PAIRS_BEGIN], frame[PAIRS_END] = frame[HERE_BEGIN], filled[PAIRS]
    frame[STAGE] = TURN
    if frame[PAIRS_BEGIN] == frame[PAIRS_END]:
        pop(walk, frame)
    return True


@kernel(**NO_COUNTS)
def begin_turn(walk: TimelineWalk, group: Group, abrupt: bool, frame: Ints) -> bool:
    """Group the pairs by player 1's stones, in abrupt games after placing new ones; return False if a table is full."""
    node, begin, end = frame[NODE], frame[PAIRS_BEGIN], frame[PAIRS_END]
    if abrupt and not open_node(walk.own, group, walk.first, node, 0):
        return False
    if not fits(walk.filled, walk.wanted, PAIRS, end - begin, len(walk.pairs)):
        return False
    frame[NODES_HERE], frame[POOL_HERE] = walk.first.filled[NODES], walk.first.filled[POOL]
    tally, boards, kinds, order = walk.tally, walk.boards, 0, len(group.images)
    pairs, images, stones = walk.pairs, group.boards, walk.second.stones
    for index in range(begin, end):
        board = images[pairs[index] % order, stones[pairs[index] // order]]
        if tally[board] == 0:
            boards[kinds] = board
            kinds += 1
        tally[board] += 1
    top = walk.filled[PAIRS]
    for kind in range(kinds):
        board = boards[kind]
        many = tally[board]
        canonical = least_board(group, walk.first.fixing[node], board)[0] == board and (board != 0 or not abrupt)
        tally[board] = top if canonical else NONE
        top += many if canonical else 0
    for index in range(begin, end):
        board = images[pairs[index] % order, stones[pairs[index] // order]]
        if tally[board] != NONE:
            pairs[tally[board]] = pairs[index]
            tally[board] += 1
    for kind in range(kinds):
        tally[boards[kind]] = 0
    frame[GROUP], frame[GROUPS_END] = walk.filled[PAIRS], top
    walk.filled[PAIRS] = top
    frame[STAGE] = GROUPS
    if abrupt:
        put_here(walk, group, frame, node, begin, end)
    return True


@kernel(**NO_COUNTS)
def put_here(walk: TimelineWalk, group: Group, frame: Ints, node: int, begin: int, end: int) -> None:
    """Count the histories at a turn of player 0, before it places a stone."""
    order, first, met, visits = len(group.images), walk.first, 0, walk.own.visits
    weight, pairs, sizes, pool = images_of(group, first.fixing[node]), walk.pairs, walk.second.size, first.pool
    for index in range(begin, end):
        met += sizes[pairs[index] // order]
    walk.sizes[HISTORIES] += weight * met * first.size[node]
    for index in range(first.begin[node], first.begin[node] + first.size[node]):
        visits[pool[index] // order] += weight * met
    frame[HERE], frame[HERE_BEGIN], frame[HERE_END], frame[CELL], frame[STAGE] = node, begin, end, 0, PLACE


@kernel(**NO_COUNTS)
def next_group(walk: TimelineWalk, group: Group, abrupt: bool, frame: Ints) -> bool:
    """Process the next group of pairs that share player 1's stones: a failed try or a turn."""
    first, node = walk.first, frame[NODE]
    first.filled[NODES], first.filled[POOL] = frame[NODES_HERE], frame[POOL_HERE]
    begin = frame[GROUP]
    if begin == frame[GROUPS_END]:
        pop(walk, frame)
        return True
    order, pairs, images, stones = len(group.images), walk.pairs, group.boards, walk.second.stones
    board, end = images[pairs[begin] % order, stones[pairs[begin] // order]], begin
    while end < frame[GROUPS_END] and images[pairs[end] % order, stones[pairs[end] // order]] == board:
        end += 1
    fixing = least_board(group, first.fixing[node], board)[2]
    if abrupt:
        child = add_failed(walk.own, group, first, node, board, fixing)
    else:
        child = add_closure(walk.own, group, first, node, board, fixing, 0)
    if child == NO_ROOM:
        return False
    frame[GROUP] = end
    if not abrupt:
        put_here(walk, group, frame, child, begin, end)
    elif child != NONE:
        push(walk, child, frame[NODES_HERE], frame[POOL_HERE], begin, end, walk.filled[PAIRS])
    return True


@kernel(**NO_COUNTS)
def place_stone(walk: TimelineWalk, group: Group, won: Won, frame: Ints) -> bool:
    """Place player 0's stone on the next cell for all pairs in which the cell is free; return False if a table is full."""
    first, order, node, cell = walk.first, len(group.images), frame[HERE], frame[CELL]
    cells, begin, end = group.images.shape[1], frame[HERE_BEGIN], frame[HERE_END]
    if cell == cells:
        frame[STAGE] = GROUPS
        return True
    fixing, board = first.fixing[node], first.stones[node] | 1 << cell
    if first.stones[node] >> cell & 1 or group.least[fixing, cell] != cell:
        frame[CELL] += 1
        return True
    room = fits(walk.filled, walk.wanted, OTHERS, end - begin, len(walk.others))
    if not (fits(walk.filled, walk.wanted, PAIRS, end - begin, len(walk.pairs)) and room):
        return False
    weight, full = images_of(group, fixing & group.fixing[cell]), (1 << cells) - 1
    wins, top, before, over, deepest = won[board], walk.filled[PAIRS], walk.filled[OTHERS], 0, NONE
    top_pair, top_term, second, pairs = top, before, walk.second, walk.pairs
    for index in range(begin, end):
        other = pairs[index] // order
        stones = group.boards[pairs[index] % order, second.stones[other]]
        if stones >> cell & 1:
            continue
        if wins:
            sequences = second.waiting[other]
            if sequences == NONE:
                sequences = waiting_list(walk.own, group, second, other)
            if sequences == NO_ROOM:
                return False
            walk.others[top_term] = sequences
            top_term += 1
        elif stones | board != full:
            pairs[top_pair] = pairs[index]
            top_pair += 1
        if wins or stones | board == full:
            over += second.size[other]
            deepest = max(deepest, second.tries[other])
    nodes, pool = first.filled[NODES], first.filled[POOL]
    if top_term > before:
        number = add_list(walk.own, group, first, node, cell)
        if number == NO_ROOM:
            return False
        walk.filled[OTHERS] = top_term
        end_list(walk, number, float(weight))
    if top_pair > top:
        child = add_placed(walk.own, group, first, node, cell)
        if child == NO_ROOM:
            return False
        walk.filled[PAIRS] = top_pair
        push(walk, child, nodes, pool, top, top_pair, top)
    if over:
        walk.sizes[HISTORIES] += weight * over * first.size[node]
        walk.sizes[TERMINALS] += weight * over * first.size[node]
        walk.sizes[DEPTH] = max(walk.sizes[DEPTH], first.tries[node] + deepest + 2)
    frame[CELL] += 1
    return True
