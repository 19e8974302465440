"""A custom agent: depth-limited search that assumes a fixed policy after its horizon.

treeplex play leduc_poker --against "examples/extending/lookahead_agent.py:Lookahead(depth=3)"
"""

from blueprint_leaf import Blueprint

from treeplex.search import METHODS, BaseAgent, Belief, Horizon, SubgameSearch, cut


class Lookahead(BaseAgent):
    """Solves the next ``depth`` moves for all hands at once and plays the average policy; at the horizon it solves again.

    ``BaseAgent`` implements the rest of an agent: ``act`` samples an action for a hand from ``policy``.
    """

    def __init__(self, game, depth=3, iterations=200, leaf=None):
        super().__init__(game)
        self.horizon, self.iterations, self.leaf = Horizon(depth), iterations, leaf or Blueprint()
        self.solved = {}  # keyed by the path from the root; search is deterministic, so the same path leads to the same beliefs
        self.begin()

    def begin(self, seat=None, generator=None, *, at=None):
        self.sit(seat, generator)
        self.root = self.belief = at or Belief.root(self.game)
        self.state, self.way, self.inside = self.belief.state, (), ()

    def search(self):
        """The depth-limited search and its average policy."""
        if self.way not in self.solved:
            search = SubgameSearch(cut(self.game, [self.root], self.horizon), METHODS["dcfr"], self.leaf)
            search.run(self.iterations)
            self.solved[self.way] = search, search.average_policy()
        return self.solved[self.way]

    def see(self, event):
        options = self.game.options(self.state)
        subgame = self.search()[0].subgame
        self.belief = self.belief.after(event, self.policy() if options.player >= 0 else None)
        self.state, self.inside = self.belief.state, (*self.inside, options.labels[0] if options.private else event)
        if subgame.find(0, self.inside)[0] == "leaf":
            self.root, self.way, self.inside = self.belief, self.way + self.inside, ()

    def policy(self):
        self.check_acting()
        search, average = self.search()
        return search.policy_at(search.subgame.find(0, self.inside)[1], average)
