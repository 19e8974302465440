"""Games in a user's own Python file: ``mygame.py:MyGame`` or ``mygame.py:MyGame(n=3)``."""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games.base import Game
from treeplex.spec import Value, nearest, parse_spec


def load_user_game(text: str) -> Game:
    """The game that ``file.py:Name`` or ``file.py:Name(key=value, ...)`` names; ``text`` becomes its spec.

    ``Name`` is a class that derives :class:`treeplex.games.base.Game` or ``pyspiel.Game``, a function that returns a game
    of either kind, or such a game itself. It may be left out if the file defines just one class of games. The file runs.

    Raises:
        SpecError: no such file, name or parameter.
        GameError: an exception in the user's code (the message has file and line), or what was named is not a game.
    """
    path, name, parameters = split_spec(text)
    module = run_file(path)
    source = named_object(module, path, name)
    game = as_game(make(source, parameters, path, text), text)
    if game.spec == "" or isinstance(game, OpenSpielGame) or type(game).__module__ == module.__name__:
        object.__setattr__(game, "spec", text)
    return game


def is_user_spec(text: str) -> bool:
    """Whether a spec names a Python file."""
    head = text.partition("(")[0].strip()
    return head.endswith(".py") or ".py:" in head


def split_spec(text: str) -> tuple[Path, str, Mapping[str, Value]]:
    """Path, name (empty if left out) and parameters."""
    head, _, tail = text.strip().partition(".py")
    path = Path(head + ".py")
    if not path.is_file():
        raise SpecError(f"no file {path}; write the path of a Python file, a colon and a name: mygame.py:MyGame")
    if tail and not tail.startswith(":"):
        raise SpecError(f"cannot read {text!r}; write {path}:MyGame or {path}:MyGame(key=value)")
    spec = parse_spec(tail[1:]) if len(tail) > 1 else None
    return (path, spec.name, spec.parameters) if spec else (path, "", {})


def run_file(path: Path) -> ModuleType:
    """Run the file as a module of its own; files beside it can be imported."""
    full = path.resolve()
    name = f"treeplex_user_{full.stem}_{hashlib.sha256(str(full).encode()).hexdigest()[:12]}"
    specification = importlib.util.spec_from_file_location(name, full)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    sys.path.insert(0, str(full.parent))
    try:
        with blame(path, "running the file"):
            specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        with suppress(ValueError):
            sys.path.remove(str(full.parent))
    return module


@contextmanager
def blame(path: Path, doing: str) -> Iterator[None]:
    """Turn an exception of the user's code into a :class:`GameError` with the line of the user's file."""
    try:
        yield
    except TreeplexError:
        raise
    except SyntaxError as error:
        line = "" if error.lineno is None else f":{error.lineno}"
        raise GameError(f"{error.filename or path}{line}: {error.msg}; correct the file") from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if same_file(frame.filename, path)]
        where = f"{path}:{lines[-1]}" if lines else str(path)
        raise GameError(f"{where}: {said_by(error)} (while {doing})") from error


def same_file(name: str, path: Path) -> bool:
    """Whether a traceback's file name is the user's file."""
    return Path(name).resolve() == path.resolve()


def is_game_class(thing: object) -> bool:
    """Whether it is a class of games, Treeplex's or OpenSpiel's, that is not abstract."""
    return inspect.isclass(thing) and not inspect.isabstract(thing) and (issubclass(thing, Game) or is_openspiel_class(thing))


def is_openspiel_class(thing: type) -> bool:
    """Whether a class derives ``pyspiel.Game``; false when nobody has imported ``pyspiel``."""
    pyspiel = sys.modules.get("pyspiel")
    return pyspiel is not None and issubclass(thing, pyspiel.Game)


def named_object(module: ModuleType, path: Path, name: str) -> Any:
    """What the file calls ``name``; without a name, its only class of games."""
    own = {key: thing for key, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    if name:
        if not hasattr(module, name):
            defined = [key for key, thing in own.items() if callable(thing)]
            raise SpecError(f"{path} defines no {name!r}{nearest(name, defined) if defined else '; it defines no classes'}")
        return getattr(module, name)
    classes = [key for key, thing in own.items() if is_game_class(thing)]
    if len(classes) != 1:
        found = f"it defines {', '.join(classes)}" if classes else "it defines no class that derives treeplex.Game"
        raise SpecError(f"which game of {path}? {found}; write {path}:Name")
    return own[classes[0]]


def make(source: Any, parameters: Mapping[str, Value], path: Path, text: str) -> object:
    """Call a class or function with the parameters; anything else is returned as it is."""
    if not callable(source):
        if parameters:
            raise SpecError(f"{text!r} has parameters, but it is a {type(source).__name__}, not a class or function")
        return source
    if inspect.isclass(source) and inspect.isabstract(source):
        missing = ", ".join(sorted(getattr(source, "__abstractmethods__", ())))
        raise GameError(f"{path}: class {source.__name__} lacks {missing}; write these methods")
    if inspect.isclass(source) and is_openspiel_class(source):
        arguments: tuple[Any, ...] = (dict(parameters),) if parameters else ()
        keywords: Mapping[str, Any] = {}
    else:
        arguments, keywords = (), parameters
        check_parameters(source, parameters, text)
    with blame(path, f"making {text}"):
        return source(*arguments, **keywords)


def check_parameters(source: Callable[..., object], parameters: Mapping[str, Value], text: str) -> None:
    """Whether the class or function takes these parameters."""
    signature = inspect.signature(source)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise SpecError(f"{text!r}: {error}; it takes {signature}") from error


def as_game(thing: object, text: str) -> Game:
    """A game of either kind as Treeplex rules."""
    if isinstance(thing, Game):
        return thing
    if is_openspiel_class(type(thing)):
        return OpenSpielGame(thing)
    raise GameError(f"{text!r} gave a {type(thing).__name__}, not a game; derive treeplex.Game or return such a game")
