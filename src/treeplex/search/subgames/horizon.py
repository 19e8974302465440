"""Where depth-limited subgames end."""

from collections.abc import Hashable
from dataclasses import dataclass

from treeplex.errors import SpecError
from treeplex.games.public import Chance, Decision, PublicTree, Terminal


@dataclass(frozen=True)
class Horizon:
    """How far subgames go.

    Attributes:
        depth: actions of players and chance until a subgame is cut; None: as many as there are.
        rounds: at which deal after its root it is cut as well, before anything is shown: 1 (or True) at the end of this betting
            round, 2 at the end of the next; 0 (or False) at none.
        endgame: where no more public nodes than this are left, that one included, the rest is not cut off.
        dealt: whether leaves stand after a deal and not before it: where a subgame would end with one, it ends at each of its
            outcomes instead. So a leaf says what each outcome is worth, which agents that solve again carry on. Of public
            trees.
        all_in: of hold'em, whether a subgame ends with its first street also where both are all-in, as one of a public tree
            does; else the cards are dealt inside. Then no later board is compiled.
    """

    depth: int | None = None
    rounds: int = 0
    endgame: int = 0
    dealt: bool = False
    all_in: bool = False

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth == int(self.depth):
            raise SpecError(f"depth must be a whole number of at least 1, or 0 for as deep as the game is, not {self.depth!r}")
        if not 0 <= self.rounds == int(self.rounds):
            raise SpecError(f"rounds must be a whole number of at least 0, not {self.rounds!r}")
        if self.all_in and self.rounds != 1:
            raise SpecError("all_in is for subgames that end with their first street; give rounds=1")
        if not 0 <= self.endgame == int(self.endgame):
            raise SpecError(f"endgame must be a whole number of at least 0, not {self.endgame!r}")

    def cuts(
        self, rules: PublicTree, node: Hashable, below: int, visited: Decision | Chance | Terminal, deals: int = 0
    ) -> bool:
        """Whether a subgame ends at a node ``below`` actions and ``deals`` deals after its root."""
        far = self.depth is not None and below >= self.depth
        if self.dealt:
            far, shown = far and not isinstance(visited, Chance), 0 < self.rounds <= deals and isinstance(visited, Decision)
        else:
            shown = 0 < self.rounds <= deals + 1 and isinstance(visited, Chance)
        return (far or shown) and not fewer_nodes(rules, node, self.endgame)


MOST_VISITED = 20_000
"""Public nodes that :func:`subgame_roots` visits at most."""


def subgame_roots(rules: PublicTree, horizon: Horizon, most: int = MOST_VISITED) -> frozenset[Hashable] | None:
    """Futures of the public nodes where subgames begin, if a game is played as one subgame after the other; its start is one.

    None where more than ``most`` public nodes would have to be visited to know.
    """
    found, waiting, visited = {rules.future(rules.root)}, [rules.root], 0
    while waiting:
        stack = [(waiting.pop(), 0, 0)]
        while stack:
            node, below, deals = stack.pop()
            here, visited = rules.visit(node), visited + 1
            if visited > most:
                return None
            if isinstance(here, Terminal):
                continue
            if below and horizon.cuts(rules, node, below, here, deals):
                if (future := rules.future(node)) not in found:
                    found.add(future)
                    waiting.append(node)
                continue
            deals += bool(below) and isinstance(here, Chance)
            stack += [(after, below + 1, deals) for after in following(rules, node)]
    return frozenset(found)


TO_THE_END = Horizon()
"""Nothing is cut off."""


def fewer_nodes(rules: PublicTree, node: Hashable, most: int) -> bool:
    """Whether no more than ``most`` public nodes are left, ``node`` included."""
    stack, seen = [node], 0
    while stack:
        seen += len(stack)
        if seen > most:
            return False
        stack = [after for before in stack for after in following(rules, before)]
    return True


def following(rules: PublicTree, node: Hashable) -> list[Hashable]:
    """The public nodes after one."""
    visited = rules.visit(node)
    if isinstance(visited, Terminal):
        return []
    if isinstance(visited, Chance):
        return [rules.child(node, label) for label, _ in visited.outcomes]
    return [rules.child(node, action) for action in (visited.actions[:1] if visited.private else visited.actions)]
