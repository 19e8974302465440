"""Hands per second between policy tables, compared with the loops of OpenSpiel and RLCard, in one process, taking turns.

A hand is one game from the deal to the payoffs, with random cards and actions; both seats play uniformly.

    python bench/run.py match [--quick] [--rounds 5]
"""

import argparse
import importlib.util
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import treeplex as tp
from bench.common import record
from bench.common.benchmark import benchmark
from treeplex.engine.sampling.streams import Stream
from treeplex.evaluate.playouts import LANE, played
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.policies.tabular import Policy
from treeplex.games.registry import load
from treeplex.search.evaluate.play import MatchTable, streams_of
from treeplex.search.evaluate.tables import TableHands
from treeplex.search.named_agents.registry import agent

GAMES = {"Kuhn poker": "kuhn_poker", "Leduc poker": "leduc_poker"}
TABLES, AGENTS, RULES, LOOP, BOTS, RLCARD = (
    "Treeplex, tables",
    "Treeplex, agents",
    "Treeplex, rules",
    "OpenSpiel, C++ states from Python",
    "OpenSpiel, bots",
    "RLCard",
)
GOAL = 50.0
SECONDS = 0.5
"""Approximate seconds per turn."""


def tables(result: dict[str, Any]) -> str:
    """The result as markdown."""
    systems = [
        TABLES,
        AGENTS,
        RULES,
        LOOP,
        BOTS,
        *([RLCARD] if any(RLCARD in each["rates"] for each in result["cases"]) else []),
    ]
    rows = []
    for each in result["cases"]:
        rates = [f"{each['rates'][system]:,.0f}" if system in each["rates"] else "" for system in systems]
        goal = f"{GOAL:g}: {'met' if each['ratio'] >= GOAL else 'missed'}"
        rows.append([each["game"], *rates, f"{each['ratio']:,.0f}", goal])
    return record.markdown_table(["hands per second", *systems, "speed-up over the fastest other", "goal"], rows, left=1)


def table_hands(spec: str) -> Callable[[int], None]:
    """Hands by the kernel that samples from stored histories."""
    game = tp.compile(spec)
    hands = TableHands(game, [Policy.uniform(game)])

    def run(count: int) -> None:
        numbers = np.arange(count)
        hands.play(np.zeros((count, game.players), np.int64), deals=numbers, hands=numbers)

    return run


def table_agents(spec: str) -> Callable[[int], None]:
    """Hands by the match loop for all agents."""
    game = load(spec)
    table = MatchTable(game.public, [agent("uniform", game) for _ in range(2)])

    def run(count: int) -> None:
        for number in range(count):
            table.play(*streams_of(0, number, number, 2))

    return run


def rules_loop(spec: str) -> Callable[[int], None]:
    """Playouts of rules that were not compiled."""
    rules = load(spec)
    players = [TablePolicy.uniform(spec, 2)] * 2

    def run(count: int) -> None:
        for number in range(count):
            played(rules, players, Stream(0, number, LANE))

    return run


def openspiel_loop(spec: str) -> Callable[[int], None]:
    """The loop of OpenSpiel's examples: states of C++, choices in Python."""
    import pyspiel

    game, generator = pyspiel.load_game(spec), random.Random(0)

    def run(count: int) -> None:
        for _ in range(count):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    actions, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(generator.choices(actions, chances)[0])
                else:
                    state.apply_action(generator.choice(state.legal_actions()))
            state.returns()

    return run


def openspiel_bots(spec: str) -> Callable[[int], None]:
    """OpenSpiel's own loop over bots, ``evaluate_bots``."""
    import pyspiel
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    game, generator = pyspiel.load_game(spec), np.random.RandomState(0)
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(2)]

    def run(count: int) -> None:
        for _ in range(count):
            evaluate_bots(game.new_initial_state(), bots, generator)

    return run


def rlcard(spec: str) -> Callable[[int], None]:
    """RLCard's environment with its random agents."""
    import rlcard
    from rlcard.agents import RandomAgent

    environment = rlcard.make({"leduc_poker": "leduc-holdem"}[spec])
    environment.set_agents([RandomAgent(environment.num_actions) for _ in range(environment.num_players)])

    def run(count: int) -> None:
        for _ in range(count):
            environment.run(is_training=False)

    return run


def rate(run: Callable[[int], None], count: int) -> float:
    """Hands per second."""
    began = time.perf_counter()
    run(count)
    return count / (time.perf_counter() - began)


def case(title: str, rounds: int, seconds: float) -> dict[str, Any]:
    """All systems on one game, taking turns."""
    spec = GAMES[title]
    builders = {TABLES: table_hands, AGENTS: table_agents, RULES: rules_loop, LOOP: openspiel_loop, BOTS: openspiel_bots}
    if spec == "leduc_poker" and importlib.util.find_spec("rlcard") is not None:
        builders[RLCARD] = rlcard
    turns = {system: build(spec) for system, build in builders.items()}
    found: dict[str, list[float]] = {system: [] for system in turns}
    counts = {}
    for system, run in turns.items():
        run(10)
        counts[system] = max(10, int(seconds * rate(run, 200)))
    for _ in range(rounds):
        for system, run in turns.items():
            found[system].append(rate(run, counts[system]))
    rates = {system: statistics.median(each) for system, each in found.items()}
    ratio = rates[TABLES] / max(rates[system] for system in (LOOP, BOTS, RLCARD) if system in rates)
    print(f"{title}: {rates[TABLES]:,.0f} hands per second, {ratio:,.0f} times", flush=True)
    return {"game": title, "spec": spec, "rates": rates, "ratio": ratio}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=None, help="turns of each system (default 5; 1 with --quick)")


@benchmark(
    title="Hands between policy tables",
    place=None,
    minutes=1,
    about=(
        "One process, one core, one thread. The systems take turns, and the result is the median. A hand is one play of the"
        " game, from the deal to the payoffs; both seats play all actions with equal probability. Treeplex's tables are "
        "sampled by a kernel over stored histories. Its agents use the match loop of all agents, at public states. Its "
        "rules are played without compiling. OpenSpiel's states are C++, driven from Python as in its examples and by its "
        "`evaluate_bots`. RLCard is measured where it is installed."
    ),
    needs=("pyspiel",),
)
def measure(options: argparse.Namespace) -> dict[str, Any]:
    rounds, seconds = options.rounds or (1 if options.quick else 5), 0.05 if options.quick else SECONDS
    return {"rounds": rounds, "seconds": seconds, "cases": [case(title, rounds, seconds) for title in GAMES]}
