"""Whole no-limit hold'em with 50 big blinds: a blueprint in buckets against rule agents and a local best response, and how
exact the turns and rivers are that the agent solves again.

The blueprint is that of ``runs/holdem``; without such a folder it is trained first. A longer training is measured as it is.
"""

from pathlib import Path
from time import process_time

import numpy as np

from papers.common.results import Result, Table
from papers.common.study import study
from treeplex.evaluate.holdem.judge import judge_spot, judging_crew
from treeplex.forms.holdem.subgame import cut_spot
from treeplex.forms.policies.holdem_blueprint import HoldemBlueprint
from treeplex.games.base import CHANCE
from treeplex.games.poker.whole.public import hand_of
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.registry import agent
from treeplex.runs.blueprint.settings import BlueprintTraining
from treeplex.runs.lbr import local_best_response
from treeplex.runs.match.match import match
from treeplex.runs.train.train import train
from treeplex.search.agents.by_rules import STYLES
from treeplex.search.holdem.whole import StreetSolving, WholeHoldemAgent
from treeplex.search.leaf import NoLeaf
from treeplex.search.subgame import METHODS, SubgameSearch

GAME = "holdem(stack=100,preflop=[2.5bb;3x;a],sizes=[50%;100%;a],raises=[4;3;3;3])"
FOLDER, BOARDS = Path("runs/holdem"), 100_000
HANDS = {"folder": 500, "caller": 2000, "shover": 2000, "rock": 400, "regular": 400, "station": 400, "maniac": 400}
LBR_HANDS = 100
SITUATIONS = 4
ITERATIONS = {2: (20, 60), 3: (50, 200)}
"""Of solves of turns and of rivers."""
MILLI = 1000 / 2
"""Thousandths of a big blind in a chip."""


def against_rules() -> tuple[list[list[str]], dict[str, float]]:
    """Rows and numbers of matches with rule agents."""
    rows, numbers = [], {}
    for style, about in STYLES.items():
        found = match(GAME, [str(FOLDER), f"rules(style={style})"], hands=HANDS[style], seed=1)
        low, high = (MILLI * each for each in found.interval[0])
        numbers[style] = MILLI * found.value[0]
        rows.append([f"`{style}`", about.about, f"{HANDS[style]:,}", f"{numbers[style]:+,.0f}", f"{low:+,.0f} to {high:+,.0f}"])
        print(rows[-1], flush=True)
    return rows, numbers


def situations(street: int) -> list:
    """Spots where a street begins in plays of the blueprint with itself, with the ranges that came there."""
    game, random = PlayedGame.of(GAME), np.random.default_rng(street)
    solving, found = StreetSolving(start=street), []
    guide = agent(str(FOLDER), game, seed=0)
    while len(found) < SITUATIONS:
        player = WholeHoldemAgent(game.public, guide, solving, random)
        held = game.public.draw(player.state, [np.ones(1326)] * 2, random)
        while (options := game.public.options(player.state)).player >= CHANCE and len(options.labels):
            if options.player == CHANCE:
                gone = {int(card) for hand in held for card in game.public.hands[hand]}
                player.see(int(random.choice([card for card in options.labels if card not in gone])))
            else:
                player.see(player.act(held[options.player]))
            if player.solver is not None:
                found.append((player.solver.game.spot, hand_of(player.state).table.line))
                break
    return found


def solved(street: int) -> tuple[list[list[str]], dict[str, list[float]]]:
    """Rows and numbers of solves of a street."""
    lost, spent = {count: [] for count in ITERATIONS[street]}, {count: [] for count in ITERATIONS[street]}
    for spot, line in situations(street):
        for count in ITERATIONS[street]:
            began = process_time()
            subgame = cut_spot(spot, len(spot.streets))
            search = SubgameSearch(subgame, METHODS[StreetSolving().method], NoLeaf(), horizon=count)
            search.run(count)
            spent[count].append(process_time() - began)
            crew = judging_crew(subgame.whole, 1)
            judged = judge_spot(subgame.whole, search.average, search.arrays.store, crew, expected=False)
            lost[count].append(100 * judged.exploitability / spot.pot)
        print(street, line, {count: round(each[-1], 3) for count, each in lost.items()}, flush=True)
    name = {2: "turn", 3: "river"}[street]
    rows = [
        [name, f"{n}", f"{np.mean(lost[n]):.2f}", f"{max(lost[n]):.2f}", f"{1000 * np.median(spent[n]):.0f}"]
        for n in ITERATIONS[street]
    ]
    return rows, {f"{name} {n}": lost[n] for n in ITERATIONS[street]}


@study(title="Whole no-limit hold'em", place=2, minutes=30)
def reproduce() -> Result:
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    card = HoldemBlueprint.load(FOLDER).card
    numbers: dict = {"blueprint": dict(card)}
    rivers, numbers["river"] = solved(3)
    turns, numbers["turn"] = solved(2)
    rules, numbers["rules"] = against_rules()
    bound = local_best_response(GAME, str(FOLDER), hands=LBR_HANDS, actions="fcpa", seed=1)
    numbers["lbr"] = [MILLI * bound.value, MILLI * bound.interval]
    return Result(
        source="Brown and Sandholm 2017, 2018, 2019; Lisý and Bowling 2017",
        findings=["A small blueprint beats simple players, and a river is solved to the end in a few hundredths of a second."],
        tables=[
            Table(
                "The blueprint against rule agents, in thousandths of a big blind a hand",
                ["against", "who is", "hands", "won", "95% interval"],
                rules,
            ),
            Table(
                "What solves lose to a best response on the same tree, in % of the pot, and their time on one core",
                ["street", "iterations", "mean", "most", "ms"],
                turns + rivers,
            ),
        ],
        notes=[
            f"{GAME}; the blueprint: {card['boards']:,} boards with {card['deals']} deals each, "
            f"{card['cpu_seconds']:,} s of one core.",
            f"A local best response (fold, call, pot, all-in) gets {numbers['lbr'][0]:+,.0f} ± {numbers['lbr'][1]:,.0f} mbb "
            f"a hand from it over {LBR_HANDS:,} hands.",
            f"{SITUATIONS} turns and rivers of the blueprint's own play, by the agent's default sizes.",
        ],
        numbers=numbers,
    )
