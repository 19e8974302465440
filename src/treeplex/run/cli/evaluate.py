"""``treeplex evaluate``: judge a policy, or what an agent plays in a small game."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted
from treeplex.errors import GameSizeError, SpecError
from treeplex.run.cli.policy import origin_of
from treeplex.run.cli.shared.arguments import Complete, GameArgument, Json, Limit, Refine, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_facts, print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.evaluate import Judgement
    from treeplex.run.solve.solvable import Solvable
    from treeplex.search.named_agents.agent_policy import AgentPolicy


@command("Judge a policy or an agent.", place=70, example="evaluate leduc_poker run")
def evaluate(
    game: GameArgument,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="A run folder, a policy file, a solved spot, a training folder, my.py:MyAgent, uniform, rebel, or "
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

    --worst adds the key worst to the JSON (player, infostate, regret), --exact the key exact_value (of player 0); of hold'em
    spots with blinds there is exploitability_mbb as well, thousandths of a big blind a hand. rebel is a
    trained network that comes with Treeplex, if there is one for the game; rebel:NAME chooses among several.

    \b
    Examples:
      treeplex evaluate leduc_poker runs/leduc
      treeplex evaluate leduc_poker policy.json --json
      treeplex evaluate turn.yaml turn.spot
      treeplex evaluate flop_holdem runs/flop
      treeplex evaluate kuhn_poker uniform --worst 5 --exact
      treeplex evaluate "liars_dice(dice=1,faces=4)" rebel --playthroughs 32
      treeplex evaluate "liars_dice(dice=1,faces=4)" runs/dice --playthroughs 1024
      treeplex evaluate leduc_poker "search(depth=3,drawn=false)"
    """
    from treeplex.learn.rebel.training.judge import is_rebel

    if is_rebel(policy):
        from treeplex.learn.cli.rebel import evaluate_rebel

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
    from treeplex.learn.rebel.training.whole import is_whole_folder

    if is_whole_folder(policy):
        from treeplex.learn.cli.rebel import evaluate_whole

        if worst or exact or refine or think is not None or changes or ray is not None or workers is not None:
            raise SpecError(
                "a network for whole hold'em is judged by --playthroughs and --iterations; leave the other options out"
            )
        evaluate_whole(
            game,
            policy,
            playthroughs=playthroughs,
            iterations=iterations,
            seed=seed,
            as_json=as_json,
            progress=progress,
        )
        return
    from treeplex.search.named_agents.registry import names_agent

    asked = Asking(playthroughs, iterations, changes, think, seed) if names_agent(policy) else None
    if asked is None and (playthroughs, iterations, changes or None, ray, workers, think) != (None,) * 6:
        raise SpecError(
            f"--playthroughs, --iterations, --set, --think, --workers and --ray are about agents, which {policy} is not"
        )
    if asked and (complete or refine or ray is not None or workers is not None):
        raise SpecError(f"--complete and --refine are about policies, --workers and --ray about ReBeL's networks, not {policy}")
    with Live(progress) as live:
        live.say(f"compiling {game}")
        target = prepared(game, policy, {name: value for name, value in (("refine", refine), ("limit", limit)) if value}, live)
        judged = judge(target, policy, asked, live, complete=complete, worst=worst, exact=exact)
    if as_json:
        print_json(judged.as_json())
    else:
        print_judged(judged, title=f"{policy} on {target.compiled}")


@dataclass(frozen=True)
class Asking:
    """How an agent is asked for its policy: options of the command.

    Attributes:
        plays: repeated playthroughs to average; None for the agent's own.
        iterations: of each search; None for the agent's own.
        changes: settings, ``KEY=VALUE``.
        think: time for each search; None for none.
        seed: of what it draws.
    """

    plays: int | None
    iterations: int | None
    changes: list[str] | None
    think: str | None
    seed: int


@dataclass(frozen=True)
class Judged:
    """What was found.

    Attributes:
        game: the game's spec.
        origin: where the policy comes from, for ``--json``.
        judgement: what it is worth.
        measured: what it took to ask an agent, in words; empty of a policy.
        regrets: the largest regrets with player and infostate; None where they were not asked for.
        exact_value: of player 0; None where it was not asked for.
        big_blind: chips, of a hold'em spot with blinds; else None.
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
        """Exploitability in thousandths of a big blind a hand."""
        return None if self.big_blind is None else 1000.0 * self.judgement.exploitability / self.big_blind

    def as_json(self) -> dict[str, Any]:
        """Everything, for ``--json``."""
        found = {
            "game": self.game,
            **self.origin,
            "exploitability": self.judgement.exploitability,
            "nash_conv": self.judgement.nash_conv,
            "value": list(self.judgement.value),
            "gains": list(self.judgement.gains),
        }
        if self.mbb is not None:
            found["exploitability_mbb"] = self.mbb
        if self.exact_value is not None:
            found["exact_value"] = self.exact_value
        if self.regrets is not None:
            found["worst"] = [{"player": i, "infostate": text, "regret": r} for (i, text), r in self.regrets]
        return found


def prepared(game: str, policy: str, options: dict[str, Any], live: Live) -> "Solvable":
    """The game, compiled."""
    from treeplex.run.solve.solve import solvable

    target = solvable(game)
    try:
        target.prepare(options, live)
    except GameSizeError as error:
        if not game.startswith("holdem"):
            raise
        remedy = f"treeplex lbr {quoted(game)} {quoted(policy)}"
        raise GameSizeError(f"{error}; or see what it loses at least: {remedy}") from error
    return target


def judge(
    target: "Solvable", text: str, asked: Asking | None, live: Live, *, complete: bool, worst: int, exact: bool
) -> Judged:
    """Judge the policy that a text names, or what the agent that it names plays."""
    from treeplex.holdem.solve.spot_game import SpotGame
    from treeplex.run.judge import exact_value, infostate_regrets

    if worst or exact:
        target.tree()
    live.say(f"judging {text}")
    if asked is None:
        policy, origin, measured = target.policy(text, complete=complete), origin_of(text), ""
    else:
        found = asked_policy(target, text, live, asked)
        policy, origin, measured = found.policy, origin_of_agent(text, found), measured_text(found)
    judgement = target.judge(policy)
    regrets = list(infostate_regrets(target, policy).items())[:worst] if worst else None
    if exact:
        live.say(f"solving {target.compiled.spec} exactly")
    value = exact_value(target) if exact else None
    blinds = target.spot.blinds if isinstance(target, SpotGame) else None
    return Judged(target.compiled.spec, origin, judgement, measured, regrets, value, blinds[1] if blinds else None)


def asked_policy(target: "Solvable", text: str, live: Live, asked: Asking) -> "AgentPolicy":
    """What an agent plays, with progress."""
    from treeplex.base.settings import pairs
    from treeplex.holdem.solve.spot_game import SpotGame
    from treeplex.search.named_agents.agent_policy import policy_of_agent

    def watch(done: int, total: int, subgames: int) -> None:
        live.say(f"asking {text}  {done:,}/{total:,} public histories  {subgames:,} subgames solved")

    game = target.spot if isinstance(target, SpotGame) else target.tree()
    settings = {"iterations": asked.iterations, **pairs(asked.changes or [])}
    return policy_of_agent(game, text, plays=asked.plays, seed=asked.seed, think=asked.think, watch=watch, **settings)


def origin_of_agent(text: str, asked: "AgentPolicy") -> dict[str, Any]:
    """What ``--json`` says of an agent's policy."""
    return {
        "algorithm": text,
        "iterations": None,
        "seconds": asked.seconds,
        "playthroughs": asked.plays,
        "subgames": asked.subgames,
    }


def measured_text(found: "AgentPolicy") -> str:
    """What it took to ask an agent, in words."""
    plays = "" if found.plays is None else f"the mean of {found.plays:,} playthroughs, "
    return f"{plays}{found.subgames:,} subgame{'s' * (found.subgames != 1)} solved, {three_digits(found.seconds)} s"


def print_judged(judged: Judged, *, title: str) -> None:
    """Exploitability, what each player gets and could get, and the infostates that lose most, if any were asked for."""
    judgement, value = judged.judgement, judged.exact_value
    facts = {
        "exploitability": f"{judgement.exploitability:.6e}   mean gain of a best response",
        "NashConv": f"{judgement.nash_conv:.6e}   sum of the gains",
    }
    if judged.mbb is not None:
        facts["per hand"] = f"{judged.mbb:.2f} mbb   exploitability in thousandths of a big blind"
    if value is not None:
        facts["exact value"] = f"{value:+.8f}   of player 0; the policy is {abs(judgement.value[0] - value):.3e} from it"
    if judged.measured:
        facts["asked"] = judged.measured
    print_facts(facts, title=title)
    pairs = zip(judgement.value, judgement.best_response_values, strict=True)
    rows = [[str(player), f"{own:+.8f}", f"{best:+.8f}", f"{best - own:.3e}"] for player, (own, best) in enumerate(pairs)]
    print_table(["player", "value", "best response", "gain"], rows, right=(1, 2, 3))
    if judged.regrets:
        losses = [[str(player), infostate.strip(), f"{regret:.3e}"] for (player, infostate), regret in judged.regrets]
        print_table(["player", "infostate", "regret"], losses, right=(2,))
