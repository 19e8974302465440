"""Commands about policies: ``evaluate``, ``show``, ``export``."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import PolicyError, SpecError, printable
from treeplex.play.cli.arguments import Complete, GameArgument, Json, Limit, Refine, ShowProgress, Think
from treeplex.play.cli.commands import command
from treeplex.play.cli.console import print_facts, print_json, print_table
from treeplex.play.cli.live import Live

if TYPE_CHECKING:
    from rich.text import Text

    from treeplex.evaluate import Judgement
    from treeplex.forms.policies.tabular import Policy
    from treeplex.runs.agents.judge import AgentPolicy
    from treeplex.runs.solve.solvable import Solvable

HINTS_AMONG = 2000
GAP, STRATEGY_WIDTH = "   ", 44
RULES = (".efg", ".game")
PolicyArgument = Annotated[
    str,
    typer.Argument(metavar="POLICY", help="A run folder, a policy file (.safetensors, .npz, .json, .csv, .spot), or an agent."),
]
OfGame = Annotated[
    str | None, typer.Option("--game", metavar="GAME", help="The policy's game; default: the one its file names.")
]


@command("Judge a policy or an agent.", place=70, example="evaluate leduc_poker run")
def evaluate(
    game: GameArgument,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="A run folder, a policy file, a solved spot, a ReBeL training folder, my.py:MyAgent, uniform, rebel, or "
            "another agent by name (see treeplex agents).",
        ),
    ],
    worst: Annotated[
        int, typer.Option("--worst", metavar="ROWS", min=0, help="Also show the infostates with the largest regrets.")
    ] = 0,
    exact: Annotated[
        bool, typer.Option("--exact", help="Also solve the game by linear programming and compare values.")
    ] = False,
    playthroughs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Of agents that draw at random: repeated playthroughs to average. Default: 32; ReBeL: 256, in games of "
            "perfect information exact, without any.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="T", help="Of agents: iterations per search. Default: the agent's own.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Of agents: a setting; of ReBeL method, depth, rounds, endgame, warm. Repeatable.",
        ),
    ] = None,
    think: Think = None,
    seed: Annotated[int, typer.Option(min=0, help="Of agents: seed of what they draw.")] = 0,
    workers: Annotated[int | None, typer.Option(metavar="W", help="ReBeL only: processes. Default: all cores.")] = None,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="ReBeL only: search on a Ray cluster: its address, auto, or local.")
    ] = None,
    as_json: Json = False,
    complete: Complete = False,
    refine: Refine = False,
    limit: Limit = None,
    progress: ShowProgress = None,
) -> None:
    """Judge a policy: its value for each player, and what a best response of each gains; NashConv is the sum of the gains.

    Of an agent the policy is what it plays at every infoset, from the beliefs that its own play leads to; of one that draws at
    random while it plays, the mean over playthroughs.

    --worst adds the key worst to the JSON (player, infostate, regret), --exact the key exact_value (of player 0). rebel is a
    trained network that comes with Treeplex, if there is one for the game; rebel:NAME chooses among several.

    \b
    Examples:
      treeplex evaluate leduc_poker runs/leduc
      treeplex evaluate leduc_poker policy.json --json
      treeplex evaluate turn.yaml turn.spot
      treeplex evaluate kuhn_poker uniform --worst 5 --exact
      treeplex evaluate "liars_dice(dice=1,faces=4)" rebel --playthroughs 32
      treeplex evaluate "liars_dice(dice=1,faces=4)" runs/dice --playthroughs 1024
      treeplex evaluate leduc_poker "search(depth=3,drawn=false)"
    """
    from treeplex.runs.rebel.judge import is_rebel

    if is_rebel(policy):
        from treeplex.play.cli.rebel import evaluate_rebel

        if worst or exact or refine:
            raise SpecError("--worst, --exact and --refine are about policies; a network that searches is judged without")
        if think is not None:
            raise SpecError(
                "a network of ReBeL is judged by iterations, whatever time they take; give --iterations, no --think"
            )
        evaluate_rebel(
            game,
            policy,
            playthroughs=playthroughs,
            changes=changes,
            iterations=iterations,
            seed=seed,
            workers=workers,
            ray=ray,
            as_json=as_json,
            progress=progress,
        )
        return
    from treeplex.runs.agents.registry import names_agent

    an_agent = names_agent(policy)
    if not an_agent and (playthroughs, iterations, changes or None, ray, think) != (None,) * 5:
        raise SpecError(f"--playthroughs, --iterations, --set, --think and --ray are about agents, which {policy} is not")
    if an_agent and (complete or refine or ray is not None or workers is not None):
        raise SpecError(f"--complete and --refine are about policies, --workers and --ray about ReBeL's networks, not {policy}")
    with Live(progress) as live:
        live.say(f"compiling {game}")
        from treeplex.runs.judge import exact_value, infostate_regrets
        from treeplex.runs.solve.solve import solvable

        target = solvable(game)
        target.prepare({name: value for name, value in (("refine", refine), ("limit", limit)) if value}, live)
        if worst or exact:
            target.tree()
        live.say(f"judging {policy}")
        asked: AgentPolicy | None = None
        if an_agent:
            asked = asked_policy(target, policy, live, playthroughs, iterations, changes, think, seed)
        loaded = target.policy(policy, complete=complete) if asked is None else asked.policy
        judgement, compiled = target.judge(loaded), target.compiled
        regrets = list(infostate_regrets(target, loaded).items())[:worst] if worst else []
        if exact:
            live.say(f"solving {game} exactly")
        value = exact_value(target) if exact else None
    origin = origin_of(policy) if asked is None else origin_of_agent(policy, asked)
    if as_json:
        print_json(
            {
                "game": compiled.spec,
                **origin,
                "exploitability": judgement.exploitability,
                "nash_conv": judgement.nash_conv,
                "value": list(judgement.value),
                "gains": list(judgement.gains),
                **({"exact_value": value} if exact else {}),
                **({"worst": [{"player": i, "infostate": text, "regret": r} for (i, text), r in regrets]} if worst else {}),
            }
        )
        return
    print_judgement(judgement, title=f"{policy} on {compiled}", value=value, regrets=regrets, measured=measured_text(asked))


def asked_policy(
    target: "Solvable",
    text: str,
    live: Live,
    plays: int | None,
    iterations: int | None,
    changes: list[str] | None,
    think: str | None,
    seed: int,
) -> "AgentPolicy":
    """What an agent plays, with progress."""
    from treeplex.runs.agents.judge import policy_of_agent
    from treeplex.runs.holdem.spot_game import SpotGame
    from treeplex.settings import pairs

    def watch(done: int, total: int, subgames: int) -> None:
        live.say(f"asking {text}  {done:,}/{total:,} public histories  {subgames:,} subgames solved")

    game = target.spot if isinstance(target, SpotGame) else target.tree()
    settings = {"iterations": iterations, **pairs(changes or [])}
    return policy_of_agent(game, text, plays=plays, seed=seed, think=think, watch=watch, **settings)


def origin_of_agent(text: str, asked: "AgentPolicy") -> dict[str, Any]:
    """What ``--json`` says of an agent's policy."""
    return {
        "algorithm": text,
        "iterations": None,
        "seconds": asked.seconds,
        "playthroughs": asked.plays,
        "subgames": asked.subgames,
    }


def measured_text(asked: "AgentPolicy | None") -> str:
    """What it took to ask an agent, in words; empty of a policy."""
    if asked is None:
        return ""
    plays = "" if asked.plays is None else f"the mean of {asked.plays:,} playthroughs, "
    return f"{plays}{asked.subgames:,} subgame{'s' * (asked.subgames != 1)} solved, {asked.seconds:.3g} s"


def print_judgement(
    judgement: "Judgement",
    *,
    title: str,
    value: float | None,
    regrets: Sequence[tuple[tuple[int, str], float]],
    measured: str = "",
) -> None:
    """Exploitability, what each player gets and could get, and the infostates that lose most, if any were asked for."""
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response",
        "NashConv": f"{judgement.nash_conv:.6e}   sum of the gains",
    }
    if value is not None:
        facts["exact value"] = f"{value:+.8f}   of player 0; the policy is {abs(judgement.value[0] - value):.3e} from it"
    if measured:
        facts["asked"] = measured
    print_facts(facts, title=title)
    pairs = zip(judgement.value, judgement.best_response_values, strict=True)
    rows = [[str(player), f"{own:+.8f}", f"{best:+.8f}", f"{best - own:.3e}"] for player, (own, best) in enumerate(pairs)]
    print_table(["player", "value", "best response", "gain"], rows, right=(1, 2, 3))
    if regrets:
        losses = [[str(player), infostate.strip(), f"{regret:.3e}"] for (player, infostate), regret in regrets]
        print_table(["player", "infostate", "regret"], losses, right=(2,))


def origin_of(policy: str) -> dict[str, Any]:
    """Algorithm, iterations and seconds behind a policy, as far as its file says."""
    from treeplex.forms.policies.files import read_policy_header
    from treeplex.forms.policies.sparse import is_table_policy, load_table_policy
    from treeplex.located_text import is_solved_spot
    from treeplex.runs.agents.registry import names_agent
    from treeplex.runs.solve.solvable import UNIFORM
    from treeplex.runs.solve.tree_game import policy_file

    if names_agent(policy):
        return {"algorithm": policy, "iterations": None, "seconds": None}
    if is_solved_spot(policy):
        from treeplex.runs.holdem.solution import load_solution

        solved = load_solution(policy)
        return {"algorithm": solved.algorithm, "iterations": solved.iterations, "seconds": solved.seconds}
    if policy == UNIFORM:
        return {"algorithm": UNIFORM, "iterations": 0, "seconds": 0.0}
    if is_table_policy(policy_file(policy)):
        about = load_table_policy(policy_file(policy)).about
        return {"algorithm": about.get("algorithm"), "iterations": whole_of(about.get("iterations")), "seconds": None}
    known = read_policy_header(policy_file(policy)).get("metadata", {})
    return {name: known.get(name) for name in ("algorithm", "iterations", "seconds")}


def whole_of(text: str | None) -> int | None:
    """A number of iterations as a file says it, None where it says none."""
    return int(text) if text is not None and text.isdecimal() and len(text) < 20 else None


@command("Read a strategy.", place=80, example="show run")
def show(
    policy: PolicyArgument,
    infostate: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Only this infostate, or all with this text; of a spot a line: 'x,b50%'."),
    ] = None,
    player: Annotated[
        int | None, typer.Option(metavar="I", help="Only this player's infostates; players count from 0.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="ROWS", min=0, help="The most rows to print; 0 for all.")] = 40,
    game: OfGame = None,
    complete: Complete = False,
    as_json: Json = False,
) -> None:
    """Read a strategy: the probability of every action at every infostate.

    Of a solved spot (turn.spot) it shows the first decision, or the line of --infostate, as treeplex holdem show does.

    \b
    Examples:
      treeplex show runs/kuhn
      treeplex show runs/leduc --player 1 --limit 10
      treeplex show runs/kuhn --infostate 0pb
      treeplex show turn.spot
    """
    from treeplex.located_text import is_solved_spot

    if is_solved_spot(policy):
        from treeplex.play.cli.holdem.show import show as show_spot

        if player not in (None, 0, 1):
            raise SpecError(f"a spot has players 0 (oop) and 1 (ip), not {player}")
        who = None if player is None else ("oop", "ip")[player]
        show_spot(Path(policy), line=infostate or "", player=who, as_json=as_json)
        return
    loaded = loaded_policy(policy, game, complete=complete)
    chosen = matching(loaded, infostate, player)
    shown = chosen[:limit] if limit else chosen
    if as_json:
        print_json([row_of(loaded, infoset) for infoset in shown])
        return
    compiled = loaded.game
    rows: list[list[str | Text]] = [
        [str(compiled.player_of(infoset)), compiled.infostates[infoset].strip() or "(empty)", strategy_text(loaded, infoset)]
        for infoset in shown
    ]
    several_lines = any("\n" in str(row[1]) for row in rows)
    print_table(["player", "infostate", "strategy"], rows, title=str(compiled), lines=several_lines)
    if len(shown) < len(chosen):
        typer.echo(f"{len(shown)} of {len(chosen):,} infostates; --limit 0 shows all, --infostate and --player choose")


def loaded_policy(policy: str, game: str | None, *, complete: bool = False) -> "Policy":
    """A policy from a run folder or file, or of an agent, on the game given or the one the file names."""
    from treeplex.forms.policies.files import load_policy
    from treeplex.runs.agents.judge import policy_of_agent
    from treeplex.runs.agents.registry import names_agent
    from treeplex.runs.job.folder import JobFolder, kind_of
    from treeplex.runs.solve.settings import SOLVE
    from treeplex.runs.solve.tree_game import policy_file

    if names_agent(policy):
        if game is None:
            raise SpecError(f"{policy} is an agent; name the game that it plays as well (--game)")
        return policy_of_agent(game, policy).policy
    if kind_of(policy) == SOLVE.name:
        folder = JobFolder(SOLVE, policy)
        refine = bool(folder.about()["settings"].get("refine"))
        return load_policy(policy_file(policy), folder.compiled(game, refine=refine))
    return load_policy(policy_file(policy), game, complete=complete)


def matching(policy: "Policy", text: str | None, player: int | None) -> list[int]:
    """The infosets asked for: an exact infostate, else all that contain the text."""
    game = policy.game
    if player is not None and not 0 <= player < game.players:
        raise PolicyError(f"{game} has players 0 to {game.players - 1}, not {player}")
    offsets = game.tree.infoset_offsets
    chosen = range(len(policy)) if player is None else range(int(offsets[player]), int(offsets[player + 1]))
    if text is None:
        return list(chosen)
    wanted = text.replace("\\n", "\n")
    found = [infoset for infoset in chosen if game.infostates[infoset] == wanted]
    found = found or [infoset for infoset in chosen if wanted in game.infostates[infoset]]
    if not found:
        raise PolicyError(f"no infostate of {game} contains {text!r}{hint(text, game.infostates)}")
    return found


def hint(text: str, infostates: Sequence[str]) -> str:
    """The nearest of the first infostates, or how to see them all."""
    close = difflib.get_close_matches(text, infostates[:HINTS_AMONG], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "; without --infostate all are shown"


def names_of(policy: "Policy", infoset: int) -> list[tuple[str, float]]:
    """Action names and probabilities at an infoset."""
    names = policy.game.action_names[policy.game.player_of(infoset)]
    return [(names.get(action, str(action)), probability) for action, probability in policy.at(infoset).items()]


def row_of(policy: "Policy", infoset: int) -> dict[str, Any]:
    """One infoset for ``--json``."""
    return {
        "player": policy.game.player_of(infoset),
        "infostate": policy.game.infostates[infoset],
        "actions": {str(action): probability for action, probability in policy.at(infoset).items()},
        "names": [name for name, _ in names_of(policy, infoset)],
    }


def strategy_text(policy: "Policy", infoset: int) -> "Text":
    """``Call 0.7500  Raise 0.2500``, the likeliest action in bold, actions never played in grey, lines not too long."""
    from rich.text import Text

    pairs = names_of(policy, infoset)
    best = max(probability for _, probability in pairs)
    text, length = Text(), 0
    for name, probability in pairs:
        entry = f"{printable(name)} {probability:.4f}"
        if length:
            fits = length + len(GAP) + len(entry) <= STRATEGY_WIDTH
            text.append(GAP if fits else "\n")
            length = length + len(GAP) if fits else 0
        text.append(entry, style="bold" if probability == best else "dim" if probability < 5e-5 else "")
        length += len(entry)
    return text


@command("Convert a policy, or write rules as .efg or .game.", place=90, example="export run policy.csv")
def export(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A run folder or policy file, or a game for .efg and .game.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its suffix chooses the format.")],
    game: OfGame = None,
    complete: Complete = False,
) -> None:
    """Convert a policy (.safetensors, .npz, .json, .csv), or write a game's rules (.efg, .game).

    \b
    Examples:
      treeplex export runs/leduc leduc.json
      treeplex export policy.npz policy.csv
      treeplex export kuhn_poker kuhn.efg
    """
    if out.suffix.lower() in RULES:
        if out.suffix.lower() == ".efg":
            from treeplex.forms.sources.efg_write import write_efg

            write_efg(source, out)
        else:
            from treeplex.forms.sources.liteefg_write import write_game_file

            write_game_file(source, out)
    else:
        from treeplex.forms.policies.files import WRITERS, by_suffix, save_policy, with_suffix

        by_suffix(with_suffix(out), WRITERS)
        known = {name: value for name, value in origin_of(source).items() if value is not None}
        save_policy(loaded_policy(source, game, complete=complete), out, metadata=known)
    typer.echo(f"wrote {out}")
