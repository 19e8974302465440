"""What thinking longer gains ``resolver``: loss to a best response on flops and turns of its own play, by time per decision.

Losses are mbb per dealt hand, so those of flops and turns can be added. Rivers are left out: they
reach their 500 iterations in a tenth of a second.
"""

from contextlib import ExitStack
from time import process_time
from unittest.mock import patch

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.in_time import CLOCKS
from treeplex import agent
from treeplex.base.arrays import Floats
from treeplex.games import CHANCE
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.search.first_street import average_values
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.leaves.street_end_values import StreetEndValues
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch
from treeplex.holdem.search.subgames.subgame import HoldemArrays, HoldemSubgame
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.whole.public import hand_of
from treeplex.learn.common.device import one_thread
from treeplex.learn.hand_values.inference import hand_function
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.search import METHODS, Belief, SubgameSearch, cut

BIG_BLIND, STACK, HANDS = 2, 100, 24
"""Chips, big blinds and dealt hands."""
GAME = f"holdem(stack={BIG_BLIND * STACK})"
PLAYS = "resolver(think=none,iterations=80,threads=1)"
"""The agent whose play leads to the flops and turns."""
TIMES, MOST = (0.5, 2.0, 5.0), 500
"""Seconds, and the agent's default limit of iterations."""
STREETS = {1: "flop", 2: "turn"}


def opened(player: WholeHoldemAgent, random: np.random.Generator) -> list[tuple[int, WholeHoldemAgent, int]]:
    """The flops and turns of one hand of self-play: the street, the agent before the card, and the card."""
    found = list[tuple[int, WholeHoldemAgent, int]]()
    player.begin(None)
    game = player.holdem
    held = game.draw(player.state, game.first_ranges(), random)
    while (options := game.options(player.state)).player >= CHANCE and len(options.labels):
        if options.player != CHANCE:
            chances = player.policy()[:, held[options.player]]
            player.see(int(random.choice(options.labels, p=chances / chances.sum())))
            continue
        gone = {int(card) for hand in held for card in game.hands[hand]}
        card = int(random.choice([label for label in options.labels if label not in gone]))
        before = player.fork()
        player.see(card)
        table = hand_of(player.state).table
        if table.player >= 0 and table.street in STREETS and player.solver is not None:
            found.append((table.street, before, card))
    return found


def loss(before: WholeHoldemAgent, card: int, seconds: float, values: HandValues) -> tuple[int, float, float]:
    """Iterations in the given CPU time, and the mean of both players' losses to a best response, in chips and pots.

    Args:
        before: the agent before the card.
        card: the card.
        seconds: the time limit.
        values: values at the start of the turn, which judge flops.
    """
    player = before.fork()
    player.think, began = seconds, process_time()
    player.see(card)
    solver = player.solver
    assert solver is not None
    game = solver.game
    subgame = cut(game, [Belief.of(game, game.first_state(), game.spot.ranges)], solver.horizon).on_threads(1)
    assert isinstance(subgame, HoldemSubgame)
    method = METHODS[solver.settings.method]
    leaf = solver.leaves[0]
    search = subgame.endgame(method, MOST) or SubgameSearch(subgame, method, leaf, horizon=MOST)
    if isinstance(leaf, StreetEndValues):
        leaf.limit(seconds - (process_time() - began))
    while search.iteration < MOST and process_time() - began < seconds:
        search.run(1)
    pot = float(game.spot.pot)
    if isinstance(search, EndgameSearch):
        crew = judging_crew(subgame.whole, 1)
        lost = judge_spot(subgame.whole, search.store.average, search.store, crew, expected=False).exploitability
    else:
        lost = float(np.mean(gains(search, values)))
    return search.iteration, lost, lost / pot


def gains(search: SubgameSearch, values: HandValues) -> Floats:
    """Gain of each player's best response on the street, in chips; values at its end are those of the average policies."""
    subgame, arrays = search.subgame, search.arrays
    assert isinstance(subgame, HoldemSubgame)
    assert isinstance(arrays, HoldemArrays)
    average = average_values(search, values).ev
    strategy = arrays.sequence_form(search.average)
    reached = arrays.reach_at_leaves(strategy)
    leaf_values, best = values.fresh(subgame.leaves, reached), np.zeros(2)
    for player in (0, 1):
        arrays.write_gradient(player, strategy)
        arrays.write_leaves(player, leaf_values[player] * subgame.leaves.opposing(reached, player))
        arrays.respond(player)
        mass = float((arrays.ranges[player] * subgame.roots.opposing(arrays.ranges, player)).sum())
        best[player] = float(arrays.ranges[player][0] @ arrays.root_entries(player)[0]) / mass
    return best - average


@study(title="What `resolver` gains by thinking longer", place=25, minutes=12, needs=("torch",))
def reproduce(hands: int = HANDS) -> Result:
    player = agent(PLAYS, GAME, seed=0)  # one for all hands, since an agent measures its speed
    assert isinstance(player, WholeHoldemAgent)
    values = HandValues(hand_function(shipped_hand_net("turn")))
    found: dict[tuple[int, float], list[tuple[int, float, float]]] = {
        (street, seconds): [] for street in STREETS for seconds in TIMES
    }
    with ExitStack() as stack, one_thread():
        for module in CLOCKS:
            stack.enter_context(patch(f"treeplex.{module}.perf_counter", process_time))
        for number in range(hands):
            for street, before, card in opened(player, np.random.default_rng(number)):
                for seconds in TIMES:
                    found[street, seconds].append(loss(before, card, seconds, values))
                print(number, STREETS[street], *(found[street, seconds][-1] for seconds in TIMES), flush=True)
    scale, totals = 1000.0 / BIG_BLIND / hands, dict.fromkeys(TIMES, 0.0)
    rows = []
    for (street, seconds), each in found.items():
        iterations, chips, pots = np.array(each).T
        mbb = scale * chips.sum()
        totals[seconds] += mbb
        rows.append(
            [
                STREETS[street],
                str(len(each)),
                f"{seconds:g}",
                f"{np.median(iterations):.0f}",
                f"{100 * pots.mean():.2f}",
                f"{100 * pots.max():.2f}",
                f"{mbb:.1f}",
            ]
        )
    gained = ", ".join(f"{totals[seconds]:.0f} with {seconds:g} s" for seconds in TIMES)
    return Result(
        source="own",
        findings=[
            f"A best response on the same tree gains, in mbb/hand on flops and turns by time per decision: {gained}. "
            "Trees grow with time."
        ],
        tables=[
            Table(
                "Loss to a best response on the agent's tree by CPU seconds per decision, on one core",
                ["street", "reached", "s", "iterations", "mean, % of the pot", "most", "mbb per dealt hand"],
                rows,
            )
        ],
        notes=[
            f"{hands} hands of self-play by `{PLAYS}` in `{GAME}`. With less time the agent solves a tree with fewer bet "
            "sizes; the loss from the omitted sizes is not included. Flops are judged by the network for the start of the "
            "turn, on all turn cards and for the ranges that the average policies lead to; its errors are not included "
            "either. On turns the best response plays the river too, although the agent solves rivers again. Means over both "
            "seats."
        ],
        numbers={
            "losses": {f"{STREETS[street]}, {seconds:g} s": each for (street, seconds), each in found.items()},
            "mbb": {f"{seconds:g} s": total for seconds, total in totals.items()},
        },
    )
