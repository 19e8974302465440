"""Step-by-step replay of full-game hold'em hands."""

import tomllib
from typing import Any

from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.tables.whole import action_in_blinds
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.phh import hand_from, split_line
from treeplex.web.playing.scenes import scene_of

STREETS = ("preflop", "flop", "turn", "river")


class HandReplay:
    """A finished hand as a sequence of table states."""

    def __init__(self, end: HoldemHistory) -> None:
        self.end = end

    @classmethod
    def of(cls, text: str) -> "HandReplay":
        """Parse the text of a ``.phh`` file.

        Raises:
            FileError: the text is not in PHH format.
            SpecError, GameError: the hand is not hold'em, or violates its rules.
        """
        try:
            return cls(hand_from(tomllib.loads(text)))
        except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"not a PHH hand ({error!r}); paste the text of a hold'em .phh file") from None

    def steps(self) -> dict[str, Any]:
        """Return the table before each action, with the action taken, and at the end.

        Raises:
            SpecError: a card is hidden, or the hand is unfinished.
        """
        end = self.end
        if not end.is_terminal():
            raise SpecError("the hand is unfinished; a replay needs a hand played to its end")
        state, steps, taken, shown = end.game.new_initial_state(), list[dict[str, Any]](), list(actions_of(end)), 0
        for card in end.cards:
            state = state.child(card)
        for action in taken:
            while state.current_player() < 0:
                state, shown = state.child(end.board[shown]), shown + 1
            player = state.current_player()
            steps.append(self._step(state, action_in_blinds(end.game.rules, state.table, action), player))
            state = state.child(action)
        while not state.is_terminal():
            state, shown = state.child(end.board[shown]), shown + 1
        steps.append(self._step(state, "", None))
        about = {"players": end.game.num_players, "big_blind": end.game.big_blind}
        return {**about, "returns": list(map(float, end.returns())), "steps": steps}

    def _step(self, state: HoldemHistory, text: str, player: int | None) -> dict[str, Any]:
        scene = scene_of(state, 0, over=True)
        assert scene is not None
        for seat, seat_data in enumerate(scene["seats"]):
            seat_data |= {"person": False, "acting": seat == player}
        street = STREETS[min(state.table.street, 3)]
        return {"scene": scene, "text": text, "seat": player, "at": street, "board": [card_to_string(c) for c in state.board]}


def actions_of(end: HoldemHistory) -> list[int]:
    """Return the actions of a hand, in order.

    Raises:
        GameError: the hand's action line cannot be parsed.
    """
    try:
        return [action for street in end.table.line.split("/") for action in split_line(street)]
    except KeyError as error:
        raise GameError(f"{end.table.line!r} is not a hold'em action line") from error
