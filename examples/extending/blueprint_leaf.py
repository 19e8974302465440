"""A custom leaf: values where a search is cut off are those of a fixed policy, the blueprint.

treeplex play leduc_poker --against examples/extending/blueprint_leaf.py:Blueprint
"""

import treeplex as tp
from treeplex.search import cut_states, subgame_policy, subgame_values


class Blueprint:
    """``policy`` is a policy of the game or its file; without one, both players play uniformly after the leaf."""

    def __init__(self, policy=None):
        self.policy = tp.load_policy(policy) if isinstance(policy, str) else policy
        self.places = None

    def __call__(self, places, believed, reached, player=None):
        if places is not self.places:  # a search queries the same places repeatedly
            self.places, self.rest = places, cut_states(places.game, places.true_states)
            self.there = self.rest.start().policy if self.policy is None else subgame_policy(self.policy, self.rest)
        return subgame_values(self.rest, self.there, reached)
