"""What search at test time plays, as one policy: many repeated playthroughs averaged (Brown et al. 2020, sections 6 and 8)."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.sweep import reach
from treeplex.errors import SpecError
from treeplex.forms.compiled import CompiledGame
from treeplex.forms.horizon import Horizon
from treeplex.forms.policy import Policy, normalised
from treeplex.forms.public_states import PublicState, first_state
from treeplex.forms.subgames import Subgames, cut
from treeplex.games.public import Chance, Decision, Leaf, PublicTree
from treeplex.search.beliefs import normalised_range, possible_hands
from treeplex.search.leaf import LeafValue
from treeplex.search.subgame import METHODS, SubgameSearch, place, reach_at
from treeplex.search.warm_start import begin_search
from treeplex.solvers.fictitious import Play

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PlaythroughSettings:
    """How an agent that searches is turned into a policy.

    Attributes:
        method: how subgames are solved.
        iterations: of each solve.
        depth, rounds, endgame: where subgames end, see :class:`treeplex.forms.horizon.Horizon`; depth 0 for none.
        warm: iterations that the guess of a policy network counts as; None: as many as in its training.
        playthroughs: N, how often everything is drawn anew.
        batch: subgames solved side by side.
    """

    method: str = "dcfr"
    iterations: int = 256
    depth: int = 2
    rounds: bool = False
    endgame: int = 0
    warm: int | None = None
    playthroughs: int = 128
    batch: int = 128

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SpecError(f"unknown method {self.method!r}; known: {', '.join(METHODS)}")
        for name in ("iterations", "playthroughs", "batch"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.warm is not None and self.warm < 0:
            raise SpecError(f"warm must be at least 0, not {self.warm!r}")
        self.horizon  # noqa: B018 (raises)

    @property
    def horizon(self) -> Horizon:
        """Where subgames end."""
        return Horizon(self.depth or None, self.rounds, self.endgame)


@dataclass(frozen=True)
class Part:
    """Some of the playthroughs of a whole.

    Attributes:
        number: of this part, from 0.
        shifts: a generator that begins alike in every part.
    """

    number: int
    shifts: np.random.Generator


@dataclass
class Node:
    """A public state to be searched in some playthroughs: own reaches [N, H_i] of both players in each."""

    state: PublicState
    reaches: tuple[Floats, Floats]


@dataclass
class Gathered:
    """Sums over playthroughs of own reach times policy, by sequence of the compiled game, and public states searched."""

    weights: Floats
    searched: int = 0
    queue: list[Node] = field(default_factory=list)


def averaged_policy(
    game: CompiledGame,
    rules: PublicTree,
    leaf: LeafValue,
    settings: PlaythroughSettings,
    generator: np.random.Generator,
    *,
    part: Part | None = None,
    watch: Callable[[int], None] | None = None,
) -> Policy:
    """The policy that N playthroughs play together: at every infoset the mean of their policies weighted by own reach.

    In each playthrough every public state that begins a subgame is searched from the beliefs that this playthrough's own
    policies have led to; a random iteration is drawn, its policy is played down to the leaves, and the next searches begin
    there. The iteration is drawn with the weights of the average policy, stratified over the playthroughs of a public state.
    All branches are followed, so the result is a policy for the whole game and can be judged exactly. Its exploitability is an
    upper bound of that of the agent itself, whose average is over infinitely many playthroughs (section 8).

    Args:
        game: the compiled game.
        rules: its public-tree rules.
        leaf: values at the leaves of subgames.
        settings: N, T and the rest.
        generator: draws iterations.
        part: which of the playthroughs of a larger whole these are; None for all of it.
        watch: called now and then with the number of subgames searched.
    """
    count = settings.playthroughs
    root = first_state(rules)
    gathered = Gathered(np.zeros(int(game.tree.sequence_offsets[-1])))
    gathered.queue.append(Node(root, (np.ones((count, root.weight.shape[0])), np.ones((count, root.weight.shape[1])))))
    while gathered.queue:
        node = gathered.queue.pop()
        batches = [slice(start, min(start + settings.batch, count)) for start in range(0, count, settings.batch)]
        stops = drawn_iterations(settings, count, generator, part)
        below: dict[tuple[int, ...], Node] = {}
        for batch in batches:
            search_batch(game, rules, leaf, settings, node, batch, stops[batch], gathered, below)
            gathered.searched += batch.stop - batch.start
            if watch is not None:
                watch(gathered.searched)
        gathered.queue.extend(below.values())
    return Policy(game, normalised(game, gathered.weights))


def search_batch(
    game: CompiledGame,
    rules: PublicTree,
    leaf: LeafValue,
    settings: PlaythroughSettings,
    node: Node,
    batch: slice,
    stops: Ints,
    gathered: Gathered,
    below: dict[tuple[int, ...], Node],
) -> None:
    """Search one public state in some of the playthroughs; add their policies, and where they lead."""
    reaches = node.reaches[0][batch], node.reaches[1][batch]
    size = len(stops)
    subgames = cut(rules, [node.state] * size, settings.horizon)
    possible = possible_hands(node.state.weight)
    ranges = tuple(normalised_range(own, can) for own, can in zip(reaches, possible, strict=True))
    search = begin_search(subgames, METHODS[settings.method], leaf, (ranges[0], ranges[1]), settings.iterations, settings.warm)
    policy = policies_at(search, settings.iterations, stops)
    strategy = np.zeros_like(policy)
    for player in (0, 1):
        place(subgames.roots.sequences[player], reaches[player], strategy)
        reach(subgames.tree, player, policy, strategy)
    add_policies(game, rules, node, subgames, strategy, gathered)
    arrived = reach_at(subgames.leaves, strategy)
    per = len(subgames.leaves) // size
    for number in range(per):
        rows = np.arange(size) * per + number
        path = subgames.leaves.paths[number]
        if path not in below:
            state = subgames.leaves.states[number]
            at = PublicState(walked(rules, node.state, path), state.weight)
            shapes = ((settings.playthroughs, width) for width in state.weight.shape)
            below[path] = Node(at, tuple(np.zeros(shape) for shape in shapes))  # type: ignore[arg-type]
        for player in (0, 1):
            width = below[path].reaches[player].shape[1]
            below[path].reaches[player][batch] = arrived[player][rows, :width]


def policies_at(search: SubgameSearch, iterations: int, stops: Ints) -> Floats:
    """Run a search; the policy of each subgame at its own iteration: current ones, of fictitious play averages, float64 [Q].

    Iteration 0 is the uniform policy with which a search begins; a search that starts warm plays its guess in the iterations
    that this counts as.
    """
    averaging = isinstance(search.method.scheme, Play)
    owners = search.subgames.owners
    at = np.where(owners >= 0, stops[owners], 0)
    sampled = search.policy.copy()
    wanted = set(stops.tolist())
    for t in range(search.iteration + 1, iterations + 1):
        search.run(1)
        if t in wanted:
            now = at == t
            sampled[now] = (search.average_policy() if averaging else search.policy)[now]
    return sampled


def drawn_iterations(
    settings: PlaythroughSettings, count: int, generator: np.random.Generator, part: Part | None = None
) -> Ints:
    """An iteration for each playthrough, drawn with the weights of the average policy, stratified.

    Each of ``count`` strata of equal weight has one playthrough, in random order. Parts of equal size share their strata and
    take evenly spread places within them, so that all playthroughs of all parts together are stratified as well, however
    many parts there are; each draw alone has the weights of the average.
    """
    weights = average_weights(settings.method, settings.iterations)
    cumulative = np.cumsum(weights) / weights.sum()
    within = generator.random(count) if part is None else (part.shifts.random(count) + spread_out(part.number)) % 1.0
    strata = generator.permutation((np.arange(count) + within) / count)
    return np.minimum(np.searchsorted(cumulative, strata, side="right"), settings.iterations - 1) + 1


def spread_out(number: int) -> float:
    """A place in [0, 1) for each number, evenly spread whatever their count: its binary digits mirrored (van der Corput)."""
    place, share = 0.0, 0.5
    while number:
        place += share * (number & 1)
        number, share = number >> 1, share / 2
    return place


def average_weights(method: str, iterations: int) -> Floats:
    """The weight that each iteration has in a method's average policy, float64 [T], up to a factor."""
    scheme = METHODS[method].scheme
    if isinstance(scheme, Play):
        kept, weights = 1.0, np.empty(iterations)
        for t in range(iterations, 0, -1):
            weights[t - 1] = kept * scheme.step(t)
            kept *= 1.0 - scheme.step(t)
        return weights
    kept, weights = 1.0, np.empty(iterations)
    for t in range(iterations, 0, -1):
        row = scheme.schedule(t, iterations, **scheme.parameters)
        weights[t - 1] = kept * row.average
        kept *= row.average_discount
    return weights


def add_policies(
    game: CompiledGame, rules: PublicTree, node: Node, subgames: Subgames, strategy: Floats, gathered: Gathered
) -> None:
    """Add every playthrough's own reach times policy at the infosets of the searched public states."""
    size = len(subgames.templates)
    per = len(subgames.decisions) // size
    for number in range(per):
        path, state = subgames.decisions.paths[number], subgames.decisions.states[number]
        visited = rules.visit(state.node)
        assert isinstance(visited, Decision)
        at = walked(rules, node.state, path)
        table = subgames.infosets[np.arange(size) * per + number]
        for hand in np.flatnonzero(table[0] >= 0):
            own = game.sequences_at(game.lookup[visited.player, rules.infostate(at, visited.player, int(hand))])
            layout = subgames.tree.infoset_layout[table[:, hand]]
            for a, sequence in enumerate(own):
                gathered.weights[sequence] += strategy[layout[:, 0] + a * layout[:, 1]].sum()


def walked(rules: PublicTree, state: PublicState, path: tuple[int, ...]) -> Hashable:
    """The public node at the end of a path."""
    node = state.node
    for label in path:
        assert not isinstance(rules.visit(node), Leaf)
        assert isinstance(rules.visit(node), Chance | Decision)
        node = rules.child(node, label)
    return node
