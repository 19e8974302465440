"""A slow oracle: everything that the engine, the solvers and the judge do, by recursion over histories and dict tables.

Nothing here shares code with the library but the rules' :class:`State`. A *key* is ``(player, infostate)``, a policy maps
keys to ``{action: probability}``, and tables map keys to NumPy arrays in the order of the actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.base import CHANCE, TERMINAL, Game, State

Key = tuple[int, str]
Policy = Mapping[Key, Mapping[int, float]]
Table = dict[Key, Floats]


@dataclass(frozen=True)
class Node:
    """One history: ``player`` acts (or chance, with ``chances``), or nobody and ``returns`` is given."""

    player: int
    key: Key | None = None
    actions: tuple[int, ...] = ()
    chances: tuple[float, ...] = ()
    children: tuple[Node, ...] = ()
    returns: Floats = field(default_factory=lambda: np.zeros(0))


def grow(game: Game) -> Node:
    """All histories of a game without simultaneous moves; chance outcomes of probability 0 are left out."""

    def below(state: State) -> Node:
        player = state.current_player()
        if player == TERMINAL:
            return Node(player, returns=np.array(state.returns(), float))
        if player == CHANCE:
            outcomes = [(action, chance) for action, chance in state.chance_outcomes() if chance > 0]
            actions = tuple(action for action, _ in outcomes)
            return Node(
                player, None, actions, tuple(chance for _, chance in outcomes), tuple(below(state.child(a)) for a in actions)
            )
        actions = tuple(state.legal_actions())
        key = (player, state.information_state_string(player))
        return Node(player, key, actions, (), tuple(below(state.child(a)) for a in actions))

    return below(game.new_initial_state())


def nodes(root: Node) -> Iterator[Node]:
    """Every history."""
    yield root
    for child in root.children:
        yield from nodes(child)


def action_sets(root: Node) -> dict[Key, tuple[int, ...]]:
    """The actions of every infoset."""
    return {node.key: node.actions for node in nodes(root) if node.key is not None}


def uniform(root: Node) -> dict[Key, dict[int, float]]:
    """Every action with the same probability."""
    return {key: dict.fromkeys(actions, 1 / len(actions)) for key, actions in action_sets(root).items()}


def random_policy(root: Node, generator: np.random.Generator, *, zeros: bool = True) -> dict[Key, dict[int, float]]:
    """Random distributions, some actions never played."""
    policy = {}
    for key, actions in action_sets(root).items():
        weights = generator.random(len(actions))
        if zeros and len(actions) > 1 and generator.random() < 0.3:
            weights[generator.integers(len(actions))] = 0.0
        policy[key] = dict(zip(actions, (weights / weights.sum()).tolist(), strict=True))
    return policy


def expected_values(node: Node, policy: Policy) -> Floats:
    """What every player gets."""
    if node.player == TERMINAL:
        return node.returns
    shares = node.chances if node.key is None else [policy[node.key][action] for action in node.actions]
    return sum(
        (share * expected_values(child, policy) for share, child in zip(shares, node.children, strict=True)), np.zeros(1)
    )


def own_reaches(root: Node, policy: Policy, player: int) -> dict[Key, float]:
    """The product of the player's own probabilities on the way to each infoset."""
    found: dict[Key, float] = {}

    def visit(node: Node, reach: float) -> None:
        own = node.player == player
        if own and node.key is not None:
            found[node.key] = reach
        for action, child in zip(node.actions, node.children, strict=True):
            visit(child, reach * policy[node.key][action] if own and node.key is not None else reach)

    visit(root, 1.0)
    return found


def realisation(root: Node, policy: Policy, player: int) -> Table:
    """The sequence form: own reach times probability, for each action of each infoset of the player."""
    reaches = own_reaches(root, policy, player)
    return {key: np.array([reach * p for p in policy[key].values()]) for key, reach in reaches.items()}


def counterfactual_values(root: Node, policy: Policy, player: int) -> Table:
    """For each action of each infoset of the player: the sum over its histories of others' reach times what follows."""
    found: Table = {key: np.zeros(len(actions)) for key, actions in action_sets(root).items() if key[0] == player}

    def visit(node: Node, reach: float) -> float:
        if node.player == TERMINAL:
            return float(node.returns[player])
        if node.key is not None and node.player == player:
            values = [visit(child, reach) for child in node.children]
            found[node.key] += reach * np.array(values)
            return sum(policy[node.key][action] * value for action, value in zip(node.actions, values, strict=True))
        shares = node.chances if node.key is None else [policy[node.key][action] for action in node.actions]
        return sum(share * visit(child, reach * share) for share, child in zip(shares, node.children, strict=True))

    visit(root, 1.0)
    return found


def sequence_gradient(root: Node, policy: Policy, player: int) -> dict[tuple[Key, int] | None, float]:
    """For each last own sequence (None: empty), what the terminals right below it are worth times others' reach."""
    found: dict[tuple[Key, int] | None, float] = {None: 0.0}
    for key, actions in action_sets(root).items():
        if key[0] == player:
            found.update({(key, action): 0.0 for action in actions})

    def visit(node: Node, reach: float, last: tuple[Key, int] | None) -> None:
        if node.player == TERMINAL:
            found[last] += reach * float(node.returns[player])
        for k, (action, child) in enumerate(zip(node.actions, node.children, strict=True)):
            if node.key is None:
                visit(child, reach * node.chances[k], last)
            elif node.player == player:
                visit(child, reach, (node.key, action))
            else:
                visit(child, reach * policy[node.key][action], last)

    visit(root, 1.0, None)
    return found


def best_response(root: Node, policy: Policy, player: int) -> tuple[float, dict[Key, dict[int, float]]]:
    """Value and pure policy of the player's best response; ties and unreached infosets take the first action."""
    members: dict[Key, list[tuple[Node, float]]] = {}

    def gather(node: Node, reach: float) -> None:
        if node.key is not None and node.player == player:
            members.setdefault(node.key, []).append((node, reach))
        for k, (action, child) in enumerate(zip(node.actions, node.children, strict=True)):
            share = node.chances[k] if node.key is None else 1.0 if node.player == player else policy[node.key][action]
            gather(child, reach * share)

    chosen: dict[Key, int] = {}

    def choice(key: Key) -> int:
        if key not in chosen:
            worth = [
                sum(reach * value(node.children[a]) for node, reach in members[key] if reach > 0)
                for a in range(len(members[key][0][0].actions))
            ]
            chosen[key] = worth.index(max(worth))
        return chosen[key]

    def value(node: Node) -> float:
        if node.player == TERMINAL:
            return float(node.returns[player])
        if node.key is not None and node.player == player:
            return value(node.children[choice(node.key)])
        shares = node.chances if node.key is None else [policy[node.key][action] for action in node.actions]
        return sum(share * value(child) for share, child in zip(shares, node.children, strict=True) if share > 0)

    gather(root, 1.0)
    best = value(root)
    pure = {}
    for key, found in members.items():
        actions = found[0][0].actions
        pure[key] = {action: float(a == choice(key)) for a, action in enumerate(actions)}
    return best, pure


def nash_conv(root: Node, policy: Policy) -> float:
    """The sum over players of what a best response gains."""
    values = expected_values(root, policy)
    return sum(best_response(root, policy, player)[0] - values[player] for player in range(len(values)))


def behaviour(table: Mapping[Key, Floats], actions: Mapping[Key, tuple[int, ...]]) -> dict[Key, dict[int, float]]:
    """Non-negative weights as a policy, uniform where they are all zero."""
    policy = {}
    for key, ids in actions.items():
        weights = table[key]
        total = weights.sum()
        shares = weights / total if total > 0 else np.full(len(ids), 1 / len(ids))
        policy[key] = dict(zip(ids, shares.tolist(), strict=True))
    return policy


# --- the CFR family: each variant from its paper's formulas -------------------------------------------------------------------


@dataclass
class Memory:
    """What a variant keeps of one infoset: regrets ``R``, the last ``r``, and APCFR+'s sums of squared changes."""

    R: Floats
    last: Floats
    shift: float = 0.0
    growth: float = 0.0


Minimiser = Callable[[Memory, Floats, int, int], Floats]
"""``(memory, r, t, n)``: update the memory with the regrets of iteration t of n, return the weights of the next policy."""


def plus(x: Floats) -> Floats:
    return np.maximum(x, 0.0)


def scaled(regrets: Floats, t: float, alpha: float, beta: float) -> Floats:
    """Positive entries times ``t^alpha / (t^alpha + 1)``, negative ones times ``t^beta / (t^beta + 1)``."""
    if t == 0:
        return np.zeros_like(regrets)
    up, down = t**alpha / (t**alpha + 1), t**beta / (t**beta + 1)
    return np.array([x * up if x > 0 else x * down for x in regrets])


def cfr(m: Memory, r: Floats, t: int, n: int) -> Floats:
    m.R = m.R + r
    return plus(m.R)


def cfr_plus(m: Memory, r: Floats, t: int, n: int) -> Floats:
    m.R = plus(m.R + r)
    return m.R


def linear_cfr(m: Memory, r: Floats, t: int, n: int) -> Floats:
    m.R = m.R + t * r
    return plus(m.R)


def dcfr(m: Memory, r: Floats, t: int, n: int, alpha: float = 1.5, beta: float = 0.0) -> Floats:
    """As published: the discount comes after the new regrets, with t (the library discounts before, with t - 1)."""
    m.R = scaled(m.R + r, t, alpha, beta)
    return plus(m.R)


def pcfr_plus(m: Memory, r: Floats, t: int, n: int) -> Floats:
    m.R = plus(m.R + r)
    return plus(m.R + r)


def pdcfr(m: Memory, r: Floats, t: int, n: int, alpha: float = 1.5, beta: float = 0.0) -> Floats:
    m.R = scaled(m.R, t - 1, alpha, beta) + r
    return plus(scaled(m.R, t, alpha, beta) + r)


def dcfr_plus(m: Memory, r: Floats, t: int, n: int, alpha: float = 1.5, offset: float = 1.5) -> Floats:
    kept = (t - 1) ** alpha / ((t - 1) ** alpha + offset)
    m.R = plus(kept * m.R + r)
    return m.R


def pdcfr_plus(m: Memory, r: Floats, t: int, n: int, alpha: float = 2.3) -> Floats:
    m.R = plus(scaled(m.R, t - 1, alpha, 1.0) + r)
    return plus(scaled(m.R, t, alpha, 1.0) + r)


def sapcfr_plus(m: Memory, r: Floats, t: int, n: int, a: float = 2.0) -> Floats:
    m.R = plus(m.R + r)
    return plus(m.R + r / (1 + a))


def apcfr_plus(m: Memory, r: Floats, t: int, n: int) -> Floats:
    """``a = min(sqrt(sum |r^s - r^(s-1)|^2 / sum |R^(s+1) - R^s|^2), 5)``, both sums up to this iteration."""
    new = plus(m.R + r)
    m.shift += float(((r - m.last) ** 2).sum())
    m.growth += float(((new - m.R) ** 2).sum())
    m.R, m.last = new, r
    a = min(math.sqrt(m.shift / m.growth), 5.0) if m.growth > 0 else 5.0 if m.shift > 0 else 0.0
    return plus(new + r / (1 + a))


def apdcfr_plus(m: Memory, r: Floats, t: int, n: int, alpha: float = 2.3) -> Floats:
    new = plus(scaled(m.R, t - 1, alpha, 1.0) + r)
    m.shift += float(((r - m.last) ** 2).sum())
    m.growth += float(((new - m.R) ** 2).sum())
    m.R, m.last = new, r
    a = min(math.sqrt(m.shift / m.growth), 5.0) if m.growth > 0 else 5.0 if m.shift > 0 else 0.0
    return plus(scaled(new, t, alpha, 1.0) + r / (1 + a))


def hs_dcfr(m: Memory, r: Floats, t: int, n: int) -> Floats:
    done = (t - 1) / n
    m.R = scaled(m.R, t - 1, 1 + 3 * done, -1 - 2 * done) + r
    return plus(m.R)


def wop_cfr(m: Memory, r: Floats, t: int, n: int, alpha: float = 1.5, beta: float = -0.1, decay: float = 100.0) -> Floats:
    m.R = scaled(m.R, t, alpha, beta) + r
    return plus(scaled(m.R, t, alpha, beta) + r / (1 + (t - 1) / decay))


def power(gamma: float) -> Callable[[int, int], float]:
    return lambda t, n: gamma


def scheduled(gamma: float) -> Callable[[int, int], float]:
    return lambda t, n: gamma - 5 * (t - 1) / n


def late(gamma: float, warm_up: int) -> Callable[[int, int], float]:
    """The current policy up to ``warm_up``, then an average of what comes later."""
    return lambda t, n: gamma if t > warm_up + 1 else math.inf


FAMILY: Mapping[str, tuple[Minimiser, Callable[[int, int], float]]] = {
    "cfr": (cfr, power(0)),
    "cfr+": (cfr_plus, power(1)),
    "lcfr": (linear_cfr, power(1)),
    "dcfr": (dcfr, power(2)),
    "pcfr+": (pcfr_plus, power(2)),
    "pdcfr": (pdcfr, power(2)),
    "dcfr+": (dcfr_plus, power(4)),
    "pdcfr+": (pdcfr_plus, power(5)),
    "apcfr+": (apcfr_plus, power(2)),
    "sapcfr+": (sapcfr_plus, power(2)),
    "p2pcfr+": (partial(sapcfr_plus, a=5.0), power(2)),
    "apdcfr+": (apdcfr_plus, power(5)),
    "hs-dcfr": (hs_dcfr, scheduled(30)),
    "hs-pcfr+": (pcfr_plus, scheduled(30)),
    "wop-cfr": (wop_cfr, late(2, 500)),
}
"""Each variant's regret minimiser and the exponent gamma of its average at iteration t of n."""

OTHER_PARAMETERS: Mapping[str, tuple[Minimiser, Callable[[int, int], float]]] = {
    "cfr+(gamma=2)": (cfr_plus, power(2)),
    "dcfr(alpha=2,beta=-0.5,gamma=3)": (partial(dcfr, alpha=2.0, beta=-0.5), power(3)),
    "dcfr(alpha=1,beta=1,gamma=1)": (linear_cfr, power(1)),
    "pcfr+(gamma=5)": (pcfr_plus, power(5)),
    "pdcfr(alpha=1,beta=0.5,gamma=1)": (partial(pdcfr, alpha=1.0, beta=0.5), power(1)),
    "dcfr+(alpha=2,offset=1,gamma=2)": (partial(dcfr_plus, alpha=2.0, offset=1.0), power(2)),
    "pdcfr+(alpha=1.5,gamma=2)": (partial(pdcfr_plus, alpha=1.5), power(2)),
    "apcfr+(gamma=4)": (apcfr_plus, power(4)),
    "sapcfr+(a=1,gamma=3)": (partial(sapcfr_plus, a=1.0), power(3)),
    "hs-dcfr(gamma=15)": (hs_dcfr, scheduled(15)),
    "hs-pcfr+(gamma=15)": (pcfr_plus, scheduled(15)),
    "wop-cfr(alpha=1,beta=0.5,decay=2,warm_up=2)": (partial(wop_cfr, alpha=1.0, beta=0.5, decay=2.0), late(2, 2)),
}
"""With parameters that are not the defaults; linear CFR is DCFR with 1, 1, 1 (Brown and Sandholm 2019)."""


class Cfr:
    """Any variant on dict tables; ``current`` is the next policy, ``average`` the own-reach-weighted sum of those played."""

    def __init__(self, root: Node, name: str, *, alternating: bool, horizon: int) -> None:
        self.root, self.alternating, self.horizon, self.t = root, alternating, horizon, 0
        self.minimiser, self.gamma = {**FAMILY, **OTHER_PARAMETERS}[name]
        self.actions = action_sets(root)
        self.players = next(len(node.returns) for node in nodes(root) if node.player == TERMINAL)
        self.current = uniform(root)
        self.average = {key: np.zeros(len(actions)) for key, actions in self.actions.items()}
        self.memory = {key: Memory(np.zeros(len(actions)), np.zeros(len(actions))) for key, actions in self.actions.items()}

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.t += 1
            frozen = dict(self.current)
            for player in range(self.players):
                self.update(player, self.current if self.alternating else frozen)

    def update(self, player: int, seen: Policy) -> None:
        values = counterfactual_values(self.root, seen, player)
        kept = ((self.t - 1) / self.t) ** self.gamma(self.t, self.horizon)
        for key, played in realisation(self.root, seen, player).items():
            self.average[key] = kept * self.average[key] + played
            worth = float(np.dot(values[key], list(seen[key].values())))
            weights = self.minimiser(self.memory[key], values[key] - worth, self.t, self.horizon)
            self.current[key] = behaviour({key: weights}, {key: self.actions[key]})[key]

    def average_policy(self) -> dict[Key, dict[int, float]]:
        return behaviour(self.average, self.actions)


class FictitiousPlay:
    """Best responses against averages of all replies so far, reply s with ``weight(s)``, the uniform start being reply 0.

    With ``optimistic`` (FLOP) iteration t responds to ``t/(t+2)`` of the average and ``2/(t+2)`` of the last reply.
    """

    def __init__(self, root: Node, weight: Callable[[int], float], *, alternating: bool, optimistic: bool = False) -> None:
        self.root, self.weight, self.alternating, self.optimistic, self.t = root, weight, alternating, optimistic, 0
        self.actions = action_sets(root)
        self.players = next(len(node.returns) for node in nodes(root) if node.player == TERMINAL)
        start = uniform(root)
        self.replies = [[realisation(root, start, player)] for player in range(self.players)]

    def mean(self, player: int) -> Table:
        """The weighted mean of a player's replies (of the start alone before any other has a weight)."""
        replies = self.replies[player]
        weights = [self.weight(s) for s in range(len(replies))]
        weights = weights if sum(weights) > 0 else [1.0]
        return {
            key: sum(w * reply[key] for w, reply in zip(weights, replies, strict=True)) / sum(weights) for key in replies[0]
        }

    def target(self, player: int) -> Table:
        """What others respond to."""
        share = 2 / (self.t + 2) if self.optimistic else 0.0
        last = self.replies[player][-1]
        return {key: (1 - share) * mean + share * last[key] for key, mean in self.mean(player).items()}

    def run(self, iterations: int) -> None:
        for _ in range(iterations):
            self.t += 1
            frozen = [self.target(player) for player in range(self.players)]
            for player in range(self.players):
                tables = [self.target(other) for other in range(self.players)] if self.alternating else frozen
                seen = behaviour({key: w for table in tables for key, w in table.items()}, self.actions)
                _, pure = best_response(self.root, seen, player)
                self.replies[player].append(realisation(self.root, pure, player))

    def average_policy(self) -> dict[Key, dict[int, float]]:
        return behaviour({key: w for player in range(self.players) for key, w in self.mean(player).items()}, self.actions)
