"""Converts a spot back to the fields of a spot file, which :mod:`treeplex.holdem.spots.files` reads."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from treeplex.base.located_text import LocatedText
from treeplex.games.betting.size_grammar import sizes_to_string
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS, cards_to_string
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.spots.fields import DEFAULT, FALSE, PLAYERS, TRUE, street_names
from treeplex.holdem.spots.spot import CHIPS, Spot

NONE = "none"
"""Text that represents an empty list of sizes."""


def spot_fields(spot: Spot) -> dict[str, Any]:
    """The fields of a spot, without its ``settings``; reading them returns the same spot.

    Ranges are written for two-card hands of the full deck, and left out for other formats. No file holds ``strengths``.
    """
    fields: dict[str, Any] = {"board": " ".join(cards_to_string([card]) for card in spot.board)}
    if spot.format.hands.shape == (1326, 2):
        fields |= {name: range_to_string(unblocked(spot, player)) for player, name in enumerate(PLAYERS)}
    fields |= {"pot": amount_text(spot.pot, spot), "stack": amount_text(spot.stack, spot)}
    fields |= bet_fields(spot)
    if spot.rake.rate:
        fields["rake"] = {"rate": share_text(spot.rake.rate)}
        if not math.isinf(spot.rake.cap):
            fields["rake"]["cap"] = amount_text(spot.rake.cap, spot)
        if spot.rake.no_flop_no_drop:
            fields["rake"]["no_flop_no_drop"] = TRUE
    if spot.blinds is not None:
        fields["blinds"] = ", ".join(number_text(blind) for blind in spot.blinds)
    if spot.deal_set:
        fields["runouts"] = spot.deal_set
    elif spot.runouts:
        counts = zip(street_names(spot.format), spot.runouts, strict=True)
        fields["runouts"] = {name: str(count) for name, count in counts if count}
    if spot.format != HOLDEM:
        fields["format"] = spot.format.name
    return {**fields, "chip": number_text(spot.chip)}


def unblocked(spot: Spot, player: int) -> NDArray[np.float64]:
    """A player's range, [1326], with weights added for blocked hands; they have no effect but shorten the text.

    The weight is that of the class's other hands if they are equal, else 0.
    """
    weights = spot.ranges[player].copy()
    blocked = np.isin(HANDS, spot.board).any(axis=1)
    for number in range(len(CLASSES)):
        hands = number == HAND_CLASSES
        others = weights[hands & ~blocked]
        if len(others) and others.min() == others.max() <= 1.0:
            weights[hands & blocked] = others[0]
    return weights


def bet_fields(spot: Spot) -> dict[str, Any]:
    """The sizes of the streets played, and the betting thresholds."""
    plan, names = spot.bets, street_names(spot.format)
    if not isinstance(plan, BetPlan):
        return {"limit": {"bets": ", ".join(map(number_text, plan.bets)), "most": ", ".join(map(str, plan.most))}}
    fields: dict[str, Any] = {"bets": {}, "raises": {}}
    leads = {names[street]: plan.streets[street][0].donk for street in spot.streets}
    for street in spot.streets:
        for name in ("bets", "raises"):
            oop, ip = (sizes_to_string(getattr(side, name)) or NONE for side in plan.streets[street])
            same = oop == ip and (name == "raises" or street > spot.streets[0] or leads[names[street]] is None)
            fields[name][names[street]] = oop if same else {"oop": oop, "ip": ip}
    if any(sizes is not None for sizes in leads.values()):
        texts = {name: DEFAULT if sizes is None else sizes_to_string(sizes) or NONE for name, sizes in leads.items()}
        fields["donk"] = texts
    thresholds = {name: getattr(plan, name) for name in ("add_allin", "force_allin", "merge")}
    if any(thresholds.values()):
        fields["thresholds"] = {name: share_text(value) for name, value in thresholds.items() if value}
    if plan.min_bet is not None:
        fields["min_bet"] = amount_text(plan.min_bet, spot)
    if not plan.limps:
        fields["limps"] = FALSE
    return fields


def number_text(value: float) -> str:
    """A number as text in a spot file."""
    return f"{value:.12g}"


def amount_text(value: float, spot: Spot) -> str:
    """An amount as text in a spot file, in the spot's unit."""
    return number_text(value) + (spot.unit if spot.unit != CHIPS else "")


def share_text(value: float) -> str:
    """A share as text, in percent."""
    return f"{number_text(100 * value)}%"


def fields_text(fields: Mapping[str, Any]) -> str:
    """Fields as the text of a spot file (YAML)."""
    return str(yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True, width=10_000))


def plain_fields(value: LocatedText) -> Any:
    """Fields read from a file, stripped of their positions: strings, lists and tables."""
    if value.entries is not None:
        return {key: plain_fields(entry) for key, entry in value.entries.items()}
    if value.items is not None:
        return [plain_fields(item) for item in value.items]
    return value.text
