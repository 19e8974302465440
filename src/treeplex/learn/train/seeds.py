"""Training with several seeds: a folder of training runs, and bands over their measurements.

=================== ===============================================================================
``seeds.json``      the request: game, learner, settings, number of seeds
``seed-0``, ...     the training runs, one folder each
``bands.json``      mean, minimum and maximum of each measure over seeds, at each number of steps
``bands-nodes.png`` exploitability against nodes, or the return in cooperative games, or winnings against uniform play; likewise
                    for episodes, CPU seconds and steps; missing if runs are not evaluated
=================== ===============================================================================
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from treeplex.base.settings import Settings, declared
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.learn.train.kind import TrainingRun
from treeplex.learn.train.registry import AnyLearner, kind_for, refuse_preset
from treeplex.learn.train.train import check_settings, train
from treeplex.run.job.folder import RUN, JobFolder
from treeplex.run.job.progress_line import AnyProgress
from treeplex.run.job.record import Record, check_count

SEEDS, BANDS = "seeds.json", "bands.json"
EFFORTS: Mapping[str, tuple[str, Callable[[Record], float | None]]] = {
    "nodes": ("Histories visited", lambda record: measured_numbers(record).get("nodes")),
    "episodes": ("Traversals or playthroughs", lambda record: measured_numbers(record).get("episodes")),
    "cpu-seconds": ("CPU seconds", lambda record: record.cpu_seconds),
    "steps": ("Steps", lambda record: float(record.done)),
}
"""Labels of the x-axis, by picture name."""
SHOWN = {"exploitability": "Exploitability", "return": "Mean return", "won": "Chips per hand against uniform play"}
"""Labels of curves by measure name, in order of preference."""


@dataclass(frozen=True)
class SeedSweep:
    """Training runs that differ only in their seed.

    Attributes:
        trainings: the training runs, in order of seed.
        folder: their folder.
        pictures: file names of the plots in it; empty if the runs were not evaluated.
    """

    trainings: tuple[TrainingRun, ...]
    folder: Path
    pictures: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The status of the last training run."""
        return self.trainings[-1].status

    def bands(self) -> list[dict[str, Any]]:
        """Mean, minimum and maximum of each measure, at each step count that all runs recorded."""
        return bands_of([training.records for training in self.trainings])

    def to_json(self) -> dict[str, Any]:
        """The final bands and each training run, as JSON."""
        whole = self.bands()
        last = whole[-1] if whole else {}
        trainings = [training.to_json() for training in self.trainings]
        first = self.trainings[0]
        about = {"learner": first.learner, "game": first.game, "status": self.status, "seeds": len(self.trainings)}
        return {**about, **last, "trainings": trainings, "folder": str(self.folder)}


def train_seeds(
    game: Any = None,
    learner: AnyLearner | None = None,
    *,
    seeds: int | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: AnyProgress = None,
    **options: Any,
) -> SeedSweep:
    """Train with seeds s, s+1, ..., where s is the setting ``seed``, one after the other; plot bands at the end.

    Args:
        game, learner, settings, preset, force, progress, options: see :func:`treeplex.learn.train.train.train`.
        seeds: number of seeds; on ``resume`` that of the original call.
        out: folder for new training runs.
        resume: folder to resume; finished runs are kept. Changed settings apply to all runs.

    Returns:
        The training runs in order of seed, and the bands over their measurements.

    Raises:
        SpecError: a learner without a seed, or a number below 1 or different on ``resume``.
        FileError: a folder that cannot be written, or does not contain training runs with several seeds.
        SpecError, GameError, AlgorithmError, FileError: as :func:`treeplex.learn.train.train.train`.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the interrupted training run.
    """
    if (out is None) == (resume is None):
        raise SpecError("no folder given; set 'out' (--out) for new training runs, or 'resume' (--resume) to continue them")
    check_settings(settings, preset)
    request: dict[str, Any]
    if resume is None:
        check_count("seeds", seeds)
        known = kind_for(game, learner, None, preset)
        chosen = settings if isinstance(settings, Settings) else known.settings_for(game, preset, settings or {})
        if "seed" not in declared(type(chosen)):
            raise SpecError(f"{known.name} has no setting 'seed'; train without --seeds")
        folder = Path(str(out))
        JobFolder(known.job_kind, folder).check_free(force=force)
        named = [*map(str, game)] if isinstance(game, list | tuple) else None if game is None else str(game)
        request = {"game": named, "learner": known.name, "settings": chosen.to_json(), "seeds": seeds}
    else:
        folder = Path(resume)
        request = seeds_of(folder)
        refuse_preset(preset)
        if seeds not in (None, request["seeds"]):
            raise SpecError(f"{folder} has {request['seeds']} seeds, not {seeds}; leave out 'seeds' (--seeds)")
        for what, given in (("learner", learner), ("game", game)):
            if given is None and ".py:" in str(request[what]):
                raise FileError(
                    f"{folder / SEEDS}: the {what} is custom code ({request[what]}), which is never run from a "
                    "folder; name it again"
                )
        known = kind_for(game, learner or request["learner"], None, None)
    base = known.settings.from_json(request["settings"], folder / SEEDS)
    first_seed, changes = getattr(base, "seed", 0), dict[str, Any]()
    if resume is not None:
        changes = settings.to_json() if isinstance(settings, Settings) else dict(settings or {})
        known.check_named(base, changes, folder)
        base = base.changed_under_way(changes, place=folder)
        changes.pop("seed", None)  # every run keeps its own
        request["settings"] = base.to_json()
    trainings = []
    with reserve_folder(request, folder):
        for number in range(request["seeds"]):
            seed_settings = base.changed({"seed": first_seed + number})
            training_folder = seed_folder(folder, number)
            begun = resume is not None and (training_folder / "state.safetensors").exists()
            where: dict[str, Any] = (
                {"resume": training_folder, "settings": changes}
                if begun
                else {"out": training_folder, "settings": seed_settings}
            )
            named = request["game"] if game is None else game
            given = None if begun and game is None else named
            trainings.append(train(given, known, force=not begun, progress=progress, **where, **options))
    done = SeedSweep(tuple(trainings), folder)
    write_atomically(folder / BANDS, json.dumps(done.bands(), indent=1).encode())
    return replace(done, pictures=draw_bands(done))


def seed_folder(folder: Path, number: int) -> Path:
    """Folder of a numbered training run."""
    return folder / f"seed-{number}"


@contextmanager
def reserve_folder(request: Mapping[str, Any], folder: Path) -> Iterator[None]:
    """Context manager that writes the folder and ``seeds.json``, and restores what was there if no training run starts."""
    file, first, made = folder / SEEDS, seed_folder(folder, 0) / RUN, not folder.exists()
    before, earlier = content_of(file), content_of(first)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror or error}; choose another") from error
    write_atomically(file, json.dumps(request, indent=1).encode())
    try:
        yield
    except TreeplexError:
        if content_of(first) == earlier:  # no training has started
            if before is None:
                file.unlink()
            else:
                write_atomically(file, before)
            if made:
                with suppress(OSError):  # keep the folder if it has other contents
                    folder.rmdir()
        raise


def content_of(file: Path) -> bytes | None:
    """The content of a file; None if it does not exist."""
    return file.read_bytes() if file.exists() else None


def seeds_of(folder: Path) -> dict[str, Any]:
    """Read the original request for training with several seeds.

    Raises:
        FileError: the folder contains no such request.
    """
    request = read_json(folder / SEEDS) if (folder / SEEDS).exists() else None
    if not isinstance(request, dict) or not {"game", "learner", "settings", "seeds"} <= set(request):
        raise FileError(f"{folder} contains no training runs with several seeds: {SEEDS} is missing or damaged")
    check_count("seeds", request["seeds"])
    return request


def bands_of(runs: Sequence[Sequence[Record]]) -> list[dict[str, Any]]:
    """See :meth:`SeedSweep.bands`."""
    by_step = [{record.done: record for record in records} for records in runs]
    common = sorted(set(by_step[0]).intersection(*by_step[1:]))
    bands = []
    for step in common:
        records = [by_done[step] for by_done in by_step]
        rows = [measured_numbers(record) for record in records]
        columns = {name: [row[name] for row in rows] for name in rows[0] if all(name in row for row in rows)}
        columns["cpu_seconds"] = [record.cpu_seconds for record in records]
        parts: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "low": min, "high": max}
        bands.append({"steps": step, **{part: {name: of(row) for name, row in columns.items()} for part, of in parts.items()}})
    return bands


def measured_numbers(record: Record) -> dict[str, float]:
    """A record's numbers, including its ``measures``, without undefined numbers."""
    numbers = {**record.numbers, **record.numbers.get("measures", {})}
    return {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}


def draw_bands(done: SeedSweep) -> tuple[str, ...]:
    """Plot the evaluated measure against each effort count in the records; returns the plots' file names."""
    from treeplex.run.plots import Curve, Panel, curves_figure, write_figure

    bands = [band for band in done.bands() if band["steps"]]
    judged = next((name for name in SHOWN if any(name in band["mean"] for band in bands)), None)
    if judged is None:
        return ()
    whole = [band for band in bands if judged in band["mean"]]
    columns = {part: [band[part][judged] for band in whole] for part in ("mean", "low", "high")}
    first, by_step = done.trainings[0], [{record.done: record for record in run.records} for run in done.trainings]
    drawn = []
    title = f"{first.learner} on {first.game}, {len(done.trainings)} seeds: mean, minimum and maximum"
    for name, (label, of) in EFFORTS.items():
        across = [[of(records[band["steps"]]) for records in by_step] for band in whole]
        if any(effort is None for row in across for effort in row):
            continue
        places = [sum(effort for effort in row if effort is not None) / len(row) for row in across]
        if not any(places):  # an effort that the learner does not count
            continue
        curve = Curve(places, columns["mean"], low=columns["low"], high=columns["high"], dots=True)
        panel = Panel(SHOWN[judged], [curve], logarithmic=judged == "exploitability")
        figure = curves_figure(title, label, [panel], logarithmic=True, height=4.2)
        drawn.append(f"bands-{name}.png")
        write_figure(figure, done.folder / drawn[-1])
    return tuple(drawn)
