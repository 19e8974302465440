"""``treeplex holdem train``: a network for rivers, learnt by self-play on turns."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import Changes, Force, Json, ShowSettings, TrainOut, TrainResume, check_folders
from treeplex.play.cli.console import print_facts, print_json
from treeplex.play.cli.failures import STOPPED, fail
from treeplex.play.cli.holdem import options as of
from treeplex.play.cli.holdem.show import shell_word
from treeplex.play.cli.live import Live, clock

if TYPE_CHECKING:
    from treeplex.runs.rebel.holdem_train import HoldemRebelProgress, TurnTraining


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
    net.safetensors, turn.json, metrics.jsonl, state.safetensors (at least once a minute) and learning-curve.png. Ctrl-C
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
        from treeplex.runs.rebel.holdem_folder import HoldemRebelFolder
        from treeplex.runs.rebel.holdem_settings import MEANINGS, settings_for
        from treeplex.runs.rebel.settings import changed

        if resume is not None:
            shown = changed(HoldemRebelFolder(resume).run().settings, given)
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
        from treeplex.runs.rebel.holdem_settings import settings_for
        from treeplex.runs.rebel.holdem_train import HoldemRebelInterrupted, train_turns

        def watch(state: "HoldemRebelProgress") -> None:
            live.say(line_of(state))

        try:
            if resume is not None:
                training = train_turns(resume=resume, changes=given, progress=watch)
            else:
                model = of.turn_spot(spot, options, ranges=False)
                training = train_turns(model, settings_for(model, given, preset=preset), out=out, force=force, progress=watch)
        except HoldemRebelInterrupted as stopped:
            training = stopped.training
    if as_json:
        print_json(record_of(training))
    else:
        print_training(training)
    if training.status == "interrupted":
        go_on = f"treeplex holdem train --resume {shell_word(str(training.folder))}"
        fail(f"stopped after {training.records[-1].games:,} games; saved: go on with {go_on}", STOPPED)


def line_of(state: "HoldemRebelProgress") -> str:
    """The live line: games, how fast, rows, loss, time left."""
    last = state.last
    speed = f"{last.rate:.2g}/s" if last.rate < 10 else f"{last.rate:,.0f}/s"
    parts = [f"training  {last.games:,}/{state.run.settings.games:,} games", speed, f"{last.rows:,} rivers"]
    if last.loss is not None:
        parts.append(f"loss {last.loss:.2e}")
    return "  ".join([*parts, f"{clock(state.seconds_left)} left"])


def record_of(training: "TurnTraining") -> dict[str, Any]:
    """What ``--json`` prints."""
    last = training.records[-1]
    return {
        "status": training.status,
        "games": last.games,
        "rows": last.rows,
        "steps": last.steps,
        "loss": loss_of(training),
        "seconds": last.seconds,
        "cpu_seconds": last.cpu_seconds,
        "folder": str(training.folder),
    }


def loss_of(training: "TurnTraining") -> float | None:
    """The newest loss; None without any."""
    return next((record.loss for record in reversed(training.records) if record.loss is not None), None)


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
    facts["files"] = f"{training.folder}   net.safetensors, turn.json, metrics.jsonl, learning-curve.png, state.safetensors"
    count = f"{last.games:,} game{'s' if last.games != 1 else ''}"
    print_facts(facts, title=f"ReBeL on turns, pot {training.run.spot.pot:g}: {count}")
    typer.secho("next", bold=True)
    typer.echo(f"  treeplex holdem search SPOT {folder}   search a turn with it; give SPOT the same bet sizes")
    typer.echo(f"  treeplex holdem train --resume {folder} --games {2 * training.run.settings.games}   go on")
