"""A sequence of hold'em hands as one game: the button moves, and stacks are reset or carried over.

The rules are those of OpenSpiel's ``repeated_poker``, which Kaggle's game arena uses: a player with less than the big blind
sits out for good, the button moves to the next active player, blinds may rise, and payoffs are chips won over all hands. If
stacks are carried over and a pot is split into fractions, stacks lose the fraction.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from treeplex.base.spec import parse_spec
from treeplex.errors import SpecError
from treeplex.games.base import Game, State
from treeplex.games.parameters import GameInfo, flag, integer, observer
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.whole.game import Holdem, HoldemHistory
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.named import INFO as HOLDEM_INFO
from treeplex.holdem.whole.universal import UNIVERSAL, holdem_of_universal

NAME = "repeated_poker"
MOST_HANDS = 100_000


class Level(NamedTuple):
    """A level of rising blinds: its length in hands, and the blinds."""

    hands: int
    small: int
    big: int


class PastHand(NamedTuple):
    """A finished hand.

    Attributes:
        players: the players in the hand, in the order of seats.
        cards: their hole cards.
        board: the board street by street.
        line: the actions.
        shown: players who showed their cards.
        won: chips won by each player at the table, 0 for those who sat out.
    """

    players: tuple[int, ...]
    cards: tuple[str, ...]
    board: str
    line: str
    shown: tuple[int, ...]
    won: tuple[float, ...]

    def seen_by(self, player: int) -> str:
        """A player's view of the hand; -1 for the public view."""
        known = [
            f"{seat}:{cards}"
            for seat, cards in zip(self.players, self.cards, strict=True)
            if seat == player or seat in self.shown
        ]
        return f"{' '.join(known)}|{self.board}|{self.line}"


@dataclass(frozen=True)
class HandPlayers:
    """The players in a hand, with their chips.

    Attributes:
        players: the players, in the order of seats.
        dealer: the seat on the button.
        stacks: chips of each seat.
        blinds: small and big blind, then straddles.
    """

    players: tuple[int, ...]
    dealer: int
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]


class RepeatedState(State):
    """The finished hands, the seats, and the history of the current hand."""

    __slots__ = ("button", "game", "history", "past", "seating", "stacks")

    def __init__(
        self,
        game: "RepeatedPoker",
        past: tuple[PastHand, ...],
        stacks: tuple[int, ...],
        button: int,
        seating: HandPlayers,
        history: HoldemHistory,
    ) -> None:
        self.game, self.past, self.stacks = game, past, stacks
        self.button, self.seating, self.history = button, seating, history

    def current_player(self) -> int:
        seat = self.history.current_player()
        return self.seating.players[seat] if seat >= 0 else seat

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return self.history.legal_actions()

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return self.history.chance_outcomes()

    def action_to_string(self, action: int) -> str:
        return self.history.action_to_string(action)

    def child(self, action: int) -> "RepeatedState":
        history = self.history.child(action)
        if not history.is_terminal():
            return RepeatedState(self.game, self.past, self.stacks, self.button, self.seating, history)
        return self.game.after_hand(self, history)

    def returns(self) -> Sequence[float]:
        hands = [*self.past, self.game.record(self.seating, self.history)]
        return [sum(hand.won[player] for hand in hands) for player in range(self.game.num_players)]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        past = "".join(f"[{hand.seen_by(player)}]" for hand in self.past)
        seats = self.seating.players
        if player not in seats:
            return f"[Observer: {player}]{past}[{self.history.public_state()}]"
        return f"[Observer: {player}]{past}{self.history.information_state_string(seats.index(player))}"

    def public_state(self) -> Hashable:
        return tuple(hand.seen_by(-1) for hand in self.past), self.history.public_state()

    def knowledge(self, player: int) -> str:
        seats = self.seating.players
        hand = f"hand {len(self.past) + 1} of {self.game.hands}"
        view = self.history.knowledge(seats.index(player)) if player in seats else "sitting out"
        won = sum(past_hand.won[player] for past_hand in self.past)
        return f"{hand}, {won:+g} chips so far, button with player {self.button}, {view}"


class RepeatedPoker(Game):
    """A sequence of hold'em hands; see the module docstring.

    Attributes:
        holdem: the first hand.
        hands: most hands played.
    """

    def __init__(
        self,
        game: Holdem,
        hands: int,
        *,
        reset_stacks: bool = True,
        rotate_dealer: bool = True,
        levels: Sequence[Level] = (),
        spec: str = "",
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        """Repeat a game.

        Args:
            game: the first hand.
            hands: most hands played.
            reset_stacks: whether every hand begins with the first hand's stacks.
            rotate_dealer: whether the button moves.
            levels: levels of blinds; empty for those of ``game``. The last level applies to all later hands.
            spec, parameters: for a game with a name.
        """
        self.holdem, self.hands = game, hands
        self.num_players = game.num_players
        self.reset_stacks, self.rotate_dealer, self.levels = reset_stacks, rotate_dealer, tuple(levels)
        self.spec, self._parameters = spec, dict(parameters or {})
        self._hand = lru_cache(maxsize=64)(self._hand_of)

    @cached_property
    def rules(self) -> HandRules:
        """The rules of the first hand."""
        return self.holdem.rules

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    def new_initial_state(self) -> RepeatedState:
        betting = self.rules.betting
        return self._begun((), betting.stacks, betting.dealer, tuple(range(self.num_players)))

    def after_hand(self, state: RepeatedState, end: HoldemHistory) -> RepeatedState:
        """The next hand, or the end of the game after the last hand."""
        hand = self.record(state.seating, end)
        stacks, seats = state.stacks, state.seating.players
        if not self.reset_stacks:
            stacks = tuple(int(stack + gain) for stack, gain in zip(stacks, hand.won, strict=True))
            seats = tuple(player for player in range(self.num_players) if stacks[player] >= state.seating.blinds[1])
        if len(state.past) + 1 == self.hands or len(seats) < 2:
            return RepeatedState(self, state.past, stacks, state.button, state.seating, end)
        button = state.button
        if self.rotate_dealer:
            button = next(p for step in range(1, self.num_players + 1) if (p := (button + step) % self.num_players) in seats)
        elif button not in seats:
            button = next(p for step in range(1, self.num_players) if (p := (button + step) % self.num_players) in seats)
        return self._begun((*state.past, hand), stacks, button, seats)

    def record(self, seating: HandPlayers, end: HoldemHistory) -> PastHand:
        """The record of a finished hand."""
        won = [0.0] * self.num_players
        for player, gain in zip(seating.players, end.returns(), strict=True):
            won[player] = gain
        folded = end.table.folded
        showdown = folded.count(False) > 1
        return PastHand(
            seating.players,
            tuple(cards_to_string(sorted(cards, reverse=True)) for cards in end.hands),
            end.game.rules.shown_board(end.board),
            end.table.line,
            tuple(player for player, out in zip(seating.players, folded, strict=True) if showdown and not out),
            tuple(won),
        )

    def _begun(self, past: tuple[PastHand, ...], stacks: tuple[int, ...], button: int, seats: tuple[int, ...]) -> RepeatedState:
        """The start of a hand."""
        chips = tuple(stacks[player] for player in seats)
        seating = HandPlayers(seats, seats.index(button), chips, self._blinds(len(past))[: len(seats)])
        return RepeatedState(self, past, stacks, button, seating, self._hand(seating).new_initial_state())

    def _blinds(self, number: int) -> tuple[int, ...]:
        """The blinds of a hand by its number, numbered from 0."""
        if not self.levels:
            return self.rules.betting.blinds
        ends = 0
        for level in self.levels:
            ends += level.hands
            if number < ends:
                break
        return level.small, level.big

    def _hand_of(self, seating: HandPlayers) -> Holdem:
        """The rules of a hand for its players."""
        rules = self.rules
        antes = rules.betting.antes[: len(seating.players)]
        betting = replace(rules.betting, dealer=seating.dealer, stacks=seating.stacks, blinds=seating.blinds, antes=antes)
        return Holdem(replace(rules, betting=betting))


def repeated_poker(
    *,
    game: str = "holdem(rules=acpc)",
    max_num_hands: int = 100,
    reset_stacks: bool = True,
    rotate_dealer: bool = True,
    blind_schedule: str = "",
    **given: str,
) -> RepeatedPoker:
    """A sequence of ``holdem`` hands as one game; payoffs are total chips won.

    Raises:
        SpecError: a value out of range, or a game other than ``holdem``.
    """
    values = {
        "game": game,
        "max_num_hands": max_num_hands,
        "reset_stacks": reset_stacks,
        "rotate_dealer": rotate_dealer,
        "blind_schedule": blind_schedule,
    }
    if UNIVERSAL in given:
        repeated: Game = holdem_of_universal(given[UNIVERSAL])
    else:
        parsed = parse_spec(str(game))
        if parsed.name != HOLDEM_INFO.name:
            raise SpecError(f"{NAME}: game is {game}; give a holdem game, such as game=holdem(players=3,stack=200)")
        repeated = HOLDEM_INFO.make(parsed.parameters)
    assert isinstance(repeated, Holdem)
    values["game"] = repeated.spec
    return RepeatedPoker(
        repeated,
        integer(NAME, "max_num_hands", max_num_hands, 1, MOST_HANDS),
        reset_stacks=flag(NAME, "reset_stacks", reset_stacks),
        rotate_dealer=flag(NAME, "rotate_dealer", rotate_dealer),
        levels=parse_levels(str(blind_schedule)),
        spec=INFO.spec(values),
        parameters=values,
    )


def parse_levels(text: str) -> tuple[Level, ...]:
    """Rising blinds in OpenSpiel's syntax: ``50:1/2;50:2/4``, which gives each level's number of hands, small blind and big
    blind.

    Raises:
        SpecError: the text is invalid.
    """
    levels = []
    for part in filter(None, text.split(";")):
        try:
            hands, blinds = part.split(":")
            small, big = map(int, blinds.split("/"))
            levels.append(Level(int(hands), small, big))
        except ValueError:
            raise SpecError(f"{NAME}: cannot read the level {part!r}; write hands:small/big, such as 50:1/2") from None
        if levels[-1].hands < 1 or not 0 < small <= big:
            raise SpecError(f"{NAME}: level {part!r}; give at least one hand, and blinds with 0 < small <= big")
    return tuple(levels)


INFO = GameInfo(
    name=NAME,
    summary="many hands of hold'em in a row, with a moving button and stacks reset or carried over",
    source="OpenSpiel repeated_poker, the game of Kaggle's game arena",
    build=repeated_poker,
    meanings={
        "game": "spec of the hand to repeat, a holdem game",
        "max_num_hands": "most hands",
        "reset_stacks": "true: every hand begins with the first hand's stacks",
        "rotate_dealer": "true: the button moves after each hand",
        "blind_schedule": "rising blinds, such as 50:1/2;50:2/4 (hands:small/big); empty for those of the game",
    },
    optional={
        UNIVERSAL: "instead of game: the hand in OpenSpiel's syntax, universal_poker(...) with bettingAbstraction=fullgame"
    },
    note="far too large to compile",
)
