"""Hands of whole hold'em opened again, step by step."""

import tomllib
from typing import Any

from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.phh import hand_from, split_line
from treeplex.web.playing.scenes import scene_of

STREETS = ("preflop", "flop", "turn", "river")


class HandReplay:
    """A hand that was played, as the tables it led through."""

    def __init__(self, end: HoldemHistory) -> None:
        self.end = end

    @classmethod
    def of(cls, text: str) -> "HandReplay":
        """A hand from the text of a ``.phh`` file.

        Raises:
            FileError: it is none.
            SpecError, GameError: a hand that is not of hold'em, or breaks its rules.
        """
        try:
            return cls(hand_from(tomllib.loads(text)))
        except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise FileError(f"not a hand in PHH ({error!r}); paste the text of a .phh file of hold'em") from None

    def steps(self) -> dict[str, Any]:
        """The table before each action and at the end, with what was done.

        Raises:
            SpecError: cards that are not known, or a hand that is not played to its end.
        """
        end = self.end
        if not end.is_terminal():
            raise SpecError("the hand is not played to its end")
        state, found, taken, shown = end.game.new_initial_state(), list[dict[str, Any]](), list(replayed(end)), 0
        for card in end.cards:
            state = state.child(card)
        for action in taken:
            while state.current_player() < 0:
                state, shown = state.child(end.board[shown]), shown + 1
            player = state.current_player()
            found.append(self._step(state, f"{state.action_to_string(action)}", player))
            state = state.child(action)
        while not state.is_terminal():
            state, shown = state.child(end.board[shown]), shown + 1
        found.append(self._step(state, "", None))
        return {"players": end.game.num_players, "returns": list(map(float, end.returns())), "steps": found}

    def _step(self, state: HoldemHistory, text: str, player: int | None) -> dict[str, Any]:
        scene = scene_of(state, 0, over=True)
        assert scene is not None
        for seat, each in enumerate(scene["seats"]):
            each |= {"person": False, "acting": seat == player}
        street = STREETS[min(state.table.street, 3)]
        return {"scene": scene, "text": text, "seat": player, "at": street, "board": [card_to_string(c) for c in state.board]}


def replayed(end: HoldemHistory) -> list[int]:
    """The actions of a hand, in order.

    Raises:
        GameError: a line that is no line of hold'em.
    """
    try:
        return [action for street in end.table.line.split("/") for action in split_line(street)]
    except KeyError as error:
        raise GameError(f"{end.table.line!r} is no line of hold'em") from error
