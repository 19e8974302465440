"""Lines: actions and cards from the start of a spot on, as text such as ``x, b50%, c, 7s, b120``.

=================== ============================================================================================
``x``, ``c``, ``f`` check, call, fold.
``b120``, ``b50%``  a bet of 120 chips, or of half the pot.
``r300``            a raise *to* 300 chips on this street; ``r60%`` raises by 60% of the pot after the call;
                    ``r2.5x`` raises to 2.5 times the bet.
``a``               all-in.
``7s``              the card dealt, or all cards of a deal, as in ``AsKd2c``.
=================== ============================================================================================

Steps are separated by commas or spaces. Words such as ``check``, ``bet 120`` or ``raise to 300`` are accepted, and case is
ignored. The *canonical* text has chips in place of shares of the pot and commas without spaces: ``x,b100,c,7s,b120``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import Action, BettingTree, Decision, Showdown, StreetEnd
from treeplex.holdem.cards.cards import PICTURES, card_to_string, cards_to_string, parse_cards
from treeplex.holdem.spots.spot import Spot

PLAYERS = ("OOP", "IP")
STEP = re.compile(
    r"(?P<cards>(?:[2-9tjqka][cdhs])+)(?!\w)"
    r"|(?P<word>all[- ]?in|check|call|fold|bet|raise|[xkcfabr])"
    r"(?:(?:\s+to\b)?\s*(?P<amount>\d++(?:\.\d*+)?|\.\d++)(?P<unit>[%x]?))?(?![\w.%])",
    re.IGNORECASE,
)
BREAK = re.compile(r"[\s,;>-]*")
LETTERS = {"check": "x", "k": "x", "call": "c", "fold": "f", "bet": "b", "raise": "r", "allin": "a"}
KINDS = {"x": "check", "c": "call", "f": "fold", "a": "allin"}
GRAMMAR = "write x check, c call, f fold, b50% or b120 bet, r300 raise to, a all-in, and cards such as 7s, with commas between"
CHIP_MARGIN, SHARE_MARGIN, TIMES_MARGIN = 0.5000001, 0.005, 0.05
"""Tolerances between a size and an offered one: in chips, of the pot (shown as whole percent), times the bet."""


@dataclass(frozen=True)
class Step:
    """One step of a line as the user wrote it.

    Attributes:
        text: the step's text.
        letter: ``x``, ``c``, ``f``, ``b``, ``r`` or ``a``; empty for cards.
        amount: amount of a bet or raise; None if not given.
        unit: unit of the amount: ``%`` of the pot, ``x`` times the bet faced, or empty for chips.
        cards: the cards dealt.
    """

    text: str
    letter: str = ""
    amount: float | None = None
    unit: str = ""
    cards: tuple[int, ...] = ()


@dataclass(frozen=True)
class Place:
    """A position in the betting tree: the end of a line.

    Attributes:
        node: the node in the betting tree.
        roots: for each street reached, the node that opens it; in a run-out after an all-in, the showdown.
        ends: for each finished street, the node that ended it.
        deals: the cards that opened each street after the first; empty where a line omits them.
        line: the canonical text.
    """

    node: int = 0
    roots: tuple[int, ...] = (0,)
    ends: tuple[int, ...] = ()
    deals: tuple[tuple[int, ...], ...] = ()
    line: str = ""

    def after(self, node: int, word: str) -> "Place":
        """The position after one more action."""
        return Place(node, self.roots, self.ends, self.deals, joined(self.line, word))

    def dealt(self, node: int, cards: tuple[int, ...]) -> "Place":
        """The position after a deal."""
        return Place(
            node,
            (*self.roots, node),
            (*self.ends, self.node),
            (*self.deals, cards),
            joined(self.line, cards_to_string(cards)) if cards else self.line,
        )


def joined(line: str, word: str) -> str:
    """A canonical line extended by one step."""
    return f"{line},{word}" if line else word


def read_steps(text: str) -> list[Step]:
    """The steps of a line; none for an empty text or ``root``.

    Raises:
        SpecError: a step that cannot be read.
    """
    text = text.translate(PICTURES)
    steps: list[Step] = []
    position = BREAK.match(text).end()  # type: ignore[union-attr]
    if text.strip().lower() == "root":
        return []
    while position < len(text):
        match = STEP.match(text, position)
        if not match:
            word = re.split(r"[\s,;]", text[position:])[0]
            raise SpecError(f"line {shown(text)}: cannot read step {len(steps) + 1}, {shown(word)}; {GRAMMAR}")
        steps.append(step_of(match, text))
        position = BREAK.match(text, match.end()).end()  # type: ignore[union-attr]
    return steps


def step_of(match: re.Match[str], text: str) -> Step:
    """Convert the match of a regular expression to a step."""
    if match["cards"]:
        return Step(match[0], cards=parse_cards(match["cards"]))
    word = match["word"].lower().replace(" ", "").replace("-", "")
    letter = LETTERS.get(word, word)
    if match["amount"] is not None and letter not in "bra":
        raise SpecError(f"line {shown(text)}: {shown(match[0])} has an amount, but only bets and raises take one; {GRAMMAR}")
    amount = None if match["amount"] is None else float(match["amount"])
    return Step(match[0], letter, amount, (match["unit"] or "").lower())


def find_place(spot: Spot, tree: BettingTree, text: str, *, open_cards: bool = False) -> Place:
    """The place at the end of a line.

    Args:
        spot: the spot.
        tree: its betting tree.
        text: the line.
        open_cards: whether cards may be omitted (any card then matches); a line that ends a street leads to the next street.

    Raises:
        SpecError: a step is not possible; the message lists the possible steps.
    """
    location, steps = Place(), read_steps(text)
    waiting = 0
    while waiting < len(steps):
        step, node = steps[waiting], tree.nodes[location.node]
        where = f"line {shown(text)}, step {waiting + 1}, {step.text!r}"
        if isinstance(node, Decision):
            action = chosen(spot, node, step, where)
            location = location.after(node.children[action], action_text(node.actions[action]))
            waiting += 1
        elif deals_next(spot, tree, location):
            cards: tuple[int, ...] = ()
            used = 0
            if step.cards or not open_cards:
                cards, used = dealt_cards(spot, location, steps[waiting:], where)
            location = location.dealt(node.child if isinstance(node, StreetEnd) else location.node, cards)
            waiting += used
        else:
            raise SpecError(f"{where}: the hand is over after {location.line!r}; remove this step")
    node = tree.nodes[location.node]
    return location.dealt(node.child, ()) if open_cards and isinstance(node, StreetEnd) else location


def deals_next(spot: Spot, tree: BettingTree, location: Place) -> bool:
    """Whether cards are dealt next, because a street ended or both players are all-in."""
    node = tree.nodes[location.node]
    last = len(location.roots) == len(spot.streets)
    return isinstance(node, StreetEnd) or (isinstance(node, Showdown) and not last)


def board_at(spot: Spot, location: Place) -> tuple[int, ...]:
    """The board cards, in the order dealt."""
    return spot.board + tuple(card for deal in location.deals for card in deal)


def dealt_cards(spot: Spot, location: Place, steps: list[Step], where: str) -> tuple[tuple[int, ...], int]:
    """The cards of the next deal, highest first, and the number of steps that give them."""
    wanted, board = spot.format.deal[spot.streets[len(location.roots)]], board_at(spot, location)
    cards: list[int] = []
    used = 0
    for step in steps:
        if len(cards) >= wanted or not step.cards:
            break
        cards += step.cards
        used += 1
    what = "a card is dealt" if wanted == 1 else f"{wanted} cards are dealt"
    if len(cards) != wanted:
        example = cards_to_string(spot.format.cards_left(board)[-wanted:][::-1])
        given = f", not {len(cards)}" if cards else ""
        raise SpecError(f"{where}: {what} here{given}; name {'it' if wanted == 1 else 'them'}, such as {example}")
    for card in cards:
        if card in board or cards.count(card) > 1 or card not in spot.format.deck:
            why = "is not in the deck" if card not in spot.format.deck else "is on the board already"
            raise SpecError(f"{where}: {card_to_string(card)} {why} ({cards_to_string(board)}); name another card")
    return tuple(sorted(cards, reverse=True)), used


def deal_texts(spot: Spot, location: Place) -> Iterator[str]:
    """The texts of all possible next deals."""
    board = board_at(spot, location)
    left = spot.format.cards_left(board)
    for deal in combinations(left, spot.format.deal[spot.streets[len(location.roots)]]):
        yield cards_to_string(deal[::-1])


def chosen(spot: Spot, node: Decision, step: Step, where: str) -> int:
    """The index of the action that a step describes.

    Raises:
        SpecError: the node has no such action.
    """
    index = None
    if step.letter in ("x", "c", "f") or (step.letter == "a" and step.amount is None):
        index = next((k for k, action in enumerate(node.actions) if action.kind == KINDS[step.letter]), None)
    elif step.letter:
        index = sized_action(spot, node, step)
    if index is None:
        who, offers = PLAYERS[node.player], ", ".join(offer_text(node, action) for action in node.actions)
        problem = "no card is dealt here" if step.cards else "there is no such action"
        raise SpecError(f"{where}: {problem}; {who} can {offers}")
    return index


def sized_action(spot: Spot, node: Decision, step: Step) -> int | None:
    """The bet or raise nearest to a size, if it is within tolerance; without a size, the only bet or raise."""
    sizes = {k: action.amount for k, action in enumerate(node.actions) if action.kind in ("bet", "raise", "allin")}
    if step.amount is None:
        return next(iter(sizes)) if len(sizes) == 1 else None
    faced, pot = node.street_bets[1 - node.player], pot_after_call(node)
    wanted, margin = step.amount, CHIP_MARGIN * spot.chip
    if step.unit == "%":
        wanted, margin = faced + pot * step.amount / 100, spot.chip + SHARE_MARGIN * pot
    elif step.unit == "x":
        wanted, margin = faced * step.amount, spot.chip + TIMES_MARGIN * faced
    near = {abs(amount - wanted): k for k, amount in sizes.items() if abs(amount - wanted) <= margin}
    return near[min(near)] if near else None


def pot_after_call(node: Decision) -> float:
    """The pot in chips once the player has called the bet it faces."""
    return 2 * node.contributions[1 - node.player]


def offer_text(node: Decision, action: Action) -> str:
    """An offered action as text for error messages: ``b100 (50%)``."""
    if action.kind not in ("bet", "raise", "allin"):
        return action_text(action)
    faced, pot = node.street_bets[1 - node.player], pot_after_call(node)
    if action.kind == "allin" or not pot:
        return f"{action_text(action)} ({action.amount:.12g})" if action.kind == "allin" else action_text(action)
    return f"{action_text(action)} ({100 * (action.amount - faced) / pot:.0f}%)"


def action_text(action: Action) -> str:
    """An action in canonical notation."""
    if action.kind in ("bet", "raise"):
        return f"{action.kind[0]}{action.amount:.12g}"
    return {kind: letter for letter, kind in KINDS.items()}[action.kind]
