"""The command that learns: ``train``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import Force, Json, Ray, ShowProgress, TrainOut, TrainResume, check_folders
from treeplex.play.cli.commands import command
from treeplex.play.cli.console import print_facts, print_json
from treeplex.play.cli.failures import STOPPED, fail
from treeplex.play.cli.live import Live, clock
from treeplex.play.cli.rebel import REBEL, Train
from treeplex.play.cli.solve import quoted

if TYPE_CHECKING:
    from treeplex.runs.discount.train import Training
    from treeplex.runs.job.record import Progress


@command(
    "Train a discount policy, or a value network for search (rebel).",
    place=130,
    example="train rebel liars_dice --out runs/dice",
    cls=Train,
)
def train(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            metavar="ALGORITHM", help="ddcfr, dpcfr+ or pddcfr; may be left out with --resume. Or rebel, see below."
        ),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option(
            "--games", "-g", metavar="A,B", help="Games to train on; may be given several times. Default: DDCFR's four."
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(metavar="N", help="Epochs in total. Default: 1000.")] = None,
    population: Annotated[
        int | None, typer.Option(metavar="N", help="Candidates an epoch; ppo: episodes of each game. Default: 100.")
    ] = None,
    sigma: Annotated[float | None, typer.Option(help="Standard deviation of the noise. Default: 0.05.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Adam's step. Default: 0.01; ppo 0.0003.")] = None,
    horizon: Annotated[int | None, typer.Option(metavar="T", help="Iterations of an episode. Default: 1000.")] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="What it sees: iteration, exploitability, regret, movement. Default: the first two."),
    ] = None,
    exponents: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="What it sets: alpha, beta, gamma, prediction. Default: the algorithm's own."),
    ] = None,
    discrete: Annotated[bool, typer.Option("--discrete", help="Exponents are whole numbers.")] = False,
    holds: Annotated[
        str | None, typer.Option(metavar="A,B", help="Iterations a decision may hold. Default: 1,2,5,10,20.")
    ] = None,
    unclipped: Annotated[
        bool, typer.Option("--unclipped", help="Let alpha fall below 1 after T/2, where theorem 1 does not hold.")
    ] = False,
    optimizer: Annotated[
        str | None, typer.Option(metavar="NAME", help="es (evolution strategies) or ppo. Default: es.")
    ] = None,
    fitness: Annotated[
        str | None, typer.Option(metavar="NAME", help="log (the paper's) or relative (the authors' code's). Default: log.")
    ] = None,
    weights: Annotated[str | None, typer.Option(metavar="X,Y", help="Weight of each game. Default: 1 each.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. Default: 0.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Episodes played at a time. Default: all cores.")] = None,
    ray: Ray = None,
    out: TrainOut = None,
    resume: TrainResume = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Train a discount policy: a network that sets how a CFR variant discounts, while it runs.

    ddcfr steers DCFR, dpcfr+ PCFR+, pddcfr PDCFR. The folder gets policy.safetensors and best.safetensors, for
    solve -a "ddcfr(policy=DIR/best.safetensors)", run.json, metrics.jsonl (one record an epoch), state.safetensors
    and learning-curve.png. Ctrl-C saves, and --resume goes on bit for bit; --epochs then counts all epochs. The number of
    workers changes no number.

    rebel, which trains a value network for search, takes a game and has options of its own: treeplex train rebel --help.

    \b
    Examples:
      treeplex train ddcfr --out runs/ddcfr
      treeplex train ddcfr --games "kuhn_poker,leduc_poker" --epochs 200 --out runs/poker
      treeplex train ddcfr --features iteration --out runs/ddcfr-it
      treeplex train --resume runs/ddcfr --epochs 2000
    """
    asked: dict[str, Any] = {
        "algorithm": algorithm,
        "games": names_in(games),
        "epochs": epochs,
        "population": population,
        "sigma": sigma,
        "learning_rate": learning_rate,
        "horizon": horizon,
        "features": names_in([features]) if features is not None else None,
        "exponents": names_in([exponents]) if exponents is not None else None,
        "discrete": discrete or None,
        "holds": numbers_in(holds, "--holds", int),
        "clipped": False if unclipped else None,
        "optimizer": optimizer,
        "fitness": fitness,
        "weights": numbers_in(weights, "--weights", float),
        "seed": seed,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    check_folders(out, resume)
    if out is not None and algorithm is None:
        raise SpecError("name what to train: ddcfr, dpcfr+, pddcfr or rebel")
    if algorithm == REBEL:
        raise SpecError("rebel comes first: treeplex train rebel GAME --out DIR")
    if resume is not None:
        from treeplex.runs.job.folder import kind_of

        if kind_of(resume) == REBEL:
            raise SpecError(f"{resume} holds a ReBeL training; go on with: treeplex train rebel --resume {quoted(str(resume))}")
    with Live(progress) as live:
        live.say("compiling the games")
        from treeplex.runs.discount.settings import TrainSettings
        from treeplex.runs.discount.train import train
        from treeplex.runs.job.interrupt import Interrupted

        try:
            training = train(
                TrainSettings(**given) if out is not None else None,
                out=out,
                resume=resume,
                changes=given if resume is not None else None,
                force=force,
                workers=workers,
                ray=ray,
                progress=lambda state: live.say(line_of(state)),
            )
        except Interrupted as stopped:
            training = stopped.result
    if as_json:
        print_json(summary(training))
    else:
        print_training(training)
    if training.status == "interrupted":
        done = training.records[-1].done
        fail(f"stopped after {done:,} epochs; saved: go on with {resuming(training)}", STOPPED)


def resuming(training: "Training") -> str:
    """The command that goes on. Games of one's own are named again, since reading a folder runs no code."""
    from treeplex.forms.sources.load import named_file

    games = training.settings.games
    own = f" --games {quoted(','.join(games))}" if any(map(named_file, games)) else ""
    return f"treeplex train{own} --resume {quoted(str(training.folder))}"


def names_in(texts: list[str] | None) -> tuple[str, ...] | None:
    """Names or specs between commas that stand in no bracket."""
    from treeplex.spec import split_outside_brackets

    if not texts:
        return None
    return tuple(part.strip() for text in texts for part in split_outside_brackets(text, ",", text))


def numbers_in(text: str | None, option: str, kind: type[int] | type[float]) -> tuple[float, ...] | None:
    """Numbers between commas; SpecError names the option when one is none."""
    if text is None:
        return None
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        what = "whole numbers" if kind is int else "numbers"
        raise SpecError(f"{option} takes {what} between commas, not {text!r}") from error


def line_of(state: "Progress") -> str:
    """One line: what is trained, epoch, fitness, time left."""
    numbers = state.numbers
    parts = [f"training {state.name.partition(' ')[0]}  epoch {state.done:,}/{state.total:,}"]
    if numbers.get("best_fitness") is not None:
        parts.append(f"fitness {numbers['fitness']:.3f} (best {numbers['best_fitness']:.3f})")
    if numbers.get("lost"):
        parts.append(f"{numbers['lost']} workers lost")
    if state.seconds_left is not None:
        parts.append(f"{clock(state.seconds_left)} left")
    return "  ".join(parts)


def summary(training: "Training") -> dict[str, Any]:
    """What ``--json`` prints."""
    last, best = training.records[-1], training.best_record
    return {
        "algorithm": training.settings.algorithm,
        "games": list(training.settings.games),
        "status": training.status,
        "epochs": last.done,
        "seconds": last.seconds,
        "fitness": last.fitness,
        "exploitability": dict(zip(training.settings.games, last.exploitability, strict=True)),
        "best": {
            "epoch": best.done,
            "fitness": best.fitness,
            "exploitability": dict(zip(training.settings.games, best.exploitability, strict=True)),
        },
        "workers_lost": sum(record.lost for record in training.records),
        "folder": str(training.folder),
    }


def print_training(training: "Training") -> None:
    """Fitness, exploitabilities, files, what to try next."""
    first, last, best = training.records[0], training.records[-1], training.best_record
    facts = {"fitness": f"{first.fitness:.4f} before, {last.fitness:.4f} now, {best.fitness:.4f} at best (epoch {best.done:,})"}
    for number, game in enumerate(training.settings.games):
        before, after = first.exploitability[number], best.exploitability[number]
        facts[game] = (
            f"{before:.2e} -> {after:.2e}   exploitability after {training.settings.horizon:,} iterations, best policy"
        )
    lost = sum(record.lost for record in training.records)
    if lost:
        facts["workers lost"] = f"{lost}   what they were doing was done again"
    facts["files"] = f"{training.folder}   policy.safetensors, best.safetensors, learning-curve.png, metrics.jsonl, run.json"
    count = f"{last.done:,} epoch{'s' if last.done != 1 else ''}"
    print_facts(facts, title=f"{training.settings.algorithm} by {training.settings.optimizer}: {count} in {last.seconds:.3g} s")
    policy = f"{training.settings.algorithm}(policy={training.folder / 'best.safetensors'})"
    typer.secho("next", bold=True)
    typer.echo(f'  treeplex solve leduc_poker -a "{policy}"   use it')
    typer.echo(f"  {resuming(training)} --epochs {2 * training.settings.epochs}   go on")
