"""Entry point to training: start or resume a training run of any learner."""

import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from treeplex.base.settings import Settings, declared
from treeplex.base.spec import spec_name, suggests_arguments
from treeplex.errors import FileError, JobInterrupt, SpecError
from treeplex.forms.sources.load import load
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.named import NAME as HOLDEM
from treeplex.holdem.whole.nodes import check_acting
from treeplex.learn.train.events import tensorboard_events
from treeplex.learn.train.kind import Options, TrainingJob, TrainingKind, TrainingRun, check_options
from treeplex.learn.train.registry import AnyLearner, kind_for
from treeplex.run.job.folder import RUN, JobFolder, folder_at
from treeplex.run.job.job import go_on, start
from treeplex.run.job.progress_line import AnyProgress, watcher_for
from treeplex.run.job.workers import Work

EVENTS = "tensorboard"


@suggests_arguments
def train(
    game: Any = None,
    learner: AnyLearner | None = None,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    episodes: int | None = None,
    force: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    judge_every: float | None = None,
    tensorboard: bool = False,
    progress: AnyProgress = None,
) -> TrainingRun:
    """Train in memory, or in a folder from which the training can be resumed bit for bit.

    Args:
        game: a spec or another name of a game. ``ddcfr``, ``dpcfr+`` and ``pddcfr`` take several specs (None: DDCFR's
            four), ``rebel`` also a turn of hold'em, as a spot or a spot file. With ``resume``, needed only if the game is in a
            custom file, which reading a folder does not run.
        learner: ``rebel`` (the default) or another name listed by ``treeplex train --list``; or a class derived from
            :class:`treeplex.learn.learner.Learner`, directly or as ``file.py:NAME``. With ``resume``, needed only for a custom
            learner.
        settings: the learner's settings, or changes to the preset by name; with ``resume``, changes.
        preset: ``recipe`` (the default), or another preset of the learner; not with a Settings object.
        out: folder for the training run; None trains in memory without writing files.
        resume: folder to resume; the result is the same as without the interruption.
        seconds: for ``rebel`` on public-tree games, the length of training in seconds instead of subgames; otherwise a time
            limit for this call.
        nodes, episodes: end training after this many histories or playthroughs instead of after a number of steps, in learners
            that count them (the settings of these names).
        force: overwrite the contents of ``out``.
        workers: number of processes that play; None for all cores (Ray: all of the cluster's). It affects only the number
            of streams of a new ``rebel`` run.
        ray: play on a Ray cluster: its address, ``auto`` for the one this machine belongs to, ``local`` for a new one on
            it.
        judge_every: seconds between evaluations during training; None to spend at most 5% of the time on evaluations in small
            games, and not to evaluate others; 0 for none.
        tensorboard: also write TensorBoard events into the folder.
        progress: False shows none; default: one updated line in a terminal, or ``logging`` at level INFO; see
            :func:`treeplex.solve`. A function is called after each step.

    Returns:
        The training run: ``model``, the learned policy, network file or discount policy, and ``records``, the learning curve
            from
        step 0 on.

    Raises:
        SpecError: an unknown name or a value outside its range; PyTorch, TensorBoard or Ray is missing; no such cluster.
        GameError: a game that this learner cannot train on.
        AlgorithmError: the loss is NaN or infinite, or several workers die on the same job; the last good checkpoint is
            kept.
        FileError: a folder that cannot be written, or a run that cannot be resumed.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the run so far.
    """
    if out is not None and resume is not None:
        raise SpecError("a resumed run stays in its own folder; give only one of 'out' and 'resume'")
    if tensorboard and out is None and resume is None:
        raise SpecError("TensorBoard events need a folder; set 'out' (--out), or leave out 'tensorboard'")
    check_settings(settings, preset)
    known = kind_for(game, learner, resume, preset)
    check_options(known, workers=workers, ray=ray, judge_every=judge_every)
    work = Work(workers, ray)
    work.check()
    limits: dict[str, Any] = efforts(known, {"nodes": nodes, "episodes": episodes})
    if seconds is not None and "seconds" in declared(known.settings):
        seconds, limits["seconds"] = None, seconds
    elif seconds is not None and not seconds > 0:
        raise SpecError(f"seconds must be a number above 0, not {seconds!r}")
    given = settings.to_json() if isinstance(settings, Settings) else settings or {}
    changes, target = {**given, **limits}, out if resume is None else resume
    with ExitStack() as stack:
        watch = stack.enter_context(watcher_for(progress, "preparing"))
        stack.enter_context(known.context())
        folder = stack.enter_context(folder_at(known.job_kind, target))
        options = Options(work, judge_every, folder.path if folder else None)
        if resume is None:
            if game is None and known.needs_game:
                raise SpecError(f"name the game: treeplex train {known.name} GAME --out DIR")
            chosen = settings.changed(limits) if isinstance(settings, Settings) else known.settings_for(game, preset, changes)
            if folder:
                folder.check_free(force=force)
            check_decisions(game)
            make_events = tensorboard_events() if tensorboard else None
            job = stack.enter_context(closing(known.make(game, chosen, options)))
            session = start(job, folder, force=force)
        else:
            assert folder is not None
            make_events = tensorboard_events() if tensorboard else None
            job = stack.enter_context(closing(reopen_training(known, folder, game, changes, options)))
            session = go_on(job, folder)
            check_left(job, folder)
            job.resumed(session.records)
        if make_events is not None and folder:  # work after the checkpoint is repeated
            gone = None if resume is None else session.records[-1].done + 1 if session.records else 0
            events = make_events(str(folder.path / EVENTS), gone, known.name)
            stack.callback(events.close)
            session.recorded = events.add
        outcome = session.run(seconds=seconds, progress=watch)
        made = job.model(known, outcome.records) if folder is None else None
    training = TrainingRun(job.learner, job.game, job.settings, outcome.records, outcome.status, outcome.folder, known, made)
    if training.status == "interrupted":
        raise JobInterrupt(training)
    return training


def check_settings(settings: object, preset: str | None) -> None:
    """Reject settings of another type, and a preset next to a Settings object, which leaves nothing to the preset.

    Raises:
        SpecError: the settings are neither a mapping nor a Settings object, or the preset would not apply.
    """
    if not isinstance(settings, Settings | Mapping | None):
        raise SpecError(f"settings must be a mapping of names to values or a Settings object, not {settings!r}")
    if isinstance(settings, Settings) and preset is not None:
        raise SpecError(
            f"a Settings object holds all settings, so the preset {preset!r} does not apply; leave out 'preset', or give a "
            "mapping of changes to it"
        )


def check_decisions(game: Any) -> None:
    """Reject full-game hold'em whose blinds leave no decision to learn.

    Raises:
        SpecError: the game has no decisions.
    """
    if isinstance(game, str) and spec_name(game) == HOLDEM:
        game = load(game).enumerable_rules()
    if isinstance(game, Holdem):
        check_acting(game.rules)


def efforts(known: TrainingKind, requested: Mapping[str, int | None]) -> dict[str, int]:
    """The requested effort limits, as settings by name.

    Raises:
        SpecError: the learner does not count these efforts.
    """
    limits = {name: most for name, most in requested.items() if most is not None}
    for name in limits:
        if name not in known.efforts:
            raise SpecError(f"{known.name} does not count {name} (--{name}); leave it out")
    return limits


def check_left(job: TrainingJob[Any], folder: JobFolder) -> None:
    """Reject a step total below what the resumed run has already completed.

    Raises:
        SpecError: the total is too low.
    """
    if job.total is not None and job.done > job.total:
        raise SpecError(
            f"{folder.path} has already completed {job.done:,} {job.kind.unit}, which count toward the total; "
            f"set at least {job.done}"
        )


def reopen_training(
    known: TrainingKind, folder: JobFolder, game: Any, changes: Mapping[str, Any], options: Options
) -> TrainingJob[Any]:
    """Recreate the training run of a locked folder, without restoring its state."""
    about, path = folder.reopen(), folder.path / RUN
    settings = known.settings.from_json(about["settings"], path)
    known.check_named(settings, changes, folder.path)
    settings = settings.changed_under_way(changes, place=folder.path)
    named_in = folder.path if game is None else None
    options = Options(options.work, options.judge_every, folder.path, named_in)
    job = known.make(about["game"] if game is None else game, settings, options)
    if job.identity != about["identity"]:
        job.close()
        why = "whose rules have changed since" if game is None else f"not {game}"
        raise FileError(
            f"{folder.path} trains on {game_text(about['game'])}, {why}; give the game it was started with, or start a new "
            "training"
        )
    return job


def shown_settings(
    learner: AnyLearner | None,
    game: Any,
    preset: str | None,
    resume: str | os.PathLike[str] | None,
    changes: Mapping[str, Any],
) -> Settings:
    """The settings of a training run including changes; with ``resume``, changes apply to the folder's settings.

    Raises:
        SpecError, FileError: as :func:`train`.
    """
    known = kind_for(game, learner, resume, preset)
    if resume is None:
        result: Settings = known.settings_for(game, preset, changes)
        return result
    folder = JobFolder(known.job_kind, resume)
    return known.settings.from_json(folder.about()["settings"], Path(resume) / RUN).changed(changes)


def game_text(game: Any) -> str:
    """Display name of a game, for messages."""
    return ", ".join(game) if isinstance(game, list) else "a turn of hold'em" if isinstance(game, dict) else str(game)
