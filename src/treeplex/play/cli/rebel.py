"""``treeplex train rebel``, and ``treeplex evaluate`` of what it made."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import (
    Changes,
    Force,
    Json,
    Ray,
    ShowProgress,
    ShowSettings,
    TrainOut,
    TrainResume,
    check_folders,
)
from treeplex.play.cli.console import print_facts, print_json, say
from treeplex.play.cli.failures import STOPPED, fail
from treeplex.play.cli.live import Live, clock
from treeplex.play.cli.solve import quoted

if TYPE_CHECKING:
    from treeplex.forms.subgames.horizon import Horizon
    from treeplex.runs.job.record import Progress
    from treeplex.runs.rebel.judge import RebelJudgement
    from treeplex.runs.rebel.train import RebelTraining

REBEL = "rebel"


def train_rebel(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="Such as 'liars_dice(dice=1,faces=4)'; may be left out with --resume."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="recipe (minutes on two cores) or paper (appendix E, hours or more). Default: recipe."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings over the preset's, as YAML; see --show.")
    ] = None,
    changes: Changes = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Train for this time instead of for so many subgames (solves).")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Processes that play. Default: all cores. 1: this process, alone.")
    ] = None,
    ray: Ray = None,
    judge_every: Annotated[
        float | None,
        typer.Option(metavar="S", help="Judge every S seconds, 0 never. Default: small games, a twentieth of the time."),
    ] = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Write TensorBoard events as well.")] = False,
    show: ShowSettings = False,
    out: TrainOut = None,
    resume: TrainResume = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Train a value network by ReBeL: self-play in which every move is searched with the network at the search's leaves.

    For two-player zero-sum games with public actions whose rules say how they look to a network. The folder gets
    net.safetensors, run.json, metrics.jsonl (one record every few seconds), state.safetensors (at least once a minute) and
    learning-curve.png. Ctrl-C saves, and --resume goes on. With --workers 1 numbers repeat to the last bit; with more they
    do for the same number of workers at the start.

    \b
    Examples:
      treeplex train rebel "liars_dice(dice=1,faces=4)" --out runs/dice
      treeplex train rebel "liars_dice(dice=1,faces=4)" --seconds 120 --set width=64 --out runs/quick
      treeplex train rebel --show --preset paper > settings.yaml
      treeplex train rebel --resume runs/dice --set solves=120_000
      treeplex evaluate "liars_dice(dice=1,faces=4)" runs/dice
      treeplex play "liars_dice(dice=1,faces=4)" --against runs/dice
    """
    from treeplex.runs.rebel.settings import RebelRun, as_yaml, changed, from_yaml, pairs, settings_of

    given: list[dict[str, Any]] = [dict(from_yaml(config))] if config is not None else []
    given.append(pairs(changes or []))
    if show:
        if resume is not None:
            from treeplex.runs.job.folder import RUN, JobFolder
            from treeplex.runs.rebel.job import REBEL as KIND
            from treeplex.runs.rebel.settings import run_from

            shown = changed(run_from(JobFolder(KIND, resume).about(), str(resume / RUN)).settings, *given)
        else:
            shown = settings_of(preset, *given, game=game)
        say(as_yaml(shown), nl=False)
        return
    if game is None and resume is None:
        raise SpecError("name the game: treeplex train rebel GAME --out DIR")
    check_folders(out, resume)
    if resume is not None:
        if preset is not None:
            raise SpecError("a resumed training keeps its settings; change some with --set instead of --preset")
        merged = {key: value for part in given for key, value in part.items()}
        resume_rebel(
            resume,
            game=game,
            changes=merged,
            seconds=seconds,
            workers=workers,
            ray=ray,
            judge_every=judge_every,
            events=tensorboard,
            as_json=as_json,
            progress=progress,
        )
        return
    assert game is not None
    with Live(progress) as live:
        live.say("preparing")
        from treeplex.runs.job.interrupt import Interrupted
        from treeplex.runs.rebel.train import streams_for
        from treeplex.runs.rebel.train import train_rebel as train

        try:
            training = train(
                RebelRun(game, settings_of(preset, *given, game=game), streams_for(workers, ray), seconds),
                out=out,
                force=force,
                workers=workers,
                ray=ray,
                judge_every=judge_every,
                events=tensorboard,
                progress=lambda state: live.say(line_of(state)),
            )
        except Interrupted as stopped:
            training = stopped.result
    report(training, as_json)


def resume_rebel(folder: Path, *, as_json: bool, progress: bool | None, **options: Any) -> None:
    """Go on with a training and report."""
    with Live(progress) as live:
        live.say("reading the training")
        from treeplex.runs.job.interrupt import Interrupted
        from treeplex.runs.rebel.train import train_rebel as train

        try:
            training = train(resume=folder, progress=lambda state: live.say(line_of(state)), **options)
        except Interrupted as stopped:
            training = stopped.result
    report(training, as_json)


def line_of(state: "Progress") -> str:
    """One line: subgames, how fast, buffer, losses, last exploitability, time left."""
    numbers = state.numbers
    total = "" if state.total is None else f"/{state.total:,}"
    parts = [f"rebel  {state.done:,}{total} subgames", f"{numbers['rate']:,.0f}/s", f"{numbers['rows']:,} rows"]
    if numbers.get("loss") is not None:
        parts.append(f"loss {numbers['loss']:.2e}")
    if numbers.get("policy_loss") is not None:
        parts.append(f"policy loss {numbers['policy_loss']:.2e}")
    if numbers.get("exploitability") is not None:
        parts.append(f"exploitability {numbers['exploitability']:.2e}")
    if numbers.get("lost"):
        parts.append(f"{numbers['lost']} workers lost")
    if state.seconds_left is not None:
        parts.append(f"{clock(state.seconds_left)} left")
    return "  ".join(parts)


def report(training: "RebelTraining", as_json: bool) -> None:
    """Print a training as it ended; exit with 130 if it was stopped."""
    last = training.records[-1]
    if as_json:
        print_json(
            {
                "algorithm": REBEL,
                "game": training.run.game,
                "status": training.status,
                "solved": last.done,
                "seconds": last.seconds,
                "cpu_seconds": last.cpu_seconds,
                "rows": last.rows,
                "steps": last.steps,
                "loss": last.loss,
                "policy_loss": last.policy_loss,
                "workers_lost": last.lost,
                "folder": str(training.folder),
            }
        )
    else:
        print_training(training)
    if training.status == "interrupted":
        fail(f"stopped after {last.done:,} subgames; saved: go on with {resuming(training)}", STOPPED)


def resuming(training: "RebelTraining") -> str:
    """The command that goes on. A game of one's own is named again, since reading a folder runs no code."""
    from treeplex.forms.sources.load import named_file

    game = training.run.game
    own = f" {quoted(game)}" if named_file(game) else ""
    return f"treeplex train rebel{own} --resume {quoted(str(training.folder))}"


def print_training(training: "RebelTraining") -> None:
    """Loss, speed, files, what to try next."""
    last, folder, game = training.records[-1], quoted(str(training.folder)), quoted(training.run.game)
    judged = next((record for record in reversed(training.records) if record.exploitability is not None), None)
    facts = {}
    if last.loss is not None:
        facts["loss"] = f"{last.loss:.3e}   mean Huber loss at the end"
    if last.policy_loss is not None:
        facts["policy loss"] = f"{last.policy_loss:.3e}   mean squared error of the policy network's probabilities at the end"
    if judged is not None:
        facts["exploitability"] = (
            f"{judged.exploitability:.3e}   of {judged.playthroughs} playthroughs, T = {judged.iterations}; evaluate says more"
        )
    facts["steps"] = f"{last.steps:,} on {last.rows:,} rows"
    facts["time"] = f"{last.seconds:.3g} s, {last.cpu_seconds:.3g} s of processor time"
    if last.lost:
        facts["workers lost"] = f"{last.lost}   what they were doing was done again"
    facts["files"] = f"{training.folder}   net.safetensors, run.json, metrics.jsonl, learning-curve.png, state.safetensors"
    print_facts(facts, title=f"ReBeL on {training.run.game}: {last.done:,} subgames")
    say("next", bold=True)
    say(f"  treeplex evaluate {game} {folder}   how exploitable it is")
    say(f"  treeplex play {game} --against {folder}   play against it")


def evaluate_rebel(
    game: str,
    source: str,
    *,
    playthroughs: int | None,
    iterations: int | None,
    changes: list[str] | None,
    seed: int,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    progress: bool | None,
) -> None:
    """Judge a network that searches, and print."""
    with Live(progress) as live:
        live.say(f"searching {game}")
        from treeplex.runs.rebel.judge import judge_rebel
        from treeplex.runs.rebel.settings import pairs

        began = perf_counter()

        def watch(done: int, total: int, left: float | None) -> None:
            time = f"{clock(perf_counter() - began)} so far" if left is None else f"{clock(left)} left"
            live.say(f"searching {game}  {done:,}/{total:,}  {time}")

        found = judge_rebel(
            game,
            source,
            playthroughs=playthroughs,
            iterations=iterations,
            search=pairs(changes or []),
            seed=seed,
            workers=workers,
            ray=ray,
            watch=watch,
        )
    if as_json:
        print_json(found.to_json())
    else:
        print_judgement(found)


def print_judgement(found: "RebelJudgement") -> None:
    """Exploitability, what it is of, whether more playthroughs would change it, and what the network's card says."""
    from treeplex.runs.rebel.judge import LARGEST_GAIN, LEAST_SETTLED

    settings, judgement = found.settings, found.judgement
    search = f"T = {settings.iterations:,} iterations of {settings.method} a search, {horizon_text(settings.horizon)}"
    whose = "the agent's own" if found.exact else "an upper bound of the agent's own"
    repeats = f"{settings.playthroughs:,} playthroughs averaged by reach, {search}, seed {found.seed}"
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response; {whose}",
        "measured as": f"exactly, nothing drawn: one search a state, {search}" if found.exact else repeats,
    }
    if found.halves is not None and found.gain is not None:
        halves = found.halves
        facts["of half of them"] = f"{halves.mean:.3e} on average, {halves.low:.3e} to {halves.high:.3e}"
        if found.settled:
            told = "would hardly change it"
        elif settings.playthroughs < LEAST_SETTLED:
            told = f"may change it: of fewer than {LEAST_SETTLED} halves do not tell"
        elif found.gain > LARGEST_GAIN * judgement.exploitability:
            told = f"may change it: twice as many moved it by {-found.gain:+.1e} so far"
        else:
            told = "may change it: halves lie far apart"
        facts["more repeats"] = told
    facts["value"] = f"{judgement.value[0]:+.6f}   of player 0"
    facts["time"] = f"{found.seconds:.3g} s of processor time in searches"
    if "judged" in found.card:
        facts["on its card"] = card_text(found.card)
    print_facts(facts, title=f"{found.network} on {found.game}")


def card_text(card: Mapping[str, Any]) -> str:
    """What a network that comes with the library was judged to be, and how, before it was shipped."""
    from treeplex.forms.subgames.horizon import Horizon

    found = card["judged"]
    counts = f"{found['playthroughs']:,} playthroughs, T = {found['iterations']:,} of {found['method']}"
    cut = horizon_text(Horizon(found["depth"] or None, found["rounds"], found["endgame"]))
    return f"{found['exploitability']:.6e}   {counts}, {cut}, seed {found['seed']}, on {found['date']}"


class Train(TyperCommand):
    """``treeplex train``: ``rebel`` after it is a command with options of its own."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] == [REBEL]:
            return rebel_command().make_context(f"{info_name} {REBEL}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def rebel_command() -> TyperCommand:
    """``treeplex train rebel`` as a command."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
    app.command()(train_rebel)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    return command


def horizon_text(horizon: "Horizon") -> str:
    """Where subgames end, in words."""
    parts = [] if horizon.depth is None else [f"depth {horizon.depth}"]
    parts += ["to the end of betting rounds"] if horizon.rounds else []
    parts += [f"the last {horizon.endgame} public nodes whole"] if horizon.endgame else []
    return ", ".join(parts) or "to the end of the game"
