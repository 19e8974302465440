"""Pluribus' search by sampling with three and six players: gain of every seat over its blueprint in small hold'em."""

import math
from time import process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import load
from treeplex.base.arrays import Floats
from treeplex.games import CHANCE, TERMINAL
from treeplex.games.public import State, pick
from treeplex.holdem.blueprint.agent import guided_betting
from treeplex.holdem.blueprint.policy import HoldemBlueprint, bucket_rows_of, shares_of
from treeplex.holdem.blueprint.solver import BlueprintSolver
from treeplex.holdem.whole.game import Holdem
from treeplex.search.evaluate.statistics import Summary, half_width, summary
from treeplex.search.many_players.sampled_rounds import GuidedBetting, SampledRounds
from treeplex.search.many_players.search import RoundSearchAgent

DECK = "ranks=4,suits=2,hole=1,deal=[0;1]"
THREE = f"holdem(players=3,bets=[2;4],raises=2,stack=40,{DECK})"
SIX = f"holdem(players=6,bets=[2;4],raises=1,limps=false,stack=20,{DECK})"
TABLES = (
    ("six, limit, 1 raise", SIX, 1_000, 1, 250),
    ("three, limit, 2 raises", THREE, 100, 1, 300),
    ("six, limit, 1 raise", SIX, 10_000, 1, 250),
)
"""Names, games, boards of the blueprint with 16 deals each, rounds played by it, and deals per seat (scaled by the study's
option).
"""
ITERATIONS, DEALS = 60, 32
"""Of a search."""


def trained(game: Holdem, boards: int) -> HoldemBlueprint:
    """A blueprint."""
    rows = bucket_rows_of(game, (), "", True)
    solver = BlueprintSolver(game.rules, rows, deals=16, discount_every=max(boards // 50, 1), seed=1)
    solver.run(boards)
    return HoldemBlueprint(game, rows, solver.nodes, shares_of(solver.tables.average, solver.nodes, rows.counts))


class SeatGain:
    """A seat's gain from search while the others follow the blueprint, deal by deal.

    The opponents' hands, their sampled actions and the cards are identical for search and blueprint. All own actions are
    followed, weighted by each policy, and payoffs are averaged over all possible hands of the seat. This is unbiased and
    removes most of the variance.
    """

    def __init__(self, guided: GuidedBetting, agent: RoundSearchAgent, seat: int) -> None:
        self.guided, self.game, self.agent, self.seat, self.seconds = guided, guided.game, agent, seat, list[float]()

    def deal(self, random: np.random.Generator) -> float:
        """One deal, in chips."""
        game, state = self.game, self.game.first_state()
        held = list(game.draw(state, game.first_ranges(), random))
        live = np.ones(len(game.hands))
        for player, hand in enumerate(held):
            live *= 1.0 if player == self.seat else game.apart[hand]
        self.agent.begin(self.seat, random)
        card = int(random.choice(game.hands[live > 0, 0]))
        return float(self._go(self.agent, state, held, card, np.stack([live, live]), random) / live.sum())

    def _go(
        self, agent: RoundSearchAgent, state: State, held: list[int], card: int, own: Floats, random: np.random.Generator
    ) -> float:
        """The search's payoff minus the blueprint's, summed over own hands; ``own`` [2, H] is each policy's reach."""
        game, options = self.game, self.game.options(state)
        if options.player == TERMINAL:
            deals = np.repeat(np.array([held]), len(game.hands), axis=0)
            deals[:, self.seat] = np.arange(len(game.hands))
            return float((own[0] - own[1]) @ game.payoffs_of(state, deals)[:, self.seat])
        if options.player != self.seat:
            if options.player == CHANCE:  # a board that blocks some own hands: as likely for each of the others
                label, left = card, len(game.hands) - len(held)
                own = own * (game.hands[:, 0] != card) * (left + 1) / left
            else:
                table = self.guided.policy_at(state)
                label = options.labels[pick(random, table[:, held[options.player]])]
            agent.see(label)
            return self._go(agent, game.after(state, label), held, card, own, random)
        began = process_time()
        searched, known = agent.policy(), self.guided.policy_at(state)
        if agent.thought is not None and agent.thought.iterations:
            self.seconds.append(process_time() - began)
        total = 0.0
        for number, label in enumerate(options.labels):
            after = np.stack([own[0] * searched[number], own[1] * known[number]])
            if after.any():
                following = agent.fork()
                following.see(label)
                total += self._go(following, game.after(state, label), held, card, after, random)
        return total


def seat_gain(guided: GuidedBetting, seat: int, deals: int, first: int) -> tuple[Summary, list[float]]:
    """The gain of a seat over the given number of deals, and the seconds of each search."""
    rounds = SampledRounds(guided, iterations=ITERATIONS, deals=DEALS)
    agent = RoundSearchAgent(rounds, average=True, search_after=first, remember=100_000)
    measured = SeatGain(guided, agent, seat)
    random = np.random.default_rng((1, seat))
    return summary(np.array([[measured.deal(random)] for _ in range(deals)])), measured.seconds


@study(title="Pluribus' search by sampling: three and six players", place=3, minutes=6)
def reproduce(share: float = 1.0) -> Result:
    rows, numbers, least, seconds = [], {}, list[float](), list[float]()
    for title, spec, boards, first, deals in TABLES:
        game = load(spec)
        assert isinstance(game, Holdem)
        guided = guided_betting(game.public, trained(game, boards))
        name = f"{title}, {boards:,} boards, {'second round' if first else 'all rounds'}"
        found = [seat_gain(guided, seat, round(share * deals), first) for seat in range(game.num_players)]
        gains, halves = [gain.mean[0] for gain, _ in found], [half_width(gain.error[0], gain.samples) for gain, _ in found]
        seconds += [each for _, took in found for each in took]
        least += [gain - half for gain, half in zip(gains, halves, strict=True)]
        bars = " · ".join(f"{gain:+.2f} ± {half:.2f}" for gain, half in zip(gains, halves, strict=True))
        errors, dealt = [gain.error[0] for gain, _ in found], sum(gain.samples for gain, _ in found)
        spread = half_width(math.hypot(*errors) / len(errors), dealt)
        rows.append([name, bars, f"{np.mean(gains):+.3f} ± {spread:.3f}"])
        numbers[name] = {"gains": gains, "half intervals": halves, "searches": sum(len(took) for _, took in found)}
        print(rows[-1], flush=True)
    above = sum(each > 0 for each in least)
    return Result(
        source="Brown and Sandholm 2019, Superhuman AI for multiplayer poker: search by Monte Carlo CFR",
        findings=[
            f"The interval is above zero in {above} of {len(least)} seats. The median search takes "
            f"{1000 * np.median(seconds):.0f} ms on one core, the longest {1000 * max(seconds):.0f} ms."
        ],
        tables=[
            Table(
                "Gain in chips/hand over the blueprint in the same seat, all others following it, with 95% intervals",
                ["game, boards of the blueprint, what is searched", "by seat", "mean"],
                rows,
            )
        ],
        notes=[
            f"Hold'em with eight cards, one private and one public: `{SIX}` and `{THREE}`. Searches have {ITERATIONS} "
            f"iterations of {DEALS} deals, and the average is played. Search and blueprint face the same opponent hands, "
            f"cards and random numbers. Own actions and hands are enumerated. Deals per seat, by row: "
            f"{', '.join(str(round(share * deals)) for *_, deals in TABLES)}.",
        ],
        numbers=numbers,
    )
