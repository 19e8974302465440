"""``treeplex evaluate`` of a network that searches."""

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
    """Judge a network that searches, and print."""
    with Live(progress) as live:
        live.say(f"searching {game}")
        from treeplex.base.settings import pairs
        from treeplex.learn.rebel.training.judge import judge_rebel

        began = perf_counter()

        def watch(done: int, total: int, left: float | None) -> None:
            time = f"{clock(perf_counter() - began)} so far" if left is None else f"{clock(left)} left"
            live.say(f"searching {game}  {done:,}{f'/{total:,}' if total else ' streets'}  {time}")

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
    from treeplex.learn.rebel.training.judge import LARGEST_GAIN, LEAST_SETTLED

    settings, judgement = found.settings, found.judgement
    search = f"T = {settings.iterations:,} iterations of {settings.method} a search, {horizon_text(settings.horizon)}"
    whose = "the agent's own" if found.exact else "an upper bound of the agent's own"
    repeats = f"{settings.playthroughs:,} playthroughs averaged by reach, {search}, seed {found.seed}"
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response; {whose}",
        "measured as": f"exactly, nothing drawn: one search a state, {search}" if found.exact else repeats,
    }
    if found.milliblinds is not None:
        facts["in big blinds"] = f"{found.milliblinds:.3g} mbb/hand"
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
    if found.big_blind is None:
        facts["value"] = f"{judgement.value[0]:+.6f}   of player 0"
    facts["time"] = f"{three_digits(found.seconds)} s of processor time in searches"
    if "judged" in found.card:
        facts["on its card"] = card_text(found.card)
    print_facts(facts, title=f"{found.network} on {found.game}")


def card_text(card: Mapping[str, Any]) -> str:
    """What a network that comes with the library was judged to be, and how, before it was shipped."""
    from treeplex.search.subgames.horizon import Horizon

    found = card["judged"]
    counts = f"{found['playthroughs']:,} playthroughs, T = {found['iterations']:,} of {found['method']}"
    cut = horizon_text(Horizon(found["depth"] or None, found["rounds"], found["endgame"]))
    return f"{found['exploitability']:.6e}   {counts}, {cut}, seed {found['seed']}, on {found['date']}"


def horizon_text(horizon: "Horizon") -> str:
    """Where subgames end, in words."""
    parts = [] if horizon.depth is None else [f"depth {horizon.depth}"]
    parts += ["to the end of betting rounds"] if horizon.rounds else []
    parts += [f"the last {horizon.endgame} public nodes whole"] if horizon.endgame else []
    return ", ".join(parts) or "to the end of the game"
