"""Spot files: a spot and its solve settings in YAML or TOML, written by hand.

.. code-block:: yaml

    board: Td 9d 6h Qc
    oop: 66+, A8s+, A5s-A4s, AJo+
    ip: QQ-22, A2s+, ATo+
    pot: 200
    stack: 900
    bets: {default: "50%, a", river: "33%, 75%, a"}
    raises: 60%
    target: 0.5%

Every error message names the file, line, field and remedy. Command-line options are the same fields
(:func:`request_from_options`) and override those of a file.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.located_text import LocatedText, listed, located, located_table, read_marked
from treeplex.base.spec import nearest, shown
from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import NUMBER, Size, check_sizes, decimal
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit, StreetSizes
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.fitted_deals import check_set
from treeplex.holdem.cards.format import HOLDEM, Format, format_named
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.fields import (
    DEVICES,
    NO_BIG_BLIND,
    SolveFields,
    at,
    check_size_keys,
    flag,
    in_big_blinds,
    integer,
    keys,
    number,
    quoted,
    read_lock,
    read_range,
    read_target,
    share,
    share_of,
    size_text,
    sizes_for,
    street_names,
    text_of,
    written,
)
from treeplex.holdem.spots.known import NAMED
from treeplex.holdem.spots.solved import refuse_solved_spot
from treeplex.holdem.spots.spot import BIG_BLINDS, CHIPS, LEAST_CHIP, Rake, Spot, is_multiple
from treeplex.holdem.spots.spot_table import FIELDS as TABLE
from treeplex.holdem.spots.spot_table import TURN_ENDGAME

FIELDS: Mapping[str, str] = {name: entry.example for name, entry in TABLE.items()}
"""The fields, each with an example."""
FLOP = "Td 9d 6h"
"""Example of a board."""
SIZES = ("bets", "raises", "donk")
NO_LIMIT = ("limps", "thresholds", "min_bet")
"""Further fields that apply only to no limit."""
LAYERED = (*SIZES, "thresholds", "runouts", "rake")
"""Fields that an option may change partially."""
LEAST_SIZES = 100, 10
"""Minimum number of default chips in the pot, and in the smallest size."""
THRESHOLDS = {"add_allin": "150%", "force_allin": "20%", "merge": "10%"}
STORAGES = ("float32", "float64", "int16", "int8", "packed", "disk:FOLDER")
DEFAULT_BETS, DEFAULT_RAISES = "50%, 100%, a", "2.5x, a"


@dataclass(frozen=True)
class SpotRequest:
    """The fields of a spot, read but not yet combined.

    Attributes:
        name: the file's name, or what messages show instead.
        fields: fields by name, without those of :data:`LAYERED`.
        layers: texts and tables by field of :data:`LAYERED`; later ones override earlier ones.
        from_file: whether the fields are from a file, for messages about missing ones.
    """

    name: str
    fields: Mapping[str, LocatedText] = field(default_factory=dict)
    layers: Mapping[str, tuple[LocatedText, ...]] = field(default_factory=dict)
    from_file: bool = False

    def over(self, other: "SpotRequest") -> "SpotRequest":
        """A request with these fields, and those of ``other`` where they are not given."""
        layers = {name: (*other.layers.get(name, ()), *self.layers.get(name, ())) for name in LAYERED}
        fields = {**other.fields, **self.fields}
        if "limit" in self.fields or any(self.layers.get(name) for name in SIZES):  # the other betting is dropped
            own = {*self.fields, *(name for name, value in self.layers.items() if value)}
            gone = {*SIZES, *NO_LIMIT} - own if "limit" in self.fields else {"limit"}
            fields = {name: value for name, value in fields.items() if name not in gone}
            layers = {name: () if name in gone else value for name, value in layers.items()}
        return SpotRequest(other.name, fields, layers, other.from_file)

    def on_board(self, board: str) -> "SpotRequest":
        """A copy with a different board."""
        return replace(self, fields={**self.fields, "board": LocatedText(f"board {board}", text=board)})

    def missing(self, name: str) -> SpecError:
        """The error for a missing required field."""
        example = FLOP if name == "board" else FIELDS[name]
        where = f"add the line {name}: {example}" if self.from_file else f"give --{name} {quoted(example)}"
        where += ", or with turn and river" if name == "board" else ""
        return SpecError(f"{self.name}: {name} is missing; {where}")

    def need(self, name: str) -> LocatedText:
        """The value of a required field."""
        if name not in self.fields:
            raise self.missing(name)
        return self.fields[name]

    def spot(self) -> Spot:
        """The spot.

        Raises:
            SpecError: a field is missing or wrong; the message names file, line, field and remedy.
        """
        form = read_format(self.fields.get("format"))
        board = read_board(self.fields.get("board"), self, form)
        self.check_units()
        ranges = self.ranges()
        pot, stack = self.amount(self.need("pot"), "pot"), self.amount(self.need("stack"), "stack")
        chip = self.amount(self.fields["chip"], "chip") if "chip" in self.fields else None
        blinds, rake, how = read_blinds(self.fields.get("blinds")), read_rake(self), self.settings()
        bets, (runouts, chosen) = read_bets(self, form, form.street(board)), read_runouts(self, form)
        if chip is None:
            chip = usual_chip(pot, stack, blinds or (), bets)
        try:
            unit = BIG_BLINDS if self.typed_big_blinds() and self.big_blind() == 1.0 else CHIPS
            return Spot(board, pot, stack, ranges, bets, rake, form, chip, blinds, runouts, chosen, settings=how, unit=unit)
        except SpecError as error:
            raise SpecError(f"{self.blame(str(error))}: {str(error).removeprefix('spot: ')}") from None

    def ranges(self) -> tuple[Floats, Floats]:
        """Both ranges before card removal.

        Raises:
            SpecError: a range is missing or wrong.
        """
        form = read_format(self.fields.get("format"))
        return read_range(self.need("oop"), "oop", form), read_range(self.need("ip"), "ip", form)

    def amount(self, value: LocatedText, name: str, example: str | None = None) -> float:
        """An amount of at least 0 in chips, converted from big blinds (``6.5bb``) if needed."""
        example = FIELDS[name] if example is None else example
        if not in_big_blinds(value):
            return number(value, name, example, least=0)
        big_blind = self.big_blind()
        if big_blind is None:
            raise at(value, name, NO_BIG_BLIND)
        body = LocatedText(value.place, text=text_of(value, name, example)[:-2].strip())
        return big_blind * number(body, name, example, least=0)

    def big_blind(self) -> float | None:
        """The big blind in chips, from ``blinds``, or 1 if the pot or stack is in big blinds; None if unknown."""
        if (blinds := read_blinds(self.fields.get("blinds"))) is not None:
            return blinds[1]
        return 1.0 if self.typed_big_blinds() else None

    def typed_big_blinds(self) -> bool:
        """Whether the pot or the stack is in big blinds."""
        return in_big_blinds(self.fields.get("pot")) or in_big_blinds(self.fields.get("stack"))

    def check_units(self) -> None:
        """Reject a mix of big blinds and chips without a known big blind."""
        given = {name: self.fields[name] for name in ("pot", "stack", "min_bet") if name in self.fields}
        other = next((name for name, value in given.items() if not in_big_blinds(value)), None)
        if other is None or "blinds" in self.fields or all(not in_big_blinds(value) for value in given.values()):
            return
        text = text_of(given[other], other, FIELDS[other])
        if share_of(text):  # 0 needs no unit
            remedy = written(given[other], other, f"{text}bb")
            raise at(given[other], other, f"{text} has no unit, but other amounts are in big blinds; write {remedy}")

    def blame(self, message: str) -> str:
        """The position of the first field that a message about the whole spot names, else the file."""
        aliases = {"out of position": "oop", "in position": "ip", "(add_allin|force_allin|merge)": "thresholds"}
        for words, name in (*aliases.items(), *((name, name) for name in FIELDS)):
            given = self.layers.get(name, ()) if name in ("thresholds", "rake") else filter(None, (self.fields.get(name),))
            if re.search(rf"\b{words}\b", message) and (places := [value.place for value in given]):
                return places[-1]
        return self.name

    def settings(self) -> SolveFields:
        """The spot's solve settings.

        Raises:
            SpecError: a field is wrong.
        """
        fields = self.fields
        storage = text_of(fields["storage"], "storage", "float32") if "storage" in fields else None
        if storage is not None and not storage.startswith("disk:") and (storage := storage.lower()) not in STORAGES:
            known = f"{', '.join(STORAGES[:-1])} or {STORAGES[-1]}"
            raise at(fields["storage"], "storage", f"{shown(storage)} is not known; write {known}")
        device = text_of(fields["device"], "device", "auto").lower() if "device" in fields else None
        if device not in (None, *DEVICES):
            known = f"{', '.join(DEVICES[:-1])} or {DEVICES[-1]}"
            raise at(fields["device"], "device", f"{shown(device)} is not known; write {known}")
        return SolveFields(
            target=read_target(fields["target"], self.big_blind()) if "target" in fields else None,
            iterations=integer(fields["iterations"], "iterations", "1000", least=0) if "iterations" in fields else None,
            threads=integer(fields["threads"], "threads", "2", least=1) if "threads" in fields else None,
            algorithm=read_algorithm(fields["algorithm"]) if "algorithm" in fields else None,
            storage=storage,
            device=device,
            locks=tuple(read_lock(lock) for lock in listed(fields["locks"])) if "locks" in fields else (),
            until=text_of(fields["until"], "until", "turn").lower() if "until" in fields else None,
            net=text_of(fields["net"], "net", "hands") if "net" in fields else None,
        )


def read_algorithm(value: LocatedText) -> str:
    """The spec of an algorithm in a field.

    Raises:
        SpecError: the algorithm is in a Python file that is named by another file and not by the user.
    """
    text = text_of(value, "algorithm", "dcfr")
    if ".py" in text and not value.place.startswith(("--", "argument ")):
        raise at(value, "algorithm", f"{shown(text)} is in a Python file; code named in a file is not run, so give it with -a")
    return text


def read_spot_file(path: str | Path) -> SpotRequest:
    """Read a spot file, YAML or TOML depending on the suffix.

    Raises:
        FileError: the file cannot be read, or is not YAML or TOML.
        SpecError: an unknown key. Values are checked later, by :meth:`SpotRequest.spot` and ``settings``.
    """
    refuse_solved_spot(path)
    root = read_marked(path)
    if root.entries is None:
        raise SpecError(f"{root.place}: must have lines such as pot: 200, not {root.kind}")
    return request_from(keys(root, "spot file", FIELDS), str(path), from_file=True)


def spot_request(name: str | Path | None, options: Mapping[str, object] | None = None) -> SpotRequest:
    """The fields of a spot file or named spot with options that override them; see :func:`request_from_options`.

    Raises:
        FileError: the file cannot be read, or is not YAML or TOML.
        SpecError: an unknown key or option.
    """
    over = request_from_options(options or {})
    if name is None:
        return over
    return over.over(named_request(str(name)) if is_named(str(name)) else read_spot_file(name))


def load_spot(path: str | os.PathLike[str]) -> Spot:
    """A hold'em spot from a file, or by a name such as ``turn_endgame``; its ``settings`` are those of the file.

    Raises:
        FileError: the file cannot be read.
        SpecError: a field is missing or wrong; the message names file, line, field and remedy.
    """
    spot = spot_request(Path(path)).spot()
    object.__setattr__(spot, "spec", os.fspath(path))
    return spot


def is_turn_endgame(name: str) -> bool:
    """Whether a name means turn endgame hold'em and no spot file has that name."""
    return name == TURN_ENDGAME and not Path(TURN_ENDGAME).is_file()


def is_named(name: str) -> bool:
    """Whether a name means a named spot and no spot file has that name."""
    return name in NAMED and not Path(name).is_file()


def named_request(name: str) -> SpotRequest:
    """The fields of a named spot."""
    spot = NAMED[name]()
    fields = spot_fields(spot) | {"oop": "all", "ip": "all"}
    if isinstance(spot.bets, BetPlan):  # the sizes are equal on all streets
        sizes = spot.bets.streets[spot.street][0]
        fields |= {name: ",".join(map(str, getattr(sizes, name))) for name in ("bets", "raises")}
    return request_from_options({key: value for key, value in fields.items() if value != ""}, f"{name} ")


def request_from_options(options: Mapping[str, object], prefix: str = "--") -> SpotRequest:
    """The fields of a spot from options by name, of the command line or Python; None and empty lists count as missing.

    Args:
        options: by the names in :data:`treeplex.holdem.spots.spot_table.FIELDS`, with dashes or underscores: ``min-bet``,
            ``river_bets``.
        prefix: prefix of names in messages.

    Raises:
        FileError: an option's braces contain no table.
        SpecError: an unknown option.
    """
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None and value != []}
    entries: dict[str, LocatedText] = {}
    parts: list[tuple[str, LocatedText]] = []
    for spot_field in TABLE.values():
        for name in {spot_field.option, spot_field.name.replace("_", "-")} & given.keys():
            value = given.pop(name)
            if spot_field.repeats and not isinstance(value, list | tuple):
                value = [value]
            entries[spot_field.name] = located(value, f"{prefix}{name}", may_be_table=spot_field.table)
        for part in spot_field.parts:
            if part.option in given:
                entry = located(given.pop(part.option), f"{prefix}{part.option}", may_be_table=part.table)
                parts.append((spot_field.name, located_table(f"{prefix}{part.option}", {part.key: entry})))
    if given:
        known = [
            name for spot_field in TABLE.values() for name in (spot_field.option, *(part.option for part in spot_field.parts))
        ]
        raise SpecError(f"unknown option {prefix}{next(iter(given))}{nearest(next(iter(given)), known)}")
    request = request_from(entries, "the spot", from_file=False)
    layers = {name: (*request.layers.get(name, ()), *(one for which, one in parts if which == name)) for name in LAYERED}
    return replace(request, layers=layers)


def request_from(entries: Mapping[str, LocatedText], name: str, *, from_file: bool) -> SpotRequest:
    """Create a request from its entries, with sizes separated from the other fields."""
    fields = {key: value for key, value in entries.items() if key not in LAYERED}
    layers = {key: (entries[key],) for key in LAYERED if key in entries}
    if "limit" in fields and (first := next((name for name in SIZES if name in layers), None)):
        raise at(fields["limit"], "limit", f"fixed limit and no-limit sizes ({first}) cannot be combined; keep one")
    return SpotRequest(name, fields, layers, from_file)


def read_format(value: LocatedText | None) -> Format:
    """The format; default hold'em."""
    if value is None:
        return HOLDEM
    text = text_of(value, "format", "holdem")
    try:
        return format_named(text)
    except SpecError as error:
        raise at(value, "format", str(error)) from None


def read_board(value: LocatedText | None, request: SpotRequest, format: Format) -> tuple[int, ...]:
    """The board cards; without the field an empty board, which needs blinds in hold'em."""
    if value is None or (value.text is not None and value.text.strip().lower() in ("", "none")):
        if "blinds" in request.fields or (format.deal[0] == 0 and format is not HOLDEM):
            return ()
        if value is None:
            raise request.missing("board")
        raise at(value, "board", f"is empty; write {written(value, 'board', FIELDS['board'])}")
    text = text_of(value, "board", FIELDS["board"])
    try:
        board = parse_cards(text)
        format.street(board)
    except SpecError as error:
        raise at(value, "board", str(error)) from None
    return board


def read_blinds(value: LocatedText | None) -> tuple[float, float] | None:
    """Small and big blind."""
    if value is None:
        return None
    parts = text_of(value, "blinds", "1, 2").replace("/", ",").split(",")
    if len(parts) != 2:
        raise at(value, "blinds", "must be two numbers, small and big; write blinds: 1, 2")
    small, big = (number(LocatedText(value.place, text=part.strip()), "blinds", "1, 2", least=0) for part in parts)
    return small, big


def read_rake(request: SpotRequest) -> Rake:
    """The rake, from a share or a table of ``rate`` and ``cap``."""
    if not (layers := request.layers.get("rake", ())):
        return Rake()
    entries: dict[str, LocatedText] = {}
    for layer in layers:
        if layer.entries is None:
            entries = {"rate": layer}
        else:
            entries |= keys(layer, "rake", {"rate": "5%", "cap": "3", "no_flop_no_drop": "true"})
    if "rate" not in entries:
        remedy = (
            "add --rake 5%" if layers[-1].place in ("--rake-cap", "--no-flop-no-drop") else "write rake: {rate: 5%, cap: 3}"
        )
        raise at(layers[-1], "rake", f"{'a cap' if 'cap' in entries else 'no_flop_no_drop'} needs a rate; {remedy}")
    free = "no_flop_no_drop" in entries and flag(entries["no_flop_no_drop"], "no_flop_no_drop")
    cap = request.amount(entries["cap"], "cap", "3") if "cap" in entries else math.inf
    return Rake(share(entries["rate"], "rate", "5%"), cap, free)


def read_runouts(request: SpotRequest, format: Format) -> tuple[tuple[int, ...], str]:
    """Number of deals on each street (0 for all), and the name of the set of boards, if any."""
    names, counts, chosen = street_names(format), dict[str, int](), ""
    for layer in request.layers.get("runouts", ()):
        if layer.entries is None:
            counts, chosen = {}, text_of(layer, "runouts", "48x2x2")
            try:
                check_set(chosen)
            except SpecError as error:
                raise at(layer, "runouts", str(error)) from None
            continue
        chosen = ""
        for name, entry in keys(layer, "runouts", dict.fromkeys(names[1:], "12")).items():
            counts[name] = integer(entry, name, "12", least=1)
    return tuple(counts.get(name, 0) for name in names) if counts else (), chosen


def read_bets(request: SpotRequest, format: Format, first: int) -> BetPlan | FixedLimit:
    """The sizes of all streets from ``first`` onwards."""
    if "limit" in request.fields:
        for name in NO_LIMIT:
            for value in (*filter(None, [request.fields.get(name)]), *request.layers.get(name, ())):
                raise at(value, name, "applies to no limit and cannot be combined with limit; give only one of them")
        return read_limit(request, format)
    streets = []
    for street in range(format.streets):
        if street < first:
            streets.append((StreetSizes(), StreetSizes()))
            continue
        oop, ip = (street_sizes(request, format, street, player) for player in (0, 1))
        streets.append((first_leads(request, format, street, oop) if street == first > 0 else oop, ip))
    fields = request.fields
    options: dict[str, float] = {}
    for layer in request.layers.get("thresholds", ()):
        options |= {name: threshold(entry, name) for name, entry in keys(layer, "thresholds", THRESHOLDS).items()}
    if "min_bet" in fields:
        options["min_bet"] = request.amount(fields["min_bet"], "min_bet")
        if not options["min_bet"]:
            raise at(fields["min_bet"], "min_bet", "must be greater than 0; write min_bet: 2, or remove the line")
    limps = "limps" not in fields or flag(fields["limps"], "limps")
    try:
        return BetPlan(tuple(streets), **options, limps=limps)
    except SpecError as error:
        raise SpecError(f"{request.blame(str(error))}: {error}") from None


def threshold(value: LocatedText, name: str) -> float:
    """A share of the pot, which may exceed 1."""
    text = text_of(value, name, THRESHOLDS[name])
    body = LocatedText(value.place, text=text.removesuffix("%").strip())
    value_read = number(body, name, THRESHOLDS[name], least=0)
    return value_read / 100 if text.endswith("%") else value_read


def street_sizes(request: SpotRequest, format: Format, street: int, player: int) -> StreetSizes:
    """The sizes of one player on one street; every street must be named or have a default."""
    texts: dict[str, str] = {}
    places: dict[str, LocatedText] = {}
    for name, usual in (("bets", DEFAULT_BETS), ("raises", DEFAULT_RAISES), ("donk", None)):
        layers = request.layers.get(name, ())
        for layer in layers:
            check_size_keys(layer, name, street_names(format))
        located_sizes = sizes_for(layers, name, street, player, format)
        if located_sizes is not None:
            texts[name], places[name] = in_chips(size_text(located_sizes, name), located_sizes, name, request), located_sizes
        elif usual is not None:
            if any(layer.entries and layer.place[:2] != "--" for layer in layers):
                raise unsaid(layers[-1], name, street_names(format)[street], player)
            texts[name] = usual
    if player == 1:
        texts.pop("donk", None)
    sizes = StreetSizes()
    for name, text in texts.items():
        try:
            sizes = sizes.changed(**{name: text})
            check_sizes(getattr(sizes, name) or ())
        except SpecError as error:
            raise at(places[name], name, str(error)) from None
    return sizes


def first_leads(request: SpotRequest, format: Format, street: int, oop: StreetSizes) -> StreetSizes:
    """The sizes out of position on a spot's first street, where donk sizes replace bets that are not given by player."""
    bets = [sizes_for(request.layers.get("bets", ()), "bets", street, player, format) for player in (0, 1)]
    return oop if oop.donk is None or bets[0] is not bets[1] else replace(oop, bets=oop.donk)


def unsaid(layer: LocatedText, name: str, street: str, player: int) -> SpecError:
    """The error for a table of sizes that lacks an entry for a street and player."""
    who = f"the {street}, player {('OOP', 'IP')[player]}"
    return at(layer, name, f"no sizes for {who}; add {street}: {FIELDS[name]} (none: no such bet), or default: ...")


def in_chips(text: str, value: LocatedText, name: str, request: SpotRequest) -> str:
    """Sizes with big blinds, ``2.5bb``, converted to chips; unchanged in spots that begin with blinds."""
    if "blinds" in request.fields:
        return text

    def chips(match: re.Match[str]) -> str:
        big_blind = request.big_blind()
        if big_blind is None:
            raise at(value, name, NO_BIG_BLIND)
        if name == "raises":
            raise at(
                value, name, f"{shown(match[0])} is for a first raise preflop; write a multiple of the bet faced, such as 3x"
            )
        return f"{decimal(big_blind * float(match[1]))}c"

    return re.sub(rf"(?<![\w.]){NUMBER}\s*bb\b", chips, text, flags=re.IGNORECASE)


def usual_chip(pot: float, stack: float, blinds: Sequence[float], bets: BetPlan | FixedLimit) -> float:
    """The default chip: the largest of 1, 0.1, 0.01, ... that divides all amounts.

    With sizes as shares of the pot, which are rounded to it, the pot is at least a hundred chips and the smallest first bet
    at least ten, so that rounding is small.
    """
    amounts, most = [pot, stack, *blinds], math.inf
    if isinstance(bets, FixedLimit):
        amounts += bets.bets
    else:
        sizes = list(bets.sizes())
        amounts += [size.value for size in sizes if size.kind == "chips"]
        amounts += [size.value * blinds[1] for size in sizes if size.kind == "blinds"] + [bets.min_bet or 0.0]
        most = largest_chip(pot + sum(blinds), sizes)
    for decimals in range(round(-math.log10(LEAST_CHIP))):
        chip = 10.0**-decimals
        if chip <= most and all(is_multiple(amount, chip) for amount in amounts):
            return chip
    return LEAST_CHIP


def largest_chip(pot: float, sizes: Sequence[Size]) -> float:
    """The largest chip at which rounding changes pot-relative sizes only slightly; infinity if there are no such sizes."""
    shares = [size.value for size in sizes if size.kind == "pot" and size.value > 0]
    rounded = pot > 0 and any(size.kind in ("pot", "last", "geometric") for size in sizes)
    return min(pot / LEAST_SIZES[0], *(share * pot / LEAST_SIZES[1] for share in shares), math.inf) if rounded else math.inf


def read_limit(request: SpotRequest, format: Format) -> FixedLimit:
    """Fixed-limit betting: ``bets`` chips per bet and at most ``most`` bets on each street."""
    value = request.fields["limit"]
    entries = keys(value, "limit", {"bets": "[2, 2, 4, 4]", "most": "4"})
    for name in ("bets", "most"):
        if name not in entries:
            raise at(value, "limit", f"{name} is missing; write limit: {FIELDS['limit']}")
    texts = {name: text_of(entries[name], name, "4").split(",") for name in entries}
    places = entries["bets"].place
    bets = tuple(request.amount(LocatedText(places, text=part.strip()), "bets", "2, 2, 4, 4") for part in texts["bets"])
    most = tuple(integer(LocatedText(entries["most"].place, text=part.strip()), "most", "4", least=0) for part in texts["most"])
    try:
        return FixedLimit(bets * format.streets if len(bets) == 1 else bets, most * format.streets if len(most) == 1 else most)
    except SpecError as error:
        raise at(value, "limit", str(error)) from None


def spot(
    board: str,
    oop: str | NDArray[np.float64],
    ip: str | NDArray[np.float64],
    *,
    pot: float | str,
    stack: float | str,
    **fields: Any,
) -> Spot:
    """A hold'em spot: ``spot("Td9d6h", "QQ+,AK", "22+", pot=20, stack=90, bets={"default": "50%,a", "river": "a"})``.

    Args:
        board: board cards; empty preflop, which needs ``blinds``.
        oop, ip: ranges out of position and in position, as text or float64 [H] in the order of ``format.hands``.
        pot: chips in the pot, or big blinds: ``"6.5bb"``.
        stack: chips behind in the smaller stack, or big blinds.
        fields: all other fields of a spot file, as strings, numbers, lists and dictionaries: ``bets``, ``raises``, ``donk``,
            ``thresholds``, ``min_bet``, ``limit``, ``blinds``, ``rake``, ``chip``, ``format``; the solve settings ``target``,
            ``iterations``, ``algorithm``, ``threads``, ``storage``, ``device`` and ``locks``; and the options of
            ``treeplex solve`` for parts of them, such as ``river_bets`` and ``rake_cap``.

    Raises:
        SpecError: an unknown field, a text that cannot be read, or a value out of range.
    """
    texts = ["all" if isinstance(given, np.ndarray) else given for given in (oop, ip)]
    options = {"board": board, "oop": texts[0], "ip": texts[1], "pot": pot, "stack": stack, **fields}
    made = request_from_options(options, "argument ").spot()
    given_ranges = [
        given if isinstance(given, np.ndarray) else read for given, read in zip((oop, ip), made.ranges, strict=True)
    ]
    return replace(made, ranges=(given_ranges[0], given_ranges[1])) if "all" in texts else made
