"""Scenes that the page draws: cards, chips, dice and boards, as one player sees them."""

from collections.abc import Callable
from typing import Any

from treeplex.games.base import State
from treeplex.games.builtin.battleship import BattleshipState
from treeplex.games.builtin.goofspiel import GoofspielState
from treeplex.games.builtin.kuhn_poker import KuhnState
from treeplex.games.builtin.leduc_poker import NO_CARD, LeducState
from treeplex.games.builtin.liars_dice import LiarsDiceState
from treeplex.games.builtin.phantom import PhantomState, SymmetricState
from treeplex.games.builtin.tic_tac_toe import CELLS, TicTacToeState
from treeplex.games.turn_based import TurnBasedState
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.rules.rules import PokerState
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.hand import position_names

Scene = dict[str, Any]
"""A scene: ``kind`` (``cards``, ``dice``, ``grid`` or ``text``), ``seats`` with each player's cards and chips, and the board.
"""
HIDDEN = "?"
"""A card or die hidden from the viewer."""


def scene_of(state: State | None, viewer: int, *, over: bool) -> Scene | None:
    """Return the scene of a history as a player sees it; None for games without a drawing.

    Args:
        state: the history.
        viewer: the player from whose view the scene is drawn.
        over: whether the game is over, so that hidden information is shown.
    """
    if isinstance(state, TurnBasedState):
        scene = scene_of(state.state, viewer, over=over)
        if scene is not None and viewer < len(state.moves) and state.moves[viewer:]:
            scene["chosen"] = state.moves[viewer] + 1
        return scene
    draw = DRAWN.get(type(state)) if state is not None else None
    return None if draw is None else draw(state, viewer, over)


def kuhn(state: KuhnState, viewer: int, over: bool) -> Scene:
    """Cards, and each player's chips in the pot."""

    def named(card: int) -> str:
        return state.hand_name(state.cards.index(card)) or str(card + 1)

    bets = [sum(state.bets[index] == "b" for index in range(seat, len(state.bets), state.players)) for seat in players(state)]
    seats = [
        {"cards": [named(card) if over or seat == viewer else HIDDEN for card in state.cards[seat : seat + 1]], "paid": 1 + bet}
        for seat, bet in zip(players(state), bets, strict=True)
    ]
    return {"kind": "cards", "seats": seats, "board": [], "pot": state.players + sum(bets)}


def leduc(state: LeducState, viewer: int, over: bool) -> Scene:
    """The private cards, the public card and the chips."""
    table, named = state.table, state.game.card_name
    seats = [
        {
            "cards": [named(card) if over or seat == viewer else HIDDEN for card in state.hands[seat : seat + 1]],
            "paid": paid,
            "out": folded,
        }
        for seat, (paid, folded) in enumerate(zip(table.paid, table.folded, strict=True))
    ]
    board = [] if table.public_card == NO_CARD else [named(table.public_card)]
    return {"kind": "cards", "seats": seats, "board": board, "due": 1 - len(board), "pot": sum(table.paid)}


def whole_holdem(state: HoldemHistory, viewer: int, over: bool) -> Scene:
    """Hole cards, stacks, bets of the current street, the button and the board; amounts in big blinds."""
    rules, table = state.game.rules, state.table
    blind = rules.betting.big_blind
    antes = rules.antes
    returned = [put + ante - kept for put, ante, kept in zip(table.paid, antes, rules.matched(table), strict=True)]
    shown = over and table.folded.count(False) > 1
    positions = dict(zip(rules.order, position_names(state.game.num_players), strict=True))
    seats = [
        {
            "cards": [
                card_to_string(card) if seat == viewer or over else HIDDEN for card in sorted(state.hands[seat], reverse=True)
            ],
            "shown": shown and not table.folded[seat],
            "paid": max(table.paid[seat] - table.base, 0) / blind,
            "behind": (rules.stacks[seat] - table.paid[seat] + (returned[seat] if over else 0)) / blind,
            "out": table.folded[seat],
            "dealer": seat == rules.betting.dealer,
            "name": positions[seat],
        }
        for seat in range(state.game.num_players)
    ]
    due = rules.format.board_size - len(state.board)
    pot = sum(rules.matched(table)) if over else rules.pot(table)
    return {"kind": "cards", "seats": seats, "board": board_cards(state.board), "due": due, "pot": pot / blind, "unit": "bb"}


def spot(state: PokerState, viewer: int, over: bool) -> Scene:
    """Hole cards, board and chips of a small-deck poker spot."""
    form = state.game.spot.format
    node = state.game.tree.nodes[state.node]
    stack = state.game.spot.pot / 2 + state.game.spot.stack
    seats = [
        {
            "cards": board_cards(form.hands[hand]) if seat == viewer or over else [HIDDEN] * form.hole,
            "paid": node.contributions[seat],
            "behind": stack - node.contributions[seat],
        }
        for seat, hand in enumerate(state.hands)
    ]
    due = form.board_size - len(state.board)
    return {"kind": "cards", "seats": seats, "board": board_cards(state.board), "due": due, "pot": sum(node.contributions)}


def spot_table(table: HoldemTable, viewer: int, over: bool) -> Scene:
    """Hole cards, board and amounts of a hold'em spot."""
    bets, behind, pot = table.chips
    seats = [
        {
            "cards": board_cards(table.cards(seat)) if seat == viewer or over else [HIDDEN] * len(table.cards(seat)),
            "paid": bets[seat],
            "behind": behind[seat],
            "dealer": seat == 1,
        }
        for seat in range(2)
    ]
    due = table.whole_board - len(table.board)
    board = board_cards(table.board)
    return {"kind": "cards", "seats": seats, "board": board, "due": due, "pot": pot, "unit": table.unit}


def goofspiel(state: GoofspielState, viewer: int, over: bool) -> Scene:
    """Hands of bid cards, the current prize, and points."""
    rules, points = state.rules, state.points()
    seats = [
        {
            "cards": [str(card + 1) for card in state.hand(seat)]
            if over or seat == viewer or not rules.imp_info
            else [HIDDEN] * len(state.hand(seat)),
            "points": points[seat],
            "played": [str(bid[seat] + 1) for bid in state.bids] if over or seat == viewer or not rules.imp_info else [],
        }
        for seat in range(rules.players)
    ]
    open_cards = state.cards[len(state.bids) :]
    won = [{"card": str(card + 1), "by": winner} for card, winner in zip(state.cards, state.winners, strict=False)]
    return {"kind": "cards", "seats": seats, "board": [str(card + 1) for card in open_cards], "label": "prize", "won": won}


def dice(state: LiarsDiceState, viewer: int, over: bool) -> Scene:
    """The players' dice and the bids."""
    game = state.game
    seats = [
        {"dice": [die if over or seat == viewer else 0 for die in state.dice[dice_slice]], "sides": game.dice_sides}
        for seat, dice_slice in enumerate(game.seats)
    ]
    bids = [
        {"by": number % game.num_players, "liar": True}
        if bid == game.liar
        else {"by": number % game.num_players, "count": game.bid(bid)[0], "face": game.bid(bid)[1]}
        for number, bid in enumerate(state.bids)
    ]
    return {"kind": "dice", "seats": seats, "bids": bids, "sides": game.dice_sides}


def phantom(state: PhantomState, viewer: int, over: bool) -> Scene:
    """The board as the viewer knows it."""
    cells = state.marks(None if over else viewer)
    legal = () if over or state.current_player() != viewer else state.legal_actions()
    tried = [cell if over else state.seen_as(viewer, cell) for mover, cell in state.tried if mover == viewer]
    hexagonal = "hex" in type(state.game).__name__.lower()
    return {
        "kind": "grid",
        "seats": [{"mark": "x"}, {"mark": "o"}],
        "boards": [
            {"columns": state.game.columns, "cells": cells, "actions": {cell: cell for cell in legal}, "hex": hexagonal}
        ],
        "last": tried[-1] if tried else None,
    }


def tic_tac_toe(state: TicTacToeState, viewer: int, over: bool) -> Scene:
    """The board."""
    cells = ["x" if state.boards[0] >> cell & 1 else "o" if state.boards[1] >> cell & 1 else "." for cell in CELLS]
    legal = () if over or state.current_player() != viewer else state.legal_actions()
    board = {"columns": 3, "cells": cells, "actions": {cell: cell for cell in legal}}
    return {"kind": "grid", "seats": [{"mark": "x"}, {"mark": "o"}], "boards": [board], "last": (*state.moves, None)[-1]}


def battleship(state: BattleshipState, viewer: int, over: bool) -> Scene:
    """The opponent's grid, at which the viewer shoots, and the viewer's own grid."""
    game, legal = state.game, state.legal_actions() if not over and state.current_player() == viewer else ()
    shooting = {action: action for action in legal if action < game.num_cells}

    def sea(owner: int, ships: bool) -> list[str]:
        fleet, shots = sum(state.ships[owner]), state.shots[1 - owner]
        marks = {(True, True): "hit", (False, True): "miss", (True, False): "ship" if ships else ".", (False, False): "."}
        return [marks[bool(fleet >> cell & 1), bool(shots >> cell & 1)] for cell in range(game.num_cells)]

    columns = game.board.width
    boards = [
        {"columns": columns, "cells": sea(1 - viewer, over), "actions": shooting, "label": "their sea"},
        {"columns": columns, "cells": sea(viewer, True), "actions": {}, "label": "your sea"},
    ]
    return {"kind": "grid", "seats": [{}, {}], "boards": boards}


def players(state: KuhnState) -> range:
    """The players' indices."""
    return range(state.players)


def board_cards(cards: Any) -> list[str]:
    """Return the names of cards."""
    return [card_to_string(int(card)) for card in cards]


DRAWN: dict[type, Callable[[Any, int, bool], Scene]] = {
    KuhnState: kuhn,
    LeducState: leduc,
    HoldemHistory: whole_holdem,
    PokerState: spot,
    GoofspielState: goofspiel,
    LiarsDiceState: dice,
    PhantomState: phantom,
    SymmetricState: phantom,
    TicTacToeState: tic_tac_toe,
    BattleshipState: battleship,
}
"""Drawing function of each history type."""
