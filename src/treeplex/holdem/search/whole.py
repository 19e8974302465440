"""Heads-up no-limit hold'em: a blueprint on early streets, then endgame solving with the bet sizes actually played.

The recipe is that of Libratus and Modicum (Brown and Sandholm 2017; Brown, Sandholm and Amos 2018). Before the turn
(``start``) the blueprint plays, using action translation for bets that it lacks. From then on the rest of the hand is a spot
with all hands, no buckets and exact stacks: the turn is solved with its rivers, and the river again with finer sizes. A bet
of the opponent that the tree lacks is added to it, and the street is solved again. Ranges follow from the policies played; the
opponent's are computed from the blueprint. The first solve uses ranges alone, as in Modicum, since a bucketed policy's values
of single hands are inaccurate. Later solves have a gadget with the last solve's values of the opponent's hands.
"""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.blas_threads import one_blas_thread
from treeplex.errors import GameError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.buckets import BucketPolicy
from treeplex.holdem.forms.spot_size import spot_size
from treeplex.holdem.policies.by_hand import biased_hands
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.charted import ChartedAgent, PlaysCharts
from treeplex.holdem.search.promises import MOST_WRITTEN, promised_by, written_size
from treeplex.holdem.search.street_solving import ESTIMATES, RANGES, StreetSolving
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import Agent, BaseAgent, Thought, fork
from treeplex.search.leaf import LeafValue
from treeplex.search.resolving.agent import LEAF_SHARE, ResolvingAgent
from treeplex.search.resolving.carried import ResolvingState
from treeplex.search.resolving.continuations import BlueprintLeaf
from treeplex.search.resolving.resolved import UNSAFE
from treeplex.search.resolving.settings import ROUND
from treeplex.search.subgames.beliefs import Belief, with_trace
from treeplex.search.subgames.horizon import TO_THE_END, Horizon
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.translation.agent import TranslatedAgent
from treeplex.search.translation.mapping import bets_at, real_actions, translation_shares

ENOUGH = 80
"""Number of iterations after which a turn's exploitability is usually below 0.5% of the pot."""
PACE = 1.2e8
"""Assumed solving speed on a slow machine, in stored numbers times iterations per second and thread, before an agent has
measured its own."""
PROMISES_SHARE, WRITTEN_PACE = 0.4, 1e8
"""Share of the time for computing the blueprint's values, and table entries that a thread writes and evaluates per second."""
END_SECONDS = 0.06
"""Seconds to evaluate one end of a flop by continuations on a slow machine."""
NETWORK_SECONDS, FIRST_SECONDS = 0.0018, 0.15
"""Seconds of a flop's solve with a network on a slow machine: per iteration, thread and end; and before the first iteration."""
WORTHWHILE, FLOP_SHARE = 24, 0.7
"""Iterations of a flop's solve without which fewer bet sizes are better, and the share of the time for them."""
FEWEST = 20
"""Minimum number of iterations of a solve that evaluates the other player's actions."""
LONG = 0.2
"""Minimum seconds of a solve from which speed is measured."""


class ReplyValues(NamedTuple):
    """Values of a player's actions against an agent's solve of the street.

    Attributes:
        labels: labels of the actions in the agent's game; bets of the solve are rounded to whole chips.
        chosen: index of the evaluated action.
        values: float64 [A, H], chips won from the pot with each hand, so folding is worth 0; NaN where unknown. The player then
            plays a best response.
        policy: float64 [A, H], the player's policy in the solve.
    """

    labels: tuple[int, ...]
    chosen: int
    values: Floats
    policy: Floats


class WholeHoldemAgent(BaseAgent):
    """Plays heads-up full-game hold'em in either seat.

    Attributes:
        guide: the blueprint at this table, with action translation.
        solving: settings of street solving.
        leaf: values at the end of the flop, for solves of the flop; None: no network.
        ranges: float64 [H] of each player, unnormalised, given the actions so far; the opponent's only until the first solve.
        solver: the agent for the rest of the hand; None while the guide plays.
        path: events of this hand.
        pace: solving speed, in stored numbers times iterations per second and thread, measured in the last long solve.
    """

    draws = False

    def __init__(
        self,
        game: PublicHoldem,
        guide: Agent,
        solving: StreetSolving | None = None,
        generator: np.random.Generator | None = None,
        *,
        leaf: LeafValue | None = None,
    ) -> None:
        """Create the agent.

        Raises:
            AlgorithmError: the settings contradict each other.
            GameError: the game is not heads-up, or the button is at player 0.
        """
        super().__init__(game, generator)
        if game.players != 2 or game.rules.betting.dealer != 1 or game.rules.betting.limits:
            raise GameError(
                "street solving needs heads-up no-limit hold'em with player 1 on the button; leave out 'dealer' and 'bets'"
            )
        self.holdem, self.guide, self.solving, self.leaf = game, guide, solving or StreetSolving(), leaf
        self.pace, self._numbers = PACE, 0
        self._opened: dict[tuple[int | None, float | None, tuple[int, ...]], tuple[ResolvingAgent | None, int]] = {}
        self.solving.check()
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a hand; see :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.guide.begin(None)
        self.state, self.thought, self._spent, self._began = self.game.first_state(), None, 0.0, 0.0
        self.solver: ResolvingAgent | None = None
        self.path: tuple[int, ...] = ()
        self._decided: tuple[tuple[int, ...], Floats] | None = None
        self._opened.clear()
        first, second = (np.ones(len(self.holdem.hands)) for _ in range(2))
        self.ranges = first, second

    def fork(self) -> "WholeHoldemAgent":
        """A copy of the agent, which shares solved streets; see :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        copy = super().fork()
        copy.guide = fork(self.guide)
        copy.solver = None if self.solver is None else self.solver.fork()
        return copy

    def see(self, event: int) -> None:
        """Observe an event; the time this takes counts towards the next decision."""
        self._began = perf_counter()
        with one_blas_thread():
            self._follow(event)
        self._spent += perf_counter() - self._began

    def _follow(self, event: int) -> None:
        options, solver = self.game.options(self.state), self.solver
        following = hand_of(self.game.after(self.state, event))
        if options.player >= 0 and (solver is None or options.player == self.player):
            played = self._played(event)
            both = [reach * played if seat == options.player else reach for seat, reach in enumerate(self.ranges)]
            self.ranges = both[0], both[1]
        if solver is not None and options.player >= 0:
            self.solver = self._told(solver, event)
        self.guide.see(event)
        self.state, self.path = following, (*self.path, event)
        table = following.table
        begins = options.player == CHANCE and table.player >= 0 and table.street >= self.solving.start
        if begins:
            key = self.player, self.think, self.path  # the time limit chooses the bet sizes
            if key not in self._opened:
                self._opened[key] = self._open(event), self._numbers
            opened, self._numbers = self._opened[key]
            self.solver = None if opened is None else opened.fork()

    @property
    def follows(self) -> HoldemBlueprintAgent | None:
        """The blueprint that the guide follows, with or without charts and translation; None if the guide is another kind of
        agent.
        """
        guide = self.guide.guide if isinstance(self.guide, ChartedAgent) else self.guide
        inner = guide.inner if isinstance(guide, TranslatedAgent) else guide
        return inner if isinstance(inner, HoldemBlueprintAgent) else None

    def _below(self) -> tuple[BucketPolicy, float] | None:
        """The blueprint's policy from the start of this street on, and the ratio of the table's pot to the blueprint's. None
        if the blueprint has no such street, because both players are all-in after translation.
        """
        follows = self.follows
        if follows is None:
            return None
        there, here = hand_of(follows.state), hand_of(self.state)
        if there.table.player < 0 or there.table.street != here.table.street:
            return None
        rules = self.holdem.rules
        policy = BucketPolicy.of(follows.blueprint, follows.node, there)
        return policy, rules.pot(here.table) / follows.blueprint.game.rules.pot(there.table)

    def policy(self) -> Floats:
        """The policy at the current decision; see :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        if self.solver is None:
            self.thought, self._spent = Thought(0, 0.0, 0), 0.0
            return self.guide.policy()
        self._decided = self.path, self._solved_policy(self.solver)
        return self._decided[1]

    def _solved_policy(self, solver: ResolvingAgent) -> Floats:
        """The policy of the agent that solves the rest of the hand, with the actions of this table."""
        solver.spent(self._spent)
        options, began, real = self.game.options(self.state), perf_counter(), bets_at(self.game, self.state)
        policy = np.zeros((len(options.labels), len(self.holdem.hands)))
        if solver.game.options(solver.state).player != options.player:  # a bet was translated to a call
            policy[real.kinds.index("pass")], self._spent = 1.0, 0.0
            return policy
        with one_blas_thread():
            solved = solver.policy()
        np.add.at(policy, real_actions(bets_at(solver.game, solver.state), real), solved)
        left_out = solver.game.possible(solver.state)[options.player] == 0
        if left_out.any():
            policy[:, left_out] = self.guide.policy()[:, left_out]
        thought = solver.thought or Thought(0, 0.0, 0)
        seconds = thought.seconds - self._spent
        whole_street = solver.settings.every == ROUND or solver.searches == 1
        if seconds > LONG and thought.iterations and self._numbers and whole_street:
            self.pace = thought.iterations * self._numbers / (seconds * self.solving.threads)
        self.thought, self._spent = thought._replace(seconds=self._spent + perf_counter() - began), 0.0
        return policy

    def _played(self, event: int) -> Floats:
        """The probability that each hand takes an action under the guide, or under its own last decision; bets that are never
        made count as the nearest bet.
        """
        number = list(self.game.options(self.state).labels).index(event)
        if self.solver is None:
            table = self.guide.policy()
        else:
            table = self._decided[1] if self._decided and self._decided[0] == self.path else self.policy()
        if table[number].any():
            return np.asarray(table[number])
        bets = bets_at(self.game, self.state)
        made = [k for k, kind in enumerate(bets.kinds) if kind == bets.kinds[number] and table[k].any()]
        if not made:
            return np.ones(table.shape[1])
        nearest = min(made, key=lambda k: abs(np.log(bets.sizes[k] / bets.sizes[number])))
        return np.asarray(table[nearest])

    def _open(self, card: int) -> ResolvingAgent | None:
        """The agent that solves the hand from the start of a street on; None if the guide keeps playing."""
        solving, table = self.solving, hand_of(self.state).table
        before, carried = self.solver, list[ResolvingState]()
        ranges: Ranges = self._likely()
        if before is not None:
            if not before.horizon.rounds and acts_after(before, card):
                before.see(card)
                carried = [self._as_played(before.carried(player)) for player in self._solved]
                ranges = carried[0].belief.ranges
            else:  # no values to carry over: the last solve was depth-limited, or its betting ended first
                ranges = self._free(self._as_played(before.carried(self.player or 0)).belief.ranges)
        before_turn = table.street + 2 < len(self.holdem.rules.format.deal)
        by_leaf = self.leaf is not None and before_turn
        ends = bool(solving.continuations) and before_turn and not by_leaf
        safe = not carried and solving.promises != RANGES and solving.gadget != UNSAFE
        below = self._below() if ends or safe else None
        if ends and below is None:
            return None
        promised = self._promised(below, ranges) if safe and below is not None else {}
        game = self._street(ranges) if ends or by_leaf else HoldemGame.of(self._spot(ranges))
        if game is None:
            return None
        horizon, leaves = TO_THE_END, list[LeafValue]()
        if by_leaf and self.leaf is not None:
            horizon, leaves = Horizon(rounds=1, all_in=True), [self.leaf, self.leaf]
        if ends and below is not None:
            horizon, policy = Horizon(rounds=1, all_in=True), below[0]
            choices = biased_hands(policy)[: solving.continuations]
            leaves = [BlueprintLeaf(game, policy, {1 - player: choices}, boards=solving.boards) for player in (0, 1)]
        solver = ResolvingAgent(game, solving.resolving, leaves or None, horizon=horizon, generator=self.generator, remember=4)
        solver.begin(self.player)
        solver.think = self.think
        at = Belief.of(game, game.first_state(), ranges)
        for carried_state in (*carried, *(ResolvingState(player, at, values) for player, values in promised.items())):
            solver.go_on(carried_state)
        return solver

    def _as_played(self, carried: ResolvingState) -> ResolvingState:
        """Replace the agent's own range by the one it has played, which differs after a street is solved again."""
        belief, player = carried.belief, self.player
        if player is None:
            return carried
        played = with_trace(self.ranges[player] * self.holdem.free(self.state))
        ranges = [played if seat == player else weights for seat, weights in enumerate(belief.ranges)]
        return replace(carried, belief=Belief.of(belief.game, belief.state, ranges))

    def _promised(self, below: tuple[BucketPolicy, float], ranges: Ranges) -> dict[int, Floats]:
        """For each solved player, the blueprint's values of the opponent's hands; empty if computing them takes too long."""
        (policy, scale), threads = below, self.solving.threads
        within = PROMISES_SHARE * self._left * WRITTEN_PACE * threads / len(self._solved)
        if written_size(policy.game) > min(MOST_WRITTEN, within):
            return {}
        estimates = self.solving.promises == ESTIMATES
        return {
            player: scale * promised_by(policy, ranges, player, estimates=estimates, threads=threads) for player in self._solved
        }

    @property
    def _left(self) -> float:
        """Thinking time left in seconds while observing an event; infinite without a limit."""
        return np.inf if self.think is None else self.think - self._spent - (perf_counter() - self._began)

    @property
    def _solved(self) -> tuple[int, ...]:
        """The players whose decisions are solved."""
        return (0, 1) if self.player is None else (self.player,)

    def _street(self, ranges: Ranges) -> HoldemGame | None:
        """A street as a spot without later betting; drops raises when time is short.

        With a network, all bets but the first size are dropped as well if necessary. With continuations, it returns None if
        they do not fit without raises.
        """
        solving, street = self.solving, hand_of(self.state).table.street
        least, force = float(self.holdem.rules.betting.big_blind), solving.force_allin
        plan = BetPlan.same("none", "none", min_bet=least, add_allin=solving.add_allin, force_allin=force)
        self._numbers = 0
        sizes, seconds, time = solving.bets[0], END_SECONDS, LEAF_SHARE * self._left
        choices = [(sizes, solving.raises), (sizes, "none")]
        if self.leaf is not None:
            choices.append((sizes.split(",")[0], "none"))
            seconds, time = NETWORK_SECONDS * WORTHWHILE / solving.threads, FLOP_SHARE * self._left - FIRST_SECONDS
        for bets, raises in choices:
            game = HoldemGame.of(self.holdem.spot_at(self.state, ranges, plan.override(street, bets=bets, raises=raises)))
            ends = sum(isinstance(node, StreetEnd) and node.street == street for node in game.tree.nodes)
            if ends * seconds <= time:
                return game
        return None if self.leaf is None else game

    def _spot(self, ranges: Ranges) -> Spot:
        """The rest of the hand as a spot, with the largest set of bet sizes that the time allows."""
        solving, table = self.solving, hand_of(self.state).table
        for plan in solving.plans(table.street, float(self.holdem.rules.betting.big_blind)):
            spot = self.holdem.spot_at(self.state, ranges, plan)
            self._numbers = spot_size(spot, isomorphism=False).stored
            if self._numbers * ENOUGH <= self.pace * solving.threads * self._left:
                break
        return spot

    def _likely(self) -> tuple[Floats, Floats]:
        """The ranges without unlikely hands; if no hands are dropped, every hand gets a small weight.

        An agent with a network leaves out only hands of the opponent, since no blueprint could play its own.
        """
        drop, ranges = self.solving.drop, self._free(self.ranges)
        first, second = (
            np.where(weights >= drop * weights.max(), weights, 0.0)
            if drop and (self.leaf is None or player != self.player)
            else with_trace(weights)
            for player, weights in enumerate(ranges)
        )
        return self._free((first, second))

    def _free(self, ranges: Ranges) -> tuple[Floats, Floats]:
        """Ranges without blocked hands; uniform for a player whose range is empty."""
        free = self.holdem.free(self.state)
        first, second = (weights * free if (weights * free).sum() > 0 else free for weights in ranges)
        return first, second

    def chart_policy(self) -> Floats | None:
        """The policy of the guide's charts, float64 [A, H]; None once a street is solved, or for a guide without charts."""
        return self.guide.chart_policy() if self.solver is None and isinstance(self.guide, PlaysCharts) else None

    def reply_values(self, event: int) -> ReplyValues | None:
        """Evaluate an action of the other player, who is to act, against this agent's solve of the street.

        If the solve lacks the action, it is added and the street is solved again; the opponent's reply then uses this solve.

        Returns:
            The values; None if the agent does not solve this street, the player cannot act in its solve, or there was no time
            for :data:`FEWEST` iterations.
        """
        options, table = self.game.options(self.state), hand_of(self.state).table
        if self.solver is None or self.solver.game.options(self.solver.state).player != options.player:
            return None
        solver = self.solver.fork()
        taken = self._meant(solver, event)
        replies, game = solver.reply_values(FEWEST), solver.game
        if replies is None:
            return None
        values, policy = replies
        assert isinstance(game, HoldemGame)
        node = game.event(solver.state)
        assert isinstance(node, Decision)
        kinds, real = node.bets(), bets_at(self.game, self.state)
        labels = [
            table.base + round(chips)
            if kind == "bet"
            else options.labels[real.kinds.index(kind if kind in real.kinds else "pass")]
            for kind, chips in zip(kinds.kinds, kinds.chips.tolist(), strict=True)
        ]
        chosen = game.options(solver.state).labels.index(taken)
        labels[chosen] = event
        return ReplyValues(tuple(labels), chosen, values + node.contributions[options.player], policy)

    def _told(self, solver: ResolvingAgent, event: int) -> ResolvingAgent:
        """The solver after an observed action; a bet missing from its tree is added or, if that is impossible, translated."""
        if solver.game.options(solver.state).player == self.game.options(self.state).player:
            solver.see(self._meant(solver, event))
        return solver

    def _meant(self, solver: ResolvingAgent, event: int) -> int:
        """The solver's label of an action; adds a missing bet to its tree, or translates it if that is impossible."""
        options, table = self.game.options(self.state), hand_of(self.state).table
        labels = list(options.labels)
        inner, real = bets_at(solver.game, solver.state), bets_at(self.game, self.state)
        action, solver_labels = labels.index(event), solver.game.options(solver.state).labels
        meant = [k for k, number in enumerate(real_actions(inner, real)) if number == action]
        chips = float(event - table.base)
        if real.kinds[action] != "bet":
            number = inner.kinds.index(real.kinds[action]) if real.kinds[action] in inner.kinds else inner.kinds.index("pass")
        elif near := [k for k in range(len(solver_labels)) if inner.kinds[k] == "bet" and abs(inner.chips[k] - chips) < 0.5]:
            number = near[0]
        elif options.player == self.player and meant:
            number = meant[-1]
        else:
            try:
                return solver.add(chips)
            except GameError:
                number = int(translation_shares(real, action, inner, "likelier").argmax())
        return int(solver_labels[number])


def acts_after(solver: ResolvingAgent, card: int) -> bool:
    """Whether a player acts in a solver's game after this card."""
    game, state = solver.game, solver.state
    return game.options(state).player == CHANCE and game.options(game.after(state, card)).player >= 0
