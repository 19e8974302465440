"""Drills: deal hands of a solved spot up to a decision, and compare a player's action with the solution.

Both players' hands are drawn from their ranges at the start node. They follow the solution up to the first decision of the
player that passes the filters. Spots that begin preflop, such as the shipped charts, are drilled in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.digits import finite
from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS
from treeplex.holdem.cards.cards import RANKS, parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.policies.line import joined
from treeplex.holdem.policies.view import NodeView
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import SOLVED_FILE
from treeplex.holdem.study.batches.boards import Texture, texture_of
from treeplex.holdem.study.preflop_charts import TAKEN
from treeplex.holdem.study.report.breakdown import filtered, known_groups
from treeplex.holdem.study.report.page_data import NodeReport, report

TRIES = 3_000
"""Hands dealt in search of one that passes the filters."""
IN_THE_MIX = 0.05
"""Least frequency of an action that belongs to the solution's mix."""
SLIGHT = 0.01
"""Largest EV loss of an inaccuracy, as a share of the pot."""
SUITS = ("rainbow", "two-tone", "monotone", "four-flush", "flush")
PAIRING = ("unpaired", "paired", "two pair", "trips", "full house", "quads")
CONNECTED = ("connected", "disconnected")
TEXTURES = {
    **dict.fromkeys(SUITS, "suits"),
    **dict.fromkeys(PAIRING, "pairing"),
    **dict.fromkeys(RANKS.lower(), "high"),
    **dict.fromkeys(CONNECTED, "connected"),
}
"""Fields of a texture, by its values in lower case."""
ON = "on "
"""Prefix of textures in the text of a filter."""


class DrilledPolicy(Protocol):
    """A policy on a spot with views of its nodes."""

    @property
    def spot(self) -> Spot: ...
    def at(self, line: str) -> NodeView: ...


@final
@dataclass(frozen=True)
class DrillFilter:
    """Which decisions a drill asks.

    Attributes:
        player: 0 out of position, 1 in position; None for both.
        street: name of a street; None for all.
        hands: names of groups of hands, as for ``show --only``, and entries of ranges: ``top pair``, ``flush draw``, ``AKs``,
            ``77+``. A hand must be in one of the ranges' entries, if there are any, and match the groups.
        suits, pairing, high, connected: values of :class:`treeplex.holdem.study.batches.boards.Texture`; None for all.
    """

    player: int | None = None
    street: str | None = None
    hands: tuple[str, ...] = ()
    suits: str | None = None
    pairing: str | None = None
    high: str | None = None
    connected: str | None = None

    @classmethod
    def of(cls, text: str, player: int | None = None) -> "DrillFilter":
        """Parse a text such as ``top pair, 77+, river, on monotone``: hands, a street, and textures after ``on``.

        Raises:
            SpecError: an unknown texture.
        """
        fields, hands = dict[str, Any](), list[str]()
        for item in filter(None, (item.strip() for item in text.split(","))):
            name = item.lower()
            if name in HOLDEM_STREETS:
                fields["street"] = name
            elif name.startswith(ON):
                texture = name.removeprefix(ON).strip()
                if texture not in TEXTURES:
                    raise SpecError(f"unknown texture {shown(texture)}; write on {', on '.join(TEXTURES)}")
                fields[TEXTURES[texture]] = texture.upper() if len(texture) == 1 else texture
            else:
                hands.append(item)
        return cls(player, hands=tuple(hands), **fields)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names that are entries of ranges."""
        known = known_groups()
        kinds = [known[name.lower()][0] if name.lower() in known else "" for name in self.hands]
        return tuple(name for name, by in zip(self.hands, kinds, strict=True) if by == "class" or (not by and is_range(name)))

    @cached_property
    def range(self) -> NDArray[np.bool_] | None:
        """The hands of the ranges' entries, [1326]; None without entries."""
        return parse_range(",".join(self.entries)) > 0 if self.entries else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of groups of hands."""
        return tuple(name for name in self.hands if name not in self.entries)

    def check(self, spot: Spot) -> None:
        """Reject a street that the spot does not play.

        Raises:
            SpecError: the spot does not play the street.
        """
        names = [street_names(spot.format)[street] for street in spot.streets]
        if self.street is not None and self.street not in names:
            raise SpecError(f"street {shown(self.street)} is not played in this spot; choose {' or '.join(names)}")

    def fits_board(self, board: Sequence[int]) -> bool:
        """Whether a board has the wanted texture; boards of fewer than three cards pass only without one."""
        wanted = {name: getattr(self, name) for name in Texture._fields if getattr(self, name) is not None}
        return not wanted or (len(board) >= 3 and wanted.items() <= texture_of(board)._asdict().items())


@final
@dataclass(frozen=True)
class Question:
    """A decision of a dealt hand, with the solution's answer.

    Attributes:
        line: the line to the decision.
        player: the player who decides.
        hands: rows of both players' hands in ``format.hands``.
        node: the node, with EVs from the pot.
        row: the player's hand among those of the node.
        mix: the solution's frequency of each action, [A].
        ev: EV of each action in chips from the pot, [A]; preflop NaN for actions that the solution never takes and after which
            the player acts again, since its strategy there is not converged.
        spot: the spot.
    """

    line: str
    player: int
    hands: tuple[int, int]
    node: NodeReport
    row: int
    mix: Floats
    ev: Floats
    spot: Spot

    @property
    def position(self) -> str:
        """The player's position: ``OOP`` or ``IP``, preflop ``BB`` or ``BTN``."""
        return (("OOP", "IP") if self.spot.blinds is None else ("BB", "BTN"))[self.player]

    @property
    def unit(self) -> str:
        """The unit of amounts: the spot's, or big blinds if the big blind is one chip."""
        return "bb" if self.spot.blinds is not None and self.spot.blinds[1] == 1 else self.spot.unit

    @property
    def hand(self) -> str:
        """The player's hand, such as ``AsKd``."""
        return self.node.sides[self.player].names[self.row]

    def loss(self, action: int) -> float:
        """EV lost by an action, in chips; NaN if it is unknown."""
        return float(np.nanmax(self.ev) - self.ev[action])

    def verdict(self, action: int) -> str:
        """``best``, ``mix``, ``inaccuracy`` or ``mistake``.

        The most frequent action is best. Other actions with a frequency of at least 5% are part of the mix. A rarer action is a
        mistake if it loses more than 1% of the pot or its loss is unknown, and otherwise an inaccuracy.
        """
        if self.mix[action] == self.mix.max():
            return "best"
        if self.mix[action] >= IN_THE_MIX:
            return "mix"
        return "inaccuracy" if self.loss(action) <= SLIGHT * self.node.pot else "mistake"


def deal(policy: DrilledPolicy, wanted: DrillFilter, rng: np.random.Generator, start: str = "") -> Question:
    """Deal hands from a node on until one reaches a decision that passes the filters.

    Raises:
        SpecError: no such line, an unknown name in the filters, or no decision found in :data:`TRIES` hands.
    """
    wanted.check(policy.spot)
    view = policy.at(start)
    for _ in range(TRIES):
        player = int(rng.integers(2)) if wanted.player is None else wanted.player
        hands = drawn(policy.spot, view, player, rng, wanted.range if policy.spot.format == HOLDEM else None)
        question = None if hands is None else follow(policy, wanted, rng, start, player, hands)
        if question is not None:
            return question
    raise SpecError(f"no hand in {TRIES:,} dealt hands passes these filters; widen them")


def follow(
    policy: DrilledPolicy, wanted: DrillFilter, rng: np.random.Generator, line: str, player: int, hands: tuple[int, int]
) -> Question | None:
    """Follow the solution from a line to the next decision of a player that passes the filters; None if the hand ends first.

    Raises:
        SpecError: no such line, or the hands cannot be dealt there.
    """
    used = {int(card) for hand in hands for card in policy.spot.format.hands[hand]}
    while True:
        view = policy.at(line)
        if not can_be_dealt(policy.spot, view, hands):
            raise no_decision(line)
        if view.player is None:
            dealt = [child for child in view.children() if not used & set(parse_cards(child.rpartition(",")[2]))]
            if not dealt:
                return None
            line = dealt[drawn_child(policy, dealt, rng)]
            continue
        row = int(np.searchsorted(view.hands, hands[view.player]))
        if view.player == player and (question := asked(policy, wanted, view, hands)) is not None:
            return question
        shares = view.strategy[:, row].astype(np.float64)
        line = joined_action(view, int(rng.choice(len(shares), p=shares / shares.sum())))


def drawn_child(policy: DrilledPolicy, dealt: Sequence[str], rng: np.random.Generator) -> int:
    """The index of a drawn deal among ``dealt``; cards of a sample are drawn by the number of deals that they represent."""
    if not policy.spot.runouts:
        return int(rng.integers(len(dealt)))
    shares = np.array([policy.at(child).represents for child in dealt])
    return int(rng.choice(len(dealt), p=shares / shares.sum()))


def can_be_dealt(spot: Spot, view: NodeView, hands: tuple[int, int]) -> bool:
    """Whether both hands are in the players' ranges at a node and share no card."""
    cards = spot.format.hands
    return (
        all(hands[player] in view.hands_of(player) for player in (0, 1)) and not np.isin(cards[hands[0]], cards[hands[1]]).any()
    )


def no_decision(line: str) -> SpecError:
    """Return the error for hands without a decision at a line."""
    return SpecError(f"this hand has no decision at {line or 'root'!r}; deal another hand")


def joined_action(view: NodeView, action: int) -> str:
    """The line after an action."""
    children = view.children()
    return children[action] if children else joined(view.line, str(view.actions[action]))


def asked(policy: DrilledPolicy, wanted: DrillFilter, view: NodeView, hands: tuple[int, int]) -> Question | None:
    """The question at a node; None if it does not pass the filters, has one action only, or an action's EV is unknown."""
    assert view.player is not None
    if len(view.actions) == 1:
        return None
    names = street_names(policy.spot.format)
    if (wanted.street is not None and names[view.street] != wanted.street) or not wanted.fits_board(view.board):
        return None
    holdem = policy.spot.format == HOLDEM
    if holdem and wanted.range is not None and not wanted.range[hands[view.player]]:
        return None
    node = report(view, policy.spot).from_the_pot()
    row = int(np.searchsorted(view.hands, hands[view.player]))
    side = node.sides[view.player]
    groups = wanted.groups if holdem else wanted.hands
    if groups and side.names[row] not in filtered(node, groups).sides[view.player].names:
        return None
    mix, ev = side.frequency[:, row].astype(np.float64), side.action_ev[:, row]
    if not np.isfinite(ev).all():
        return None
    if view.street == 0 and policy.spot.blinds is not None:
        ev = np.where((mix < TAKEN) & ~np.isin(node.kinds, ("fold", "allin")), np.nan, ev)
    return Question(view.line, view.player, hands, node, row, mix, ev, policy.spot)


def question_at(policy: DrilledPolicy, line: str, hands: tuple[int, int]) -> Question:
    """The question of given hands at a line, for repeating it.

    Raises:
        SpecError: no such line, no player acts there, or the hands cannot be dealt there.
    """
    view = policy.at(line)
    found = view.player is not None and can_be_dealt(policy.spot, view, hands)
    question = asked(policy, DrillFilter(), view, hands) if found else None
    if question is None:
        raise no_decision(line)
    return question


def drawn(
    spot: Spot, view: NodeView, player: int, rng: np.random.Generator, among: NDArray[np.bool_] | None = None
) -> tuple[int, int] | None:
    """Rows of both players' hands, drawn from their ranges at a node; None if no opposing hand is compatible.

    Args:
        spot, view, player, rng: the spot, the node, the player who is asked, and the generator.
        among: [H], the hands that the player may get; None for all.
    """
    share = view.compatible_of(player)
    if not share.sum() > 0:
        raise SpecError(f"the solution never reaches {view.line or 'root'!r}; start at another node")
    if among is not None:
        share = share * among[view.hands_of(player)]
        if not share.sum() > 0:
            raise SpecError(f"none of these hands is in the range at {view.line or 'root'!r}; widen the range")
    own = int(view.hands_of(player)[rng.choice(len(share), p=share / share.sum())])
    others = view.hands_of(1 - player)
    blocked = np.isin(spot.format.hands[others], spot.format.hands[own]).any(axis=1)
    weight = np.where(blocked, 0.0, view.weight_of(1 - player))
    if not weight.sum() > 0:
        return None
    other = int(others[rng.choice(len(others), p=weight / weight.sum())])
    return (own, other) if player == 0 else (other, own)


def plain(question: Question) -> dict[str, Any]:
    """A question and its answer as JSON data."""
    node, mix = question.node, question.mix
    losses = [finite(question.loss(action)) for action in range(len(mix))]
    return {
        "line": question.line,
        "player": question.player,
        "position": question.position,
        "unit": question.unit,
        "hand": question.hand,
        "hands": list(question.hands),
        "board": node.board,
        "street": node.street,
        "pot": float(node.pot),
        "stacks": [float(stack) for stack in node.stacks],
        "actions": list(node.actions),
        "kinds": list(node.kinds),
        "lines": list(node.children),
        "mix": [float(share) for share in mix],
        "ev": [finite(value) for value in question.ev.tolist()],
        "loss": losses,
        "verdict": [question.verdict(action) for action in range(len(mix))],
    }


def is_range(text: str) -> bool:
    """Whether a text is an entry of a range."""
    try:
        return bool(parse_range(text).any())
    except SpecError:
        return False


def solved_spots(folder: Path) -> list[Path]:
    """The solved spots of a folder, or of its subfolders if it has none."""
    return sorted(folder.glob(f"*{SOLVED_FILE}")) or sorted(folder.glob(f"*/*{SOLVED_FILE}"))
