"""``treeplex evaluate``: exploitability of a policy, or of an agent in a small game."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import signed
from treeplex.base.spec import quoted
from treeplex.errors import GameSizeError, SpecError
from treeplex.run.cli.policy import origin_of
from treeplex.run.cli.shared.arguments import Complete, GameArgument, Json, Limit, Refine, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_facts, print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.evaluate import Judgement
    from treeplex.run.policy_source import Evaluation, PolicySource
    from treeplex.run.solve.solvable import Solvable

AGENTS = "Agents"
"""Heading of options for agents."""


@command("Measure how exploitable a policy or an agent is.", place=70, example="evaluate leduc_poker runs/leduc")
def evaluate(
    game: GameArgument,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="A run or training folder, a policy file, my.py:MyAgent, uniform, or an agent (treeplex agents).",
        ),
    ],
    worst: Annotated[
        int, typer.Option("--worst", metavar="ROWS", min=0, help="Also list the infostates with the largest regrets.")
    ] = 0,
    exact: Annotated[
        bool, typer.Option("--exact", help="Also solve the game by linear programming and compare values.")
    ] = False,
    playthroughs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Playthroughs to average over for randomised agents. Default: 32; ReBeL: 256, or exact with "
            "perfect information.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="T",
            help="Iterations per search. Default: the agent's setting.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the agent. ReBeL: method, depth, rounds, endgame, warm. Repeatable.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    think: Think = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            help="Random seed of the agent.",
            rich_help_panel=AGENTS,
        ),
    ] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="W",
            help="ReBeL only: number of processes. Default: all cores.",
            rich_help_panel=AGENTS,
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="ReBeL only: address of a Ray cluster, auto, or local.", rich_help_panel=AGENTS),
    ] = None,
    as_json: Json = False,
    complete: Complete = False,
    refine: Refine = False,
    limit: Limit = None,
    progress: ShowProgress = None,
) -> None:
    """Evaluate a policy: value and best-response gain of each player, exploitability and NashConv.

    Exploitability is the mean over players of the gain of a best response, NashConv the sum. An agent is queried at every
    infoset. A randomised agent is averaged over playthroughs. rebel is the pretrained network of the game, if there is one.

    \b
    Examples:
      treeplex evaluate leduc_poker runs/leduc
      treeplex evaluate turn.yaml turn.spot
      treeplex evaluate kuhn_poker uniform --worst 5 --exact
      treeplex evaluate "liars_dice(dice=1,faces=4)" rebel --playthroughs 32
    \f
    rebel:NAME selects one of several pretrained networks. In the JSON output, --worst adds the key worst (player, infostate,
    regret), --exact adds exact_value (to player 0), and hold'em spots with blinds have exploitability_mbb (mbb/hand).

    \b
    More examples:
      treeplex evaluate leduc_poker policy.json --json
      treeplex evaluate flop_holdem runs/flop
      treeplex evaluate "liars_dice(dice=1,faces=4)" runs/dice --playthroughs 1024
      treeplex evaluate leduc_poker "search(depth=3,drawn=false)"
    """
    from treeplex.run.policy_source import Evaluation, sources_named_by

    request = Evaluation(
        playthroughs, iterations, changes, think, seed, workers, ray, worst, exact, refine, complete, as_json, progress
    )
    sources = sources_named_by(policy)
    if any(source.evaluate(policy, game, request) for source in sources):
        return
    player = next((source for source in sources if source.plays), None)
    if player is None and (playthroughs, iterations, changes or None, ray, workers, think) != (None,) * 6:
        raise SpecError(f"--playthroughs, --iterations, --set, --think, --workers and --ray apply to agents, not to {policy}")
    with Live(progress) as live:
        live.say(f"compiling {game}")
        target = prepared(game, policy, {name: value for name, value in (("refine", refine), ("limit", limit)) if value}, live)
        judged = judge(target, policy, player, request, live)
    if as_json:
        print_json(judged.as_json())
    else:
        print_judged(judged, title=f"{policy} on {target.compiled}")


@dataclass(frozen=True)
class PolicyEvaluation:
    """Result of an evaluation.

    Attributes:
        game: the game's spec.
        origin: where the policy comes from, for ``--json``.
        judgement: value and exploitability.
        measured: description of the queries to an agent; empty for a policy.
        regrets: the largest regrets with player and infostate; None if not requested.
        exact_value: exact value of the game to player 0; None if not requested.
        big_blind: big blind in chips for a hold'em spot with blinds, else None.
    """

    game: str
    origin: dict[str, Any]
    judgement: "Judgement"
    measured: str
    regrets: list[tuple[tuple[int, str], float]] | None
    exact_value: float | None
    big_blind: float | None

    @property
    def mbb(self) -> float | None:
        """Exploitability in mbb/hand."""
        return None if self.big_blind is None else 1000.0 * self.judgement.exploitability / self.big_blind

    def as_json(self) -> dict[str, Any]:
        """Return all results for ``--json``."""
        data = {
            "game": self.game,
            **self.origin,
            "exploitability": self.judgement.exploitability,
            "nash_conv": self.judgement.nash_conv,
            "value": list(self.judgement.value),
            "gains": list(self.judgement.gains),
        }
        if self.mbb is not None:
            data["exploitability_mbb"] = self.mbb
        if self.exact_value is not None:
            data["exact_value"] = self.exact_value
        if self.regrets is not None:
            data["worst"] = [{"player": i, "infostate": text, "regret": r} for (i, text), r in self.regrets]
        return data


def prepared(game: str, policy: str, options: dict[str, Any], live: Live) -> "Solvable":
    """Return the compiled game."""
    from treeplex.forms.sources.load import load
    from treeplex.run.solve.solve import solvable

    target = solvable(game)
    try:
        target.prepare(options, live)
    except GameSizeError as error:
        if load(game).public_game() is None:
            raise
        remedy = f"treeplex lbr {quoted(game)} {quoted(policy)}"
        raise GameSizeError(f"{error}; or compute a lower bound: {remedy}") from error
    return target


def judge(target: "Solvable", text: str, player: "PolicySource | None", request: "Evaluation", live: Live) -> PolicyEvaluation:
    """Evaluate a policy or an agent named on the command line."""
    from treeplex.run.judge import exact_value, infostate_regrets

    if request.worst or request.exact:
        target.tree()
    live.say(f"judging {text}")
    if player is None:
        policy, origin, cost = target.policy(text, complete=request.complete), origin_of(text), ""
    else:
        policy, origin, cost = player.ask(text, target.played, request)
    judgement = target.judge(policy)
    regrets = list(infostate_regrets(target, policy).items())[: request.worst] if request.worst else None
    if request.exact:
        live.say(f"solving {target.compiled.spec} exactly")
    value = exact_value(target) if request.exact else None
    return PolicyEvaluation(target.compiled.spec, origin, judgement, cost, regrets, value, target.big_blind)


def print_judged(judged: PolicyEvaluation, *, title: str) -> None:
    """Print exploitability, values, best-response gains, and the worst infostates if requested."""
    judgement, value = judged.judgement, judged.exact_value
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response",
        "NashConv": f"{judgement.nash_conv:.6e}   sum of the gains",
    }
    if judged.mbb is not None:
        facts["per hand"] = f"{judged.mbb:.2f} mbb/hand   exploitability"
    if value is not None:
        facts["exact value"] = f"{signed(value)}   to player 0; the policy differs by {abs(judgement.value[0] - value):.3e}"
    if judged.measured:
        facts["asked"] = judged.measured
    print_facts(facts, title=title)
    pairs = zip(judgement.value, judgement.best_response_values, strict=True)
    rows = [[str(player), signed(mean), signed(best), f"{best - mean:.3e}"] for player, (mean, best) in enumerate(pairs)]
    print_table(["player", "value", "best response", "gain"], rows, right=(1, 2, 3))
    if judged.regrets:
        losses = [[str(player), infostate.strip(), f"{regret:.3e}"] for (player, infostate), regret in judged.regrets]
        print_table(["player", "infostate", "regret"], losses, right=(2,))
