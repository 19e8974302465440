"""Modicum: subgames end with the betting round, where the opponent chooses how a blueprint goes on."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import whole_agent
from treeplex.holdem.agents.spot_blueprint import SpotBlueprint, SpotHands
from treeplex.holdem.blueprint.policy import is_holdem_blueprint
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.street_solving import FLOP_BOARDS, PROMISES, RANGES, StreetSolving
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.blueprint_file import blueprint_policy
from treeplex.search.named_agents.common import ResolvingSettings, horizon_for, resolving_agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.resolving.continuations import BOARDS, BlueprintLeaf, biased_policies
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.search.resolving.self_generation import self_generated_policies
from treeplex.search.resolving.settings import ROUND

BIASED = 4
"""The blueprint, and the same biased to folding, to calling and to raising."""
BIAS, GENERATE = "bias", "self-generative"
"""How continuations are made: biased versions of the blueprint, or best responses to the searches of the first round."""
FLOP_BETS = "75%"
"""Bet sizes on the flop of whole hold'em."""


@dataclass(frozen=True, kw_only=True)
class ModicumSettings(ResolvingSettings):
    """Settings of Modicum."""

    blueprint: str = setting(help="a run folder, policy file, solved spot, or blueprint of whole hold'em")
    continuations: int = setting(BIASED, "among how many policies the opponent chooses behind leaves", low=1)
    approach: str = setting(BIAS, "how these are made: biased, or as best responses to searches", choices=(BIAS, GENERATE))
    bias: float = setting(10.0, "how many times as likely the actions of a bias become", above=0)
    rounds: int = setting(1, "betting rounds until a subgame ends", low=1)
    boards: int | None = setting(
        None,
        f"in hold'em: complete boards at most that continuations are valued on; none: {BOARDS}, on flops {FLOP_BOARDS}",
        low=1,
    )
    promises: str = setting(
        RANGES,
        "whole hold'em: a first solve keeps what hands could get against the blueprint, get by it, or ranges",
        choices=PROMISES,
    )
    every: str = ROUND

    def check(self) -> None:
        super().check()
        if self.approach == BIAS and self.continuations > BIASED:
            raise SpecError(
                f"continuations must be at most {BIASED} where they are biased, not {self.continuations}; "
                f"approach={GENERATE} makes more"
            )


def whole_solving(settings: ModicumSettings) -> StreetSolving:
    """Street solving for whole hold'em: the flop is solved to the end of its betting, the turn with its rivers.

    Raises:
        SpecError: a setting that only other games have.
    """
    other_bias = settings.bias != ModicumSettings.bias
    if settings.approach != BIAS or other_bias or settings.rounds != 1 or settings.every != ROUND or settings.skip:
        raise SpecError(
            f"in whole hold'em continuations are biased by {ModicumSettings.bias:g}, and each street is solved once; leave "
            "approach, bias, rounds, every and skip out"
        )
    if settings.gadget not in RESOLVING[:3]:
        raise SpecError(f"in whole hold'em no gifts are counted; give gadget={' or '.join(RESOLVING[:3])}")
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
    """Depth-limited solving with continuations."""

    name = "modicum"
    text = "solves each round again, its end valued by continuations of a blueprint"
    source = "Brown, Sandholm and Amos 2018"
    plays = "games of two players with a public tree; hold'em spots; holdem of two players without limit"
    example = "modicum(blueprint=runs/leduc)"
    settings = ModicumSettings

    def make(self, game: Game, settings: ModicumSettings, generator: np.random.Generator) -> Agent:
        if isinstance(game.public, PublicHoldem) and is_holdem_blueprint(settings.blueprint):
            return whole_agent(game, settings.blueprint, whole_solving(settings), settings.think, generator)
        if settings.promises != RANGES:
            raise SpecError(
                "promises is for whole hold'em with a blueprint of it; here the blueprint's are kept: leave promises out"
            )
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
    """For each player the leaves of a spot, whose blueprint is a solution of it, perhaps with fewer bets.

    Raises:
        SpecError: generated continuations.
        PolicyError, FileError: a solution of another spot, or one that cannot be read.
    """
    if settings.approach != BIAS:
        raise SpecError("continuations of a spot are biased; leave approach out")
    solution = load_solution(settings.blueprint).policy
    SpotBlueprint(solution).check(game, 0)
    policy = SpotHands(solution)
    choices = biased_policies(policy, settings.bias)[: settings.continuations]
    return [BlueprintLeaf(game, policy, {1 - player: choices}, boards=settings.boards or BOARDS) for player in (0, 1)]
