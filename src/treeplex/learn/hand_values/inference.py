"""Evaluation of hand networks without PyTorch."""

import os

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.engine.networks.mlp_batch import forward, packed
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.format import HOLDEM, Format, format_named
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import Function
from treeplex.learn.hand_values.net import FORM, format_of
from treeplex.learn.hand_values.settings import START
from treeplex.learn.rebel.files import read_net

MAKERS = "train hand-values"
PARTS = 3
"""Modules of a hidden layer: linear, layer norm, GELU."""


def hand_function(
    path: str | os.PathLike[str], format: Format = HOLDEM, *, at: str = START, street: str | None = None
) -> Function:
    """Return the function of a hand network, for leaf values at the start
    (:class:`treeplex.holdem.search.leaves.hand_values.HandValues`) or end of a street
    (:class:`treeplex.holdem.search.leaves.street_end_values.StreetEndValues`).

    Args:
        path: a network file of ``treeplex train hand-values``.
        format: the cards.
        at: ``start`` or ``end`` of a street.
        street: the street; None for any.

    Raises:
        FileError: missing, corrupted, or the file contains another type of network.
        SpecError: the network was trained with other cards, or values another point of a hand.
    """
    file = read_net(path, form=FORM, makers=MAKERS)
    if format_named(format_of(file)) != format:
        raise SpecError(f"{path} values hands of {format_of(file)}, not of {format.name}; use another network")
    trained_street, trained_at = str(file.settings.get("street")), str(file.settings.get("at", START))
    if trained_at != at or street not in (None, trained_street):
        wanted = f"the {street}" if street else "a street"
        raise SpecError(
            f"{path} values hands at the {trained_at} of the {trained_street}; give a network for the {at} of {wanted}"
        )
    weights = file.weights
    try:
        count = int(file.settings["layers"])
        linear, norms = [PARTS * layer for layer in range(count + 1)], [PARTS * layer + 1 for layer in range(count)]
        matrices, biases = ([weights[f"{number}.{name}"] for number in linear] for name in ("weight", "bias"))
        gains, shifts = ([weights[f"{number}.{name}"] for number in norms] for name in ("weight", "bias"))
        sizes = np.array([INPUTS, *(len(matrix) for matrix in matrices)], np.int64)
        fits = all(matrix.shape == (out, into) for matrix, into, out in zip(matrices, sizes, sizes[1:], strict=False))
    except (KeyError, TypeError, ValueError) as error:
        raise FileError(f"{path}: not a hand network ({error}); give one that treeplex {MAKERS} wrote") from error
    if not fits or sizes[-1] != 1:
        raise FileError(f"{path}: its layers do not fit {INPUTS} inputs and one output; give one that treeplex {MAKERS} wrote")
    parameters = packed(matrices, biases, gains, shifts)

    def function(rows: Singles) -> Singles:
        values = np.empty((len(rows), 1), np.float32)
        forward(sizes, parameters, np.ascontiguousarray(rows, np.float32), np.arange(len(rows)), values)
        return values

    return function
