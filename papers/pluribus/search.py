"""Pluribus' search: exact gain of every seat over its blueprint in games of three players."""

from time import process_time

import treeplex as tp
from papers.common.results import Result, Table
from papers.common.study import study
from treeplex import CompiledGame, Policy, judge
from treeplex.games import CardGame
from treeplex.search import agent_policy, public_game
from treeplex.search.many_players.search import Continuations, EnumeratedRounds, RoundSearchAgent
from treeplex.solvers import make_solver

SMALL, LEDUC = "leduc_poker(players=3,ranks=3,raises=1)", "leduc_poker(players=3)"
BLUEPRINTS = (
    ("Kuhn", "kuhn_poker(players=3)", 100),
    ("Kuhn", "kuhn_poker(players=3)", 1000),
    ("Leduc, 6 cards, 1 raise", SMALL, 1000),
    ("Leduc, 6 cards, 1 raise", SMALL, 100_000),
    ("Leduc", LEDUC, 10_000),
)
"""Games, and iterations of pluribus-mccfr."""
ITERATIONS = 200
PLAYS = ((1, 4, False), (1, 4, True), (0, 4, False), (0, 4, True), (0, 1, False))
"""Rounds played by the blueprint, number of continuations after the others, and whether the average is played."""


def seat_gains(game: CompiledGame, policy: Policy, blueprint: Policy) -> list[float]:
    """Each player's gain from a policy over the blueprint while the others follow the blueprint."""
    before, found = judge(game, blueprint).value, []
    for seat in range(game.players):
        own = slice(*game.tree.sequence_offsets[seat : seat + 2])
        played = blueprint.probabilities.copy()
        played[own] = policy.probabilities[own]
        found.append(judge(game, Policy(game, played)).value[seat] - before[seat])
    return found


@study(title="Pluribus' search: gain over the blueprint", place=1, minutes=10)
def reproduce() -> Result:
    rows, numbers, least = [], {}, []
    for title, spec, iterations in BLUEPRINTS:
        game, rules, rounds = tp.compile(spec), public_game(spec), 1 + ("leduc" in spec)
        assert isinstance(rules, CardGame)
        solver = make_solver(game, "pluribus-mccfr", seed=1)
        solver.run(iterations)
        blueprint = solver.average_policy()
        judged = judge(game, blueprint)
        name = f"{title}, {iterations:,}"
        rows.append([name, "the blueprint", "", "", "", "", f"{judged.nash_conv:.3f}"])
        numbers[name] = {"blueprint": {"gains": judged.gains, "value": judged.value}}
        for first, count, average in PLAYS if rounds == 2 else PLAYS[2:4]:
            leaf = Continuations(rules, blueprint, count)
            agent = RoundSearchAgent(EnumeratedRounds(leaf, iterations=ITERATIONS), average=average, search_after=first)
            began = process_time()
            policy = agent_policy(agent, game)
            took = (process_time() - began) / agent.searches
            gains, own = seat_gains(game, policy, blueprint), judge(game, policy)
            where = "second round" if first else "all rounds" if rounds == 2 else "the round"
            behind = f", {count} behind" if rounds == 2 and not first else ""
            what = f"{where}{behind}: {'average' if average else 'last iteration'}"
            mean = sum(gains) / len(gains)
            rows.append([name, what, *(f"{gain:+.3f}" for gain in gains), f"{mean:+.3f}", f"{own.nash_conv:.3f}"])
            numbers[name][what] = {"gains": gains, "nash_conv": own.nash_conv, "searches": agent.searches, "seconds": took}
            least.append(min(gains))
            print(rows[-1], flush=True)
    return Result(
        source="Brown and Sandholm 2019, Superhuman AI for multiplayer poker: search from the start of the betting round",
        findings=[f"The lowest gain of any seat over all rows is {min(least):+.3f} chips/hand."],
        tables=[
            Table(
                "Gain in chips/hand over the blueprint in the same seat, against two players who follow it",
                [
                    "game, iterations of the blueprint",
                    "what is searched and played",
                    "seat 0",
                    "seat 1",
                    "seat 2",
                    "mean",
                    "NashConv",
                ],
                rows,
            )
        ],
        notes=[
            f"Values are exact: every public state was searched, by {ITERATIONS} iterations of linear CFR. Blueprints are "
            "from `pluribus-mccfr` with one seed. NashConv is that of all three players using the agent.",
        ],
        numbers=numbers,
    )
