"""What a ReBeL training is asked to do: presets, changes by name, and a readable file of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from treeplex.errors import FileError, SpecError
from treeplex.learn.rebel.holdem_trainer import HoldemRebelSettings
from treeplex.learn.rebel.trainer import PAPER, PAPER_CARDS, RebelSettings
from treeplex.located_text import LocatedText, read_marked
from treeplex.spec import nearest

AnySettings = TypeVar("AnySettings", RebelSettings, HoldemRebelSettings)

PRESETS: Mapping[str, RebelSettings] = {"recipe": RebelSettings(), "paper": PAPER}
"""``recipe``: the paper's quality on small Liar's Dice in minutes. ``paper``: appendix E and the released configuration; for
:data:`CARDS` it is :data:`treeplex.learn.rebel.trainer.PAPER_CARDS`."""
CARDS = ("kuhn_poker", "leduc_poker", "big_leduc", "small_holdem", "turn_holdem", "rhode_island")
"""Games whose place in appendix E is that of turn endgame hold'em."""

LEARNING: Mapping[str, str] = {
    "batch": "rows of a step",
    "reuse": "how often a row is seen on average",
    "rate": "Adam's step at first",
    "last_rate": "Adam's step at the end, along half a cosine",
    "halve": "instead: the part of a training after which the step is halved, and again; 0: not",
    "clip": "the most that a gradient's norm may be",
    "seed": "of everything random",
}
"""Settings of gradient steps, in every kind of training, and what they mean."""
MEANINGS: Mapping[str, str] = {
    "method": "how subgames are solved",
    "iterations": "of each solve, T; both players update in each",
    "depth": "actions until a subgame is cut off; 0: as many as there are",
    "rounds": "true: a subgame is cut off at the end of a betting round as well",
    "endgame": "the most public nodes of a rest of the game that is not cut off, but solved whole",
    "episodes": "games played side by side",
    "exploration": "probability with which the exploring player plays uniformly",
    "source": "of public belief states: self-play, or random ones for comparison",
    "draw": "of the iteration played on: uniform, or average, weighted as in the average policy",
    "policy_net": "true: a second network learns policies, from which searches start",
    "warm": "iterations that such a start counts as; 0: learnt, not used",
    "solves": "subgames to be solved in all; the step size falls over them",
    "width": "of the networks' layers",
    "layers": "of the networks",
    "rows": "the most rows of a buffer",
    "fresh": "the newest part of all rows that is kept",
    "burn_in": "subgames before the first step",
    **LEARNING,
    "device": "cpu, cuda (a graphics card), auto (cuda where there is one) or torch-cpu (as on a card, to try it)",
}
FIXED = ("width", "layers", "episodes", "seed", "policy_net")
"""What a training cannot change under way."""
ADDED = ("rounds", "endgame", "source", "policy_net", "draw", "warm", "device", "halve")
"""Settings that trainings of early versions did not have."""


@dataclass(frozen=True)
class RebelRun:
    """A training as it was asked for; everything that decides its numbers.

    Attributes:
        game: spec of the game.
        settings: hyper-parameters.
        streams: batches of episodes; 1 is played by the training process itself, more by workers.
        seconds: time over which it trains, in place of ``settings.solves``; None without.
    """

    game: str
    settings: RebelSettings
    streams: int = 1
    seconds: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.streams, bool) or not isinstance(self.streams, int) or self.streams < 1:
            raise SpecError(f"streams must be a whole number of at least 1, not {self.streams!r}")
        if self.seconds is not None and not 0.0 < self.seconds < math.inf:
            raise SpecError(f"seconds must be a number above 0, not {self.seconds!r}")


def settings_of(preset: str | None, *changes: Mapping[str, Any], game: str | None = None) -> RebelSettings:
    """A preset (None: ``recipe``) with changes, later ones over earlier ones; ``paper`` is the one for ``game``, if given.

    Raises:
        SpecError: an unknown name, or a value outside its range.
    """
    cards = game is not None and game.partition("(")[0].strip() in CARDS
    return changed(preset_named(preset, {**PRESETS, "paper": PAPER_CARDS} if cards else PRESETS), *changes)


def preset_named(name: str | None, presets: Mapping[str, AnySettings]) -> AnySettings:
    """One of the presets (None: ``recipe``); :class:`SpecError` for an unknown name."""
    chosen = name or "recipe"
    if chosen not in presets:
        raise SpecError(f"unknown preset {chosen!r}{nearest(chosen, presets)}; known: {', '.join(presets)}")
    return presets[chosen]


def changed(settings: AnySettings, *changes: Mapping[str, Any]) -> AnySettings:
    """Settings with changes; texts are read as numbers where numbers are wanted."""
    kinds = {each.name: type(getattr(settings, each.name)) for each in fields(settings)}
    wanted: dict[str, Any] = {}
    for part in changes:
        for key, value in part.items():
            if key not in kinds:
                raise SpecError(f"unknown setting {key!r}{nearest(key, kinds)}; known: {', '.join(kinds)}")
            wanted[key] = read_value(key, value, kinds[key])
    return replace(settings, **wanted)


def changed_under_way(settings: AnySettings, changes: Mapping[str, Any], fixed: Sequence[str], folder: Path) -> AnySettings:
    """Settings of the training in a folder with changes; :class:`SpecError` for one of those that are fixed."""
    after = changed(settings, changes)
    for name in fixed:
        if getattr(after, name) != getattr(settings, name):
            raise SpecError(f"{folder} has {name} {getattr(settings, name)}, which cannot change under way")
    return after


def read_value(key: str, value: Any, kind: type) -> Any:
    """A value of the kind that the setting has."""
    if kind is str:
        return str(value)
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise SpecError(f"{key} must be true or false, not {value!r}")
        return str(value).lower() == "true"
    if kind is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or len(parts) != 2:
            raise SpecError(f"{key} must be two numbers, the least and the most, such as 5000,50000, not {value!r}")
        return tuple(read_value(key, part, float) for part in parts)
    text = str(value).replace("_", "")
    try:
        number = float(text)
        if isinstance(value, bool) or (kind is int and number != int(number)):
            raise ValueError
    except (ValueError, OverflowError) as error:
        what = "a whole number" if kind is int else "a number"
        raise SpecError(f"{key} must be {what}, not {value!r}") from error
    return (int(text) if text.lstrip("+-").isdigit() else int(number)) if kind is int else number


def pairs(texts: list[str]) -> dict[str, str]:
    """``key=value`` texts as a mapping.

    Raises:
        SpecError: one without ``=``.
    """
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise SpecError(f"--set takes key=value, such as --set iterations=32, not {text!r}")
        found[key.strip()] = value.strip()
    return found


def as_yaml(settings: RebelSettings | HoldemRebelSettings, meanings: Mapping[str, str] = MEANINGS) -> str:
    """Settings as a YAML file that :func:`from_yaml` reads, with what each means."""
    values = {name: str(value).lower() if isinstance(value, bool) else value for name, value in asdict(settings).items()}
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    entries = [(f"{name}: {value}", meanings[name]) for name, value in values.items()]
    width = max(len(entry) for entry, _ in entries)
    return "".join(f"{entry:<{width}}  # {meaning}\n" for entry, meaning in entries)


def from_yaml(path: Path) -> Mapping[str, Any]:
    """Changes from a YAML file of any of the settings.

    Raises:
        FileError: the file cannot be read or is no mapping.
    """
    found = read_marked(path, "iterations: 64").entries
    if found is None:
        raise FileError(f"{path}: not a list of settings; write lines like iterations: 64")
    return {name: value_of(entry) for name, entry in found.items()}


def value_of(entry: LocatedText) -> str | list[str]:
    """The text of a setting, or the texts of one that has several.

    Raises:
        FileError: it is neither.
    """
    if entry.text is not None:
        return entry.text
    texts = [item.text for item in entry.items or () if item.text is not None]
    if not entry.items or len(texts) < len(entry.items):
        raise FileError(f"{entry.place}: not a setting; write lines like iterations: 64")
    return texts


def run_from(found: Mapping[str, Any], place: str) -> RebelRun:
    """A run as written in ``run.json``; :class:`FileError` names ``place`` when it is not whole."""
    try:
        names = {each.name for each in fields(RebelSettings)}
        if set(found["settings"]) | set(ADDED) != names:
            raise SpecError(f"expected exactly {', '.join(sorted(names))}")
        seconds = None if found["seconds"] is None else float(found["seconds"])
        return RebelRun(str(found["game"]), changed(RebelSettings(), found["settings"]), int(found["streams"]), seconds)
    except (KeyError, TypeError, ValueError, SpecError) as error:
        raise FileError(f"{place}: the settings of the training cannot be read ({error}); start it again") from error
