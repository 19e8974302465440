"""Reader for LiteEFG's game files: ``.game``, and the ``.openspiel`` files in LiteEFG's ``~/game_instances``.

One line per node or information set, words separated by blanks, ``#`` comments; players are numbered from 1::

    # num_players: 2,
    node / chance actions JQ=0.5 QJ=0.5
    node /C:JQ player 1 actions check bet
    node /C:JQ/P1:check leaf payoffs 1=1 2=-1
    infoset pl1_0__J? nodes /C:JQ

In a ``.game`` file actions are labels and the child of ``parent`` is ``parent/C:label`` or ``parent/P1:label``; a file with
``openspiel,`` in its comment lists the children instead, percent-escaped. As in LiteEFG, chance weights are divided by their
sum, a player missing at a leaf gets 0, and a decision node in no information set forms its own. Unlike in LiteEFG, weights
whose sum differs from one by more than 1e-3 are refused.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn
from urllib.parse import unquote

from treeplex.base.spec import shown
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError
from treeplex.forms.sources.explicit_tree import ExplicitGame, Node, exact_number, simplest_fractions
from treeplex.games.base import CHANCE, TERMINAL

PLAYERS = re.compile(r"#\s*(?:num_)?players:\s*(\d+)")
PLAYER = re.compile(r"0{0,9}[1-9][0-9]{0,2}")
"""A player's number, from 1 to 999."""
WEIGHT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Line:
    """A node as described on its line; ``values`` are chance weights, or payoffs by player."""

    number: int
    player: int
    words: tuple[str, ...] = ()
    values: tuple[Fraction, ...] = ()


def read_game_file(path: str | os.PathLike[str]) -> ExplicitGame:
    """Read a game from a ``.game`` or ``.openspiel`` file; infostates are the labels after ``__`` in the file's names.

    Raises:
        FileError: the file is missing or not in the format; the message has the line.
    """
    return parse_game_file(read_text(path), os.fspath(path))


def parse_game_file(text: str, name: str = "text.game") -> ExplicitGame:
    """Read a game from the text of such a file; ``name`` is used in errors and becomes the game's spec."""
    return GameFileReader(text, name).game()


class GameFileReader:
    """One pass over a file."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.nodes: dict[str, Line] = {}
        self.infosets: dict[str, tuple[int, list[str]]] = {}
        self.infoset_of: dict[str, str] = {}
        self.lists_children = False
        self.players = 0
        for number, content in enumerate(text.split("\n"), 1):
            self.read_line(number, content.strip())
        if not self.nodes:
            self.fail(1, "no nodes; a game file has lines such as: node / player 1 actions left right")
        self.players = self.players or max(map(highest_player, self.nodes.values()))
        for line in self.nodes.values():
            if highest_player(line) > self.players:
                self.fail(line.number, f"player {highest_player(line)}, but the file declares {self.players} players")

    def fail(self, line: int, message: str) -> NoReturn:
        raise FileError(f"{self.name}:{line}: {message}")

    def read_line(self, number: int, line: str) -> None:
        if line.startswith("#"):
            self.lists_children |= line.lstrip("# ").startswith("openspiel,")
            players = PLAYERS.match(line)
            if players and not PLAYER.fullmatch(players[1]):
                self.fail(number, f"{shown(players[1], 20)} players; write a number from 1 to 999")
            self.players = int(players[1]) if players else self.players
            return
        words = line.split()
        if not words:
            return
        if words[0] == "node" and len(words) > 3:
            if words[1] in self.nodes:
                self.fail(number, f"node {words[1]} appears twice, first on line {self.nodes[words[1]].number}; remove one")
            self.nodes[words[1]] = self.read_node(number, words[2:])
        elif words[0] == "infoset" and len(words) > 3 and words[2] == "nodes":
            self.read_infoset(number, words[1], words[3:])
        else:
            self.fail(number, f"cannot read {line[:60]!r}; write 'node NAME ...' or 'infoset NAME nodes ...'")

    def read_node(self, number: int, words: list[str]) -> Line:
        """Parse the part of a node's line after the name."""
        if words[:2] == ["chance", "actions"]:
            pairs = [self.pair(number, word) for word in words[2:]]
            return Line(number, CHANCE, tuple(key for key, _ in pairs), self.shares(number, [value for _, value in pairs]))
        if words[0] == "player" and words[2:3] == ["actions"] and len(words) > 3:
            if not PLAYER.fullmatch(words[1]):
                self.fail(number, f"player {shown(words[1], 20)} must be a number from 1 to 999")
            repeated = [word for word, count in Counter(words[3:]).items() if count > 1]
            if repeated:
                self.fail(number, f"action {repeated[0]} appears twice; give each action its own label")
            return Line(number, int(words[1]) - 1, tuple(words[3:]))
        if words[:2] == ["leaf", "payoffs"]:
            pairs = [self.pair(number, word) for word in words[2:]]
            bad = [key for key, _ in pairs if not PLAYER.fullmatch(key)]
            if bad:
                self.fail(number, f"payoff of player {shown(bad[0], 20)}: players are numbered from 1 to 999")
            repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
            if repeated:
                self.fail(number, f"player {repeated[0]} has two payoffs; give one")
            return Line(number, TERMINAL, tuple(key for key, _ in pairs), tuple(value for _, value in pairs))
        return self.fail(number, "expected 'chance actions a=p ...', 'player N actions a ...' or 'leaf payoffs 1=x ...'")

    def pair(self, number: int, word: str) -> tuple[str, Fraction]:
        """Parse ``key=number``."""
        key, equals, value = word.rpartition("=")
        try:
            return key, exact_number(value) if equals else self.fail(number, f"expected key=number, found {word!r}")
        except ValueError as error:
            self.fail(number, f"{value[:40]!r} is not a number: {error}")

    def shares(self, number: int, weights: list[Fraction]) -> tuple[Fraction, ...]:
        """Normalise chance weights to fractions that sum to exactly one."""
        whole = sum(weights, Fraction(0))
        if min(weights, default=Fraction(0)) < 0:
            self.fail(number, "a chance probability is negative")
        if abs(whole - 1) > WEIGHT_TOLERANCE:
            self.fail(number, f"chance probabilities sum to {float(whole):.9g}, not 1; correct them")
        if whole == 1:
            return tuple(weights)
        return tuple(simplest_fractions([float(weight / whole) for weight in weights]))

    def read_infoset(self, number: int, name: str, nodes: list[str]) -> None:
        if name in self.infosets:
            self.fail(number, f"information set {name} appears twice, first on line {self.infosets[name][0]}; remove one")
        for node in nodes:
            if node not in self.nodes:
                self.fail(number, f"unknown node {node}; list all nodes before the information sets")
            if node in self.infoset_of:
                self.fail(number, f"node {node} is already in information set {self.infoset_of[node]}; remove it from one")
            self.infoset_of[node] = name
            if self.nodes[node].player < 0 or self.nodes[node].player != self.nodes[nodes[0]].player:
                self.fail(number, f"nodes {nodes[0]} and {node} belong to different players; split the information set")
            first, other = self.nodes[nodes[0]].words, self.nodes[node].words
            if len(first) != len(other) or (first != other and not self.lists_children):
                self.fail(number, f"nodes {nodes[0]} and {node} have different actions; split the information set")
        self.infosets[name] = (number, nodes)

    def child(self, parent: str, line: Line, word: str) -> str:
        """Return the name of a child node."""
        if self.lists_children:
            return word
        edge = f"C:{word}" if line.player == CHANCE else f"P{line.player + 1}:{word}"
        return f"{parent}{edge}" if parent.endswith("/") else f"{parent}/{edge}"

    def game(self) -> ExplicitGame:
        """Build the tree from the root down."""
        children = {
            name: () if line.player == TERMINAL else tuple(self.child(name, line, word) for word in line.words)
            for name, line in self.nodes.items()
        }
        below: dict[str, str] = {}
        for name, names in children.items():
            for child in names:
                if child not in self.nodes:
                    self.fail(self.nodes[name].number, f"child {child} of node {name} is not in the file; add its line")
                if child in below:
                    self.fail(
                        self.nodes[name].number,
                        f"node {child} is a child of both {below[child]} and {name}; remove it from one",
                    )
                below[child] = name
        roots = [name for name in self.nodes if name not in below]
        if len(roots) != 1:
            self.fail(
                self.nodes[roots[1]].number if roots else 1, f"{len(roots)} nodes have no parent; only the root may have none"
            )
        order = [roots[0]]
        for name in order:
            order.extend(children[name])
        if len(order) < len(self.nodes):
            reached = set(order)
            lost = next(name for name in self.nodes if name not in reached)
            self.fail(self.nodes[lost].number, f"node {lost} cannot be reached from the root")
        index = {name: number for number, name in enumerate(order)}
        infostates = self.infostates()
        nodes = [self.node(name, tuple(index[child] for child in children[name]), infostates) for name in order]
        return ExplicitGame(nodes, [f"Player {player}" for player in range(self.players)], spec=self.name)

    def node(self, name: str, children: tuple[int, ...], infostates: dict[str, str]) -> Node:
        """Build the node described on one line."""
        line = self.nodes[name]
        if line.player == TERMINAL:
            payoffs = [Fraction(0)] * self.players
            for key, value in zip(line.words, line.values, strict=True):
                payoffs[int(key) - 1] = value
            return Node(TERMINAL, payoffs=tuple(payoffs))
        names = tuple(map(str, range(len(line.words)))) if self.lists_children else line.words
        return Node(line.player, infostates.get(name, ""), names, children, line.values)

    def infostates(self) -> dict[str, str]:
        """The infostate of every decision node: ``p{player}:{label}``; labels in ``openspiel`` files are unescaped."""
        names: dict[str, str] = {}
        taken: dict[str, str] = {}
        for node, line in self.nodes.items():
            if line.player < 0:
                continue
            infoset = self.infoset_of.get(node)
            label = node if infoset is None else infoset.partition("__")[2] or infoset
            infostate = f"p{line.player}:{unquote(label) if self.lists_children else label}"
            owner = node if infoset is None else infoset
            while taken.setdefault(infostate, owner) != owner:
                infostate += "'"
            names[node] = infostate
        return names


def highest_player(line: Line) -> int:
    """Return the highest player number on a node's line, counted from 1; 0 at a chance node."""
    return max(map(int, line.words), default=0) if line.player == TERMINAL else max(line.player + 1, 0)
