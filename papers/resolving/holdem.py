"""A turn of hold'em with a small deck, judged exactly: rivers solved again from ranges alone and behind gadgets, and both
streets solved, the turn cut off where the opponent chooses among continuations of a blueprint.
"""

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.forms.policies.holdem.by_hand import HandPolicy
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.cards.format import small
from treeplex.games.poker.public import HoldemGame
from treeplex.games.poker.spots.known import all_hands
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.agents.search.spot_blueprint import SpotHands
from treeplex.runs.holdem.first_street.agent_policy import policy_on_spot
from treeplex.runs.holdem.policy import HoldemPolicy
from treeplex.runs.holdem.solve import solve_spot
from treeplex.search import BlueprintLeaf, Horizon, biased_policies
from treeplex.search.holdem.resolved import resolved_streets
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.settings import ROUND, Resolving

DECK = small(ranks=7, suits=2, hole=2, deal=(0, 3, 1, 1))
SPOT = Spot(parse_cards("TcJdQcKd"), 2.0, 6.0, all_hands(DECK), BetPlan.same("100%,a", "a"), format=DECK)
"""A turn with ten cards left: 45 hands of each player, ten rivers."""
BLUEPRINTS = {"CFR, 10 iterations": ("cfr", 10), "CFR, 100 iterations": ("cfr", 100), "CFR+, 1,000 iterations": ("cfr+", 1000)}
GADGETS = ("none", "resolve", "maxmargin")
ITERATIONS = 300
"""Of each solve."""
MILLI = 1000.0


def exploitability(policy: HoldemPolicy) -> float:
    """In thousandths of the pot."""
    return MILLI * policy.judge().exploitability / SPOT.pot


def again(policy: HandPolicy, gadget: str) -> float:
    """The same of a policy whose rivers are solved again."""
    game, average = resolved_streets(policy, gadget, iterations=ITERATIONS)
    return exploitability(HoldemPolicy(game, average, np.zeros(0, np.float32), (), len(game.boards)))


def modicum(policy: HandPolicy, count: int) -> ResolvingAgent:
    """An agent that solves each street to its end, with so many continuations."""
    game, choices = HoldemGame.of(SPOT), biased_policies(policy)[:count]
    leaves = [BlueprintLeaf(game, policy, {1 - player: choices}) for player in (0, 1)]
    settings = Resolving(every=ROUND, iterations=ITERATIONS)
    return ResolvingAgent(game, settings, leaves, horizon=Horizon(rounds=1), remember=400)


def turns() -> dict[str, list[float]]:
    """Each blueprint of the turn, its rivers solved again, and both streets by an agent with continuations."""
    found = {}
    for name, (algorithm, iterations) in BLUEPRINTS.items():
        blueprint = solve_spot(SPOT, algorithm, iterations=iterations, threads=1).policy
        hands, row = SpotHands(blueprint), [exploitability(blueprint)]
        row += [again(hands, gadget) for gadget in GADGETS]
        row += [exploitability(policy_on_spot(modicum(hands, count), SPOT)) for count in (1, 4)]
        found[name] = row
        print(name, np.round(row, 3), flush=True)
    return found


@study(title="Hold'em with continuations: a turn of a small deck", place=6, minutes=3)
def reproduce() -> Result:
    found = turns()
    cells = {name: [f"{each:.2f}" for each in row] for name, row in found.items()}
    last = list(BLUEPRINTS)[-1]
    return Result(
        source="Burch, Johanson and Bowling 2014; Moravčík et al. 2016; Brown, Sandholm and Amos 2018",
        findings=[
            f"From a good blueprint ({last}), rivers solved from ranges alone lose {cells[last][1]} thousandths of the pot, "
            f"behind `maxmargin` {cells[last][3]}; an agent with one continuation loses {cells[last][4]}, with four "
            f"{cells[last][5]}.",
        ],
        tables=[
            Table(
                "Exploitability in thousandths of the pot",
                ["blueprint", "before", *(f"rivers, `{each}`" for each in GADGETS), "1 continuation", "4 continuations"],
                [[name, *row] for name, row in cells.items()],
            ),
        ],
        notes=[
            f"{ITERATIONS} iterations of CFR+ for each solve. A deck of 14 cards, four of them on the table, a pot of 2, 6 "
            "behind, bets of the pot and all-in. Continuations: each street is solved to its end for each player, behind "
            "`resolve` from the river on; the opponent chooses among the blueprint and its biased versions before the card."
        ],
        numbers=found,
    )
