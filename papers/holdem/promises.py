"""Values promised by a blueprint of no-limit hold'em in buckets: flops with ten cards, evaluated exactly, with their turns
re-solved from ranges alone or behind gadgets.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.resolved_streets import resolved_streets
from treeplex import agent, load, train
from treeplex.holdem import CompiledSpot, parse_cards
from treeplex.holdem.betting.rules import CALL
from treeplex.holdem.blueprint.agent import HoldemBlueprintAgent
from treeplex.holdem.blueprint.buckets import BucketPolicy
from treeplex.holdem.forms.spot_form import store_of_policy
from treeplex.holdem.policies.by_hand import written
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.search.subgames.subgame import cut_holdem
from treeplex.holdem.whole.public import hand_of
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.search import Belief
from treeplex.search.subgames.horizon import TO_THE_END

WHOLE = "holdem(ranks=5,suits=2,stack=20,preflop=[2.5bb;a],sizes=[100%;a],raises=[2;2;2;2])"
TRAINING = BlueprintTraining(boards=300, deals=64, buckets=(6, 4, 4, 3), method="kmeans", discount_every=50)
FLOPS = ("TcJdQc", "TdTcAd")
GADGETS = ("none", "resolve", "maxmargin")
ITERATIONS = 200
"""Of each solve."""
MILLI = 1000.0


def judged(game: CompiledSpot, average: np.ndarray) -> float:
    """Exploitability of a compiled spot's policy, in thousandths of the pot."""
    none = np.zeros(0, np.float32)
    found = judge_spot(game, average, store_of_policy(game, average, none), judging_crew(game, 1), expected=False)
    return MILLI * found.exploitability / game.spot.pot


def on_flop(folder: str, flop: str) -> BucketPolicy:
    """A blueprint's policy on a flop after a limp and a check, with its ranges there."""
    game = load(WHOLE)
    player = agent(folder, game)
    assert isinstance(player, HoldemBlueprintAgent)
    ranges = [np.ones(len(own)) for own in game.public.first_ranges()]
    for _ in range(2):
        options = game.public.options(player.state)
        ranges[options.player] *= player.policy()[list(options.labels).index(CALL)]
        player.see(CALL)
    for card in parse_cards(flop):
        player.see(card)
    return BucketPolicy.of(player.blueprint, player.node, hand_of(player.state), ranges)


def flops() -> dict[str, list[float]]:
    """A blueprint in buckets on some flops, and with re-solved turns."""
    found = {}
    with TemporaryDirectory() as folder:
        train(WHOLE, "blueprint", settings=TRAINING, out=Path(folder) / "run")
        for flop in FLOPS:
            policy = on_flop(str(Path(folder) / "run"), flop)
            whole = cut_holdem(policy.game, Belief.root(policy.game), TO_THE_END).whole
            found[flop] = [judged(whole, written(policy, whole))]
            found[flop] += [judged(*resolved_streets(policy, gadget, iterations=ITERATIONS)) for gadget in GADGETS]
            print(flop, np.round(found[flop], 3), flush=True)
    return found


@study(title="Values promised by a blueprint in buckets", place=8, minutes=2)
def reproduce() -> Result:
    found = flops()
    return Result(
        source="Burch, Johanson and Bowling 2014; Moravčík et al. 2016; Brown and Sandholm 2017",
        findings=[
            f"With gadgets, at most {max(max(row[2:]) / row[0] for row in found.values()):.0%} of the blueprint's "
            f"exploitability remains; without gadgets, at most {max(row[1] / row[0] for row in found.values()):.0%}."
        ],
        tables=[
            Table(
                "Exploitability in thousandths of the pot, with the flop kept and its turns re-solved",
                ["flop", "before", *(f"`{each}`" for each in GADGETS)],
                [[name, *(f"{each:.1f}" for each in row)] for name, row in found.items()],
            ),
        ],
        notes=[
            f"`{WHOLE}`, {TRAINING.boards} boards of {TRAINING.deals} deals, {TRAINING.buckets} buckets; after a limp "
            f"and a check, with the blueprint's own ranges and bets. {ITERATIONS} iterations of CFR+ per solve."
        ],
        numbers=found,
    )
