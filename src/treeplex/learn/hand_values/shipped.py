"""Networks for single hands that come with the library."""

from pathlib import Path

from treeplex.errors import SpecError

SHIPPED = Path(__file__).parent / "networks"
HANDS = "hands"
"""The word for them in place of a file: that of the street which comes next."""


def shipped_hand_net(street: str) -> Path:
    """The file of the network for a street.

    Raises:
        SpecError: there is none.
    """
    path = SHIPPED / f"{street}.safetensors"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in SHIPPED.glob("*.safetensors"))) or "none"
        raise SpecError(
            f"no network for hands where the {street or 'next street'} begins comes with the library; known: {known}"
        )
    return path
