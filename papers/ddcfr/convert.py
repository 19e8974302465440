"""Convert the published network of DDCFR's authors into a discount policy: ``python -m papers.ddcfr.convert MODEL OUT``.

MODEL is ``models/model.pkl`` of their repository (rpSebastian/DDCFR), OUT a ``.safetensors`` file for ``ddcfr(policy=OUT)``.
Needs torch (``pip install -c constraints.txt ".[torch]"``); the file is loaded as weights only, without executing code. The
network itself is not part of this repository.
"""

import sys
from pathlib import Path

import numpy as np

from treeplex.errors import FileError
from treeplex.learn import save_discount_policy
from treeplex.solvers import DiscountPolicy

LAYERS = (("feature_model.0",), ("feature_model.2",), ("abg_model.0", "tau_model.0"))
"""Module names by layer; the last layer has one module for the exponents and one for their durations."""
PREFIX = "policy.cfr_net."


def authors_policy(path: str | Path) -> DiscountPolicy:
    """The authors' network as a discount policy.

    Raises:
        FileError: the file is missing, is not a PyTorch file, or has other layers.
    """
    import torch

    try:
        layers = torch.load(path, weights_only=True, map_location="cpu")
        parts = []
        for names in LAYERS:
            weights = np.concatenate([layers[f"{PREFIX}{name}.weight"].numpy() for name in names])
            biases = np.concatenate([layers[f"{PREFIX}{name}.bias"].numpy() for name in names])
            parts += [weights.T.ravel(), biases]
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, EOFError) as error:
        raise FileError(f"{path} is not the network of DDCFR's authors ({error}); take models/model.pkl") from error
    card = {"trained by": "the authors of DDCFR (Xu et al. 2024)", "converted from": Path(path).name}
    return DiscountPolicy("dcfr", np.concatenate(parts).astype(np.float64), clipped=False, card=card)


def main(arguments: list[str]) -> None:
    if len(arguments) != 2:
        raise SystemExit("usage: python -m papers.ddcfr.convert MODEL OUT.safetensors")
    try:
        print(f"wrote {save_discount_policy(authors_policy(arguments[0]), arguments[1])}")
    except FileError as error:
        raise SystemExit(f"error: {error}") from error


if __name__ == "__main__":
    main(sys.argv[1:])
