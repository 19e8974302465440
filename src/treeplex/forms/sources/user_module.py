"""Objects from Python files of users: ``mygame.py:MyGame`` or ``mygame.py:MyGame(n=3)``.

Custom games, algorithms, leaf values, agents and evaluators are all loaded by :func:`load_user_object`. The file is executed,
so only the user may name it: code that reads a spec from a file rejects those for which :func:`is_user_spec` is true.
"""

import hashlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from treeplex.base.spec import Spec, Value, nearest, parse_spec, spec_name
from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games.base import Game


@dataclass(frozen=True)
class ObjectKind:
    """The type of object expected in a user's file.

    Attributes:
        noun: noun for messages, such as ``game``.
        name: example of a name, such as ``MyGame``.
        what: what the file must define, for messages.
        is_one: whether an object in the file is of this kind; if there is exactly one, the spec may omit its name.
        is_ready: whether an object is used as it is, without calling it.
        error: class of errors in the user's code.
    """

    noun: str
    name: str
    what: str
    is_one: Callable[[object], bool]
    is_ready: Callable[[object], bool]
    error: type[TreeplexError] = SpecError


def load_user_game(text: str) -> Game:
    """Return the game named by ``file.py:Name`` or ``file.py:Name(key=value, ...)``; ``text`` becomes its spec.

    ``Name`` is a class that derives :class:`treeplex.games.base.Game` or ``pyspiel.Game``, a function that returns a game of
    either kind, or such a game itself. It may be omitted if the file defines exactly one game class. The file is executed.

    Raises:
        SpecError: the file, name or parameter does not exist.
        GameError: an exception in the user's code (the message has file and line), or the object is not a game.
    """
    path, name, parameters = split_spec(text, GAME)
    module = run_file(path, GAME.error)
    game = as_game(made(named_object(module, path, name, GAME), parameters, path, text, GAME), text)
    if game.spec == "" or isinstance(game, OpenSpielGame) or type(game).__module__ == module.__name__:
        object.__setattr__(game, "spec", text)
    return game


def load_user_object(text: str, wanted: ObjectKind, *arguments: object) -> Any:
    """Return the object named by ``file.py:Name`` or ``file.py:Name(key=value, ...)``; classes and functions are called.

    The file is executed once, and again when it changes.

    Args:
        text: the spec.
        wanted: the kind of object.
        arguments: positional arguments of the class or function, before the spec's parameters.

    Raises:
        SpecError: the file, name or parameter does not exist.
        TreeplexError: an exception in the user's code, as ``wanted.error``; the message has file and line.
    """
    path, name, parameters = split_spec(text, wanted)
    source = named_object(module_of(path, wanted.error), path, name, wanted)
    return made(source, parameters, path, text, wanted, *arguments)


def user_source(text: str, wanted: ObjectKind) -> tuple[Any, Spec]:
    """Return the object named by ``file.py:Name``, without calling it, and the spec with that name.

    Raises:
        SpecError, TreeplexError: as :func:`load_user_object`.
    """
    path, name, parameters = split_spec(text, wanted)
    source = named_object(module_of(path, wanted.error), path, name, wanted)
    return source, Spec(f"{path}:{name}" if name else str(path), parameters)


_MODULES: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
"""Executed files, with their modification times and sizes at execution."""


def module_of(path: Path, error: type[TreeplexError]) -> ModuleType:
    """Return the file as a module; execute it if it is new or has changed."""
    full, status = path.resolve(), path.stat()
    stamp = status.st_mtime_ns, status.st_size
    if _MODULES.get(full, (None,))[0] != stamp:
        _MODULES[full] = stamp, run_file(path, error)
    return _MODULES[full][1]


def is_user_spec(text: str) -> bool:
    """Return whether a spec names a Python file."""
    head = spec_name(text)
    return head.endswith(".py") or ".py:" in head


def split_spec(text: str, wanted: ObjectKind) -> tuple[Path, str, Mapping[str, Value]]:
    """Split a spec into path, name (empty if omitted) and parameters."""
    head, _, tail = text.strip().partition(".py")
    path = Path(head + ".py")
    if not os.path.isfile(path):
        raise SpecError(
            f"no file {path}; write the path of a Python file, a colon and a name: my{wanted.noun}.py:{wanted.name}"
        )
    if tail and not tail.startswith(":"):
        raise SpecError(f"cannot read {text!r}; write {path}:{wanted.name} or {path}:{wanted.name}(key=value)")
    spec = parse_spec(tail[1:]) if len(tail) > 1 else None
    return (path, spec.name, spec.parameters) if spec else (path, "", {})


def run_file(path: Path, error: type[TreeplexError] = GameError) -> ModuleType:
    """Execute the file's current text as a new module; files in its folder can be imported."""
    full = path.resolve()
    name = f"treeplex_user_{full.stem}_{hashlib.sha256(str(full).encode()).hexdigest()[:12]}"
    specification = importlib.util.spec_from_file_location(name, full)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    sys.path.insert(0, str(full.parent))
    try:
        with blame(path, "running the file", error):
            exec(compiled(full), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        with suppress(ValueError):
            sys.path.remove(str(full.parent))
    return module


def compiled(path: Path) -> CodeType:
    """Compile a file's text; null bytes are a syntax error in every version of Python."""
    try:
        return compile(path.read_bytes(), str(path), "exec")
    except ValueError as error:  # before 3.11.4
        raise SyntaxError(str(error)) from error


@contextmanager
def blame(path: Path, doing: str, kind: type[TreeplexError]) -> Iterator[None]:
    """Convert an exception in user code to an error that names the line in the user's file."""
    try:
        yield
    except TreeplexError:
        raise
    except SyntaxError as error:
        line = "" if error.lineno is None else f":{error.lineno}"
        raise kind(f"{error.filename or path}{line}: {error.msg}; correct the file") from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if same_file(frame.filename, path)]
        where = f"{path}:{lines[-1]}" if lines else str(path)
        raise kind(f"{where}: {said_by(error)} (while {doing})") from error


def same_file(name: str, path: Path) -> bool:
    """Return whether a traceback's file name is the user's file."""
    return Path(name).resolve() == path.resolve()


def is_game_class(thing: object) -> bool:
    """Return whether an object is a concrete class of Treeplex or OpenSpiel games."""
    return inspect.isclass(thing) and not inspect.isabstract(thing) and (issubclass(thing, Game) or is_openspiel_class(thing))


def is_openspiel_class(thing: type) -> bool:
    """Return whether a class derives from ``pyspiel.Game``; False if ``pyspiel`` is not imported."""
    pyspiel = sys.modules.get("pyspiel")
    return pyspiel is not None and issubclass(thing, pyspiel.Game)


GAME = ObjectKind(
    "game", "MyGame", "class that derives treeplex.Game", is_game_class, lambda thing: isinstance(thing, Game), GameError
)


def named_object(module: ModuleType, path: Path, name: str, wanted: ObjectKind) -> Any:
    """Return the file's object called ``name``, or, if ``name`` is empty, its only class of the expected type."""
    own_things = {key: thing for key, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    if name:
        if not hasattr(module, name):
            defined = [
                key for key, thing in vars(module).items() if key in own_things or (key.isupper() and wanted.is_ready(thing))
            ]
            raise SpecError(f"{path} defines no {name!r}{nearest(name, defined) if defined else '; it defines no classes'}")
        return getattr(module, name)
    known = vars(module).items()
    ones = [
        key for key, thing in known if wanted.is_one(thing) and (key in own_things or not callable(thing)) and key[0] != "_"
    ]
    if len(ones) != 1:
        defines = f"it defines {', '.join(ones)}" if ones else f"it defines no {wanted.what}"
        raise SpecError(f"no {wanted.noun} selected in {path}: {defines}; write {path}:Name")
    return getattr(module, ones[0])


def made(source: Any, parameters: Mapping[str, Value], path: Path, text: str, wanted: ObjectKind, *arguments: object) -> Any:
    """Call the class or function named by a spec with the spec's parameters; return a ready object unchanged."""
    if wanted.is_ready(source) or not callable(source):
        if parameters:
            raise SpecError(f"{text!r} has parameters, but it is a {type(source).__name__}, not a class or function")
        return source
    if inspect.isclass(source) and inspect.isabstract(source):
        missing = ", ".join(sorted(getattr(source, "__abstractmethods__", ())))
        raise wanted.error(f"{path}: class {source.__name__} lacks {missing}; implement these methods")
    keywords: Mapping[str, Any] = parameters
    if inspect.isclass(source) and is_openspiel_class(source):
        arguments, keywords = (dict(parameters),) if parameters else (), {}
    else:
        check_parameters(source, arguments, parameters, text)
    with blame(path, f"creating {text}", wanted.error):
        return source(*arguments, **keywords)


def check_parameters(
    source: Callable[..., object], arguments: tuple[object, ...], parameters: Mapping[str, Value], text: str
) -> None:
    """Check that the class or function accepts these parameters."""
    signature = inspect.signature(source)
    try:
        signature.bind(*arguments, **parameters)
    except TypeError as error:
        raise SpecError(f"{text!r}: {error}; its signature is {signature}") from error


def as_game(thing: object, text: str) -> Game:
    """Convert a Treeplex or OpenSpiel game to Treeplex rules."""
    if isinstance(thing, Game):
        return thing
    if is_openspiel_class(type(thing)):
        return OpenSpielGame(thing)
    raise GameError(f"{text!r} returned a {type(thing).__name__}, not a game; return an instance of a treeplex.Game subclass")
