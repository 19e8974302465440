"""Compilation of a spec, rules or an OpenSpiel game to a :class:`CompiledGame`.

This module selects the compiler. :mod:`.walk` walks rules, :mod:`.public_tree` compiles public-tree rules, and :mod:`.assemble`
makes the arrays.
"""

import marshal
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, TypeGuard
from weakref import WeakValueDictionary

from treeplex.base.notices import reporting, tell_histories
from treeplex.base.spec import suggests_arguments
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.game_cache import cached
from treeplex.forms.compile.public_tree import compile_public_tree
from treeplex.forms.compile.walk import GameWalk, StackItem, compile_rules
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.games.builtin.phantom import PhantomGame
from treeplex.games.numba_rules import NumbaGame, NumbaRules
from treeplex.games.public import PublicTree
from treeplex.games.size_estimate import MOST_HISTORIES, estimated_histories

LARGE = 1_000_000
"""Estimated number of histories above which a game's Numba functions (if any) walk it instead of Python."""

MANY_INFOSETS = 10_000
"""Number of infosets above which memory that compiling used is returned to the operating system."""

NO_REFERENCES = 2
"""Version of ``marshal`` whose bytes depend on values alone."""

_compiled: "WeakValueDictionary[tuple[object, ...], CompiledGame]" = WeakValueDictionary()
"""Compiled games by :func:`key_of`; a compiled game keeps its rules alive."""


@suggests_arguments
def compile_game(
    game: "str | Game | CompiledGame | Any",
    *,
    refine: bool = False,
    limit: int | None = None,
    stored: bool | None = None,
    watch: Callable[[int], None] | None = None,
    named_in: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> CompiledGame:
    """Compile a game by its public tree, buckets or timelines if it has them, otherwise by walking its rules.

    Args:
        game: a spec (``"leduc_poker"``), rules, an OpenSpiel game, or a compiled game, which is returned as it is.
        refine: split infosets without perfect recall instead of raising an error.
        limit: maximum number of histories walked, default 50 million (20 billion for Numba functions), or of sequences for
            public-tree rules. A clearly larger game is refused within a second or two, with an estimate of its size.
        stored: for games with Numba functions (:class:`treeplex.games.numba_rules.NumbaRules`), whether to store terminals; if
            not, every iteration walks the rules, and runs resume only so compiled. None: store them if there are few.
        watch: called periodically with the number of histories walked so far; never for a game from the cache.
        named_in: the file that contains the spec, which then may not name another file (see
            :func:`treeplex.forms.sources.load.load`).
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Returns:
        The compiled game, cached by rules object and ``refine`` as long as it is referenced and no number, text, array or
        container of these among the attributes of the rules changes. Games that take more than a second to compile are also
        cached on disk (:mod:`.game_cache`).

    Raises:
        SpecError: an unknown name or parameter.
        FileError: a file cannot be read, or the spec is ``named_in`` a file and names another one.
        GameError: the rules lack perfect recall or have too many histories (see ``forms.compile.walk.compile_rules``).
    """
    if isinstance(game, CompiledGame):
        return game
    rules = load(game, named_in=named_in).enumerable_rules()
    compiled = _compiled.get(key_of(rules, refine, stored))
    if compiled is None:
        with reporting(progress, "compiling the game"):
            make = partial(compile_new, rules, refine=refine, limit=limit, stored=stored, watch=watch or tell_histories)
            compiled = cached(rules, {"refine": refine, "stored": stored}, limit, make)
        if sum(compiled.infosets) > MANY_INFOSETS:
            from treeplex.base.storage.memory import release_freed_memory

            release_freed_memory()
        _compiled[key_of(rules, refine, stored)] = compiled  # compiling may have filled caches of the rules
    return compiled


def key_of(rules: Game, refine: bool, stored: bool | None) -> tuple[object, ...]:
    """Return the key of a compiled game: options, ``id`` of the rules (which need not be hashable), and their plain attributes.

    Attributes that contain other objects do not count.
    """
    plain = []
    for name, value in getattr(rules, "__dict__", {}).items():
        if not isinstance(getattr(type(rules), name, None), cached_property):
            with suppress(ValueError):
                plain.append((name, marshal.dumps(value, NO_REFERENCES)))
    return id(rules), refine, stored, *plain


def reuse(game: CompiledGame) -> None:
    """Make :func:`compile_game` return this game for its rules, as long as the game is referenced."""
    if game.rules is not None:
        _compiled.setdefault(key_of(game.rules, False, None), game)


def compile_new(
    rules: Game, *, refine: bool, limit: int | None, stored: bool | None, watch: Callable[[int], None]
) -> CompiledGame:
    """Compile rules; arguments as for :func:`compile_game`."""
    tree = rules.compilation_tree()
    known = isinstance(tree, PublicTree) or factored(rules)
    functions = None if known and stored is not False else functions_of(rules, refine, stored)
    if functions is not None:
        from treeplex.forms.compile.numba_rules import compile_numba_rules

        return compile_numba_rules(rules, functions, stored=stored, limit=limit, watch=watch)
    if isinstance(tree, PublicTree):  # with perfect recall: nothing is left to refine
        return compile_public_tree(rules, tree, limit=limit, watch=watch)
    if isinstance(compiled := rules.compile_directly(limit), CompiledGame):
        return compiled
    if factored(rules):
        from treeplex.forms.compile.phantom import compile_phantom

        return compile_phantom(rules, limit=limit, watch=watch)
    return compile_rules(
        rules, refine=refine, limit=MOST_HISTORIES if limit is None else limit, watch=watch, share=with_workers
    )


def with_workers(walk: GameWalk, stack: Sequence[StackItem], limit: int) -> None:
    """Call :func:`treeplex.forms.compile.shared_walk.share_walk`; small games do not import its module."""
    from treeplex.forms.compile.shared_walk import share_walk

    share_walk(walk, stack, limit)


def factored(rules: Game) -> TypeGuard[PhantomGame]:
    """Return whether a phantom game's payoffs factor over timelines; see :mod:`treeplex.forms.compile.phantom`."""
    if not isinstance(rules, PhantomGame):
        return False
    from treeplex.forms.compile.phantom import factors

    return factors(rules)


def functions_of(rules: Game, refine: bool, stored: bool | None) -> NumbaRules | None:
    """Return the Numba functions used to walk a game; None to walk it in Python.

    Raises:
        GameError: ``stored`` is False, but the game has no Numba functions.
    """
    functions = rules.numba_rules()
    if isinstance(functions, NumbaRules) and not refine:
        requested = stored is False or isinstance(rules, NumbaGame)
        return functions if requested or estimated_histories(rules) > LARGE else None
    if stored is False:
        raise GameError(
            f"{rules} has no Numba functions, which stored=False needs; leave out stored=False, or implement numba_rules()"
        )
    return None
