"""What executors are asked to do in tests."""

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from treeplex.base.workers.crew import SharedValue
from treeplex.base.workers.executor import Executor


@dataclass
class Known:
    """What workers have: numbers, and what a worker remembers of its own jobs."""

    numbers: np.ndarray
    remembered: list[int] = field(default_factory=list)


def product(known, place, seed):
    """A number that depends on what is shared, a job and its random numbers alone; and where it was found."""
    known.remembered.append(place)
    noise = np.random.default_rng([seed, place]).standard_normal(50)
    return float(np.cumsum(known.numbers * noise)[-1]), os.getpid(), len(known.remembered)


def square(x):
    """A square."""
    return x * x


def die_once(flag, x):
    """The first to come dies of it in the middle, by SIGKILL."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return square(x)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def die(x):
    """End the process."""
    os._exit(7)


def raise_error(x):
    """Raise."""
    raise ValueError(f"no {x}")


class Unfit(Exception):  # noqa: N818
    """An error that cannot be made again of its text."""

    def __init__(self, place: int, text: str) -> None:
        super().__init__(text)


def raise_unfit(x):
    """Raise what does not travel."""
    raise Unfit(x, "too odd")


def give_unfit(x):
    """Give what does not travel."""
    return lambda: x


def sleep(seconds):
    """Take long."""
    time.sleep(seconds)


def late_first(x):
    """The earlier the job, the longer it takes."""
    time.sleep(0.02 * (4 - x))
    return x


def products(executor: Executor, numbers: np.ndarray, jobs: int = 12) -> list[float]:
    """What the same jobs give, whoever does them."""
    shared: SharedValue[Known] = executor.share(Known(numbers))
    found = [value for value, _, _ in executor.map(product, [(shared, place, 5) for place in range(jobs)])]
    executor.forget(shared)
    return found


def killed_once(executor: Executor, folder: Path) -> list[int]:
    """What jobs give of which one killed its worker."""
    return list(executor.map(die_once, [(str(folder / "flag"), x) for x in range(6)]))


def reported():
    """Whether a worker listens to reports, and the lines that it shows meanwhile."""
    from treeplex.base import notices

    with notices.reporting(None, "work"):
        return notices.listening(), [line for line in notices._lines if line.visible]


def compiled(seconds):
    """Let this process believe that it compiled kernels for so long."""
    from treeplex.base.work_clock import add_compile_time

    add_compile_time(seconds)
