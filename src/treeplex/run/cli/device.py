"""The command ``device``: show a correlation device and its distance from correlated equilibria."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.run.cli.shared.arguments import Json, Refine, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_facts, print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.evaluate.correlation import DeviceJudgement, Trigger
    from treeplex.forms.compile.compiled_game import CompiledGame
    from treeplex.forms.correlation.device import Device

OfGame = Annotated[str | None, typer.Option("--game", metavar="GAME", help="The game. Default: the game named in the file.")]


@command("Show a correlation device and its distance from equilibrium.", place=120)
def device(
    source: Annotated[
        str,
        typer.Argument(metavar="DEVICE", help="A run folder of cfr-s or cfr-jr, or a device file (.safetensors, .json)."),
    ],
    game: OfGame = None,
    top: Annotated[int, typer.Option("--top", metavar="K", min=0, help="Number of most likely joint plans to print.")] = 3,
    lines: Annotated[int, typer.Option("--lines", metavar="L", min=0, help="Maximum number of lines per plan (0: all).")] = 8,
    best: Annotated[
        bool, typer.Option("--best", help="Also compute the best welfare of any CCE by linear programming (tiny games).")
    ] = False,
    as_json: Json = False,
    refine: Refine = False,
    progress: ShowProgress = None,
) -> None:
    """Show a correlation device: payoffs, distance to each kind of correlated equilibrium, and most likely joint plans.

    The distance is the sum over players of the gain from the best deviation that the concept allows. The gap is the largest
    gain of a player who deviates at a single infoset. Deviations start before the game (CCE), at an infostate before or
    after its recommendation (EFCCE, EFCE), or after seeing the whole plan (CE). AFCCE and AFCE allow a single deviating
    action.

    \b
    Examples:
      treeplex solve "kuhn_poker(players=3)" -a cfr-jr --out runs/kuhn3
      treeplex device runs/kuhn3
      treeplex device runs/kuhn3 --top 0 --json
    """
    with Live(progress) as live:
        live.say(f"reading {source}")
        from treeplex.evaluate.correlation import judge_device
        from treeplex.forms.compile.compile_game import compile_game
        from treeplex.run.devices import read_device, refined

        compiled = None if game is None else compile_game(game, refine=refine or refined(source), watch=live.walked)
        loaded, about = read_device(source, compiled, refine=refine)
        live.say(f"judging {len(loaded):,} joint plans")
        judgement = judge_device(loaded)
        if best:
            live.say(f"looking for the best CCE of {loaded.game}")
        welfare = best_welfare(loaded.game) if best else None
    if as_json:
        print_json(
            {
                "game": loaded.game.spec,
                "algorithm": about.get("algorithm"),
                "iterations": about.get("iterations"),
                "joint_plans": len(loaded),
                "plans": [len(table) for table in loaded.plans],
                "drawn": bool(about.get("drawn")),
                "value": list(judgement.value),
                "welfare": judgement.welfare,
                **({"best_welfare": welfare} if best else {}),
                "distances": distances_of(loaded.game, judgement),
                "likeliest": likeliest(loaded, top),
            }
        )
        return
    print_device(loaded, about, judgement, welfare)
    if top:
        print_plans(loaded, top, lines)


def best_welfare(game: "CompiledGame") -> float:
    """Return the largest welfare of a coarse correlated equilibrium.

    Raises:
        AlgorithmError: the game is too large for a linear program over joint plans.
    """
    if game.constant is not None:
        return game.constant
    from treeplex.evaluate.cce import best_cce

    return best_cce(game).welfare


def print_device(loaded: "Device", about: dict[str, Any], judgement: "DeviceJudgement", best: float | None) -> None:
    """Print sizes, payoffs and distances."""
    game, counts = loaded.game, " / ".join(f"{len(table):,}" for table in loaded.plans)
    algorithm, iterations = about.get("algorithm"), about.get("iterations")
    drawn = ", sampled from " + (f"{algorithm}'s" if algorithm else "a larger device") if about.get("drawn") else ""
    facts = {
        "joint plans": f"{len(loaded):,}{drawn}   plans of the players: {counts}",
        "value": ", ".join(signed(value) for value in judgement.value),
        "welfare": signed(judgement.welfare),
    }
    if game.constant is not None:
        facts["welfare"] = f"{signed(game.constant)}   constant sum of payoffs in this game"
    elif best is not None:
        facts["best welfare"] = f"{signed(best)}   of a CCE, by linear programming"
    made = f"{algorithm}, " if algorithm else ""
    made += f"{iterations:,} iterations, " if isinstance(iterations, int) and iterations else ""
    print_facts(facts, title=f"device: {made}on {game}")
    players = range(game.players)
    rows = [
        [distance.concept, f"{distance.distance:.3e}", *(f"{gain:.2e}" for gain in distance.gains)]
        for distance in judgement.distances
    ]
    heads = ["concept", "distance", *(f"gain {player}" for player in players)]
    print_table(heads, rows, right=range(1, len(heads)))
    worst = [(distance, max(distance.triggers, key=lambda trigger: trigger.gain)) for distance in judgement.distances]
    rows = [
        [distance.concept, f"{trigger.gain:+.2e}", str(trigger.player), *place_of(game, trigger)] for distance, trigger in worst
    ]
    print_table(["concept", "gap", "player", "best deviation at", "told"], rows, right=(1,))


def signed(value: float) -> str:
    """Format a payoff with its sign; values that round to zero are positive."""
    return f"{round(value, 6) + 0.0:+.6f}"


def place_of(game: "CompiledGame", trigger: "Trigger") -> tuple[str, str]:
    """Describe where a player deviates, and after which recommendation."""
    if trigger.infoset is None:
        return "the beginning", ""
    recommended = "" if trigger.told is None else action_name(game, trigger.infoset, trigger.told)
    return in_one_line(game.infostates[trigger.infoset]), recommended


def action_name(game: "CompiledGame", infoset: int, number: int) -> str:
    """Return the name of an action at an infoset."""
    action = game.actions_at(infoset)[number]
    return game.action_names[game.player_of(infoset)].get(action, str(action))


def in_one_line(infostate: str) -> str:
    """Return an infostate without line breaks."""
    return " ".join(infostate.split()) or "(empty)"


def print_plans(loaded: "Device", top: int, lines: int) -> None:
    """Print the most likely joint plans, one row per player."""
    rows = []
    for row in order_of(loaded)[:top]:
        for player, number in enumerate(loaded.support[row].tolist()):
            probability = f"{loaded.weights[row]:.4f}" if player == 0 else ""
            rows.append([probability, str(player), plan_text(loaded, player, number, lines)])
    print_table(["probability", "player", "plan"], rows, right=(0,), lines=True)
    left = len(loaded) - top
    if left > 0:
        typer.echo(f"{left:,} more joint plan{'s' if left != 1 else ''}; --top shows more")


def plan_text(loaded: "Device", player: int, number: int, lines: int) -> str:
    """Return ``infostate: action`` for the infostates that the plan does not exclude, one per line."""
    game, first = loaded.game, int(loaded.game.tree.infoset_offsets[player])
    actions = [
        f"{in_one_line(game.infostates[first + local])}: {action_name(game, first + local, action)}"
        for local, action in enumerate(loaded.plans[player][number].tolist())
        if action >= 0
    ]
    if lines and len(actions) > lines:
        actions = [*actions[:lines], f"... {len(actions) - lines} more infostates (--lines 0)"]
    return "\n".join(actions) or "(no decisions)"


def order_of(loaded: "Device") -> list[int]:
    """Return the indices of joint plans in order of decreasing probability."""
    ordered: list[int] = (-loaded.weights).argsort(kind="stable").tolist()
    return ordered


def likeliest(loaded: "Device", top: int) -> list[dict[str, Any]]:
    """Return the most likely joint plans for ``--json``: action ids by infostate."""
    return [
        {
            "probability": float(loaded.weights[row]),
            "plans": [loaded.actions(player, number) for player, number in enumerate(loaded.support[row].tolist())],
        }
        for row in order_of(loaded)[:top]
    ]


def distances_of(game: "CompiledGame", judgement: "DeviceJudgement") -> dict[str, Any]:
    """Return the distances to all concepts for ``--json``."""
    return {
        distance.concept: {
            "distance": distance.distance,
            "gains": list(distance.gains),
            "gap": distance.gap,
            "triggers": [
                {
                    "player": trigger.player,
                    "infostate": None if trigger.infoset is None else game.infostates[trigger.infoset],
                    "told": None
                    if trigger.infoset is None or trigger.told is None
                    else game.actions_at(trigger.infoset)[trigger.told],
                    "gain": trigger.gain,
                }
                for trigger in distance.triggers
            ],
        }
        for distance in judgement.distances
    }
