"""Shipped networks for single hands."""

from pathlib import Path

from treeplex.errors import SpecError

SHIPPED = Path(__file__).parent / "networks"
HANDS = "hands"
"""Name of the shipped networks: selects the one for the next street."""


def shipped_hand_net(street: str) -> Path:
    """File of the shipped network for a street.

    Raises:
        SpecError: no network is shipped for this street.
    """
    path = SHIPPED / f"{street}.safetensors"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors"))) or "none"
        raise SpecError(f"no hand network for the start of the {street or 'next street'} is shipped; known: {known}")
    return path
