"""Re-solving behind a gadget during play: CPU time per subgame, in Leduc poker and in hold'em.

The subgame is cut and solved by CFR+. Its gadget values come from an earlier solve without a gadget, which is not timed. One
thread is used; the boards of a turn may be distributed over several.

    python bench/run.py resolving [--quick]
"""

import argparse
import statistics
import time
from typing import Any

from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.forms.sources.load import public_tree
from treeplex.games.public import PublicGame
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.known import holdem
from treeplex.search.resolving.agent import ResolveSettings, ResolvingAgent
from treeplex.search.resolving.carried import ResolvingState
from treeplex.search.subgames.beliefs import Belief

RANGE = "22+,A2s+,K7s+,Q8s+,J8s+,T8s+,97s+,87s,76s,65s,A8o+,KTo+,QTo+,JTo"
BETS = BetPlan.same("50%,100%,a", "50%,a")
ITERATIONS = {"Leduc poker": 1000, "a river": 100, "a turn": 50}
TURNS = 5


def game_of(name: str) -> PublicGame:
    """The game that is re-solved from its root."""
    if name == "Leduc poker":
        return public_tree("leduc_poker")
    board = "Td9d6hQc2s" if name == "a river" else "Td9d6hQc"
    return HoldemGame.of(holdem(board, RANGE, RANGE, pot=20.0, stack=80.0, bets=BETS))


def one_case(name: str, quick: bool) -> dict[str, Any]:
    """CPU seconds of a solve behind a gadget."""
    game, iterations = game_of(name), 2 if quick else ITERATIONS[name]
    agent, belief = ResolvingAgent(game, ResolveSettings(iterations=iterations), remember=0), Belief.root(game)
    first = agent.solve(ResolvingState(0, belief))
    carried = ResolvingState(0, belief, first.responses.at(()))
    agent.solve(carried)
    seconds = []
    for _ in range(1 if quick else TURNS):
        begun = time.process_time()
        agent.solve(carried)
        seconds.append(time.process_time() - begun)
    hands = int((belief.ranges[0] > 0).sum())
    return {"name": name, "hands": hands, "iterations": iterations, "seconds": statistics.median(seconds)}


@benchmark(
    title="Re-solving with gadgets",
    place=10,
    minutes=1,
    about=(
        "CPU time of one decision of a re-solving agent (`deepstack`, `libratus`) on one core. The decision includes building "
        "the subgame and solving it to the end of the game with CFR+ and the `resolve` gadget. In hold'em both players have "
        "287 to 291 hands, the pot is 20 and the stacks are 80. Bets are half the pot, the pot and all-in; raises are half "
        "the pot and all-in."
    ),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    cases = []
    for name in ITERATIONS:
        cases.append(one_case(name, options.quick))
        print(cases[-1], flush=True)
    return {"cases": cases}


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    rows = [
        [
            each["name"],
            f"{each['hands']}",
            f"{each['iterations']:,}",
            f"{1000 * each['seconds']:,.0f}",
            record.digits(1 / each["seconds"]),
        ]
        for each in result["cases"]
    ]
    return record.markdown_table(["subgame", "hands", "iterations", "milliseconds", "decisions per second"], rows)
