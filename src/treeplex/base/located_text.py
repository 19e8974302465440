"""YAML and TOML files as trees of strings with their file and line, so that errors can point to them.

Values remain strings until the reader of a field asks for a number: ``22`` in a range field is a pair of deuces, not a number.
Reading never runs code. YAML anchors are supported with a limit on the expanded size.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from treeplex.base.spec import shown
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError

MOST_BYTES = 4_000_000
MOST_NODES = 50_000
MOST_DEPTH = 8
TOO_DEEP = "lists or tables nested too deeply"


@dataclass(frozen=True)
class LocatedText:
    """A value and its location: exactly one of ``text``, ``items`` and ``entries`` is not None.

    Attributes:
        place: ``"spot.yaml:12"`` or the option ``"--pot"``.
        text: a scalar, as written.
        items: a list.
        entries: a table.
    """

    place: str
    text: str | None = None
    items: "tuple[LocatedText, ...] | None" = None
    entries: "Mapping[str, LocatedText] | None" = None

    @property
    def kind(self) -> str:
        """The kind of the value, as a phrase for error messages."""
        return "a string" if self.text is not None else "a list" if self.items is not None else "a table of keys and values"


def read_marked(path: str | Path, example: str = "pot: 200") -> LocatedText:
    """Read a file: TOML if its name ends in ``.toml``, YAML otherwise. Errors quote the sample line ``example``.

    Raises:
        FileError: the file is missing, not text, too large, or not YAML or TOML; the message names the line.
    """
    text = read_text(path, most=MOST_BYTES)
    if Path(path).suffix.lower() == ".toml":
        return marked_toml(text, str(path))
    return marked_yaml(text, str(path), example)


def marked_yaml(text: str, name: str, example: str = "pot: 200", *, numbered: bool = True) -> LocatedText:
    """Parse a YAML document.

    Args:
        text: the document.
        name: the file name for error locations.
        example: a sample line for errors.
        numbered: whether locations include the line number.

    Returns:
        The document as located values.

    Raises:
        FileError: text that is not one YAML document.
    """
    try:
        root = yaml.compose(text, Loader=ShallowLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark and numbered else ""
        said = error.context if error.problem == "second occurrence" else error.problem or error.context
        problem = " ".join((said or "cannot be read").split())
        raise FileError(f"{name}{line}: invalid YAML: {problem}; {yaml_remedy(problem)}") from error
    except yaml.reader.ReaderError as error:
        line_number = text[: error.position].count("\n") + 1 if isinstance(error.position, int) else 1
        raise FileError(f"{name}:{line_number}: invalid character ({error.reason}); remove it") from error
    except (RecursionError, ValueError, yaml.YAMLError) as error:
        raise FileError(f"{name}: invalid YAML ({type(error).__name__}); write lines such as {example}") from error
    if root is None:
        raise FileError(f"{name}: file is empty; write lines such as {example}")
    reader = YamlReader(name, numbered)
    return reader.read(root, reader.place_of(root), 0)


class ShallowLoader(yaml.SafeLoader):  # type: ignore[misc]
    """A YAML loader that rejects deeply nested documents before parsing all of them."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node and its children."""
        self.depth += 1
        if self.depth > MOST_DEPTH + 1:
            raise yaml.MarkedYAMLError(problem=TOO_DEEP, problem_mark=self.peek_event().start_mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


def yaml_remedy(problem: str) -> str:
    """Return the remedy for a problem reported by the YAML parser."""
    if problem == TOO_DEEP:
        return "use fewer levels"
    if "\\t" in problem:
        return "indent with spaces, not tabs"
    if "mapping values are not allowed" in problem:
        return "quote values that contain a colon and a space, and indent all keys of a table equally"
    if "%" in problem or "`" in problem or "@" in problem:
        return "quote the value"
    if "single document" in problem:
        return "put one spot per file, without ---"
    return "write one key: value per line, and quote values with special characters"


class YamlReader:
    """Converts the nodes of one document into located values, with limits on size and depth."""

    def __init__(self, name: str, numbered: bool) -> None:
        self.name = name
        self.numbered = numbered
        self.nodes = 0

    def place_of(self, node: yaml.Node) -> str:
        """Return the file and line of a node."""
        return f"{self.name}:{node.start_mark.line + 1}" if self.numbered else self.name

    def read(self, node: yaml.Node, location: str, depth: int) -> LocatedText:
        """Convert one node and its children."""
        self.nodes += 1
        if depth > MOST_DEPTH or self.nodes > MOST_NODES:
            raise FileError(f"{location}: nested too deeply or too long after expanding aliases; write it without aliases")
        if isinstance(node, yaml.ScalarNode):
            return LocatedText(location, text="" if node.tag.endswith(":null") else node.value)
        if isinstance(node, yaml.SequenceNode):
            items = tuple(self.read(item, self.place_of(item), depth + 1) for item in node.value)
            return LocatedText(location, items=items)
        entries: dict[str, LocatedText] = {}
        for key, value in node.value:
            at = self.place_of(key)
            if not isinstance(key, yaml.ScalarNode):
                raise FileError(f"{at}: key must be a word such as pot")
            if key.value in entries:
                raise FileError(f"{at}: key {shown(key.value)} appears twice (first at {entries[key.value].place}); remove one")
            within = at if self.numbered else f"{at}: {key.value}"
            entries[key.value] = self.read(value, within, depth + 1)
        return LocatedText(location, entries=entries)


def marked_toml(text: str, name: str) -> LocatedText:
    """Parse a TOML document; ``name`` is the file name for error locations.

    Raises:
        FileError: text that is not TOML.
    """
    try:
        values = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", str(error), re.DOTALL)
        problem, line = (match[1], match[2] or str(text.count("\n") + 1)) if match else (str(error), "1")
        problem = re.sub(r"\('(.*)',\)", r"'\1'", problem.lower())
        raise FileError(f"{name}:{line}: invalid TOML: {problem}; write key = value, with strings in quotes") from error
    except (RecursionError, ValueError) as error:
        raise FileError(f"{name}: invalid TOML ({type(error).__name__}); write key = value, with strings in quotes") from error
    lines = dict(toml_lines(text))
    return mark_value(values, (), name, lines, f"{name}:1")


def mark_value(value: Any, path: tuple[str, ...], name: str, lines: Mapping[tuple[str, ...], int], above: str) -> LocatedText:
    """Convert a TOML value; its location is its own line if known, else that of its parent."""
    location = f"{name}:{lines[path]}" if path in lines else above
    if len(path) > MOST_DEPTH:
        raise FileError(f"{location}: nested too deeply; use fewer levels")
    if isinstance(value, dict):
        return LocatedText(
            location, entries={key: mark_value(entry, (*path, key), name, lines, location) for key, entry in value.items()}
        )
    if isinstance(value, list):
        items = (mark_value(entry, (*path, str(number)), name, lines, location) for number, entry in enumerate(value))
        return LocatedText(location, items=tuple(items))
    return LocatedText(location, text=str(value).lower() if isinstance(value, bool) else str(value))


def toml_lines(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the path and line number of each key; paths into an array of tables include the element's index."""
    section: tuple[str, ...] = ()
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*+\[(\[?)([^\[\]]++)\]", line):
            section = key_parts(header[2])
            if header[1]:
                count = seen.get(section, 0)
                seen[section] = count + 1
                section = (*section, str(count))
            yield section, number
        elif entry := re.match(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=", line):
            path = (*section, *key_parts(entry[1]))
            if path not in seen:
                seen[path] = 0
                yield path, number


def key_parts(text: str) -> tuple[str, ...]:
    """Split a dotted TOML key into its parts."""
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", text))


def option(value: object, name: str, *, may_be_table: bool = False) -> LocatedText:
    """Convert the value of a command-line option: a string, or a table in braces if the option may have one.

    Raises:
        FileError: the braces do not hold a table.
    """
    text = str(value)
    if may_be_table and text.lstrip().startswith("{"):
        return marked_yaml(text, name, numbered=False)
    return LocatedText(name, text=text)


def located(value: object, location: str, *, may_be_table: bool = False, depth: int = 0) -> LocatedText:
    """Convert a Python or command-line value: mappings to tables, sequences to lists, everything else to one string.

    Raises:
        FileError: nesting deeper than :data:`MOST_DEPTH`; ``depth`` is the current depth.
    """
    if depth > MOST_DEPTH:
        raise FileError(f"{location}: {TOO_DEEP}; use fewer levels")
    if isinstance(value, Mapping):
        return LocatedText(
            location, entries={str(key): located(entry, location, depth=depth + 1) for key, entry in value.items()}
        )
    if isinstance(value, list | tuple):
        items = (located(item, location, may_be_table=may_be_table, depth=depth + 1) for item in value)
        return LocatedText(location, items=tuple(items))
    return option(value, location, may_be_table=may_be_table)


def located_table(location: str, entries: Mapping[str, LocatedText]) -> LocatedText:
    """Return a located table with these entries."""
    return LocatedText(location, entries=entries)


def listed(value: LocatedText) -> Sequence[LocatedText]:
    """Return the elements of a list; a single value counts as a list of one."""
    return value.items if value.items is not None else (value,)
