"""Full-game hold'em as a public game: a public state is the betting and the board; joint hands are never enumerated.

Board cards are dealt one at a time, also on the flop, so a chance node has at most as many labels as there are cards. Every
legal raise can be played, whether or not the plan offers it; its label is the total chips raised to, as in the rules.

Sums over both players' hands use inclusion and exclusion, O(H). With more players they are exact for a small deck
(:class:`treeplex.games.card_game.CardGame`). With a large deck the other players are treated as independent: a product of
the sums over hands that share no card with one's own. Deals are always sampled from the exact distribution.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.wings import named
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.betting.settlement import Settlement
from treeplex.games.betting.size_grammar import ANY
from treeplex.games.betting.stakes import Stakes
from treeplex.games.card_game import CardGame
from treeplex.games.public import Bets, Options, State, pick
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.betting.rules import CALL, FOLD, Actions, BettingState
from treeplex.holdem.cards.cards import card_to_string, cards_to_string
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.rules.features import features_of_board
from treeplex.holdem.rules.public import HoldemGame, compatible
from treeplex.holdem.rules.run_outs import few_run_outs, pot_shares, suits_alike
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.whole.game import Holdem, HoldemHistory
from treeplex.holdem.whole.hand import HandRules

MANY_TRIES = 10_000
"""Maximum number of redraws of hands until no two share a card."""
MOST_COMBINATIONS = 200_000
"""Maximum number of pairs of hands for which sums over several players are exact."""


class PublicHand(NamedTuple):
    """A public state: the betting, and the board cards, in ascending order within a street."""

    table: BettingState
    board: tuple[int, ...]


class PublicHoldem(CardGame):
    """Hold'em from the blinds on as a public game; see the module docstring.

    Attributes:
        rules: everything that defines a hand.
        added: raises in addition to those of the plan: pairs (line of actions, total chips raised to).
    """

    has_tables = False
    checks_down = True

    def __init__(self, rules: HandRules, added: frozenset[tuple[str, int]] = frozenset()) -> None:
        hands = rules.format.hands.astype(np.int64)
        super().__init__(rules.betting.players, hands, suits=4, deal=rules.format.deal)
        self.rules, self.added = rules, added

    @property
    def key(self) -> tuple[HandRules, frozenset[tuple[str, int]]]:
        return self.rules, self.added

    def first_state(self) -> PublicHand:
        return PublicHand(self.rules.betting.root, ())

    def shown(self, state: State) -> Sequence[int]:
        return hand_of(state).board

    def mover(self, state: State) -> int:
        return hand_of(state).table.player

    def actions(self, state: State) -> Sequence[int]:
        table = hand_of(state).table
        offered = self.rules.betting.actions(table)
        more = {amount for line, amount in self.added if line == table.line} - {*offered} if self.added else set()
        return Actions(offered.passive, tuple(sorted({*offered.raises} | more))) if more else offered

    def options(self, state: State) -> Options:
        table, board = hand_of(state)
        if table.player == CHANCE:
            return Options(CHANCE, self.rules.format.cards_left(board))
        return Options(table.player, self.actions(state) if table.player >= 0 else ())

    def after(self, state: State, label: int) -> PublicHand:
        table, board = hand_of(state)
        if table.player == CHANCE:
            if label not in self.rules.format.deck or label in board:
                raise GameError(f"chance cannot deal {label!r} at {self.name_of(state)}")
            return self.moved(state, label)
        if table.player < 0:
            raise GameError(f"the hand is over at {self.name_of(state)}")
        return self.moved(state, label)

    def moved(self, state: State, label: int) -> PublicHand:
        table, board = hand_of(state)
        if table.player != CHANCE:
            return PublicHand(self.rules.betting.after(table, int(label)), board)
        begun = max(size for size in self.rules.format.board_sizes if size <= len(board))
        board = (*board[:begun], *sorted((*board[begun:], int(label))))
        return PublicHand(self.rules.dealt(table, len(board)), board)

    def settlement(self, state: State) -> Settlement:
        table, board = hand_of(state)
        return self.rules.settlement(table, dealt=bool(board))

    def strengths_on(self, board: Sequence[int]) -> Ints:
        from treeplex.holdem.cards.evaluator import format_strengths  # it loads Numba, which most games do without

        return np.asarray(format_strengths(self.rules.format, tuple(board), self.hands.astype(np.uint8)), np.int64)

    def odd_chips(self, state: State, hands: Sequence[int]) -> Floats:
        deal, settlement = np.array([hands], np.int64), self.settlement(state)
        if not settlement.order or hand_of(state).table.folded.count(False) == 1:
            return np.zeros(len(hands))
        strengths = self.strengths_on(self.shown(state))[deal]
        return np.asarray((settlement.payoffs(strengths) - settlement._replace(order=()).payoffs(strengths))[0])

    def policy_agent(self, policy: Any, generator: np.random.Generator | None) -> Any:
        return named("treeplex.holdem.agents.bucketed:bucket_agent")(self, policy, generator)

    def line_of(self, state: State) -> Hashable:
        return hand_of(state).table.line

    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        table, board = hand_of(state)
        return tuple(self.rules.payoffs(table, board, [self.rules.format.hands[hand].tolist() for hand in hands]))

    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        others = [reach for seat, reach in enumerate(reached) if seat != player]
        if len(others) > 1 and len(self.hands) ** len(others) <= MOST_COMBINATIONS:
            return super().opposing(state, reached, player)
        free = self.free(state)
        mass = free
        for reach in others:
            mass = mass * self.compatible(reach * free)
        return mass

    def compatible(self, reached: Floats) -> Floats:
        """For each hand the sum of ``reached`` over hands that share no card with it, both float64 [..., H]; O(H)."""
        return compatible(reached, self._has, self.rules.format.hole)

    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        free = self.free(state)
        weights = [weights_of_player * free for weights_of_player in ranges]
        if all(weights_of_player.sum() > 0 for weights_of_player in weights):
            for _ in range(MANY_TRIES):
                drawn = [pick(generator, weights_of_player) for weights_of_player in weights]
                if np.bincount(self.hands[drawn].ravel()).max() == 1:
                    return tuple(drawn)
            if len(weights) == 2 and (met := weights[0] * self.compatible(weights[1])).sum() > 0:  # compatible pairs are rare
                first = pick(generator, met)
                apart = ~np.isin(self.hands, self.hands[first]).any(axis=1)
                return first, pick(generator, weights[1] * apart)
        raise GameError(f"no hands in these ranges are compatible at {self.name_of(state)}; widen a range")

    def infostate_at(self, state: State, player: int, hand: int) -> str:
        table, board = hand_of(state)
        return self.rules.infostate(table, board, player, self.hands[hand].tolist(), table.player)

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        table, board = hand_of(state)
        return self.rules.knowledge(table, board, player, self.hands[hand].tolist())

    def hand_name(self, state: State, player: int, hand: int) -> str:
        return cards_to_string(sorted(map(int, self.hands[hand]), reverse=True))

    def history_at(self, state: State, hands: Sequence[int]) -> HoldemHistory:
        table, board = hand_of(state)
        dealt = self.rules.format.hands
        return HoldemHistory(Holdem(self.rules), tuple(int(card) for hand in hands for card in dealt[hand]), table, board)

    def action_name(self, state: State, label: int) -> str:
        table = hand_of(state).table
        return f"Deal {card_to_string(label)}" if table.player == CHANCE else self.rules.action_name(table, label)

    def name_of(self, state: State) -> str:
        table, board = hand_of(state)
        return f"{table.line or 'the beginning'} on {cards_to_string(board) or 'no board'}"

    def bets(self, state: State) -> Bets | None:
        table = hand_of(state).table
        if table.player < 0:
            return None
        actions = np.array(list(self.actions(state)))
        pot = sum(self.rules.matched(table)) + min(table.faced, self.rules.stacks[table.player]) - table.paid[table.player]
        chips = np.where(actions > CALL, actions, 0).astype(np.float64)
        kinds = tuple("fold" if action == FOLD else "pass" if action == CALL else "bet" for action in actions.tolist())
        return Bets(kinds, np.where(actions > CALL, (chips - table.faced) / pot, 0.0), chips, float(pot))

    def stakes_at(self, state: State) -> Stakes:
        table, board = hand_of(state)
        paid = tuple(map(float, self.rules.matched(table)))
        in_play = [seat for seat, out in enumerate(table.folded) if not out]
        all_in = table.player == CHANCE and any(table.paid[seat] == self.rules.stacks[seat] for seat in in_play)
        settled = table.player == TERMINAL or (all_in and len(in_play) == 2 and few_run_outs(self.rules.format, board))
        return Stakes(paid, table.street, settled)

    def pot_shares(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """See :meth:`treeplex.games.public.PublicGame.pot_shares`; for two players."""
        other, board = reached[1 - player] * self.free(state), hand_of(state).board
        return pot_shares(self.rules.format, board, np.atleast_2d(other)).reshape(other.shape)

    def exactly_shared(self, state: State, reached: Sequence[Floats]) -> bool:
        """Whether pot shares of these ranges are exact: all boards are enumerated, or preflop ranges are not suit-specific."""
        board, format = hand_of(state).board, self.rules.format
        return few_run_outs(format, board) or (not board and format == HOLDEM and all(map(suits_alike, reached)))

    def terminal_values(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """See :meth:`treeplex.games.public.PublicGame.terminal_values`; for two players, with odd chips split."""
        met, (win, lose) = self.opposing(state, reached, player), self.showdown_payoffs(state, player)
        if hand_of(state).table.folded.count(False) == 1:
            return np.asarray(win * met)
        return np.asarray(met * (lose + (win - lose) * self.pot_shares(state, reached, player)))

    def showdown_payoffs(self, state: State, player: int) -> tuple[float, float]:
        """See :meth:`treeplex.games.public.PublicGame.showdown_payoffs`; for two players, including side pots and rake."""
        table, board = hand_of(state)
        end, winner = self.rules.checked_down(table), [int(seat == player) for seat in (0, 1)]
        win, lose = (self.rules.paid_out(end, strengths, dealt=bool(board))[player] for strengths in (winner, winner[::-1]))
        return win, lose

    def with_action(self, state: State, action: float) -> "tuple[PublicHoldem, int]":
        """The game with a raise to ``action`` total chips added at a state, and the raise's label.

        Raises:
            GameError: the state is no decision, or the rules allow no such raise.
        """
        table, label = hand_of(state).table, int(action)
        if table.player < 0:
            raise GameError(f"no player acts at {self.name_of(state)}")
        if label in self.actions(state):
            return self, label
        legal = self.rules.betting.legal_raises(table)
        if label != action or label not in legal:
            what = f"whole chips from {legal[0]} to {legal[-1]}" if legal else "no raise at all"
            raise GameError(f"no raise to {action:g} at {self.name_of(state)}; the rules allow {what}")
        return PublicHoldem(self.rules, self.added | {(table.line, label)}), label

    def rest(self, state: State, ranges: Sequence[Floats]) -> HoldemGame | None:
        """The rest of a heads-up hand after the cards of a street, as a spot; None if a spot cannot represent it.

        A spot has the raises of the plan, or the fixed limits. It needs a complete street, two players who can bet, the
        dealer in position (player 1), and a plan without a limit of raises.
        """
        table, board = hand_of(state)
        begins = bool(board) and table.player >= 0 and not table.raises and set(table.acted) == {-1}
        if self.players != 2 or self.rules.betting.dealer != 1 or not begins:
            return None
        bets = self.spot_bets()
        return None if bets is None else HoldemGame.of(self.spot_at(state, ranges, bets))

    def spot_at(self, state: State, ranges: Sequence[Floats], bets: BetPlan | FixedLimit) -> Spot:
        """The rest of a hand after the cards of a street as a spot with the given bets, for two players who can bet."""
        table, board = hand_of(state)
        stack = min(stack - put for stack, put in zip(self.rules.stacks, table.paid, strict=True))
        pot = sum(table.paid) + sum(self.rules.antes)
        return Spot(board, pot, stack, (ranges[0], ranges[1]), bets, self.rules.rake, format=self.rules.format)

    def spot_bets(self) -> BetPlan | FixedLimit | None:
        """The bet plan for spots; None if spots cannot represent it."""
        betting = self.rules.betting
        if betting.limits:
            most = tuple(most or 255 for most in betting.most)
            return FixedLimit(tuple(map(float, betting.limits)), most)
        plan = betting.plan.without_blinds(1, betting.big_blind)
        return None if betting.most or ANY[0] in plan.sizes() else plan

    def features_at(self, state: State) -> Floats:
        """Features of every player's betting, then of the board, for networks.

        For each player: chips put in and chips behind, as shares of all chips; whether folded, and whether to act. Then the
        pot and the bet to call as shares of all chips, and the street as a share of the streets.
        """
        table, board = hand_of(state)
        every = sum(self.rules.stacks) + sum(self.rules.antes)
        numbers: list[float] = []
        for player, (stack, put) in enumerate(zip(self.rules.stacks, table.paid, strict=True)):
            numbers += [put / every, (stack - put) / every, float(table.folded[player]), float(table.player == player)]
        owed = max(table.faced - table.paid[table.player], 0) if table.player >= 0 else 0
        numbers += [self.rules.pot(table) / every, owed / every, table.street / self.rules.format.streets]
        return np.concatenate((numbers, features_of_board(self.rules.format, board)))


def hand_of(state: State) -> PublicHand:
    """The state as a public state of full-game hold'em."""
    assert isinstance(state, PublicHand)
    return state
