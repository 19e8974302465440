"""Digests of all that a compiled game depends on; None if that cannot be determined.

A digest covers the values stored in the rules object, and the code of its classes. Code of this package counts as kernels do
(:func:`treeplex.engine.kernel_cache.sources_digest`). Code of users counts as the text of their files and of the files that
these import, and the values of their global variables and class attributes. Other packages count as their versions.

There is no digest for rules defined in ``__main__`` or a notebook, for lambdas and closures, for code that differs from its
file (edited or patched since it was loaded), for rules that read files or the environment, and for objects of other packages.
"""

import ast
import functools
import hashlib
import inspect
import re
import sys
import types
import typing
from abc import ABC
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any, final

import numpy as np

from treeplex.base.version import own_version
from treeplex.engine.kernel_cache import PACKAGE, sources_digest, versions
from treeplex.forms.sources.openspiel import OpenSpielGame, openspiel_file
from treeplex.games.base import Game

MOST_VALUES = 200_000
"""Maximum number of values in the rules; more take about as long to read as the game to compile."""
LIBRARY = PACKAGE.name
OUTSIDE = re.compile(
    r"open|fdopen|open_\w+|urlopen|read|read_\w+|readlines?|load|load_\w+|loadtxt|fromfile|genfromtxt|memmap|getenv|environ|input"
    r"|exec|eval|__import__|import_module"
)
"""Names in code that may depend on files, the environment or the network."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice, Decimal, Fraction)
"""Types whose representation determines the value."""
BUILTIN = (
    types.BuiltinFunctionType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
)
"""Types of functions written in C."""
WRAPPERS = ("functools", "numba", "numpy", LIBRARY)
"""Packages whose objects with ``py_func`` or ``__wrapped__`` have no other state: compiled or cached functions, and NumPy's."""
CONTAINERS = (dict, OrderedDict, Counter, defaultdict, types.MappingProxyType)
ROOTS = (object, ABC, typing.Generic, typing.Protocol)
"""Base classes of the standard library without a state of their own."""


class NoDigestError(Exception):
    """Rules depend on something that cannot be digested."""


def rules_digest(rules: Game) -> Callable[[], str] | None:
    """Return a function that returns the digest of ``rules`` as they are now; None if they have none.

    The function adds this package's code, which takes tens of milliseconds. It returns an empty text if that code has changed
    since the process started.
    """
    reader = Reader()
    try:
        reader.add(rules)
        reader.add_modules()
    except (NoDigestError, RecursionError):
        return None
    except Exception:  # properties and representations of users' classes may raise anything
        return None
    return lambda: finished(reader)


def finished(reader: "Reader") -> str:
    """Return the digest with this package's code, or an empty text."""
    compiler = __name__.replace("rules_digest", "compile_game")
    modules = [LIBRARY] if reader.own else sorted({compiler, *reader.library})
    digests = [sources_digest(module) for module in modules]
    if not all(digests):
        return ""
    digest = reader.digest.copy()
    for text in (own_version(), versions(), np.__version__, sys.version, sys.platform, *modules, *digests):
        digest.update(f"{text}\0".encode())
    return digest.hexdigest()


@final
class Reader:
    """Adds values to a digest and collects the modules whose code they depend on.

    Attributes:
        digest: the digest.
        library: modules of this package.
        own: modules of users, by name.
    """

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.library: set[str] = set()
        self.own: dict[str, types.ModuleType] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []

    def write(self, *words: object) -> None:
        """Add words to the digest, each with its length."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:" % len(data) + data)

    def add(self, value: Any) -> None:
        """Add a value.

        Raises:
            NoDigestError: it has a part of unknown state or code.
        """
        kind = type(value)
        if kind in PLAIN:
            self.write(kind.__name__, value.hex() if kind is float else repr(value))
            return
        if id(value) in self._numbers:
            self.write("again", self._numbers[id(value)])
            return
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        if len(self._alive) > MOST_VALUES:
            raise NoDigestError("too many values")
        if kind in (tuple, list, deque):
            self.add_items(kind.__name__, value)
        elif kind in CONTAINERS:
            self.add_items(kind.__name__, [part for item in value.items() for part in item])
            self.add(getattr(value, "default_factory", None))
        elif kind in (set, frozenset):
            self.write(kind.__name__, *sorted(map(self.apart, value)))
        elif kind is np.ndarray or isinstance(value, np.generic):
            self.add_array(np.asarray(value))
        elif isinstance(value, PurePath):
            self.write("path", value)
        elif kind is re.Pattern:  # its representation is cut off
            self.add_items("pattern", [value.pattern, value.flags])
        elif kind is types.SimpleNamespace:
            self.add_items("namespace", [part for item in vars(value).items() for part in item])
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, types.FunctionType):
            self.add_function(value)
        elif isinstance(value, types.MethodType):
            self.add_items("method", [value.__self__, value.__func__])
        elif kind is functools.partial:
            self.add_items("partial", [value.func, value.args, value.keywords])
        elif kind in (staticmethod, classmethod):
            self.add_items(kind.__name__, [value.__func__])
        elif kind is property or kind is functools.cached_property:
            self.add_items(kind.__name__, [getattr(value, name, None) for name in ("fget", "fset", "fdel", "func")])
        elif kind.__module__.partition(".")[0] in WRAPPERS and (hasattr(value, "py_func") or hasattr(value, "__wrapped__")):
            self.add_items(kind.__name__, [getattr(value, "py_func", None) or value.__wrapped__])
        elif isinstance(value, (*BUILTIN, np.ufunc)):
            self.write("builtin", getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
            bound = getattr(value, "__self__", None)  # such as the dictionary of dictionary.get
            self.add(None if isinstance(bound, types.ModuleType) else bound)
        elif kind.__module__ in ("typing", "types"):
            self.write(kind.__name__, repr(value))
        else:
            self.add_object(value)

    def add_items(self, name: str, values: Any) -> None:
        """Add a sequence of values."""
        self.write(name, len(values))
        for value in values:
            self.add(value)

    def apart(self, value: object) -> bytes:
        """Return a digest of a member of a set, which has no order; what it contains is not numbered outside it."""
        whole, self.digest, numbered = self.digest, hashlib.sha256(), len(self._numbers)
        try:
            self.add(value)
            return self.digest.digest()
        finally:
            self.digest = whole
            while len(self._numbers) > numbered:
                self._numbers.popitem()

    def add_array(self, array: Any) -> None:
        """Add an array."""
        if array.dtype.hasobject:
            raise NoDigestError("an array of objects")
        self.write("array", array.dtype.descr, array.shape, array.tobytes())

    def add_object(self, value: Any) -> None:
        """Add the attributes of an object whose classes have Python sources."""
        kind = type(value)
        if kind is OpenSpielGame:
            self.add_openspiel(value)
            return
        self.add(kind)
        if isinstance(value, Enum):
            self.add_items("enum", [value.name, value.value])
            return
        names: list[str] = []
        for base in kind.__mro__:
            if base in (tuple, int, str, float, dict, list):
                self.write(base.__name__)
                self.add(list(value.items()) if base is dict else base(value))
            elif base not in ROOTS and base.__module__ not in (*self.own, *self.library):
                raise NoDigestError(f"{base} may have a hidden state")
            slots = vars(base).get("__slots__", ())
            private = f"_{base.__name__.lstrip('_')}__"
            slots = [slots] if isinstance(slots, str) else slots
            names += [name if is_dunder(name) else re.sub("^__", private, name) for name in slots]
        attributes = {name: getattr(value, name) for name in names if not is_dunder(name) and hasattr(value, name)}
        attributes |= getattr(value, "__dict__", {})
        for name, attribute in attributes.items():
            if not isinstance(getattr(kind, name, None), functools.cached_property):
                self.write(name)
                self.add(attribute)

    def add_openspiel(self, game: OpenSpielGame) -> None:
        """Add a game of OpenSpiel written in C++, by its text and OpenSpiel's version."""
        text = str(game.game)
        if (
            not type(game.game).__module__.startswith("pyspiel")
            or openspiel_file(game.spec)
            or text.startswith(("turn_", "python_"))
        ):
            raise NoDigestError("an OpenSpiel game written in Python, or from a file")
        self.add_class(type(game))
        self.write(game.spec, text, version_of("pyspiel"))

    def add_class(self, kind: type) -> None:
        """Add a class by name; the code of its module and of its bases counts."""
        self.write("class", kind.__module__, kind.__qualname__)
        for base in kind.__mro__:
            self.add_module(base.__module__, base.__qualname__)

    def add_function(self, function: types.FunctionType) -> None:
        """Add a function by name; the code of its module counts."""
        self.write("function", function.__module__, function.__qualname__)
        self.add_module(function.__module__, function.__qualname__)
        if function.__module__ in self.own:
            cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
            if cells.keys() - {"__class__"} or function.__name__ == "<lambda>":
                raise NoDigestError(f"{function.__qualname__} is a lambda or has a closure")
            self.add_items("defaults", [function.__defaults__, function.__kwdefaults__])

    def add_module(self, name: str, qualified: str = "") -> None:
        """Collect a module that code comes from."""
        top = name.partition(".")[0]
        if "<locals>" in qualified:
            raise NoDigestError(f"{qualified} is defined in a function")
        if top == LIBRARY:
            self.library.add(name)
        elif top not in sys.stdlib_module_names:
            module = sys.modules.get(name)
            file = getattr(module, "__file__", None)
            if module is None or name == "__main__" or not file:
                raise NoDigestError(f"{name} has no file")
            if {"site-packages", "dist-packages"} & set(Path(file).parts):
                self.write("version", top, version_of(top))
            elif file.endswith(".py"):
                self.own[name] = module
            else:
                raise NoDigestError(f"{file} is no source")
        elif name == "__main__":
            raise NoDigestError("code in __main__")

    def add_modules(self) -> None:
        """Add the sources and global values of all modules of users that were collected, and of those that they import."""
        read = set[str]()
        while remaining := sorted(self.own.keys() - read):
            name = remaining[0]
            read.add(name)
            module = self.own[name]
            text = Path(str(module.__file__)).read_bytes()
            self.write("module", name, text)
            codes = set(codes_of(compile(text, str(module.__file__), "exec")))
            if outside := [word for code in codes for word in code.co_names if OUTSIDE.fullmatch(word)]:
                raise NoDigestError(f"{name} uses {outside[0]}")
            for imported in imports_of(ast.parse(text), module):
                self.add_module(imported)
            for key, value in vars(module).items():
                if not is_dunder(key) and not isinstance(value, types.ModuleType):
                    self.write(key)
                    self.add_global(value, name, codes)

    def add_global(self, value: Any, module: str, codes: set[types.CodeType]) -> None:
        """Add a global value; functions and classes of the module itself must have the code in its file."""
        if not isinstance(value, type):
            self.add(value)
            check_code(value, codes if getattr(value, "__module__", "") == module else set())
        else:
            self.add_class(value)
            if value.__module__ == module:
                for key, attribute in vars(value).items():
                    if not is_derived(key, attribute):
                        self.write(key)
                        self.add_global(attribute, module, codes)


def is_derived(name: str, attribute: object) -> bool:
    """Return whether a class attribute follows from the others: made by Python, or by a decorator such as ``dataclass``."""
    if isinstance(attribute, types.FunctionType):
        inner = inspect.unwrap(attribute)
        generated = inner.__code__.co_filename == "<string>" and inner.__globals__.get("__name__") != "__main__"
        return is_dunder(name) and generated
    made = isinstance(attribute, types.MemberDescriptorType) or type(attribute).__name__ == "_tuplegetter"
    return made or is_dunder(name) or name == "_abc_impl"


def check_code(value: Any, codes: set[types.CodeType]) -> None:
    """Check that a function, also one within a decorator, has one of these codes; an empty set allows all."""
    value = getattr(value, "py_func", None) or value
    for name in ("__func__", "fget", "fset", "func", "__wrapped__"):
        if (inner := getattr(value, name, None)) is not None:
            check_code(inner, codes)
    if codes and isinstance(value, types.FunctionType) and value.__code__ not in codes:
        raise NoDigestError(f"{value.__qualname__} differs from its file")


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and all code objects inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def imports_of(tree: ast.AST, module: types.ModuleType) -> Iterator[str]:
    """Yield the names of the modules that a file imports.

    Raises:
        NoDigestError: one of them has not been imported yet, so it cannot be identified.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = (module.__package__ or "").split(".")
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            name = ".".join([*above, *filter(None, [node.module])])
            names = [name, *(full for alias in node.names if (full := f"{name}.{alias.name}") in sys.modules)]
        else:
            continue
        for name in names:
            if name not in sys.modules and name.partition(".")[0] not in sys.stdlib_module_names:
                raise NoDigestError(f"{name} is not imported yet")
            parents = name.split(".")
            yield from (".".join(parents[:count]) for count in range(1, len(parents) + 1))


def version_of(package: str) -> str:
    """Return the version of an imported package."""
    version = getattr(sys.modules.get(package), "__version__", None)
    if not isinstance(version, str):
        raise NoDigestError(f"{package} has no version")
    return version


def is_dunder(name: str) -> bool:
    """Return whether a name begins and ends with two underscores."""
    return name.startswith("__") and name.endswith("__")
