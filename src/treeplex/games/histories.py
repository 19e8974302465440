"""Public states with everybody's hands as histories of the rules, for what draws or writes a game."""

from collections.abc import Sequence

import numpy as np

from treeplex.errors import GameError
from treeplex.games.base import State
from treeplex.games.builtin.kuhn_poker import KuhnCards, KuhnPublicTree, KuhnState
from treeplex.games.builtin.leduc_poker import RANKS, LeducCards, LeducPublicTree, LeducState, table_of
from treeplex.games.builtin.liars_dice import LiarsDicePublicTree, LiarsDiceState
from treeplex.games.public import PublicGame, pair_state
from treeplex.games.public import State as PublicState
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.rules.rules import PokerPublicTree, PokerState, table
from treeplex.holdem.whole.game import Holdem, HoldemHistory
from treeplex.holdem.whole.public import PublicHoldem, hand_of


def history_of(game: PublicGame, state: PublicState, hands: Sequence[int]) -> State | None:
    """The history in which players hold these hands at a public state; None of games that say no more than that."""
    if isinstance(game, PublicHoldem):
        board, dealt = hand_of(state).board, game.rules.format.hands
        cards = tuple(int(card) for hand in hands for card in dealt[hand])
        return HoldemHistory(Holdem(game.rules), cards, hand_of(state).table, board)
    if isinstance(game, LeducCards):
        return LeducState(game.game, tuple(hands), table_of(state))
    if isinstance(game, LeducPublicTree):
        return LeducState(game.game, tuple(hands), table_of(pair_state(state).node))
    if isinstance(game, KuhnPublicTree):
        return KuhnState(2, tuple(hands), str(pair_state(state).node))
    if isinstance(game, KuhnCards):
        return KuhnState(game.players, tuple(hands), str(state))
    if isinstance(game, LiarsDicePublicTree):
        bids = pair_state(state).node
        assert isinstance(bids, tuple)
        dice = tuple(die for player, hand in enumerate(hands) for die in game.hands[player][hand])
        return LiarsDiceState(game.game, dice, bids)
    if isinstance(game, PokerPublicTree):
        number, board = table(pair_state(state).node)
        return PokerState(game.game, tuple(int(game.hands[hand]) for hand in hands), number, board)
    node = getattr(state, "node", None)
    return node if isinstance(node, State) else None


def hand_name(game: PublicGame, state: PublicState, player: int, hand: int) -> str:
    """What a player's hand is called: its cards or dice, else what the player knows with it, else its number."""
    if isinstance(game, HoldemGame | PublicHoldem):
        dealt = game.spot.format.hands if isinstance(game, HoldemGame) else game.hands
        return cards_to_string(sorted(map(int, dealt[hand]), reverse=True))
    hands = [int(np.argmax(own)) for own in game.possible(state)]
    hands[player] = hand
    try:
        named = held_by(history_of(game, state, hands), player)
    except IndexError:  # a hand after a private action says more than the cards
        named = None
    try:
        return named or " ".join(game.knowledge_at(state, player, hand).split())
    except GameError:
        return str(hand)


def held_by(state: State | None, player: int) -> str | None:
    """What a player holds, by its name; None in games without cards or dice."""
    if isinstance(state, HoldemHistory):
        return cards_to_string(sorted(state.hands[player], reverse=True))
    if isinstance(state, LeducState):
        return state.game.card_name(state.hands[player])
    if isinstance(state, KuhnState):
        return RANKS[card_rank(state.players, state.cards[player])] if state.players < len(RANKS) - 1 else None
    if isinstance(state, LiarsDiceState):
        return " ".join(map(str, state.dice[state.game.seats[player]]))
    if isinstance(state, PokerState):
        return str(state.game.hand_names[state.hands[player]])
    return None


def card_rank(players: int, card: int) -> int:
    """The rank that a card of Kuhn poker is drawn as: the highest is the king."""
    return RANKS.index("K") - players + card
