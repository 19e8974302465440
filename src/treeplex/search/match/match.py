"""Matches between agents: :func:`match`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeplex.base.spec import suggests_arguments
from treeplex.errors import JobInterrupt, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.job.folder import RUN, JobFolder, folder_at
from treeplex.run.job.job import Session, go_on, start
from treeplex.run.job.progress_line import AnyProgress, watcher_for
from treeplex.run.job.record import check_limits
from treeplex.run.job.workers import Work
from treeplex.run.policy_source import check_unchanged
from treeplex.search.match.hands import HandPlayer
from treeplex.search.match.job import MatchJob
from treeplex.search.match.result import MatchResult
from treeplex.search.match.settings import MATCH, MOST_HANDS, MatchSettings
from treeplex.search.named_agents.registry import runs_program, seconds_of

AnyGame = str | Game | CompiledGame


@suggests_arguments
def match(
    game: AnyGame | None = None,
    agents: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    hands: int | None = None,
    seats: str | None = None,
    duplicate: bool | None = None,
    aivat: Any = None,
    table: bool | None = None,
    sampled: bool | None = None,
    think: float | str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
    seconds: float | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: str | os.PathLike[str] | None = None,
    progress: AnyProgress = None,
) -> MatchResult:
    """Play agents against each other, exactly where possible, else hand by hand.

    Values are exact if all agents' policies can be tabulated: policy tables of a compiled game, and in small games agents with
    a non-random policy. Otherwise hands are played, each determined by the seed and its number.

    Args:
        game: a spec, rules, a compiled game or a hold'em spot. Optional when resuming.
        agents: one per player: names as for :func:`treeplex.agent`, policy files or run folders, ``uniform``, ``file.py:NAME``,
            policy or agent objects, or a mapping from display names to any of these. Optional when resuming.
        hands: number of hands per table, rounded up to complete rounds of the seating; default 1000, or 5,000,000 with
            ``seconds``.
        seats: ``rotate`` (the default; in a round each agent sits in each seat once), ``all`` (a round has all seating orders)
            or ``fixed``.
        duplicate: whether all hands of a round have the same cards, which cancels much luck; standard errors are then over
            rounds.
        aivat: value function for luck adjustment (:class:`treeplex.search.evaluate.aivat.Aivat`): ``True`` or ``"auto"`` for
            the values of an approximate equilibrium in small games and zero in others; ``"zero"``; ``"checked"`` for check-down
            values in heads-up full-game hold'em; a policy or agent, for its values in self-play; ``file.py:NAME`` or a
            function.
        table: whether to play a round robin, each agent against each other.
        sampled: whether to play hands even if exact values are possible.
        think: time per decision for agents that search, in seconds or as a text such as ``"500ms"``. Hands are then not
            reproducible bit for bit.
        seed: random seed for cards and agents; default 0.
        workers: number of processes; default one. With several, agents must be names or files.
        ray: address of a Ray cluster that plays the hands instead.
        seconds: approximate time limit of this call.
        out: output folder; for its files see :mod:`treeplex.search.match.settings`.
        force: whether to overwrite an existing match in ``out``.
        resume: folder of a match to resume. Only ``hands`` and the workers may be changed.
        progress: False hides progress; default: one updating line on a terminal, or ``logging`` at level INFO; see
            :func:`treeplex.solve`. A function is called about ten times per second.

    Returns:
        A :class:`treeplex.search.match.result.MatchResult`: means and intervals per agent, in the game's units per hand.

    Raises:
        SpecError: unknown names, or the wrong number of agents for the game.
        GameError, PolicyError, FileError: an agent is for another game, or a file cannot be read or written, or has changed
            since the match to resume was started.
        AlgorithmError: an agent fails in every hand.
        StoppedAgentError: an agent cannot play any further hand, such as an external program that has ended; the attribute
            ``result`` has the result so far.
        JobInterrupt: Ctrl-C or SIGTERM; the attribute ``result`` has the result so far.
    """
    check_limits(None, seconds)
    work = Work(1 if workers is None and ray is None else workers, ray)
    work.check()
    names = None
    if isinstance(agents, Mapping):
        names, agents = tuple(map(str, agents)), tuple(agents.values())
    aivat_setting, values = read_aivat(aivat)
    options: dict[str, Any] = {
        "hands": hands,
        "seats": seats,
        "duplicate": duplicate,
        "aivat": aivat_setting,
        "table": table,
        "sampled": sampled,
        "think": None if think is None else seconds_of(think),
        "seed": seed,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if seconds is not None:
        given.setdefault("hands", MOST_HANDS)
    with watcher_for(progress, "preparing") as watch, folder_at(MATCH, out if resume is None else resume) as folder:
        path = None if folder is None else folder.path
        if resume is None:
            if game is None or not agents:
                raise SpecError("a match needs a game and agents; give both, or a folder to resume")
            settings = MatchSettings(**given)
            session = start(job_of(HandPlayer(game, tuple(agents), settings, values, names), work, path), folder, force=force)
        else:
            if out is not None and Path(out) != Path(resume):
                raise SpecError("a resumed match stays in its own folder; give only one of 'out' and 'resume'")
            assert folder is not None
            session = reopen(folder, game, agents, given, (values, names), work)
        job = session.job
        assert isinstance(job, MatchJob)
        try:
            outcome = session.run(seconds=seconds, progress=watch)
            if outcome.status != "interrupted":
                job.check_failures()
        finally:
            job.close()
    result = job.result(outcome.status, outcome.folder)
    if job.stopped is not None:
        job.stopped.result = result
        raise job.stopped
    if outcome.status == "interrupted":
        raise JobInterrupt(result)
    return result


def read_aivat(aivat: Any) -> tuple[str | None, Any]:
    """The setting ``aivat`` of a match, and its value function if it is given as an object (else None)."""
    if aivat is None or isinstance(aivat, bool):
        return "auto" if aivat else None, None
    return (aivat, None) if isinstance(aivat, str) else ("own", aivat)


def job_of(player: HandPlayer, work: Work, path: Path | None) -> MatchJob:
    """Create a match that has not played any hands.

    Raises:
        SpecError: with workers, an agent is given as an object or is an external program.
    """
    objects = [source for source in player.agents if not isinstance(source, str | os.PathLike)]
    if (work.ray is not None or work.workers != 1) and (objects or player.values is not None):
        raise SpecError(
            "workers do not support agents or values given as objects; give names or files, or leave out 'workers' and 'ray'"
        )
    programs = [text for text in map(str, player.agents) if runs_program(text)] if not objects else []
    if (work.ray is not None or work.workers != 1) and programs:
        raise SpecError(f"workers cannot share the external program {programs[0]}; leave out 'workers' and 'ray'")
    return MatchJob(player, work, path)


def reopen(
    folder: JobFolder,
    game: AnyGame | None,
    agents: Sequence[Any] | None,
    given: dict[str, Any],
    more: tuple[Any, tuple[str, ...] | None],
    work: Work,
) -> Session:
    """Resume a match from its folder.

    Raises:
        SpecError: the settings differ from the match's, or its agents are in Python files and were not given again.
    """
    about = folder.reopen()
    settings = MatchSettings.from_json(about["settings"], folder.path / RUN)
    hands = given.pop("hands", settings.hands)
    for name, value in given.items():
        if value != getattr(settings, name):
            raise SpecError(f"{folder.path} was played with {name} {getattr(settings, name)}, not {value}; leave {name} out")
    if agents is None:
        custom = [name for name in (*about["agents"], settings.aivat or "") if ".py:" in name or runs_program(name)]
        if custom:
            raise SpecError(
                f"{folder.path} was played with custom code or an external program ({custom[0]}), which is never run from a "
                "folder; name the game and all agents again"
            )
        agents = about["agents"]
    rules = load(str(about["game"]), named_in=folder.path) if game is None else game
    values, names = more
    stored = about.get("names", ())
    if names is None and len(stored) == len(agents):
        names = tuple(map(str, stored))
    player = HandPlayer(rules, tuple(agents), replace(settings, hands=hands), values, names)
    if [str(source) for source in agents if isinstance(source, str | os.PathLike)] != [
        str(name) for name, source in zip(about["agents"], agents, strict=False) if isinstance(source, str | os.PathLike)
    ] or str(player.rules) != about["game"]:
        raise SpecError(
            f"{folder.path} was played by {' '.join(about['agents'])} on {about['game']}; give the same, or leave them out"
        )
    if player.plan.hands < int((about.get("last") or {}).get("done", 0)):
        raise SpecError(
            f"{folder.path} has {about['last']['done']:,} hands already; 'hands' is the total, so set a larger number"
        )
    job = job_of(player, work, folder.path)
    check_unchanged(folder.path, about, job.checksums)
    return go_on(job, folder)
