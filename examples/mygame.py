"""A game in thirty lines: one-card poker with a single bet. Run: treeplex solve examples/mygame.py:MyGame"""

import treeplex as tp


class Hand(tp.State):
    """Both players ante 1 and get a card. Player 0 checks (0) or bets (1); facing a bet, player 1 folds (0) or calls (1)."""

    def __init__(self, game, cards=(), moves=()):
        self.game, self.cards, self.moves = game, cards, moves

    def current_player(self):
        if len(self.cards) < 2:
            return tp.CHANCE
        return {(): 0, (1,): 1}.get(self.moves, tp.TERMINAL)

    def legal_actions(self, player=None):
        return [0, 1]

    def chance_outcomes(self):
        left = [card for card in range(self.game.ranks) if card not in self.cards]
        return [(card, 1 / len(left)) for card in left]

    def child(self, action):
        if self.current_player() == tp.CHANCE:
            return Hand(self.game, (*self.cards, action))
        return Hand(self.game, self.cards, (*self.moves, action))

    def returns(self):
        won = 1 if self.cards[0] > self.cards[1] else -1
        payoff = {(0,): won, (1, 0): 1, (1, 1): won * (1 + self.game.stake)}[self.moves]
        return [payoff, -payoff]

    def information_state_string(self, player=None):
        return f"card {self.cards[self.current_player() if player is None else player]}, moves {self.moves}"


class MyGame(tp.Game):
    """The deck has cards 0 to ranks - 1; a bet is ``stake`` chips."""

    def __init__(self, ranks=5, stake=2):
        self.ranks, self.stake = ranks, stake

    def new_initial_state(self):
        return Hand(self)
