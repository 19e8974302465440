"""Add a trained discount policy to the library, with its scores on games not used in training.

``python -m papers.ddcfr.ship_policy ddcfr RUN`` reads ``RUN/policy.safetensors`` of a finished ``treeplex train``, runs the
policy and its base variant on the test games of the DDCFR paper that take seconds, and writes ``ddcfr.safetensors`` into
``src/treeplex/solvers/rules/shipped`` with the scores on its card. The policy is the last one of the training run, whatever its
scores; ``docs/notebook/discount-policies.md`` describes how the training games were chosen.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import treeplex as tp
from papers.common.curves import SEEDS, noise_runs
from papers.common.results import published
from treeplex.errors import TreeplexError
from treeplex.learn import load_discount_policy, save_discount_policy
from treeplex.solvers.rules.discount_policy_files import SHIPPED
from treeplex.solvers.rules.learned import LEARNED

TESTING = ("goofspiel-4", "liars_dice-4", "leduc", "battleship-2")
REPEATS = SEEDS[:4]


def geometric(values: list[float]) -> float:
    """The geometric mean, values floored at 1e-12."""
    return float(np.exp(np.mean(np.log(np.maximum(values, 1e-12)))))


def main(arguments: list[str]) -> None:
    if len(arguments) != 2 or arguments[0] not in LEARNED:
        raise SystemExit(f"usage: python -m papers.ddcfr.ship_policy {'|'.join(LEARNED)} RUN")
    name, run = arguments
    source = Path(run) / "policy.safetensors"
    try:
        policy = load_discount_policy(source)
    except TreeplexError as error:
        raise SystemExit(f"error: {error}") from error
    if policy.base != LEARNED[name][0]:
        raise SystemExit(f"error: {source} steers {policy.base}, {name} needs {LEARNED[name][0]}")
    games, scores = published("ddcfr")["games"], {}
    for title in TESTING:
        game = tp.compile(games[title])
        ours, fixed = (
            geometric(noise_runs(game, algorithm, policy.horizon, seeds=REPEATS))
            for algorithm in (f"{name}(policy={source})", policy.base)
        )
        scores[title] = {"exploitability": ours, policy.base: fixed}
        print(f"{title}: {ours:.3e}, {policy.base} {fixed:.3e}, {ours / fixed:.2f} of it", flush=True)
    about = f"exploitability at iteration {policy.horizon}, geometric mean of {len(REPEATS)} perturbed repeats"
    card = {**policy.card, "scores": {"what": about, **scores}}
    print(f"wrote {save_discount_policy(replace(policy, card=card), SHIPPED / f'{name}.safetensors')}")


if __name__ == "__main__":
    main(sys.argv[1:])
