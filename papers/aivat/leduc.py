"""AIVAT over every hand of Leduc poker: variance reduction in a match, and a check that it is unbiased."""

from collections.abc import Callable, Sequence

import numpy as np

import treeplex as tp
from papers.aivat.every_hand import every_hand
from papers.common.drawing import save
from papers.common.results import Picture, Result, Table
from papers.common.study import study
from treeplex import CompiledGame, Policy
from treeplex.search import Aivat, PlayedHand, PolicyValues, public_tree
from treeplex.solvers import make_solver

GAME, THREE = "leduc_poker", "leduc_poker(players=3)"
ITERATIONS, HANDS = 1000, 2000


def solved(game: CompiledGame, algorithm: str, iterations: int) -> Policy:
    solver = make_solver(game, algorithm)
    solver.run(iterations)
    return solver.average_policy()


def moments(hands: Sequence[tuple[float, PlayedHand]], judge: Callable[[PlayedHand], Sequence[float]]) -> tuple[float, float]:
    """Mean and standard deviation of player 0's result."""
    chances = np.array([chance for chance, _ in hands])
    values = np.array([judge(hand)[0] for _, hand in hands])
    mean = float(chances @ values)
    return mean, float(np.sqrt(chances @ (values - mean) ** 2))


@study(title="AIVAT on Leduc poker", place=1, minutes=3)
def reproduce() -> Result:
    game, rules = tp.compile(GAME), public_tree(GAME)
    nash = solved(game, "cfr+", ITERATIONS)
    opponents = {"itself": nash, "CFR, 10 iterations": solved(game, "cfr", 10), "uniform play": Policy.uniform(game)}
    values = PolicyValues(rules, nash)
    judges: dict[str, Callable[[PlayedHand], Sequence[float]]] = {
        "payoffs": lambda hand: hand.payoffs or (),
        "chance alone": Aivat(rules, values, known=()),
        "own cards averaged, no values": Aivat(rules, None, known=(0,)),
        "AIVAT, own policy known": Aivat(rules, values, known=(0,)),
        "AIVAT, both known": Aivat(rules, values),
    }
    rows, numbers, bias = [], {}, 0.0
    for name, other in opponents.items():
        hands = list(every_hand(rules, (nash, other)))
        found = {judge: moments(hands, function) for judge, function in judges.items()}
        bias = max(bias, *(abs(mean - found["payoffs"][0]) for mean, _ in found.values()))
        ratio = (found["payoffs"][1] / found["AIVAT, own policy known"][1]) ** 2
        rows.append(
            [name, f"{found['payoffs'][0]:+.4f}", *(f"{deviation:.4f}" for _, deviation in found.values()), f"{ratio:,.0f}"]
        )
        numbers[name] = {judge: {"mean": mean, "deviation": deviation} for judge, (mean, deviation) in found.items()}
        print(rows[-1], flush=True)
    more, others = several_players()
    rough, uniform = opponents["CFR, 10 iterations"], opponents["uniform play"]
    pictures = drawn({"runs/fine": solved(game, "cfr+", 100), "runs/rough": rough, "uniform": uniform})
    return Result(
        source="Burch, Schmid, Moravčík, Morrill and Bowling 2018, AIVAT: A New Variance Reduction Technique for Agent "
        "Evaluation in Imperfect Information Games, on Leduc poker",
        findings=[f"AIVAT means agree with mean payoffs to {bias:.0e} chips, over all cards and actions."],
        tables=[
            Table("Standard deviation per hand, two players", ["opponent", "mean", *judges, "hands of plain payoffs"], rows),
            Table("Three players", ["judged by", "mean", "standard deviation"], more),
        ],
        pictures=pictures,
        notes=[
            f"Seat 0 plays the average of {ITERATIONS:,} iterations of CFR+, whose self-play values are the value function. "
            f"With two players, every possible hand is weighted by its probability, so nothing is sampled. "
            f"With three players {HANDS:,} hands are sampled: 10 iterations of CFR against uniform play in two seats, in "
            "chips of the first.",
        ],
        numbers=numbers | {"three players": others},
    )


def several_players() -> tuple[list[list[str]], dict[str, float]]:
    """A match of three players, with and without variance reduction, and its exact value."""
    game = tp.compile(THREE)
    policy = solved(game, "cfr", 10)
    agents = [policy, "uniform", "uniform"]
    exact, played = tp.match(game, agents), tp.match(game, agents, sampled=True, hands=HANDS, aivat=policy)
    score = played.scores[0]
    rows = [
        ["exact value", f"{exact.value[0]:+.4f}", ""],
        ["payoffs", f"{score.plain.mean[0]:+.4f} ± {score.plain.error[0]:.4f}", f"{score.plain.deviation[0]:.3f}"],
        ["AIVAT", f"{score.result.mean[0]:+.4f} ± {score.result.error[0]:.4f}", f"{score.result.deviation[0]:.3f}"],
    ]
    return rows, {"exact": exact.value[0], "plain": score.plain.deviation[0], "aivat": score.result.deviation[0]}


def drawn(policies: dict[str, Policy]) -> list[Picture]:
    """The pictures of the guide: a matrix, and the running mean of a match with and without variance reduction."""
    game, first = tp.compile(GAME), dict(list(policies.items())[:2])
    matrix = tp.match(game, policies, table=True).plot()
    running = tp.match(game, first, hands=HANDS, sampled=True, aivat=True).plot()
    return [
        save(matrix, "match-table.png", "A matrix of three agents on Leduc poker: what the row wins from the column, exact."),
        save(running, "match-aivat.png", "The running mean of a match: the band of payoffs is wide, that of AIVAT narrow."),
    ]
