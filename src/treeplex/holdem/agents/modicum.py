"""Modicum: solves to a depth limit, beyond which the opponent chooses among continuations of the blueprint."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import plays_blueprint, whole_agent
from treeplex.holdem.agents.spot_blueprint import SpotBlueprint, SpotHands
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.street_solving import FLOP_BOARDS, PROMISES, RANGES, StreetSolving
from treeplex.holdem.solve.solution import load_solution
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.blueprint_file import blueprint_policy
from treeplex.search.named_agents.common import ResolvingAgentSettings, horizon_for, resolving_agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.resolving.continuations import BOARDS, BlueprintLeaf, biased_policies
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.resolving.self_generation import self_generated_policies
from treeplex.search.resolving.settings import ROUND

BIASED = 4
"""Number of continuations: the blueprint, and the blueprint biased towards folding, calling and raising."""
BIAS, GENERATE = "bias", "self-generative"
"""How continuations are generated: biased blueprints, or best responses to searches of the first round."""
FLOP_BETS = "75%"
"""Bet sizes on the flop in full-game hold'em."""


@dataclass(frozen=True, kw_only=True)
class ModicumSettings(ResolvingAgentSettings):
    """Settings of Modicum."""

    blueprint: str = setting(help="run folder, policy file, solved spot, or full-game hold'em blueprint")
    continuations: int = setting(BIASED, "number of continuations that the opponent chooses from at leaves", low=1)
    approach: str = setting(
        BIAS, "how continuations are generated: biased blueprints, or best responses to searches", choices=(BIAS, GENERATE)
    )
    bias: float = setting(10.0, "factor by which a bias multiplies its actions' probabilities", above=0)
    rounds: int = setting(1, "betting rounds in a subgame", low=1)
    boards: int | None = setting(
        None,
        f"in hold'em: maximum number of complete boards used to value continuations (none: {BOARDS}, on flops {FLOP_BOARDS})",
        low=1,
    )
    promises: str = setting(
        RANGES,
        "full-game hold'em: values that a first solve guarantees: best responses to the blueprint, the blueprint's, or none",
        choices=PROMISES,
    )
    every: str = ROUND

    def check(self) -> None:
        super().check()
        if self.approach == BIAS and self.continuations > BIASED:
            raise SpecError(
                f"continuations is {self.continuations}, but there are only {BIASED} biased ones; give at most that "
                f"many, or use approach={GENERATE}"
            )


def whole_solving(settings: ModicumSettings) -> StreetSolving:
    """Street-solving settings for full-game hold'em: flop solves stop at the end of the flop, turn solves include the river.

    Raises:
        SpecError: a setting that full-game hold'em does not support.
    """
    other_bias = settings.bias != ModicumSettings.bias
    if settings.approach != BIAS or other_bias or settings.rounds != 1 or settings.every != ROUND or settings.skip:
        raise SpecError(
            "'approach', 'bias', 'rounds', 'every' and 'skip' have no effect in full-game hold'em "
            f"(bias is {ModicumSettings.bias:g}); leave them out"
        )
    if settings.gadget not in RESOLVING[:3]:
        raise SpecError(f"full-game hold'em does not support gadget={settings.gadget}; use gadget={' or '.join(RESOLVING[:3])}")
    return StreetSolving(
        start=1,
        bets=(FLOP_BETS, *StreetSolving().bets),
        iterations=settings.iterations,
        gadget=settings.gadget,
        method=settings.method,
        threads=settings.threads,
        promises=settings.promises,
        continuations=settings.continuations,
        boards=settings.boards or FLOP_BOARDS,
    )


class Modicum(AgentKind):
    """Depth-limited solving in which the opponent chooses a continuation policy at each leaf."""

    name = "modicum"
    text = "re-solves each betting round, with leaf values from continuations of a blueprint"
    source = "Brown, Sandholm and Amos 2018"
    plays = "two-player games with a public tree; hold'em spots; two-player no-limit holdem"
    example = "modicum(blueprint=runs/leduc)"
    settings = ModicumSettings

    def make(self, game: Game, settings: ModicumSettings, generator: np.random.Generator) -> Agent:
        if plays_blueprint(game, settings.blueprint):
            return whole_agent(game, settings.blueprint, whole_solving(settings), settings.think, generator)
        if settings.promises != RANGES:
            raise SpecError("'promises' applies only to full-game hold'em with a blueprint for it; leave it out")
        horizon = horizon_for(game, settings.rounds)
        if isinstance(game.public, HoldemGame):
            leaves = spot_leaves(game.public, settings)
            return resolving_agent(game, settings, generator, horizon=horizon, leaves=leaves)
        policy: Policy = blueprint_policy(game, settings.blueprint)

        def choices(player: int) -> list[Policy]:
            if settings.continuations == 1:
                return [policy]
            if settings.approach == BIAS:
                return biased_policies(policy, settings.bias)[: settings.continuations]
            return self_generated_policies(
                public_tree(game.public),
                policy,
                player,
                settings.continuations,
                horizon=horizon,
                method=settings.method,
                iterations=settings.iterations,
            )

        leaves = [BlueprintLeaf(public_tree(game.public), policy, {1 - player: choices(1 - player)}) for player in (0, 1)]
        return resolving_agent(game, settings, generator, horizon=horizon, leaves=leaves)


def spot_leaves(game: HoldemGame, settings: ModicumSettings) -> list[BlueprintLeaf]:
    """Leaf values of a spot for each player, taken from a solution of the spot whose bet sizes may be a subset.

    Raises:
        SpecError: generated continuations.
        PolicyError, FileError: the file cannot be read, or is a solution of another spot.
    """
    if settings.approach != BIAS:
        raise SpecError("a spot supports biased continuations only; leave out 'approach'")
    solution = load_solution(settings.blueprint).policy
    SpotBlueprint(solution).check(game, 0)
    policy = SpotHands(solution)
    choices = biased_policies(policy, settings.bias)[: settings.continuations]
    return [BlueprintLeaf(game, policy, {1 - player: choices}, boards=settings.boards or BOARDS) for player in (0, 1)]
