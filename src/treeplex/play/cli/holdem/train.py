"""``treeplex holdem train``: a network for rivers, learnt by self-play on turns."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import Changes, Force, Json, ShowSettings, TrainOut, TrainResume, check_folders
from treeplex.play.cli.commands import command
from treeplex.play.cli.console import print_facts, print_json
from treeplex.play.cli.failures import STOPPED, fail
from treeplex.play.cli.holdem import options as of
from treeplex.play.cli.holdem.show import shell_word
from treeplex.play.cli.live import Live, clock

if TYPE_CHECKING:
    from treeplex.runs.job.record import Progress
    from treeplex.runs.rebel.holdem_train import TurnTraining


@command("Train a network for rivers by self-play on turns.", place=40, example="train --out runs/turn")
@of.with_fields(*(name for name in of.ABOUT_TURNS if name not in ("oop", "ip")))
def train(
    *,
    spot: of.TurnSpot = None,
    options: of.Options,
    games: Annotated[int | None, typer.Option(metavar="N", help="Turns to be drawn in all; the same as --set games=N.")] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="recipe, or paper: its method, network and step sizes. Default: recipe.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings over the usual ones, as YAML; see --show.")
    ] = None,
    changes: Changes = None,
    show: ShowSettings = False,
    out: TrainOut = None,
    resume: TrainResume = None,
    force: Force = False,
    as_json: Json = False,
    progress: of.Progress = None,
) -> None:
    """Train a network for the rivers below turns by ReBeL, for holdem search.

    A game is a turn like the spot's, with a board, stacks and bet sizes drawn anew; it is searched with the network, and
    rivers that this leads to are solved. Pot and sizes are the spot's; its ranges play no part. The folder gets
    net.safetensors, run.json, metrics.jsonl, state.safetensors (at least once a minute) and learning-curve.png. Ctrl-C
    saves, and --resume goes on bit for bit; a training uses one core.

    \b
    Examples:
      treeplex holdem train --bets 100%,a --raises a --games 800 --out runs/turn
      treeplex holdem train examples/spots/turn.yaml --donk default --set boards=false --out runs/mine
      treeplex holdem train --show > settings.yaml
      treeplex holdem train --resume runs/turn --games 2000
      treeplex holdem search turn_endgame runs/turn --bets 100%,a --raises a
    """
    from treeplex.runs.rebel.settings import as_yaml, from_yaml, pairs

    given = {**(from_yaml(config) if config is not None else {}), **pairs(changes or [])}
    given |= {} if games is None else {"games": games}
    if show:
        from treeplex.runs.job.folder import RUN, JobFolder
        from treeplex.runs.rebel.holdem_job import TURNS
        from treeplex.runs.rebel.holdem_settings import MEANINGS, run_from, settings_for
        from treeplex.runs.rebel.settings import changed

        if resume is not None:
            shown = changed(run_from(JobFolder(TURNS, resume).about(), str(resume / RUN)).settings, given)
        else:
            shown = settings_for(of.turn_spot(spot, options, ranges=False), given, preset=preset)
        typer.echo(as_yaml(shown, MEANINGS), nl=False)
        return
    check_folders(out, resume)
    if resume is not None and (spot is not None or of.given(options)):
        raise SpecError("a resumed training keeps its spot; leave the spot and its options out")
    if resume is not None and preset is not None:
        raise SpecError("a resumed training keeps its settings; change some with --set instead of --preset")
    with Live(progress) as live:
        live.say("preparing")
        from treeplex.runs.job.interrupt import Interrupted
        from treeplex.runs.rebel.holdem_settings import settings_for
        from treeplex.runs.rebel.holdem_train import train_turns

        def watch(state: "Progress") -> None:
            live.say(line_of(state))

        try:
            if resume is not None:
                training = train_turns(resume=resume, changes=given, progress=watch)
            else:
                model = of.turn_spot(spot, options, ranges=False)
                training = train_turns(model, settings_for(model, given, preset=preset), out=out, force=force, progress=watch)
        except Interrupted as stopped:
            training = stopped.result
    if as_json:
        print_json(record_of(training))
    else:
        print_training(training)
    if training.status == "interrupted":
        go_on = f"treeplex holdem train --resume {shell_word(str(training.folder))}"
        fail(f"stopped after {training.records[-1].done:,} games; saved: go on with {go_on}", STOPPED)


def line_of(state: "Progress") -> str:
    """The live line: games, how fast, rows, loss, time left."""
    numbers, rate = state.numbers, state.numbers["rate"]
    speed = f"{rate:.2g}/s" if rate < 10 else f"{rate:,.0f}/s"
    parts = [f"training  {state.done:,}/{state.total:,} games", speed, f"{numbers['rows']:,} rivers"]
    if numbers.get("loss") is not None:
        parts.append(f"loss {numbers['loss']:.2e}")
    if state.seconds_left is not None:
        parts.append(f"{clock(state.seconds_left)} left")
    return "  ".join(parts)


def record_of(training: "TurnTraining") -> dict[str, Any]:
    """What ``--json`` prints."""
    last = training.records[-1]
    return {
        "status": training.status,
        "games": last.done,
        "rows": last.rows,
        "steps": last.steps,
        "loss": loss_of(training),
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
        "folder": str(training.folder),
    }


def loss_of(training: "TurnTraining") -> float | None:
    """The newest loss; None without any."""
    return next((float(record.loss) for record in reversed(training.records) if record.loss is not None), None)


def print_training(training: "TurnTraining") -> None:
    """Loss, speed, files, what to try next."""
    last, folder, facts = training.records[-1], shell_word(str(training.folder)), {}
    if (loss := loss_of(training)) is not None:
        facts["loss"] = f"{loss:.3e}   mean Huber loss at the end, values in parts of the pot"
    facts["steps"] = f"{last.steps:,} on {last.rows:,} rivers"
    if not last.steps:
        burn_in = training.run.settings.burn_in
        facts["beware"] = f"learning begins at {burn_in:,} rivers (burn_in), so the network has learnt nothing yet"
    facts["time"] = f"{last.seconds:.3g} s, {last.cpu_seconds:.3g} s of processor time"
    facts["files"] = f"{training.folder}   net.safetensors, run.json, metrics.jsonl, learning-curve.png, state.safetensors"
    count = f"{last.done:,} game{'s' if last.done != 1 else ''}"
    print_facts(facts, title=f"ReBeL on turns, pot {training.run.spot.pot:g}: {count}")
    typer.secho("next", bold=True)
    typer.echo(f"  treeplex holdem search SPOT {folder}   search a turn with it; give SPOT the same bet sizes")
    typer.echo(f"  treeplex holdem train --resume {folder} --games {2 * training.run.settings.games}   go on")
