"""Winnings from re-solving turns and rivers against the agent's own blueprint.

Both play the blueprint until the turn, so hands that end earlier count as zero. When a turn is reached, its cards and ranges
are those of the blueprint's self-play, and the hand is played out with the agent in each seat equally often; the blueprint's
own values of the two seats cancel. Play is over public states, with ranges instead of hands, and variance is reduced with
values without further betting.

The blueprint is that of ``runs/holdem``; without such a folder it is trained first, in minutes.

``python papers/run.py holdem/own_blueprint 0.25`` plays a quarter of the hands. Hands are cached by settings and code, and
cached ones are not played again.
"""

import json
from pathlib import Path
from time import process_time

import numpy as np

from papers.common.kept import code, kept_file
from papers.common.results import Result, Table
from papers.common.study import study
from papers.holdem.whole import GAME, MILLI
from treeplex import agent, load, train
from treeplex.base.arrays import Floats
from treeplex.games import CHANCE
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.learn.blueprint.settings import BlueprintTraining
from treeplex.search import Agent
from treeplex.search.agents.agent import fork
from treeplex.search.evaluate.lbr import stakes_of
from treeplex.search.evaluate.statistics import half_width
from treeplex.search.evaluate.winnings import CheckedDown, drawn, played_out, possible_of, settled

FOLDER, BOARDS = Path("runs/holdem"), 100_000
AGENTS = {"rivers": "start=river,iterations=200,think=60", "turns and rivers": "iterations=80,think=60"}
"""Solves are limited by iterations, so that results do not depend on the machine's load."""
HANDS = {"rivers": 1600, "turns and rivers": 1600}
TURN, PLAYS = 2, 4
"""The betting round from which hands are played out, and the number of times in each seat; the agent caches its solves."""
CODE = (
    "treeplex.holdem.agents.endgames",
    "treeplex.search.agents",
    "treeplex.search.evaluate",
    "treeplex.holdem.whole",
)


def own_blueprint() -> HoldemBlueprint:
    """The blueprint of ``runs/holdem``, trained first if missing."""
    if not FOLDER.exists():
        train(GAME, "blueprint", settings=BlueprintTraining(boards=BOARDS), out=FOLDER)
    return HoldemBlueprint.load(FOLDER)


def one_hand(number: int, player: Agent, blueprint: Agent, first: int = TURN, plays: int = PLAYS) -> list[float]:
    """The agent's winnings from the blueprint in a hand, in chips, mean of both seats; the luck in them; and whether play
    reached the agent's ``first`` street, from which ``plays`` are played in each seat.
    """
    generator, game, path = np.random.default_rng((7, number)), blueprint.game, list[int]()
    state, reached = game.first_state(), list(game.first_ranges())
    blueprint.begin(None)
    while game.options(state).player == CHANCE or stakes_of(game, state).betting_round < first:
        if settled(game, state):
            return [0.0, 0.0, 0.0]
        table = None if game.options(state).player == CHANCE else blueprint.policy()
        chosen, outcomes = drawn(game, state, reached, table, generator)
        path.append(game.options(state).labels[chosen])
        blueprint.see(path[-1])
        state = game.after(state, path[-1])
        reached = possible_of(game, state, outcomes[chosen])
    found = np.zeros(2)
    for seat in (0, 1):
        players = [player, blueprint] if seat == 0 else [blueprint, player]
        for place, each in enumerate(players):
            each.begin(place, np.random.default_rng((number, place)))
            for label in path:
                each.see(label)
        for play in range(plays):
            copies, random = [fork(each) for each in players], np.random.default_rng((8, number, play))
            found += played_out(copies, state, reached, seat, random, CheckedDown(game.exactly_shared))
    return [*(found / (2 * plays)).tolist(), 1.0]


def file_of(name: str, blueprint: HoldemBlueprint) -> Path:
    """File of an agent's cached hands."""
    key = {"game": GAME, "agent": AGENTS[name], "plays": PLAYS, "blueprint": dict(blueprint.card), "code": code(*CODE)}
    return kept_file(key, f"own-blueprint-{name.replace(' ', '-')}", ".jsonl")


def hands_of(name: str, count: int) -> Floats:
    """The first ``count`` hands, float64 [count, 4]: payoff, luck, whether the turn was reached, CPU seconds."""
    file = file_of(name, own_blueprint())
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    game = load(GAME)
    blueprint = agent(str(FOLDER), game)
    player = agent(f"endgames(blueprint={FOLDER},{AGENTS[name]})", game)
    with file.open("a") as lines:
        for number in range(len(known), count):
            began = process_time()
            known.append([*one_hand(number, player, blueprint), process_time() - began])
            lines.write(json.dumps(known[-1]) + "\n")
            lines.flush()
    return np.array(known[:count])


def row_of(name: str, found: Floats) -> list[str]:
    """An agent's row of the table."""
    rows = [name, f"{len(found):,}", f"{found[:, 2].mean():.0%}"]
    for won in (found[:, 0], found[:, 0] - found[:, 1]):
        mean, error = MILLI * won.mean(), half_width(MILLI * float(won.std(ddof=1)) / len(won) ** 0.5, len(won))
        rows += [f"{mean:+,.0f}", f"{mean - error:+,.0f} to {mean + error:+,.0f}"]
    return [*rows, f"{found[:, 3].mean():.2f}"]


@study(title="Re-solving turns and rivers against the agent's own blueprint", place=12, minutes=55)
def reproduce(times: float = 1.0) -> Result:
    found = {name: hands_of(name, round(times * HANDS[name])) for name in AGENTS}
    rows, card = {name: row_of(name, hands) for name, hands in found.items()}, own_blueprint().card
    return Result(
        source="Brown and Sandholm 2017; Burch, Schmid, Moravčík, Morrill and Bowling 2018",
        findings=[
            f"When {name} are re-solved, the agent wins {row[5]} mbb/hand after variance reduction (95%: {row[6]})."
            for name, row in rows.items()
        ],
        tables=[
            Table(
                "Winnings of an agent from its own blueprint, in mbb/hand",
                ["re-solved", "hands", "reach the turn", "raw", "95% interval", "variance-reduced", "95% interval", "CPU s"],
                list(rows.values()),
            )
        ],
        notes=[
            f"{GAME}, a blueprint of {card['boards']:,} boards with {card['deals']} deals each. Before the turn both agents "
            f"play the blueprint, and hands that end there count as zero. From the turn on the agent plays {PLAYS} "
            "times in each seat, from the same cards and ranges. Variance reduction subtracts the gain of cards and actions "
            "over their mean, using values without further betting. "
            + "; ".join(f"{name}: `{text}`" for name, text in AGENTS.items())
            + f". All hands took {sum(float(hands[:, 3].sum()) for hands in found.values()):,.0f} CPU s.",
        ],
        numbers={name: hands[:, :2].mean(axis=0).tolist() for name, hands in found.items()},
    )
