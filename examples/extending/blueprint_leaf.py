"""A leaf of one's own: where a search is cut off, hands are worth what a fixed policy, a blueprint, makes of them.

treeplex play leduc_poker --against examples/extending/blueprint_leaf.py:Blueprint
"""

import treeplex as tp
from treeplex.search import cut_states, subgame_policy, subgame_values


class Blueprint:
    """``policy`` is a policy of the game or a file of one; without any, both players choose at random from the leaf on."""

    def __init__(self, policy=None):
        self.policy = tp.load_policy(policy) if isinstance(policy, str) else policy
        self.places = None

    def __call__(self, places, believed, reached, player=None):
        if places is not self.places:  # a search asks for the same places again and again
            self.places, self.rest = places, cut_states(places.game, places.true_states)
            self.there = self.rest.start().policy if self.policy is None else subgame_policy(self.policy, self.rest)
        return subgame_values(self.rest, self.there, reached)
