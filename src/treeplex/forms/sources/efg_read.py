"""Reader for Gambit's extensive-form files (``.efg``, format 2), with exact numbers.

Grammar: https://gambitproject.readthedocs.io/en/latest/formats.efg.html. Nodes come in prefix order::

    EFG 2 R "title" { "player 1" "player 2" } "comment"
    c "node" INFOSET "label" { "action" PROBABILITY ... } OUTCOME "name" { PAYOFF, ... }
    p "node" PLAYER INFOSET "label" { "action" ... } OUTCOME ...
    t "node" OUTCOME "name" { PAYOFF, ... }

An information set or an outcome is described where it first appears and may be given by its number alone after that.
Numbers are integers, decimals or fractions and stay exact. Payoffs of outcomes at inner nodes add up along the path.

Beyond Gambit: ``#`` and ``//`` comments; decimal chance probabilities may sum to one within 1e-9 (they become the simplest
fractions that sum to one); an information set may repeat its description with another label (the first one counts).
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, NoReturn

from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError
from treeplex.forms.sources.explicit_tree import ExplicitGame, Node, exact_number, simplest_fractions
from treeplex.games.base import CHANCE, TERMINAL

TOKEN = re.compile(
    r"""(?P<blank>\s+|\#[^\n]*|//[^\n]*)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<number>[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++|/\d++)?(?![^\s{},"]))
      | (?P<mark>[{},])
      | (?P<word>[^\s{},"]+)
      | (?P<open>")""",
    re.VERBOSE | re.DOTALL,
)
KINDS = {"text": "a quoted text", "number": "a number"}


class Token(NamedTuple):
    """A token of the file: its kind (``text``, ``number``, ``mark``, ``word`` or ``end``), its content and its line."""

    kind: str
    content: str
    line: int

    def __str__(self) -> str:
        return {"end": "the end of the file", "text": json.dumps(self.content, ensure_ascii=False)}.get(self.kind, self.content)


@dataclass(slots=True)
class Infoset:
    """An information set as first described in the file; ``probabilities`` are for chance only."""

    label: str
    actions: tuple[str, ...]
    probabilities: tuple[Fraction, ...] = ()


@dataclass(slots=True)
class Draft:
    """A node while its children are being read."""

    player: int
    infoset: int
    actions: tuple[str, ...]
    probabilities: tuple[Fraction, ...]
    total: tuple[Fraction, ...]
    children: list[int] = field(default_factory=list)


def read_efg(path: str | os.PathLike[str]) -> ExplicitGame:
    """Read a game from a ``.efg`` file; infostates are ``p{player}:{label or number of the information set}``.

    Raises:
        FileError: the file is missing or not in the format; the message has the line.
    """
    return parse_efg(read_text(path), os.fspath(path))


def parse_efg(text: str, name: str = "text.efg") -> ExplicitGame:
    """Read a game from the text of a ``.efg`` file; ``name`` is used in errors and becomes the game's spec."""
    return EfgReader(text, name).game()


class GambitReader:
    """One pass over the tokens of a Gambit file."""

    def __init__(self, text: str, name: str) -> None:
        self.name, self.text = name, text
        self.tokens = self.split(text)
        self.token = next(self.tokens)

    def split(self, text: str) -> Iterator[Token]:
        """Yield the tokens of the file, followed by endless ``end`` tokens."""
        position, line = 0, 1
        while position < len(text):
            match = TOKEN.match(text, position)
            assert match is not None
            kind, content = str(match.lastgroup), match.group()
            if kind == "open":
                raise FileError(f'{self.name}:{line}: unterminated text; add the closing "')
            if kind == "text":
                inside = content[1:-1]
                yield Token(kind, re.sub(r'\\(["\\])', r"\1", inside) if "\\" in inside else inside, line)
            elif kind != "blank":
                yield Token(kind, content, line)
            if kind in ("blank", "text"):
                line += content.count("\n")
            position = match.end()
        while True:
            yield Token("end", "", line)

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        raise FileError(f"{self.name}:{self.token.line if line is None else line}: {message}")

    def take(self, kind: str, what: str) -> str:
        """Consume the next token, which must be of this kind, and return its content."""
        token = self.token
        if token.kind != kind:
            self.fail(f"expected {what} ({KINDS[kind]}), found {token}")
        self.token = next(self.tokens)
        return token.content

    def skip(self, content: str) -> bool:
        """Consume the next token if it is this mark or word; return whether it did."""
        matches = self.token.kind in ("mark", "word") and self.token.content == content
        if matches:
            self.token = next(self.tokens)
        return matches

    def expect(self, content: str, what: str) -> None:
        if not self.skip(content):
            self.fail(f"expected {content!r} {what}, found {self.token}")

    def number(self, what: str) -> Fraction:
        line = self.token.line
        try:
            return exact_number(self.take("number", what))
        except ValueError as error:
            self.fail(f"cannot read {what}: {error}", line)

    def integer(self, what: str) -> int:
        line = self.token.line
        value = self.number(what)
        if value.denominator != 1:
            self.fail(f"{what} must be an integer, not {value}", line)
        return int(value)

    def header(self, kind: str, version: int) -> tuple[str, tuple[str, ...]]:
        """Read the title and players of a file that begins with ``kind version R``."""
        if not self.skip(kind):
            self.fail(f"not an .{kind.lower()} file: it must begin with {kind} {version} R")
        line = self.token.line
        version_given = self.integer("the format version")
        if version_given != version:
            self.fail(
                f"format version {version_given}, but only version {version} is supported; save the game with a current Gambit",
                line,
            )
        if not (self.skip("R") or self.skip("D")):
            self.fail(f"expected R after {kind} {version}, found {self.token}")
        title = self.take("text", "the title")
        self.expect("{", "before the players")
        player_names = []
        while not self.skip("}"):
            player_names.append(self.take("text", "the name of a player"))
        if not player_names:
            self.fail("no players; name at least one between { and }")
        return title, tuple(player_names)

    def payoffs(self, players: int, line: int, *, named: bool = False) -> tuple[Fraction, ...]:
        """Read ``{ payoff, ... }``, one payoff per player, after the outcome's name if ``named``."""
        self.expect("{", "before the payoffs")
        if named and self.token.kind == "text":
            self.take("text", "the name of the outcome")
        payoffs = []
        while not self.skip("}"):
            payoffs.append(self.number("a payoff"))
            self.skip(",")
        if len(payoffs) != players:
            self.fail(f"{len(payoffs)} payoffs for {players} players; write one per player", line)
        return tuple(payoffs)


class EfgReader(GambitReader):
    """One pass over an ``.efg`` file."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.infosets: dict[tuple[int, int], Infoset] = {}
        self.outcomes: dict[int, tuple[Fraction, ...]] = {}
        self.drafts: list[Draft] = []

    def game(self) -> ExplicitGame:
        """Read the file and return its game."""
        title, player_names = self.header("EFG", 2)
        if self.token.kind == "text":
            self.take("text", "the comment")
        players = len(player_names)
        nothing = (Fraction(0),) * players
        open_nodes: list[int] = []
        while open_nodes or not self.drafts:
            total = self.drafts[open_nodes[-1]].total if open_nodes else nothing
            draft = self.read_node(players, total)
            if open_nodes:
                self.drafts[open_nodes[-1]].children.append(len(self.drafts))
            open_nodes.append(len(self.drafts))
            self.drafts.append(draft)
            while open_nodes and len(self.drafts[open_nodes[-1]].children) == len(self.drafts[open_nodes[-1]].actions):
                open_nodes.pop()
        if self.token.kind != "end":
            self.fail(f"the tree is complete, but {self.token} follows; check the action lists above")
        names = self.infostate_names()
        nodes = [
            Node(
                draft.player,
                names.get((draft.player, draft.infoset), ""),
                draft.actions,
                tuple(draft.children),
                draft.probabilities,
                draft.total if draft.player == TERMINAL else (),
            )
            for draft in self.drafts
        ]
        return ExplicitGame(nodes, player_names, title=title, spec=self.name)

    def read_node(self, players: int, total: tuple[Fraction, ...]) -> Draft:
        """Read the next node; ``total`` is the sum of the payoffs of outcomes above it."""
        line = self.token.line
        kind = self.token.content if self.token.kind == "word" else ""
        if kind not in ("c", "p", "t"):
            self.fail(f"expected a node (c, p or t), found {self.token}; an action above has no node yet")
        self.token = next(self.tokens)
        if self.token.kind == "text":
            self.take("text", "the name of the node")
        if kind == "t":
            return Draft(TERMINAL, 0, (), (), self.outcome(players, total))
        player = CHANCE
        if kind == "p":
            player = self.integer("the player") - 1
            if not 0 <= player < players:
                self.fail(f"player {player + 1} does not exist; players are numbered 1 to {players}", line)
        number = self.integer("the number of the information set")
        infoset = self.infoset(player, number, line)
        return Draft(player, number, infoset.actions, infoset.probabilities, self.outcome(players, total))

    def infoset(self, player: int, number: int, line: int) -> Infoset:
        """Return the information set with this number, whether new or already described."""
        known = self.infosets.get((player, number))
        whose = "of chance" if player == CHANCE else f"of player {player + 1}"
        if self.token.kind != "text" and not (self.token.kind == "mark" and self.token.content == "{"):
            if known is None:
                self.fail(f"information set {number} {whose} has no description yet; write its label and actions here", line)
            return known
        new = self.described_infoset(player, line)
        if known is None:
            self.infosets[player, number] = new
            return new
        if known.actions != new.actions or known.probabilities != new.probabilities:
            self.fail(
                f"information set {number} {whose} has actions {list(new.actions)} here, but {list(known.actions)} earlier"
                f"{' (or different probabilities)' if player == CHANCE else ''}; give each set its own number",
                line,
            )
        return known

    def described_infoset(self, player: int, line: int) -> Infoset:
        """Read the label and the actions, with probabilities at chance nodes."""
        label = self.take("text", "the label") if self.token.kind == "text" else ""
        self.expect("{", "before the actions")
        actions, probabilities, decimals = [], [], False
        while not self.skip("}"):
            actions.append(self.take("text", "the name of an action"))
            if player == CHANCE:
                decimals |= "." in self.token.content or "e" in self.token.content.lower()
                probabilities.append(self.number(f"the probability of action {actions[-1]!r}"))
                if probabilities[-1] < 0:
                    self.fail(f"the probability of action {actions[-1]!r} is negative", line)
            self.skip(",")
        if not actions:
            self.fail("information set has no actions; use a terminal node (t) instead", line)
        whole = sum(probabilities, Fraction(0))
        if player == CHANCE and whole != 1:
            if not decimals or abs(whole - 1) > Fraction(1, 10**9):
                self.fail(
                    f"chance probabilities sum to {whole} = {float(whole):.12g}, not 1; write fractions such as 1/3", line
                )
            probabilities = simplest_fractions([float(probability / whole) for probability in probabilities])
        return Infoset(label, tuple(actions), tuple(probabilities))

    def outcome(self, players: int, total: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """Return ``total`` plus the payoffs of the node's outcome, given by number and perhaps a description."""
        line = self.token.line
        number = self.integer("the number of the outcome")
        described = self.token.kind == "text" or (self.token.kind == "mark" and self.token.content == "{")
        if not described:
            if number and number not in self.outcomes:
                self.fail(f"outcome {number} has no payoffs yet; write its name and {{ payoffs }} here", line)
            payoffs = self.outcomes.get(number)
        else:
            payoffs = self.described_outcome(players, line)
            if number == 0:
                self.fail("outcome 0 cannot have payoffs; use another number", line)
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                self.fail(f"outcome {number} had different payoffs earlier; use another number", line)
        return total if payoffs is None else tuple(a + b for a, b in zip(total, payoffs, strict=True))

    def described_outcome(self, players: int, line: int) -> tuple[Fraction, ...]:
        """Read the payoffs after the outcome's name."""
        if self.token.kind == "text":
            self.take("text", "the name of the outcome")
        return self.payoffs(players, line)

    def infostate_names(self) -> dict[tuple[int, int], str]:
        """Infostate names: ``p{player}:{label}``, with the number if there is no label; ``label#number`` for shared labels."""
        labels = Counter((player, infoset.label) for (player, _), infoset in self.infosets.items())
        names: dict[tuple[int, int], str] = {}
        taken: set[str] = set()
        owned = [key for key in self.infosets if key[0] != CHANCE]
        for player, number in sorted(owned, key=lambda key: not self.infosets[key].label):
            label = self.infosets[player, number].label
            name = f"p{player}:{label if label and labels[player, label] == 1 else f'{label}#{number}' if label else number}"
            while name in taken:
                name += "'"
            taken.add(name)
            names[player, number] = name
        return names
