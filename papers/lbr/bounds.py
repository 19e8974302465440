"""Local best response and learned best responses compared with exact best responses."""

from pathlib import Path

import numpy as np

import treeplex as tp
from papers.common.results import Result, Table, published
from papers.common.study import study
from treeplex import Policy, load
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.learn.best_response.learner import BestResponse, BestResponseSettings
from treeplex.learn.best_response.positions import RulesWorld
from treeplex.solvers import make_solver

HELD_OUT, HANDS = 10_000, 400
SETTINGS = BestResponseSettings(hands=HELD_OUT)
CALL = 1
SPOTS = Path(__file__).parents[2] / "examples" / "spots"


def solved(spec: str, algorithm: str, iterations: int) -> Policy:
    """An average policy."""
    solver = make_solver(tp.compile(spec), algorithm)
    solver.run(iterations)
    return solver.average_policy()


def always_call(spec: str) -> Policy:
    """A policy that calls and checks whatever it holds."""
    game = tp.compile(spec)
    played = Policy.uniform(game).probabilities.copy()
    for infoset in game.lookup.values():
        actions = np.array(game.actions_at(infoset))
        played[game.sequences_at(infoset)] = actions == CALL
    return Policy(game, played)


def learned(policy: Policy) -> tuple[float, float]:
    """Winnings of a learned response in held-out hands, and half the width of their 95% interval."""
    rules = turn_by_turn(load(policy.game.spec))
    response = BestResponse(rules, SETTINGS, RulesWorld(rules, policy))
    for _ in range(SETTINGS.steps):
        response.step()
    found = response.measure()
    return found["at_least"], found["interval"]


@study(title="Local best response and learned best responses", place=1, minutes=3)
def reproduce() -> Result:
    trial = published("lbr")["trial"]
    agents = {
        ("leduc_poker", "uniform"): Policy.uniform(tp.compile("leduc_poker")),
        ("leduc_poker", "always call"): always_call("leduc_poker"),
        ("leduc_poker", "cfr 10"): solved("leduc_poker", "cfr", 10),
        ("leduc_poker", "equilibrium"): solved("leduc_poker", "lp", 1),
        ("no_limit_leduc", "uniform"): Policy.uniform(tp.compile("no_limit_leduc")),
        ("no_limit_leduc", "cfr 10"): solved("no_limit_leduc", "cfr", 10),
        ("no_limit_leduc", "cfr 1000"): solved("no_limit_leduc", "cfr", 1000),
    }
    numbers, rows = {}, []
    for (spec, name), policy in agents.items():
        found = {actions: tp.arena.local_best_response(spec, policy, actions=actions).value for actions in ("fc", "all")}
        found = {actions: value if abs(value) > 1e-9 else 0.0 for actions, value in found.items()}
        bound, interval = learned(policy)
        exact = tp.exploitability(spec, policy)
        elsewhere = trial.get(name) if spec == "leduc_poker" else None
        numbers[f"{spec} {name}"] = {"lbr": found, "learned": [bound, interval], "exact": exact}
        shown = [f"{found['fc']:.4g}", f"{found['all']:.4g}", f"{bound:.4g} ± {interval:.2g}", f"{exact:.4g}"]
        rows.append([f"{spec}, {name}", *shown, "" if elsewhere is None else f"{elsewhere[0]:g} of {elsewhere[1]:g}"])
        print(rows[-1], flush=True)
    most = max(each["lbr"]["all"] - each["exact"] for each in numbers.values())
    spots = []
    for file, name, iterations in (
        ("river", "uniform", 0),
        ("river", "dcfr 3", 3),
        ("turn", "uniform", 0),
        ("turn", "dcfr 5", 5),
    ):
        spot = tp.load(str(SPOTS / f"{file}.yaml"))
        solution = tp.solve(spot, "dcfr", iterations=iterations, target=None) if iterations else "uniform"
        exact = tp.exploitability(spot, solution)
        found = {
            actions: tp.arena.local_best_response(spot, solution, actions=actions, hands=None if file == "river" else HANDS)
            for actions in ("fc", "fcpa")
        }
        numbers[f"{file} {name}"] = {actions: [each.value, each.interval] for actions, each in found.items()} | {"exact": exact}
        cells = [f"{each.value:.4g}" + ("" if each.exact else f" ± {each.interval:.2g}") for each in found.values()]
        spots.append([f"{file}, {name}", *cells, f"{exact:.4g}"])
        print(spots[-1], flush=True)
    return Result(
        source=published("lbr")["paper"]["source"],
        findings=[
            f"Local best response never wins more than a best response. Its largest excess is {most:+.2g} chips.",
            "On Leduc poker it finds most of the exploitability of policies far from equilibrium. On no-limit Leduc it "
            "finds about half, since it evaluates bets as if all players checked and called afterwards. Against strong "
            "policies it finds little or nothing. A policy that does not lose to it may still be exploitable.",
            f"A best response learned from {SETTINGS.steps * SETTINGS.batch:,} playthroughs finds more where bet sizes matter.",
            "Measurements by others are reproduced.",
        ],
        tables=[
            Table(
                "Winnings, mean over both seats, in chips",
                [
                    "game, agent",
                    "LBR, `fc`",
                    "LBR, all bets",
                    "learned, ± 95%",
                    "best response",
                    "elsewhere: LBR of best response",
                ],
                rows,
            ),
            Table(
                "Winnings on hold'em spots (pot 200): rivers exactly, turns from played hands, ± 95%",
                ["spot, agent", "LBR, `fc`", "LBR, `fcpa`", "best response"],
                spots,
            ),
        ],
        notes=[
            f"Learned: `treeplex train best-response` with defaults, {HELD_OUT:,} held-out hands, ± 95%. Turns: {HANDS:,} "
            "hands, each averaged over all possible holdings.",
            "The paper's opponents are bots from a competition and are not available.",
        ],
        numbers=numbers,
    )
