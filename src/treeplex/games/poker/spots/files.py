"""Spot files: a spot, and how to solve it, as YAML or TOML for people to write.

.. code-block:: yaml

    board: Td 9d 6h Qc
    oop: 66+, A8s+, A5s-A4s, AJo+
    ip: QQ-22, A2s+, ATo+
    pot: 200
    stack: 900
    bets: {default: "50%, a", river: "33%, 75%, a"}
    raises: 60%
    target: 0.5%

Every message names the file, the line, the field and what to write instead. Command-line options are the same fields
(:func:`request_from_options`) and go over those of a file.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from treeplex.errors import SpecError
from treeplex.games.poker.betting.sizes import BetPlan, FixedLimit, StreetSizes
from treeplex.games.poker.cards.cards import parse_cards
from treeplex.games.poker.cards.format import HOLDEM, Format, format_named
from treeplex.games.poker.spots.fields import (
    Floats,
    Lock,
    Target,
    at,
    check_size_keys,
    keys,
    number,
    plain,
    quoted,
    read_lock,
    read_range,
    read_target,
    share,
    size_text,
    sizes_for,
    street_names,
    whole,
    written,
)
from treeplex.games.poker.spots.located_text import LocatedText, listed, read_marked
from treeplex.games.poker.spots.spot import Rake, Spot
from treeplex.spec import shown

FIELDS: Mapping[str, str] = {
    "board": "Td 9d 6h Qc",
    "oop": "66+, A8s+, AJo+",
    "ip": "QQ-22, A2s+, ATo+",
    "pot": "200",
    "stack": "900",
    "bets": "50%, 100%, a",
    "raises": "2.5x, a",
    "donk": "50%",
    "thresholds": "{add_allin: 150%, force_allin: 20%, merge: 10%}",
    "min_bet": "2",
    "limit": "{bets: [2, 2, 4, 4], most: 4}",
    "blinds": "1, 2",
    "rake": "5%",
    "chip": "1",
    "format": "holdem",
    "target": "0.5%",
    "iterations": "1000",
    "threads": "2",
    "algorithm": "dcfr",
    "storage": "float32",
    "locks": "a list of {line: ..., strategy: ...}",
}
"""The fields and how each is written."""
LAYERED = ("bets", "raises", "donk")
THRESHOLDS = {"add_allin": "150%", "force_allin": "20%", "merge": "10%"}
STORAGES = ("float32", "float64", "int16")
DEFAULT_BETS, DEFAULT_RAISES = "50%, 100%, a", "2.5x, a"


@dataclass(frozen=True)
class Settings:
    """How to solve a spot; None where nothing was said.

    Attributes:
        target: stop at this exploitability.
        iterations: the most iterations; 0 judges the uniform strategy.
        threads: threads to use.
        algorithm: the spec of an algorithm.
        storage: ``float32``, ``float64`` or ``int16``.
        locks: strategies that a player keeps.
    """

    target: Target | None = None
    iterations: int | None = None
    threads: int | None = None
    algorithm: str | None = None
    storage: str | None = None
    locks: tuple[Lock, ...] = ()


@dataclass(frozen=True)
class SpotRequest:
    """The fields of a spot, read but not yet put together.

    Attributes:
        name: the file's name, or what stands for it in messages.
        fields: fields by name, those of :data:`LAYERED` excepted.
        layers: texts and tables of sizes by field; later ones go over earlier ones.
        from_file: whether there is a file, so that messages say where a missing field goes.
    """

    name: str
    fields: Mapping[str, LocatedText] = field(default_factory=dict)
    layers: Mapping[str, tuple[LocatedText, ...]] = field(default_factory=dict)
    from_file: bool = False

    def over(self, other: "SpotRequest") -> "SpotRequest":
        """These fields where given, else those of ``other``."""
        layers = {name: (*other.layers.get(name, ()), *self.layers.get(name, ())) for name in LAYERED}
        fields = {**other.fields, **self.fields}
        if "limit" in self.fields or any(self.layers.get(name) for name in LAYERED):  # the other betting goes
            gone = LAYERED if "limit" in self.fields else ("limit",)
            fields = {name: value for name, value in fields.items() if name not in gone}
            layers = {name: () if name in gone else value for name, value in layers.items()}
        return SpotRequest(other.name, fields, layers, other.from_file)

    def on_board(self, board: str) -> "SpotRequest":
        """The same spot on another board."""
        return replace(self, fields={**self.fields, "board": LocatedText(f"board {board}", text=board)})

    def missing(self, name: str) -> SpecError:
        """The error of a field that must be there and is not."""
        where = f"add the line {name}: {FIELDS[name]}" if self.from_file else f"give --{name} {quoted(FIELDS[name])}"
        return SpecError(f"{self.name}: {name} is missing; {where}")

    def need(self, name: str) -> LocatedText:
        """A field that must be there."""
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
        values = {
            "board": board,
            "ranges": self.ranges(),
            "pot": self.amount("pot", least=0),
            "stack": self.amount("stack", least=0),
            "chip": self.amount("chip", least=0) if "chip" in self.fields else 1.0,
            "blinds": read_blinds(self.fields.get("blinds")),
            "rake": read_rake(self.fields.get("rake")),
            "bets": read_bets(self, form, form.street(board)),
        }
        try:
            return Spot(format=form, **values)  # type: ignore[arg-type]
        except SpecError as error:
            raise SpecError(f"{self.blame(str(error))}: {str(error).removeprefix('spot: ')}") from None

    def ranges(self) -> tuple[Floats, Floats]:
        """Both ranges before any card takes hands from them.

        Raises:
            SpecError: a range is missing or wrong.
        """
        form = read_format(self.fields.get("format"))
        return read_range(self.need("oop"), "oop", form), read_range(self.need("ip"), "ip", form)

    def amount(self, name: str, *, least: float) -> float:
        """A field of chips."""
        return number(self.need(name), name, FIELDS[name], least=least)

    def blame(self, message: str) -> str:
        """The place of the first field that a message about the whole spot names, or the file."""
        aliases = {"out of position": "oop", "in position": "ip", "(add_allin|force_allin|merge)": "thresholds"}
        for words, name in (*aliases.items(), *((name, name) for name in FIELDS)):
            if re.search(rf"\b{words}\b", message) and name in self.fields:
                return self.fields[name].place
        return self.name

    def settings(self) -> Settings:
        """How to solve it.

        Raises:
            SpecError: a field is wrong.
        """
        fields = self.fields
        storage = plain(fields["storage"], "storage", "float32").lower() if "storage" in fields else None
        if storage is not None and storage not in STORAGES:
            known = f"{', '.join(STORAGES[:-1])} or {STORAGES[-1]}"
            raise at(fields["storage"], "storage", f"{shown(storage)} is not known; write {known}")
        return Settings(
            target=read_target(fields["target"]) if "target" in fields else None,
            iterations=whole(fields["iterations"], "iterations", "1000", least=0) if "iterations" in fields else None,
            threads=whole(fields["threads"], "threads", "2", least=1) if "threads" in fields else None,
            algorithm=plain(fields["algorithm"], "algorithm", "dcfr") if "algorithm" in fields else None,
            storage=storage,
            locks=tuple(read_lock(each) for each in listed(fields["locks"])) if "locks" in fields else (),
        )


def read_spot_file(path: str | Path) -> SpotRequest:
    """Read a spot file, YAML or TOML (by its suffix).

    Raises:
        FileError: it cannot be read, or is not YAML or TOML.
        SpecError: an unknown key. Values are checked when :meth:`SpotRequest.spot` and ``settings`` read them.
    """
    root = read_marked(path)
    if root.entries is None:
        raise SpecError(f"{root.place}: must be lines such as pot: 200, not {root.kind}")
    return request_from(keys(root, "spot file", FIELDS), str(path), from_file=True)


def request_from_options(options: Mapping[str, LocatedText], sizes: Sequence[tuple[str, LocatedText]] = ()) -> SpotRequest:
    """The fields of command-line options; ``sizes`` are layers of sizes, (field, text or table), in order."""
    request = request_from(options, "the spot", from_file=False)
    layers = {name: (*request.layers.get(name, ()), *(each for which, each in sizes if which == name)) for name in LAYERED}
    return replace(request, layers=layers)


def request_from(entries: Mapping[str, LocatedText], name: str, *, from_file: bool) -> SpotRequest:
    """A request from its entries, sizes apart."""
    fields = {key: value for key, value in entries.items() if key not in LAYERED}
    layers = {key: (entries[key],) for key in LAYERED if key in entries}
    if "limit" in fields and layers:
        first = next(iter(layers))
        raise at(fields["limit"], "limit", f"fixed limit and no-limit sizes ({first}) exclude each other; keep one")
    return SpotRequest(name, fields, layers, from_file)


def read_format(value: LocatedText | None) -> Format:
    """The format, hold'em unless named."""
    if value is None:
        return HOLDEM
    text = plain(value, "format", "holdem")
    try:
        return format_named(text)
    except SpecError as error:
        raise at(value, "format", str(error)) from None


def read_board(value: LocatedText | None, request: SpotRequest, format: Format) -> tuple[int, ...]:
    """The cards on the board; without the field none, which needs blinds in hold'em."""
    if value is None or (value.text is not None and value.text.strip().lower() in ("", "none")):
        if "blinds" in request.fields or (format.deal[0] == 0 and format is not HOLDEM):
            return ()
        if value is None:
            raise request.missing("board")
        raise at(value, "board", f"is empty; write {written(value, 'board', FIELDS['board'])}")
    text = plain(value, "board", FIELDS["board"])
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
    parts = plain(value, "blinds", "1, 2").replace("/", ",").split(",")
    if len(parts) != 2:
        raise at(value, "blinds", "must be two numbers, small and big; write blinds: 1, 2")
    small, big = (number(LocatedText(value.place, text=part.strip()), "blinds", "1, 2", least=0) for part in parts)
    return small, big


def read_rake(value: LocatedText | None) -> Rake:
    """The rake: a share, or a table of ``rate`` and ``cap``."""
    if value is None:
        return Rake()
    if value.entries is None:
        return Rake(share(value, "rake", "5%"))
    entries = keys(value, "rake", {"rate": "5%", "cap": "3"})
    if "rate" not in entries:
        raise at(value, "rake", "a cap without a rate; write rake: {rate: 5%, cap: 3}")
    cap = number(entries["cap"], "cap", "3", least=0) if "cap" in entries else math.inf
    return Rake(share(entries["rate"], "rate", "5%"), cap)


def read_bets(request: SpotRequest, format: Format, first: int) -> BetPlan | FixedLimit:
    """The sizes of all streets from ``first`` on."""
    if "limit" in request.fields:
        return read_limit(request.fields["limit"], format)
    streets = []
    for street in range(format.streets):
        both = (StreetSizes(), StreetSizes())
        streets.append(
            both if street < first else (street_sizes(request, format, street, 0), street_sizes(request, format, street, 1))
        )
    fields, options = request.fields, {}
    if "thresholds" in fields:
        entries = keys(fields["thresholds"], "thresholds", THRESHOLDS)
        options = {name: threshold(entry, name) for name, entry in entries.items()}
    if "min_bet" in fields:
        options["min_bet"] = number(fields["min_bet"], "min_bet", "2", least=0)
        if not options["min_bet"]:
            raise at(fields["min_bet"], "min_bet", "must be greater than 0; write min_bet: 2, or remove the line")
    try:
        return BetPlan(tuple(streets), **options)
    except SpecError as error:
        raise SpecError(f"{request.blame(str(error))}: {error}") from None


def threshold(value: LocatedText, name: str) -> float:
    """A share of the pot, not bounded by it."""
    text = plain(value, name, THRESHOLDS[name])
    body = LocatedText(value.place, text=text.removesuffix("%").strip())
    found = number(body, name, THRESHOLDS[name], least=0)
    return found / 100 if text.endswith("%") else found


def street_sizes(request: SpotRequest, format: Format, street: int, player: int) -> StreetSizes:
    """The sizes of one player on one street; a street for which a field says nothing has to be named."""
    texts: dict[str, str] = {}
    places: dict[str, LocatedText] = {}
    for name, usual in (("bets", DEFAULT_BETS), ("raises", DEFAULT_RAISES), ("donk", None)):
        layers = request.layers.get(name, ())
        for layer in layers:
            check_size_keys(layer, name, street_names(format))
        found = sizes_for(layers, name, street, player, format)
        if found is not None:
            texts[name], places[name] = size_text(found, name), found
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
        except SpecError as error:
            raise at(places[name], name, str(error)) from None
    return sizes


def unsaid(layer: LocatedText, name: str, street: str, player: int) -> SpecError:
    """The error of a table of sizes without an entry for a street and player."""
    who = f"the {street}, player {('OOP', 'IP')[player]}"
    return at(layer, name, f"no sizes for {who}; add {street}: {FIELDS[name]} (none: no such bet), or default: ...")


def read_limit(value: LocatedText, format: Format) -> FixedLimit:
    """Fixed-limit betting: ``bets`` chips a street and at most ``most`` bets a street."""
    entries = keys(value, "limit", {"bets": "[2, 2, 4, 4]", "most": "4"})
    for name in ("bets", "most"):
        if name not in entries:
            raise at(value, "limit", f"{name} is missing; write limit: {FIELDS['limit']}")
    texts = {name: plain(entries[name], name, "4").split(",") for name in entries}
    bets = tuple(number(LocatedText(entries["bets"].place, text=each.strip()), "bets", "2, 2, 4, 4") for each in texts["bets"])
    most = tuple(whole(LocatedText(entries["most"].place, text=each.strip()), "most", "4", least=0) for each in texts["most"])
    try:
        return FixedLimit(bets * format.streets if len(bets) == 1 else bets, most * format.streets if len(most) == 1 else most)
    except SpecError as error:
        raise at(value, "limit", str(error)) from None
