"""Matches between agents: :func:`match`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeplex.base.spec import suggests_arguments
from treeplex.errors import Interrupted, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.games.base import Game
from treeplex.run.job.folder import RUN, JobFolder, folder_at
from treeplex.run.job.job import Session, go_on, start
from treeplex.run.job.progress_line import AnyProgress, watcher_for
from treeplex.run.job.record import check_limits
from treeplex.run.job.workers import Work
from treeplex.search.match.hands import HandPlayer
from treeplex.search.match.job import MatchJob
from treeplex.search.match.result import MatchResult
from treeplex.search.match.settings import MATCH, MatchSettings
from treeplex.search.named_agents.registry import seconds_of

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

    Values are exact if the policies of all agents can be enumerated: policy tables of a compiled game, and in small games
    agents without random play. Otherwise hands are played, each determined by the seed and its number.

    Args:
        game: a spec, rules, a compiled game or a hold'em spot. Optional when resuming.
        agents: as many as the game has players: names as for :func:`treeplex.agent`, policy files or run folders, ``uniform``,
            ``file.py:NAME``; policies and agents as objects; or a mapping from custom names to them. Optional when resuming.
        hands: hands per table, rounded up to whole rounds; default 1000.
        seats: ``rotate``: in a round, each agent sits in each seat once (the default); ``all``: in all orders; ``fixed``.
        duplicate: whether the hands of a round have the same cards, which cancels much luck; standard errors are over rounds.
        aivat: values to adjust for luck (:class:`treeplex.search.evaluate.aivat.Aivat`): ``True`` or ``"auto"`` for those of an
            approximate equilibrium in small games, else zero; ``"zero"``; ``"checked"`` for check-down values in heads-up whole
            hold'em; a policy or agent, for its values in self-play; ``file.py:NAME`` or a custom function.
        table: whether to play a round robin, all agents against all.
        sampled: whether to play hands even where exact values are possible.
        think: time per decision of searching agents, seconds or text such as ``"500ms"``; hands are then not reproducible bit
            for bit.
        seed: seed of all cards and all agents; default 0.
        workers: number of processes; default one. Agents must then be names or files.
        ray: address of a Ray cluster that plays instead.
        seconds: approximate time limit of this call.
        out: folder to write; see :mod:`treeplex.search.match.settings`.
        force: overwrite the match in ``out``.
        resume: folder of a match to resume. Only ``hands`` and the workers may change.
        progress: False shows none; default: one updated line on a terminal, or ``logging`` at level INFO; see
            :func:`treeplex.solve`. A function is called about ten times per second.

    Raises:
        SpecError: unknown names, or a number of agents that does not fit the game.
        GameError, PolicyError, FileError: agents of other games, or files that cannot be read or written.
        AlgorithmError: an agent fails in every hand.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the result so far.
    """
    check_limits(None, seconds)
    work = Work(1 if workers is None and ray is None else workers, ray)
    work.check()
    names = None
    if isinstance(agents, Mapping):
        names, agents = tuple(map(str, agents)), tuple(agents.values())
    values = None if aivat is None or isinstance(aivat, bool | str) else aivat
    words = "auto" if aivat is True else None if aivat is None or aivat is False else str(aivat if values is None else "own")
    asked: dict[str, Any] = {
        "hands": hands,
        "seats": seats,
        "duplicate": duplicate,
        "aivat": words,
        "table": table,
        "sampled": sampled,
    }
    asked |= {"think": None if think is None else seconds_of(think), "seed": seed}
    given = {name: value for name, value in asked.items() if value is not None}
    with watcher_for(progress, "preparing") as watch, folder_at(MATCH, out if resume is None else resume) as folder:
        path = None if folder is None else folder.path
        if resume is None:
            if game is None or not agents:
                raise SpecError("a match needs a game and agents; name them, or a folder to resume")
            settings = MatchSettings(**given)
            session = start(job_of(HandPlayer(game, tuple(agents), settings, values, names), work, path), folder, force=force)
        else:
            if out is not None and Path(out) != Path(resume):
                raise SpecError("a resumed match stays in its own folder; give out or resume, not both")
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
    if outcome.status == "interrupted":
        raise Interrupted(result)
    return result


def job_of(player: HandPlayer, work: Work, path: Path | None) -> MatchJob:
    """A match before its first hand.

    Raises:
        SpecError: there are workers and an agent that is an object.
    """
    objects = [each for each in player.agents if not isinstance(each, str | os.PathLike)]
    if (work.ray is not None or work.workers != 1) and (objects or player.values is not None):
        raise SpecError("agents that are objects play in one process; give names or files to play with workers")
    return MatchJob(player, work, path)


def reopen(
    folder: JobFolder,
    game: AnyGame | None,
    agents: Sequence[Any] | None,
    given: dict[str, Any],
    more: tuple[Any, tuple[str, ...] | None],
    work: Work,
) -> Session:
    """A match resumed from its folder.

    Raises:
        SpecError: settings that differ from the match's, or agents in Python files that are not given again.
    """
    about = folder.reopen()
    settings = MatchSettings.from_json(about["settings"], folder.path / RUN)
    hands = given.pop("hands", settings.hands)
    for name, value in given.items():
        if value != getattr(settings, name):
            raise SpecError(f"{folder.path} was played with {name} {getattr(settings, name)}, not {value}; leave it out")
    if agents is None:
        own = [name for name in (*about["agents"], settings.aivat or "") if is_user_spec(name)]
        if own:
            raise SpecError(
                f"{folder.path} was played with {own[0]}; code named in a file is not run, so name the game and all agents "
                "again"
            )
        agents = about["agents"]
    rules = load(str(about["game"]), named_in=folder.path) if game is None else game
    player = HandPlayer(rules, tuple(agents), replace(settings, hands=hands), *more)
    if [str(each) for each in agents if isinstance(each, str | os.PathLike)] != [
        str(name) for name, each in zip(about["agents"], agents, strict=False) if isinstance(each, str | os.PathLike)
    ] or str(player.rules) != about["game"]:
        raise SpecError(
            f"{folder.path} was played by {' '.join(about['agents'])} on {about['game']}; name them, or leave them out"
        )
    if player.plan.hands < int((about.get("last") or {}).get("done", 0)):
        raise SpecError(f"{folder.path} has {about['last']['done']:,} hands already; ask for more")
    return go_on(job_of(player, work, folder.path), folder)
