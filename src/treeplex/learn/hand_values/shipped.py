"""Shipped networks for single hands."""

from pathlib import Path

from treeplex.errors import SpecError
from treeplex.learn.hand_values.settings import END, START

SHIPPED = Path(__file__).parent / "networks"
HANDS = "hands"
"""Name of the shipped networks: selects the one for the next street."""
SUFFIXES = {START: "", END: "-end"}
"""Suffixes of file names."""


def shipped_hand_net(street: str, at: str = START) -> Path:
    """File of the shipped network for the start or end of a street.

    Raises:
        SpecError: no network is shipped for it.
    """
    path = SHIPPED / f"{street}{SUFFIXES[at]}.safetensors"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors"))) or "none"
        raise SpecError(f"no hand network for the {at} of the {street or 'next street'} is shipped; known: {known}")
    return path
