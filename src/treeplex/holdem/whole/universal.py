"""Converts OpenSpiel's ``universal_poker`` to ``holdem``: the same game, with the same actions."""

from collections.abc import Mapping
from typing import Any

from treeplex.base.spec import parse_spec
from treeplex.errors import SpecError
from treeplex.holdem.betting.rules import ACPC
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.named import holdem

UNIVERSAL = "universal_poker_game_string"
DEFAULTS: Mapping[str, object] = {
    "betting": "nolimit",
    "bettingAbstraction": "fcpa",
    "blind": "100 100",
    "firstPlayer": "1 1",
    "maxRaises": "",
    "numBoardCards": "0 1",
    "numHoleCards": 1,
    "numPlayers": 2,
    "numRanks": 6,
    "numRounds": 2,
    "numSuits": 4,
    "raiseSize": "100 100",
    "stack": "1200 1200",
}
"""OpenSpiel's defaults."""
NOT_READ = ("boardCards", "handReaches", "potSize", "calcOddsNumSims")
"""Parameters for subgames, and one that does not affect the rules."""
LIMIT_STACK = 10**9
"""Stack for fixed-limit games without stacks in OpenSpiel."""


def holdem_of_universal(text: str) -> Holdem:
    """The game that ``universal_poker(...)`` names in OpenSpiel.

    Raises:
        SpecError: the game is not ``universal_poker``, or has unsupported options: subgames, other betting abstractions, or
            blinds that do not follow the order of the table.
    """
    spec = parse_spec(text)
    if spec.name != "universal_poker":
        raise SpecError(f"{spec.name}: only universal_poker(...) is supported")
    values: dict[str, Any] = dict(DEFAULTS)
    for name, value in spec.parameters.items():
        if name in NOT_READ and value not in ("", 0):
            raise SpecError(f"universal_poker: {name} is not supported; leave it out")
        if name not in DEFAULTS and name not in NOT_READ:
            raise SpecError(f"universal_poker: unknown parameter {name!r}; known: {', '.join(DEFAULTS)}")
        values[name] = value
    players, limit = int(values["numPlayers"]), values["betting"] == "limit"
    if not limit and values["bettingAbstraction"] != "fullgame":
        raise SpecError(
            f"universal_poker: bettingAbstraction is {values['bettingAbstraction']}; write fullgame, or holdem(sizes=[100%;a])"
        )
    streets = int(values["numRounds"])
    first, blinds = numbers(values, "firstPlayer", streets), numbers(values, "blind", players)
    dealer = (first[-1] - 2) % players
    around = [(dealer + step + (players > 2)) % players for step in range(players)]
    posted = [blinds[player] for player in around]
    while len(posted) > 2 and not posted[-1]:
        posted.pop()
    opener = around[len(posted) % players]
    if posted != sorted(posted) or first != [opener + 1, *[first[-1]] * (streets - 1)] or streets < 2:
        raise SpecError(
            f"universal_poker: blind={values['blind']} and firstPlayer={values['firstPlayer']} do not place the "
            "blinds in table order; reorder them"
        )
    return holdem(
        players=players,
        stack=LIMIT_STACK if limit else numbers(values, "stack", players),
        blinds=posted,
        dealer=-1 if dealer == players - 1 else dealer,
        bets=numbers(values, "raiseSize", streets) if limit else (),
        raises=numbers(values, "maxRaises", streets) if values["maxRaises"] != "" else 0,
        ranks=int(values["numRanks"]),
        suits=int(values["numSuits"]),
        hole=int(values["numHoleCards"]),
        deal=numbers(values, "numBoardCards", streets),
        rules=ACPC,
    )


def numbers(values: Mapping[str, object], name: str, count: int) -> list[int]:
    """The numbers in a text such as ``0 3 1 1``; the last number is repeated for missing ones.

    Raises:
        SpecError: the text is invalid.
    """
    try:
        numbers_read = [int(word) for word in str(values[name]).split()]
    except ValueError:
        numbers_read = []
    if not numbers_read:
        raise SpecError(f"universal_poker: {name} is {values[name]!r}; write {count} integers separated by spaces")
    return (numbers_read + [numbers_read[-1]] * count)[:count]
