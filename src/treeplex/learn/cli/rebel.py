"""``treeplex evaluate`` for networks that are played with search."""

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from treeplex.base.digits import three_digits
from treeplex.run.cli.shared.console import print_facts, print_json
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock

if TYPE_CHECKING:
    from treeplex.learn.rebel.training.judge import RebelJudgement
    from treeplex.search.subgames.horizon import Horizon


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
    """Evaluate a search agent's network, and print the result."""
    with Live(progress) as live:
        live.say(f"searching {game}")
        from treeplex.base.settings import pairs
        from treeplex.learn.rebel.training.judge import judge_rebel

        began = perf_counter()

        def watch(done: int, total: int, left: float | None) -> None:
            time = f"{clock(perf_counter() - began)} so far" if left is None else f"{clock(left)} left"
            live.say(f"searching {game}  {done:,}{f'/{total:,}' if total else ' streets'}  {time}")

        judgement = judge_rebel(
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
        print_json(judgement.to_json())
    else:
        print_judgement(judgement)


def print_judgement(result: "RebelJudgement") -> None:
    """Print exploitability, how it was measured, whether more playthroughs would change it, and the model card."""
    from treeplex.learn.rebel.training.judge import LARGEST_GAIN, LEAST_SETTLED

    settings, judgement = result.settings, result.judgement
    search = f"T = {settings.iterations:,} iterations of {settings.method} per search, {horizon_text(settings.horizon)}"
    whose = "exact" if result.exact else "an upper bound"
    repeats = f"{settings.playthroughs:,} playthroughs averaged by reach, {search}, seed {result.seed}"
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response; {whose}",
        "measured by": f"exact evaluation without sampling, one search per state, {search}" if result.exact else repeats,
    }
    if result.milliblinds is not None:
        facts["in big blinds"] = f"{result.milliblinds:.3g} mbb/hand"
    if result.halves is not None and result.gain is not None:
        halves = result.halves
        facts["of half the playthroughs"] = f"{halves.mean:.3e} on average, {halves.low:.3e} to {halves.high:.3e}"
        if result.settled:
            verdict = "would hardly change it"
        elif settings.playthroughs < LEAST_SETTLED:
            verdict = f"may change it: too few to tell (at least {LEAST_SETTLED} are needed)"
        elif result.gain > LARGEST_GAIN * judgement.exploitability:
            verdict = f"may change it: the last doubling changed it by {-result.gain:+.1e}"
        else:
            verdict = "may change it: the halves differ widely"
        facts["more playthroughs"] = verdict
    if result.big_blind is None:
        facts["value"] = f"{judgement.value[0]:+.6f}   of player 0"
    facts["time"] = f"{three_digits(result.seconds)} s of CPU time in searches"
    if "judged" in result.card:
        facts["model card"] = card_text(result.card)
    print_facts(facts, title=f"{result.network} on {result.game}")


def card_text(card: Mapping[str, Any]) -> str:
    """A shipped network's measured exploitability and the evaluation settings, from its model card."""
    from treeplex.search.subgames.horizon import Horizon

    judged = card["judged"]
    counts = f"{judged['playthroughs']:,} playthroughs, T = {judged['iterations']:,} of {judged['method']}"
    cut = horizon_text(Horizon(judged["depth"] or None, judged["rounds"], judged["endgame"]))
    return f"{judged['exploitability']:.6e}   {counts}, {cut}, seed {judged['seed']}, on {judged['date']}"


def horizon_text(horizon: "Horizon") -> str:
    """Description of where subgames end."""
    parts = [] if horizon.depth is None else [f"depth {horizon.depth}"]
    parts += ["to the end of betting rounds"] if horizon.rounds else []
    parts += [f"endgames of up to {horizon.endgame} public nodes not cut off"] if horizon.endgame else []
    return ", ".join(parts) or "to the end of the game"
