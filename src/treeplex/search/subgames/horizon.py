"""The horizon: where depth-limited subgames end."""

from collections.abc import Hashable
from dataclasses import dataclass

from treeplex.errors import SpecError
from treeplex.games.public import Chance, Decision, PublicTree, Terminal


@dataclass(frozen=True)
class Horizon:
    """Defines where subgames end.

    Attributes:
        depth: number of player and chance actions before the cut; None for no limit.
        rounds: number of betting rounds after which the subgame is also cut, before the next deal: 1 (or True) cuts at the end
            of the current round, 2 at the end of the next, 0 (or False) nowhere.
        endgame: if at most this number of public nodes remain, including the current one, the rest of the game is not cut.
        dealt: whether leaves are after a deal instead of before it, one for each outcome. So each outcome has a leaf value,
            which re-solving agents carry to the next subgame. Only for public trees.
        all_in: for hold'em, whether a subgame also ends with its first street if both players are all-in, as in public trees,
            so that no later boards are compiled. Otherwise the remaining cards are dealt inside the subgame.
    """

    depth: int | None = None
    rounds: int = 0
    endgame: int = 0
    dealt: bool = False
    all_in: bool = False

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth == int(self.depth):
            raise SpecError(f"depth is {self.depth!r}; give an integer of at least 1, or 0 for no limit")
        if not 0 <= self.rounds == int(self.rounds):
            raise SpecError(f"rounds is {self.rounds!r}; give an integer of at least 0")
        if self.all_in and self.rounds != 1:
            raise SpecError("all_in needs subgames that end with their first street; give rounds=1")
        if not 0 <= self.endgame == int(self.endgame):
            raise SpecError(f"endgame is {self.endgame!r}; give an integer of at least 0")

    def cuts(
        self, rules: PublicTree, node: Hashable, below: int, visited: Decision | Chance | Terminal, deals: int = 0
    ) -> bool:
        """Whether a subgame ends at a node that is ``below`` actions and ``deals`` deals after its root."""
        far = self.depth is not None and below >= self.depth
        if self.dealt:
            far, shown = far and not isinstance(visited, Chance), 0 < self.rounds <= deals and isinstance(visited, Decision)
        else:
            shown = 0 < self.rounds <= deals + 1 and isinstance(visited, Chance)
        return (far or shown) and not fewer_nodes(rules, node, self.endgame)


MOST_VISITED = 20_000
"""Maximum number of public nodes that :func:`subgame_roots` visits."""


def subgame_roots(rules: PublicTree, horizon: Horizon, most: int = MOST_VISITED) -> frozenset[Hashable] | None:
    """Futures of the public nodes at which subgames begin when a game is split into subgames, including its start.

    None if this would require visiting more than ``most`` public nodes.
    """
    roots, waiting, visited = {rules.future(rules.root)}, [rules.root], 0
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
                if (future := rules.future(node)) not in roots:
                    roots.add(future)
                    waiting.append(node)
                continue
            deals += bool(below) and isinstance(here, Chance)
            stack += [(after, below + 1, deals) for after in following(rules, node)]
    return frozenset(roots)


TO_THE_END = Horizon()
"""No cut."""


def fewer_nodes(rules: PublicTree, node: Hashable, most: int) -> bool:
    """Whether at most ``most`` public nodes remain, including ``node``."""
    stack, seen = [node], 0
    while stack:
        seen += len(stack)
        if seen > most:
            return False
        stack = [after for before in stack for after in following(rules, before)]
    return True


def following(rules: PublicTree, node: Hashable) -> list[Hashable]:
    """Return the public nodes that directly follow a node."""
    visited = rules.visit(node)
    if isinstance(visited, Terminal):
        return []
    if isinstance(visited, Chance):
        return [rules.child(node, label) for label, _ in visited.outcomes]
    return [rules.child(node, action) for action in (visited.actions[:1] if visited.private else visited.actions)]
