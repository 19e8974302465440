"""Policies on hold'em spots as mappings from a line and a hand to action probabilities."""

from collections.abc import Iterator, Mapping

from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.policies.line import action_text, joined


class HoldemMapping(Mapping[tuple[str, str], dict[str, float]]):
    """A mapping ``{(line, hand): {action: probability}}``, with keys such as ``("x,b50%", "AsKs")``; equal only to itself.

    It lists every infoset once, with one board for each class of isomorphic boards. Lookups accept any board.

    Attributes:
        game: the compiled spot.
        streets: number of streets whose policies are stored.
    """

    game: CompiledSpot
    streets: int

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """All lines that end at a decision, and all hands of the player to act there, in order of play."""
        game, waiting = self.game, [(0, 0, 0, "")]
        hands = [cards_to_string(tuple(map(int, cards))) for cards in game.spot.format.hands]
        while waiting:
            street, number, node, line = waiting.pop()
            event, board = game.betting.nodes[node], game.boards[street][number]
            if isinstance(event, Decision):
                for hand in board.hands[event.player]:
                    yield line, hands[hand]
                for action, child in reversed(list(zip(event.actions, event.children, strict=True))):
                    waiting.append((street, number, child, joined(line, action_text(action))))
                continue
            if not isinstance(event, StreetEnd) or not isinstance(game.betting.nodes[event.child], Decision):
                continue  # terminal, or a run-out
            following = street + 1
            for below in reversed(board.children) if following < self.streets else ():
                dealt = game.boards[following][below].cards[len(board.cards) :]
                waiting.append((following, below, event.child, joined(line, cards_to_string(dealt))))

    def __len__(self) -> int:
        """The number of both players' infosets on the stored streets."""
        forests, boards = self.game.forests[: self.streets], self.game.boards[: self.streets]
        return sum(
            len(forest.numbers[player]) * len(board.hands[player])
            for forest, street_boards in zip(forests, boards, strict=True)
            for board in street_boards
            for player in (0, 1)
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
