"""A custom variant: DCFR+ with prediction, damped equally everywhere (`apdcfr+` damps it by infoset).

treeplex compare leduc_poker -a sapcfr+ -a "examples/extending/damped_variant.py:DAMPED(damping=3)"
"""

import treeplex as tp


def kept(s, alpha):
    """Discount factor of regrets after s iterations."""
    return s**alpha / (s**alpha + 1) if s > 0 else 0.0


def damped(t, horizon, *, alpha=1.5, damping=2.0, gamma=4.0):
    """Weights of iteration t, from 1."""
    return tp.solvers.Weights(
        positive=kept(t - 1, alpha),
        floor=1.0,
        predicted_positive=kept(t, alpha),
        prediction=1 / (1 + damping),
        average_discount=((t - 1) / t) ** gamma,
    )


DAMPED = tp.solvers.Variant(
    name="damped",
    summary="DCFR+ with prediction damped by 1 / (1 + damping)",
    reference="this file",
    schedule=damped,
    parameters={"alpha": 1.5, "damping": 2.0, "gamma": 4.0},
)
