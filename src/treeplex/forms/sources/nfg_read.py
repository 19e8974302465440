"""Reader for Gambit's strategic-form files (``.nfg``, format 1), with exact payoffs or outcomes.

Grammar: https://gambitproject.readthedocs.io/en/latest/formats.nfg.html. Strategies are numbers of strategies, ``{ 2 3 }``, or
names, ``{ { "a" "b" } { "c" "d" "e" } }``. The first player's strategy changes fastest in the list of profiles::

    NFG 1 R "title" { "player 1" "player 2" } { 2 2 } "comment"
    PAYOFF_1 PAYOFF_2  PAYOFF_1 PAYOFF_2  ...

    NFG 1 R "title" { "player 1" "player 2" } { { "a" "b" } { "c" "d" } } "comment"
    { { "outcome" PAYOFF_1, PAYOFF_2 } ... }
    NUMBER_OF_OUTCOME ...

Outcome 0 pays nothing. Players choose in turn without observing each other.
"""

import os
from fractions import Fraction
from math import prod

from treeplex.base.storage.reading import read_text
from treeplex.forms.sources.efg_read import GambitReader
from treeplex.forms.sources.explicit_tree import ExplicitGame, Node
from treeplex.games.base import TERMINAL

Payoffs = tuple[Fraction, ...]


def read_nfg(path: str | os.PathLike[str]) -> ExplicitGame:
    """Read a game from a ``.nfg`` file; each player has one infostate, ``p{player}:{name of the player}``.

    Raises:
        FileError: the file is missing or not in the format; the message has the line.
    """
    return parse_nfg(read_text(path), os.fspath(path))


def parse_nfg(text: str, name: str = "text.nfg") -> ExplicitGame:
    """Read a game from the text of a ``.nfg`` file; ``name`` is used in errors and becomes the game's spec."""
    return NfgReader(text, name).game()


class NfgReader(GambitReader):
    """One pass over a ``.nfg`` file."""

    def game(self) -> ExplicitGame:
        """Read the file and return its game."""
        title, players = self.header("NFG", 1)
        strategies = self.strategies(len(players))
        if self.token.kind == "text":
            self.take("text", "the comment")
        profiles = prod(map(len, strategies))
        if self.skip("{"):
            outcomes = self.outcomes(len(players))
            payoffs = [self.outcome(outcomes, profiles) for _ in range(profiles)]
        else:
            payoffs = [tuple(self.payoff(profiles) for _ in players) for _ in range(profiles)]
        if self.token.kind != "end":
            self.fail(f"expected the end of the file after {profiles:,} profiles, found {self.token}")
        return ExplicitGame(nodes_of(players, strategies, payoffs), players, title=title, spec=self.name)

    def strategies(self, players: int) -> list[tuple[str, ...]]:
        """Read the names of each player's strategies; number the strategies from 1 if the file gives only their number."""
        line = self.token.line
        self.expect("{", "before the strategies")
        strategies: list[tuple[str, ...]] = []
        while not self.skip("}"):
            if self.skip("{"):
                names: list[str] = []
                while not self.skip("}"):
                    names.append(self.take("text", "the name of a strategy"))
            else:
                count = self.integer("the number of strategies")
                if count > len(self.text):
                    self.fail(f"{count:,} strategies, but the file is too short for their payoffs", line)
                names = [str(number) for number in range(1, count + 1)]
            if not names:
                self.fail(f"player {len(strategies) + 1} has no strategies; give at least one", line)
            strategies.append(tuple(names))
        if len(strategies) != players:
            self.fail(f"strategies of {len(strategies)} players, but the file lists {players} players", line)
        if prod(map(len, strategies)) > len(self.text):
            self.fail(f"{prod(map(len, strategies)):,} profiles, but the file is too short for their payoffs", line)
        return strategies

    def outcomes(self, players: int) -> list[Payoffs]:
        """Read the payoffs of all outcomes, starting with the empty outcome."""
        outcomes: list[Payoffs] = [(Fraction(0),) * players]
        while not self.skip("}"):
            line = self.token.line
            outcomes.append(self.payoffs(players, line, named=True))
        return outcomes

    def outcome(self, outcomes: list[Payoffs], profiles: int) -> Payoffs:
        """Read the next profile's payoffs, given by an outcome."""
        line = self.token.line
        if self.token.kind == "end":
            self.fail(f"the file ends early; give an outcome number for each of {profiles:,} profiles")
        number = self.integer("the number of an outcome")
        if not 0 <= number < len(outcomes):
            self.fail(f"unknown outcome {number}; write 1 to {len(outcomes) - 1}, or 0 for none", line)
        return outcomes[number]

    def payoff(self, profiles: int) -> Fraction:
        """Read the next payoff."""
        if self.token.kind == "end":
            self.fail(f"the file ends early; give each player's payoff for each of {profiles:,} profiles")
        value = self.number("a payoff")
        self.skip(",")
        return value


def nodes_of(players: tuple[str, ...], strategies: list[tuple[str, ...]], payoffs: list[Payoffs]) -> list[Node]:
    """Build the game tree with hidden sequential moves, player by player."""
    nodes: list[Node] = []
    profiles = [0]
    step, first = 1, 1
    for player, names in enumerate(strategies):
        count = len(names)
        for number in range(len(profiles)):
            children = tuple(range(first + number * count, first + (number + 1) * count))
            nodes.append(Node(player, f"p{player}:{players[player]}", names, children))
        profiles = [profile + step * choice for profile in profiles for choice in range(count)]
        first, step = first + len(profiles), step * count
    return nodes + [Node(TERMINAL, payoffs=payoffs[profile]) for profile in profiles]
