"""Games that can be solved by hand: the coin toss behind gadgets, and rock, paper, scissors behind three continuations."""

import sys

import numpy as np

import treeplex as tp
from papers.common.results import ROOT, Result, Table
from papers.common.study import study
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.search import METHODS, BlueprintLeaf, Horizon, SubgameSearch, cut_states, public_tree, resolve_subgames

WORTH = {0.25: 0.0, 0.5: 0.25, 1.0: 0.75}
"""Player 0's maximum payoff in the coin toss by probability of guessing heads (Brown and Sandholm 2017, figure 1)."""
GADGETS = ("resolve", "maxmargin", "reach-maxmargin")
ANSWER = (0.4, 0.4, 0.2)
"""The equilibrium of rock, paper, scissors with double payoffs for scissors (Brown, Sandholm and Amos 2018)."""
METHODS_SHOWN = ("cfr+", "dcfr", "pcfr+", "fp")


def coin_toss() -> tuple[list[list[str]], dict[str, list[float]]]:
    """Rows of a table, and player 0's maximum payoff after each kind of re-solving."""
    sys.path.insert(0, str(ROOT / "examples"))
    from coin_toss import CoinToss  # type: ignore[import-not-found]

    game, rows, numbers = tp.compile(CoinToss()), [], {}
    for heads, worth in WORTH.items():
        probabilities = uniform_probabilities(game)
        probabilities[game.sequences_at(game.lookup[1, "guess"])] = heads, 1.0 - heads
        blueprint = tp.Policy(game, probabilities)
        found = [tp.best_response(game, blueprint, 0)[0]]
        found += [
            tp.best_response(game, resolve_subgames(game, blueprint, each, horizon=Horizon(depth=1)), 0)[0] for each in GADGETS
        ]
        rows.append([f"{heads:g}", f"{worth:g}", *(f"{each:.4f}" for each in found)])
        numbers[f"{heads:g}"] = found
    return rows, numbers


def three_answers(method: str) -> np.ndarray:
    """The first move of rock, paper, scissors, searched with the three answers as continuations, float64 [3]."""
    game, rules = tp.compile("modified_rps"), public_tree("modified_rps")
    answers = [tp.Policy(game, np.concatenate([[1.0, *np.eye(3)[action]]] * 2)) for action in range(3)]
    leaf = BlueprintLeaf(rules, tp.solve(game, "lp").policy, {1: answers})
    search = SubgameSearch(cut_states(rules, [rules.first_state()], Horizon(1)), METHODS[method], leaf)
    search.run(10_000)
    return np.asarray(search.policy_at(0, search.average_policy())[:, 0])


@study(title="Re-solving in games that can be solved by hand", place=1, minutes=1)
def reproduce() -> Result:
    rows, numbers = coin_toss()
    moves = {method: three_answers(method) for method in METHODS_SHOWN}
    return Result(
        source="Brown and Sandholm 2017, Safe and nested subgame solving (coin toss); Brown, Sandholm and Amos 2018, "
        "Depth-limited solving (rock, paper, scissors)",
        findings=[],
        tables=[
            Table(
                "Largest payoff of player 0 in the coin toss",
                ["heads guessed", "published", "measured", *(f"re-solved: `{each}`" for each in GADGETS)],
                rows,
            ),
            Table(
                "The first move, three continuations behind it",
                ["", "rock", "paper", "scissors"],
                [
                    ["published", *(f"{each:g}" for each in ANSWER)],
                    *([f"`{method}`", *(f"{each:.4f}" for each in move)] for method, move in moves.items()),
                ],
            ),
        ],
        notes=["Games with gadgets are solved by 1,000 iterations of CFR+, and the game with continuations by 10,000."],
        numbers={"coin toss": numbers, "first move": {method: move.tolist() for method, move in moves.items()}},
    )
