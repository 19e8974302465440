"""Solve situations and write them to a file: ``python -m treeplex.learn.hand_values.label FILE [SETTING=VALUE ...]``."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from treeplex.base.settings import pairs
from treeplex.errors import SpecError, TreeplexError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.learn.hand_values.labelled import Labelled, read_labelled, solved_with
from treeplex.learn.hand_values.settings import SOLVES, HandValueSettings
from treeplex.learn.hand_values.situations import Situation
from treeplex.learn.hand_values.source import HandSource

EVERY = 60.0
"""Seconds between writes of the file."""


def label(path: Path, settings: HandValueSettings, watch: Callable[[int, float], None] | None = None) -> Labelled:
    """Solve situations until a file has as many as ``settings.situations``; those that it has already are kept.

    Args:
        path: the file, written every minute and at the end.
        settings: the learner's settings; random numbers depend on the seed and on how many situations the file has already.
        watch: called after each batch with the number of situations and the seconds so far.

    Raises:
        SpecError: the settings do not solve situations of the full deck to the end, or the file has situations of another
            street or other solves.
        FileError: the file is damaged, or cannot be written.
    """
    if settings.labels != SOLVES:
        raise SpecError("files hold situations solved to the end; leave out labels")
    if settings.cards != HOLDEM:
        raise SpecError("files hold situations of the full deck; leave out format")
    found = read_labelled(path) if path.exists() else None
    if found is not None and found.street != settings.street:
        raise SpecError(f"{path} has situations of the {found.street}, not of the {settings.street}; choose another file")
    for name, value in solved_with(settings).items():
        if found is not None and found.solved[name] != value:
            raise SpecError(f"{path} was solved with {name}={found.solved[name]}, not {value}; choose another file")
    source, began = HandSource(settings), perf_counter()
    written, new = began, list[Situation]()
    done = 0 if found is None else len(found)
    generator = np.random.default_rng((settings.seed, done))
    try:
        while done + len(new) < settings.situations:
            source.before = done + len(new)
            new += source.situations(min(source.side, settings.situations - source.before), generator)
            if watch is not None:
                watch(done + len(new), perf_counter() - began)
            if perf_counter() - written > EVERY or done + len(new) >= settings.situations:
                more = Labelled.of(new, settings)
                found = more if found is None else found + more
                found.save(path)
                done, new, written = len(found), [], perf_counter()
    finally:
        source.close()
    assert found is not None
    return found


def main() -> None:
    """Label situations from the command line."""
    try:
        file, *texts = sys.argv[1:] or [""]
        if not file or "=" in file:
            sys.exit("usage: python -m treeplex.learn.hand_values.label FILE [SETTING=VALUE ...]")
        settings = HandValueSettings().changed(pairs(texts))
        found = label(
            Path(file), settings, lambda done, seconds: print(f"situations: {done:,}, seconds: {seconds:.0f}", flush=True)
        )
    except TreeplexError as error:
        sys.exit(f"error: {error}")
    print(f"{file}: {len(found):,} situations; train on them with --set labels={file}")


if __name__ == "__main__":
    main()
