"""The game that agents are asked for, as each of them needs it."""

from dataclasses import dataclass
from functools import cached_property

from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.games.public import PublicGame, PublicTree
from treeplex.search.subgames.public_rules import PerfectInformation, public_game


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game at whose table agents sit.

    Attributes:
        rules: the game.
        public: its public states and private hands. All agents at one table have the same object.
    """

    rules: Game
    public: PublicGame

    @classmethod
    def of(cls, game: "str | Game | CompiledGame | PlayedGame") -> "PlayedGame":
        """The game that a spec names, or rules or a compiled game.

        Raises:
            GameError: its rules do not say what is public.
            SpecError: nobody can decide anything in it.
        """
        if isinstance(game, PlayedGame):
            return game
        rules = load(game)
        rules.check_decisions()
        public = public_game(rules)
        if isinstance(public, PerfectInformation):  # one play through it raises where players know different things
            state = public.first_state()
            while labels := public.options(state).labels:
                state = public.after(state, labels[0])
        found = cls(rules, public)
        if isinstance(game, CompiledGame):
            vars(found)["compiled"] = game
        return found

    def __str__(self) -> str:
        return str(self.rules)

    @property
    def tree(self) -> PublicTree:
        """Its public tree.

        Raises:
            SpecError: it has none: a spot, or more than two players.
        """
        if not isinstance(self.public, PublicTree):
            raise SpecError(f"{self} is no game of two players with a public tree, which this agent needs")
        return self.public

    @cached_property
    def compiled(self) -> CompiledGame:
        """The compiled game.

        Raises:
            GameError: its infosets are never enumerated.
        """
        return compile_game(self.rules)
