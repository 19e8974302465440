"""A hash of public-tree rules, by which files identify their game."""

import hashlib
from collections import deque
from collections.abc import Hashable

import numpy as np

from treeplex.games.public import Chance, Decision, PublicTree

MOST_NODES = 2000
"""Number of public nodes visited, breadth-first; covers small games completely and the start of large ones."""


def public_identity(rules: PublicTree, most: int = MOST_NODES) -> str:
    """Hash the deal, actions, chance, payoffs (nine decimals) and features of the first nodes; equal for equal rules."""
    digest = hashlib.sha256(rounded(rules.prior))
    queue: deque[Hashable] = deque([rules.root])
    seen = {rules.future(rules.root)}
    looked = 0
    while queue and looked < most:
        node, looked = queue.popleft(), looked + 1
        visited = rules.visit(node)
        features = rules.features(node)
        digest.update(b"" if features is None else rounded(features))
        if isinstance(visited, Decision):
            labels = list(visited.actions)
            digest.update(repr((visited.player, [int(label) for label in labels], visited.private)).encode())
            labels = labels[:1] if visited.private else labels
        elif isinstance(visited, Chance):
            labels = [label for label, _ in visited.outcomes]
            for label, weight in visited.outcomes:
                digest.update(repr(label).encode() + rounded(weight))
        else:
            digest.update(rounded(visited.scale * visited.matrix))
            continue
        for label in labels:
            below = rules.child(node, label)
            if rules.future(below) not in seen:
                seen.add(rules.future(below))
                queue.append(below)
    return digest.hexdigest()[:16]


def rounded(array: object) -> bytes:
    """Encode an array's shape and numbers, rounded to nine decimals, as bytes."""
    numbers = np.round(np.asarray(array, np.float64), 9) + 0.0
    return repr(numbers.shape).encode() + numbers.astype("<f8").tobytes()
