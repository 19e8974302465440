"""Subgames of hold'em solved again on small decks, judged exactly: from ranges alone, behind gadgets with what a blueprint
promises, and with streets cut off where the opponent chooses among continuations of the blueprint.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.evaluate.holdem.judge import judge_spot, judging_crew
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.forms.holdem.spot_form import store_of_policy
from treeplex.forms.holdem.subgame import cut_holdem
from treeplex.forms.policies.bucket_policy import BucketPolicy
from treeplex.forms.policies.by_hand import HandPolicy, written
from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.horizon import TO_THE_END
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.cards.format import small
from treeplex.games.poker.public import HoldemGame
from treeplex.games.poker.spots.known import all_hands
from treeplex.games.poker.spots.spot import Spot
from treeplex.games.poker.whole.betting import CALL
from treeplex.games.poker.whole.public import hand_of
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent
from treeplex.runs.agents.search.spot_blueprint import SpotHands
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.holdem.agent_policy import policy_on_spot
from treeplex.runs.holdem.solve import solve_spot
from treeplex.runs.train.train import train
from treeplex.search import BlueprintLeaf, Horizon, biased_policies
from treeplex.search.holdem.blueprint_agent import HoldemBlueprintAgent
from treeplex.search.holdem.resolved import resolved_streets
from treeplex.search.resolving.agent import ROUND, Resolving, ResolvingAgent

DECK = small(ranks=7, suits=2, hole=2, deal=(0, 3, 1, 1))
SPOT = Spot(parse_cards("TcJdQcKd"), 2.0, 6.0, all_hands(DECK), BetPlan.same("100%,a", "a"), format=DECK)
"""A turn with ten cards left: 45 hands of each player, ten rivers."""
BLUEPRINTS = {"CFR, 5 iterations": ("cfr", 5), "CFR, 20": ("cfr", 20), "CFR, 100": ("cfr", 100), "CFR+, 1,000": ("cfr+", 1000)}
GADGETS = ("none", "resolve", "maxmargin")
ITERATIONS = 300
"""Of each solve."""
WHOLE = "holdem(ranks=5,suits=2,stack=20,preflop=[2.5bb;a],sizes=[100%;a],raises=[2;2;2;2])"
TRAINING = BlueprintTraining(boards=300, deals=64, buckets=(6, 4, 4, 3), method="kmeans", discount_every=50)
FLOPS = ("TcJdQc", "AcKcQd", "TdTcAd")
MILLI = 1000.0


def judged(game: CompiledSpot, average: np.ndarray) -> float:
    """Exploitability of a policy as a compiled spot stores it, in thousandths of the pot."""
    none = np.zeros(0, np.float32)
    found = judge_spot(game, average, store_of_policy(game, average, none), judging_crew(game, 1), expected=False)
    return MILLI * found.exploitability / game.spot.pot


def again(policy: HandPolicy) -> list[float]:
    """The same of a policy whose next street is solved again, for each gadget."""
    return [judged(*resolved_streets(policy, gadget, iterations=ITERATIONS)) for gadget in GADGETS]


def modicum(policy: HandPolicy, count: int) -> ResolvingAgent:
    """An agent that solves each street to its end, with so many continuations."""
    game, choices = HoldemGame.of(SPOT), biased_policies(policy)[:count]
    leaves = [BlueprintLeaf(game, policy, {1 - player: choices}) for player in (0, 1)]
    settings = Resolving(every=ROUND, horizon=Horizon(rounds=1), iterations=ITERATIONS)
    return ResolvingAgent(game, settings, leaves, remember=400)


def turns() -> dict[str, list[float]]:
    """Each blueprint of the turn, its rivers solved again, and both streets by an agent with continuations."""
    found = {}
    for name, (algorithm, iterations) in BLUEPRINTS.items():
        blueprint = solve_spot(SPOT, algorithm, iterations=iterations, threads=1).policy
        row = [MILLI * blueprint.judge().exploitability / SPOT.pot, *again(hands := SpotHands(blueprint))]
        row += [MILLI * policy_on_spot(modicum(hands, count), SPOT).judge().exploitability / SPOT.pot for count in (1, 4)]
        found[name] = row
        print(name, np.round(row, 3), flush=True)
    return found


def on_flop(folder: str, flop: str) -> BucketPolicy:
    """How a blueprint goes on after a limp, a check and a flop, with the ranges that come there by it."""
    game = PlayedGame.of(WHOLE)
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
    """A blueprint in buckets on some flops, and with the turns solved again."""
    found = {}
    with TemporaryDirectory() as folder:
        train(WHOLE, "blueprint", settings=TRAINING, out=Path(folder) / "run")
        for flop in FLOPS:
            policy = on_flop(str(Path(folder) / "run"), flop)
            whole = cut_holdem(policy.game, Belief.root(policy.game), TO_THE_END).whole
            found[flop] = [judged(whole, written(policy, whole)), *again(policy)]
            print(flop, np.round(found[flop], 3), flush=True)
    return found


@study(title="Subgames of hold'em solved again: small decks", place=6, minutes=5)
def reproduce() -> Result:
    whole, single = flops(), turns()
    cells = {name: [f"{each:.2f}" for each in row] for name, row in (single | whole).items()}
    last = list(BLUEPRINTS)[-1]
    worst = max(max(row[2:4]) / row[0] for row in whole.values())
    return Result(
        source="Burch, Johanson and Bowling 2014; Moravčík et al. 2016; Brown, Sandholm and Amos 2018",
        findings=[
            f"Behind a gadget that keeps what a blueprint in buckets promises, at most {worst:.0%} of what it loses is left.",
            f"From a good blueprint ({last}), rivers solved from ranges alone lose {cells[last][1]} thousandths of the pot, "
            f"behind `maxmargin` {cells[last][3]}; an agent with one continuation loses {cells[last][4]}, with four "
            f"{cells[last][5]}.",
        ],
        tables=[
            Table(
                "A turn with ten cards left, exploitability in thousandths of the pot",
                ["blueprint", "before", *(f"rivers, `{each}`" for each in GADGETS), "1 continuation", "4 continuations"],
                [[name, *cells[name]] for name in single],
            ),
            Table(
                "Flops of a blueprint in buckets, exploitability in thousandths of the pot",
                ["flop", "before", *(f"turns, `{each}`" for each in GADGETS)],
                [[name, *cells[name]] for name in whole],
            ),
        ],
        notes=[
            f"{ITERATIONS} iterations of CFR+ for each solve. The turn: a deck of 14 cards, a pot of 2, 6 behind, bets of the "
            "pot and all-in. Continuations: each street is solved to its end for each player, behind `resolve` from the river "
            "on; the opponent chooses among the blueprint and its biased versions before the card.",
            f"The flops: {WHOLE}, {TRAINING.boards} boards with {TRAINING.deals} deals each, {TRAINING.buckets} buckets, after "
            "a limp and a check, with the ranges that the blueprint comes with. Its own bets; the flop is kept.",
        ],
        numbers={"turn": single, "flops": whole},
    )
