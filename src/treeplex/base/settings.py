"""Settings declared once: a dataclass field holds the default, help text and limits.

Validation, ``--set key=value``, settings files, the output of ``--show`` and ``--help``, JSON in ``run.json`` and the tables
of the documentation are all derived from the fields of a :class:`Settings`.

>>> @dataclass(frozen=True)
... class Cooking(Settings):
...     minutes: int = setting(5, "how long it boils", low=1)
>>> Cooking().changed({"minutes": "7"})
Cooking(minutes=7)
>>> Cooking(minutes=0)
Traceback (most recent call last):
...
treeplex.errors.SpecError: minutes must be an integer of at least 1, not 0
"""

import json
import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ClassVar, NamedTuple, Self, Union, get_args, get_origin, get_type_hints

from treeplex.base.located_text import LocatedText, read_marked
from treeplex.base.spec import nearest, split_outside_brackets
from treeplex.errors import FileError, SpecError

FIXED = "* fixed: cannot change when a training is resumed"
NONE = "none"
"""The text for a setting without a value."""
WORDS = {int: "integer", float: "number", str: "string", bool: "true or false"}


class Limits(NamedTuple):
    """The meaning and the valid values of a setting; see :func:`setting`."""

    help: str
    low: float | None = None
    above: float | None = None
    high: float | None = None
    below: float | None = None
    choices: Collection[str] = ()
    fixed: bool = False
    added: bool = False
    show: bool = True
    listed: str = ""


def setting(
    default: Any = MISSING,
    help: str = "",
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    choices: Collection[str] = (),
    fixed: bool = False,
    added: bool = False,
    show: bool = True,
    listed: str = "",
) -> Any:
    """Declare a field of a :class:`Settings`; its type is int, float, str, bool, a tuple of one of these, or optional.

    Args:
        default: the default value; a setting without one is required.
        help: the help text, a phrase without a final full stop.
        low, above: inclusive or exclusive lower bound; applies to each entry of a tuple.
        high, below: inclusive or exclusive upper bound.
        choices: the allowed strings.
        fixed: the value cannot change when a job is resumed.
        added: the setting is missing in jobs of earlier versions, which then use the default.
        show: whether lists of settings include it.
        listed: a description that replaces a long list of choices.
    """
    limits = Limits(help, low, above, high, below, choices, fixed, added, show, listed)
    return field(default=default, metadata={"limits": limits})


class ValueKind(NamedTuple):
    """The type of a setting.

    Attributes:
        of: int, float, str or bool.
        many: whether it is a tuple of that type.
        size: number of entries of a tuple; None for any number.
        optional: whether None is allowed.
    """

    of: type
    many: bool = False
    size: int | None = None
    optional: bool = False

    @classmethod
    def from_hint(cls, hint: Any) -> "ValueKind":
        """Return the kind of a type annotation."""
        if get_origin(hint) in (Union, UnionType):
            inner = [argument for argument in get_args(hint) if argument is not NoneType]
            return cls.from_hint(inner[0])._replace(optional=True)
        if get_origin(hint) is tuple:
            inner = [argument for argument in get_args(hint) if argument is not Ellipsis]
            return cls(inner[0], many=True, size=None if Ellipsis in get_args(hint) else len(inner))
        if hint not in WORDS:
            raise TypeError(f"a setting cannot have the type {hint}")
        return cls(hint)


class SettingDeclaration(NamedTuple):
    """Declaration of a setting: name, kind, limits and default (``dataclasses.MISSING`` without one)."""

    name: str
    kind: ValueKind
    limits: Limits
    default: Any

    @property
    def values(self) -> str:
        """The allowed values in words: ``an integer of at least 1``."""
        kind, limits = self.kind, self.limits
        if limits.choices:
            one = f"one of {limits.listed or ', '.join(limits.choices)}"
        elif kind.of is bool:
            one = WORDS[bool]
        else:
            one = " ".join(part for part in (WORDS[kind.of], self._range()) if part)
            one = one if kind.many else f"{'an' if kind.of is int else 'a'} {one}"
        if kind.many:
            many = one.replace(WORDS[kind.of], f"{WORDS[kind.of]}s", 1) if kind.of in (int, float) else one
            many = "names" if many == WORDS[str] else many
            one = f"{kind.size} {many}, separated by commas" if kind.size else f"{many}, separated by commas"
        return f"{one}, or {NONE}" if kind.optional else one

    def _range(self) -> str:
        _, low, above, high, below, *_ = (f"{limit:,}" if isinstance(limit, int) else limit for limit in self.limits)
        if low is not None and high is not None:
            return f"from {low} to {high}"
        begin = "" if low is None and above is None else f"of at least {low}" if above is None else f"above {above}"
        end = "" if high is None and below is None else f"at most {high}" if below is None else f"below {below}"
        return " and ".join(part for part in (begin, end) if part)

    def wrong(self, value: Any, entry: Any = None) -> SpecError:
        """Return the error for an invalid value, or for one invalid entry of it."""
        known = self.limits.choices
        hint = nearest(entry, known) if isinstance(entry, str) and known else ""
        shown_value = value[0] if isinstance(value, tuple) and len(value) == 1 else value
        return SpecError(f"{self.name} must be {self.values}, not {shown_value!r}{hint if 'did you mean' in hint else ''}")

    def checked(self, value: Any) -> Any:
        """Validate a value and convert it to the setting's type.

        Raises:
            SpecError: the value is not allowed.
        """
        if value is None and self.kind.optional:
            return None
        if not self.kind.many:
            return self._entry(value, value)
        if not isinstance(value, tuple | list) or len(value) != (self.kind.size or len(value)):
            raise self.wrong(value)
        return tuple(self._entry(item, value) for item in value)

    def _entry(self, value: Any, whole: Any) -> Any:
        of, limits = self.kind.of, self.limits
        known = {int: Integral, float: Real}.get(of, of)
        if not isinstance(value, known) or (isinstance(value, bool) and of is not bool):
            raise self.wrong(whole, value)
        value = of(value)
        if of in (int, float):
            inside = math.isfinite(value) if of is float else True
            inside &= limits.low is None or value >= limits.low
            inside &= limits.above is None or value > limits.above
            inside &= limits.high is None or value <= limits.high
            inside &= limits.below is None or value < limits.below
            if not inside:
                raise self.wrong(whole, value)
        if limits.choices and value not in limits.choices:
            raise self.wrong(whole, value)
        return value

    def read(self, value: Any) -> Any:
        """Convert a value from a file or a command line, where strings stand for numbers and lists.

        Raises:
            SpecError: the value is not allowed.
        """
        if self.kind.optional and isinstance(value, str) and value.strip().lower() in (NONE, "null", ""):
            return None
        if self.kind.many:
            if isinstance(value, str):
                value = () if value.strip().lower() in (NONE, "") else split_outside_brackets(value, ",", value)
            return self.checked(tuple(self._text(item) for item in value) if isinstance(value, list | tuple) else value)
        if self.kind.of is str and not self.limits.choices and isinstance(value, list | int) and not isinstance(value, bool):
            # specs parse [50%;a] as a list and 50 as a number; a string setting keeps the string
            value = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        return self.checked(self._text(value))

    def _text(self, value: Any) -> Any:
        """Parse a string; return it unchanged if it is not a value of this kind."""
        if not isinstance(value, str):
            return value
        of, text = self.kind.of, value.strip()
        if of is bool:
            return {"true": True, "false": False}.get(text.lower(), value)
        if of is str:
            return text
        try:
            number = float(text)
            if of is float:
                return number
            return int(text) if text.lstrip("+-").replace("_", "").isdigit() else int(number) if number.is_integer() else value
        except (ValueError, OverflowError):
            return value

    def text(self, value: Any) -> str:
        """Format a value for a YAML file."""
        if value is None:
            return NONE
        if isinstance(value, tuple):
            return f"[{', '.join(self.text(item) for item in value)}]"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, str) and not value.replace("-", "").replace("_", "").replace(".", "").replace("+", "").isalnum():
            return json.dumps(value)
        return str(value)


def declared(settings: "type[Settings]") -> Mapping[str, SettingDeclaration]:
    """Return the declared settings of a class by name, in order."""
    if "_declared" in vars(settings):
        return settings._declared
    hints, above = get_type_hints(settings), dict[str, SettingDeclaration]()
    for base in settings.__mro__[1:]:
        if base is not Settings and issubclass(base, Settings):
            above = dict(declared(base)) | above
    declarations = {}
    for declared_field in fields(settings):
        if hasattr(Settings, declared_field.name):
            raise TypeError(
                f"a setting cannot be named {declared_field.name}, the name of a method of Settings; choose another name"
            )
        limits = declared_field.metadata.get("limits") or (
            above[declared_field.name].limits if declared_field.name in above else Limits("")
        )
        declarations[declared_field.name] = SettingDeclaration(
            declared_field.name, ValueKind.from_hint(hints[declared_field.name]), limits, declared_field.default
        )
    settings._declared = declarations
    return declarations


@dataclass(frozen=True)
class Settings:
    """Base class of settings: frozen dataclasses whose fields are declared by :func:`setting`.

    A field with only a default inherits the help text and limits of the same field in a base class.

    Fields are validated on construction. NumPy integers become Python integers, and lists become tuples.

    Raises:
        SpecError: a value outside its limits.
    """

    _declared: ClassVar[Mapping[str, SettingDeclaration]]

    def __post_init__(self) -> None:
        for name, declaration in declared(type(self)).items():
            object.__setattr__(self, name, declaration.checked(getattr(self, name)))
        self.check()

    def check(self) -> None:
        """Check constraints between settings and raise :class:`SpecError`; subclasses may override it."""

    @classmethod
    def read_changes(cls, *changes: Mapping[str, Any]) -> dict[str, Any]:
        """Merge mappings of new values and parse their strings; later mappings take precedence.

        Raises:
            SpecError: an unknown name or an invalid value.
        """
        known, changed = declared(cls), dict[str, Any]()
        for part in changes:
            for name, value in part.items():
                if name not in known:
                    raise SpecError(f"unknown setting {name!r}{nearest(name, known)}")
                changed[name] = known[name].read(value)
        return changed

    def changed(self, *changes: Mapping[str, Any]) -> Self:
        """Return a copy with changes applied in order; strings are parsed as in settings files.

        Raises:
            SpecError: an unknown name or an invalid value.
        """
        return replace(self, **self.read_changes(*changes))

    def changed_under_way(self, *changes: Mapping[str, Any], place: object) -> Self:
        """Return a changed copy for a job that has already started; errors name the job as ``place``.

        Raises:
            SpecError: as in :meth:`changed`, or a change of a fixed setting.
        """
        after = self.changed(*changes)
        for name, declaration in declared(type(self)).items():
            if declaration.limits.fixed and getattr(after, name) != getattr(self, name):
                had, requested = declaration.text(getattr(self, name)), declaration.text(getattr(after, name))
                raise SpecError(f"{place}: {name} is {had} and cannot change to {requested} on resume; start a new run instead")
        return after

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON data for :meth:`from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object, location: object) -> Self:
        """Rebuild settings from the output of :meth:`to_json`.

        Raises:
            FileError: some are missing, unknown or out of range; the message names ``location``.
        """
        known = declared(cls)
        try:
            if not isinstance(data, Mapping):
                raise SpecError("not a table of settings")
            missing = [name for name, declaration in known.items() if name not in data and not declaration.limits.added]
            if missing or (unknown := [name for name in data if name not in known]):
                names = f"{', '.join(missing)} missing" if missing else f"unknown: {', '.join(map(str, unknown))}"
                raise SpecError(names)
            return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})
        except (TypeError, ValueError, SpecError) as error:
            raise FileError(f"{location}: cannot read the settings ({error}); start a new run") from error

    def as_yaml(self) -> str:
        """Return a YAML settings file for :func:`from_yaml`, with help texts as comments."""
        shown = {name: declaration for name, declaration in declared(type(self)).items() if declaration.limits.show}
        entries = [
            (f"{name}: {declaration.text(getattr(self, name))}", declaration.limits.help) for name, declaration in shown.items()
        ]
        width = max((len(entry) for entry, _ in entries), default=0)
        return "".join(f"{entry:<{width}}  # {meaning}".rstrip(" #") + "\n" for entry, meaning in entries)

    @classmethod
    def table_rows(cls) -> list[tuple[str, str, str]]:
        """Return name, default and meaning of each setting; the meaning includes the allowed values."""
        rows = []
        for name, declaration in declared(cls).items():
            if declaration.limits.show:
                usual = declaration.default if isinstance(declaration.default, tuple) else (declaration.default,)
                default = ", ".join(
                    "" if one is MISSING else str(one) if isinstance(one, str) else declaration.text(one) for one in usual
                )
                rows.append(
                    (
                        name + " *" * declaration.limits.fixed,
                        default,
                        f"{declaration.limits.help} ({declaration.values})".strip(),
                    )
                )
        return rows

    @classmethod
    def help_text(cls) -> str:
        """Return one line per setting for ``--help``: name, default and meaning."""
        rows = cls.table_rows()
        name, default = (max((len(row[part]) for row in rows), default=0) for part in (0, 1))
        lines = [f"  {row[0]:<{name}}  {row[1]:<{default}}  {row[2]}\n" for row in rows]
        return "".join(lines) + (f"  {FIXED}\n" if any("*" in row[0] for row in rows) else "")

    @classmethod
    def doc_table(cls) -> str:
        """Return a Markdown table of the settings: name, default, meaning."""
        lines = ["| setting | default | meaning |", "|---|---|---|"]
        for name, default, meaning in cls.table_rows():
            star = " \\*" * name.endswith("*")
            lines.append(f"| `{name.removesuffix(' *')}`{star} | {f'`{default}`' if default else ''} | {meaning} |")
        return "\n".join(lines) + "\n" + (f"\n\\{FIXED}\n" if any("*" in line for line in lines) else "")


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Parse ``key=value`` strings, as given to ``--set``, into a mapping.

    Raises:
        SpecError: a string without ``=``.
    """
    values = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise SpecError(f"--set must be key=value such as --set iterations=32, not {text!r}")
        values[key.strip()] = value.strip()
    return values


def from_yaml(path: str | os.PathLike[str], example: str = "iterations: 64") -> dict[str, str | list[str]]:
    """Read new values of settings, by name and still as strings, from a YAML or TOML file. Errors quote the sample line
    ``example``.

    Raises:
        FileError: the file cannot be read or does not hold settings by name.
    """
    entries = read_marked(os.fspath(path), example).entries
    if entries is None:
        raise FileError(f"{path}: not a table of settings; write lines such as {example}")
    return {name: _texts(entry, example) for name, entry in entries.items()}


def _texts(entry: LocatedText, example: str) -> str | list[str]:
    """Return a setting's value as a string, or as a list of strings if it is a tuple."""
    if entry.text is not None:
        return entry.text
    texts = [item.text for item in entry.items or () if item.text is not None]
    if entry.items is None or len(texts) < len(entry.items):
        raise FileError(f"{entry.place}: setting must be one value or a list of values; write lines such as {example}")
    return texts


def preset_named(name: str, presets: Mapping[str, Any]) -> Any:
    """Return a preset by name.

    Raises:
        SpecError: unknown preset.
    """
    if name not in presets:
        raise SpecError(f"unknown preset {name!r}{nearest(name, presets)}")
    return presets[name]
