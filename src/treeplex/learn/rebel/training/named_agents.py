"""Agents that search by themselves: ReBeL's networks, and searches with exact, custom or no leaf values."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.base.spec import Spec
from treeplex.errors import SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.of_users import load_leaf
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.leaf import LeafValue, ZeroLeaf
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.settings import PlaythroughSettings

SEARCHED = ("method", "depth", "rounds", "endgame")
"""Settings of a search of public trees that turns of hold'em leave no choice about, but for the method."""
ITERATIONS = 128
"""Iterations of each search with a custom leaf."""


@dataclass(frozen=True)
class SearchAgentSettings(AgentSettings):
    """How subgames are searched; none: as the network was trained, else Discounted CFR and two actions deep."""

    iterations: int | None = setting(None, "iterations of each search; none: the network's own, else 128", low=1)
    think: float | None = setting(None, "seconds for each decision; none: as long as the iterations take", above=0)
    method: str | None = setting(None, "how subgames are solved", choices=METHODS, listed=METHOD_NAMES)
    depth: int | None = setting(None, "actions until a subgame is cut off; 0: as many as there are", low=0)
    rounds: bool | None = setting(None, "whether a subgame is cut off at the end of a betting round as well")
    endgame: int | None = setting(None, "the most public nodes of an endgame that is not cut off", low=0)
    river: int = setting(64, "of turns of hold'em: iterations in a solution of the rivers", low=1)
    threads: int | None = setting(None, "of turns of hold'em with exact values; none: one per core allowed", low=1)
    drawn: bool | None = setting(
        None,
        "whether an iteration drawn at random is played, and not the average policy; none: yes, but not on turns of hold'em",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """What was chosen for public trees, by name."""
        return {name: getattr(self, name) for name in SEARCHED if getattr(self, name) is not None}

    def turn_agent(self, game: HoldemGame, source: str | None, generator: np.random.Generator) -> Agent:
        """An agent for a turn of hold'em, from a source of values; None for exact ones."""
        from treeplex.learn.first_street import search as turns
        from treeplex.learn.first_street.agent import turn_agent

        for name in SEARCHED[1:]:
            if getattr(self, name) is not None:
                raise SpecError(f"{name} is about games with a public tree; streets of hold'em are searched to their end")
        agent, net = turn_agent(
            game,
            source,
            generator,
            iterations=self.iterations or turns.ITERATIONS,
            method=self.method or turns.METHOD,
            river=self.river,
            threads=self.threads,
            drawn=bool(self.drawn),
        )
        agent.think = self.think
        iterations, method = agent.settings.iterations, agent.settings.method
        values = f"{source}: values of rivers by a network" if net is not None else "values of rivers solved exactly"
        agent.about = f"{values}, {iterations} iterations of {method} a search"
        if differs := turns.unlike(net, game.spot):
            agent.about += f"; beware: the network was not trained for this: the spot has {', '.join(differs)}"
        return agent


@dataclass(frozen=True)
class RebelAgentSettings(SearchAgentSettings):
    """A network, and how subgames are searched with it."""

    network: str | None = setting(
        None, "a training folder or net.safetensors, or the name of one that comes with the library; none: the best of those"
    )
    warm: int | None = setting(None, "iterations that the guess of a policy network counts as", low=0)
    net: str | None = setting(None, "of a network of one's own the code again, my.py:NAME")


class Rebel(AgentKind):
    """A value network, and search over it."""

    name = "rebel"
    text = "searches with a value network, and plays a random iteration of each search"
    source = "Brown, Bakhtin, Lerer and Gong 2020, Combining deep reinforcement learning and search (ReBeL)"
    plays = "games of two players with a public tree; turns of hold'em, and whole hold'em"
    example = "rebel(network=runs/dice,iterations=128)"
    settings = RebelAgentSettings

    def takes_time(self, game: Game) -> bool:
        """Not on whole hold'em."""
        return not isinstance(game.public, PublicHoldem)

    def make(self, game: Game, settings: RebelAgentSettings, generator: np.random.Generator) -> Agent:
        from treeplex.learn.rebel.shipped_nets import REBEL, shipped_name, shipped_nets
        from treeplex.learn.rebel.training.judge import is_shipped, net_of

        source = settings.network or REBEL
        if isinstance(game.public, HoldemGame):
            return settings.turn_agent(game.public, source, generator)
        if isinstance(game.public, PublicHoldem):
            return whole_agent(game.public, settings, generator)
        if not is_shipped(source) and source in shipped_nets():
            source = f"{REBEL}:{source}"
        net = net_of(source, public_tree(game.public))
        searching = net.searching(**settings.chosen, iterations=settings.iterations or net.play_iterations, warm=settings.warm)
        agent = SearchAgent(
            public_tree(game.public),
            net.leaf(public_tree(game.public), settings.net),
            searching,
            generator,
            drawn=settings.drawn is not False,
        )
        agent.think = settings.think
        solved, iterations = net.card["solved"], searching.iterations
        agent.about = f"{shipped_name(net) or source}: trained on {solved:,} subgames, {iterations} iterations per search"
        return agent


def whole_agent(game: PublicHoldem, settings: RebelAgentSettings, generator: np.random.Generator) -> Agent:
    """An agent for whole hold'em, with the raises that its network was trained with.

    Raises:
        SpecError: no network that comes with the library fits and no training is named, or a setting that it does not know.
        PolicyError: a network for other cards, blinds or stacks.
    """
    from treeplex.holdem.street_search.agent import WholeSearchAgent
    from treeplex.learn.rebel.training.whole import shipped_whole_net, trained_game, whole_net
    from treeplex.learn.rebel.whole.nets import leaf_of

    if settings.think is not None:
        raise SpecError(
            "think is not for rebel at whole hold'em, which searches by iterations alone; give iterations, or an agent that "
            "takes a time: endgames, libratus, modicum or, of three and more players, pluribus"
        )
    given = [name for name in ("depth", "rounds", "endgame", "warm", "net") if getattr(settings, name) is not None]
    if given:
        raise SpecError(f"{given[0]} is not for whole hold'em, whose streets are searched to their end; give iterations")
    source = settings.network
    if source is None or not os.path.exists(source):
        net = shipped_whole_net(game, source)
        source = f"rebel:{net.path.stem}"
    else:
        net = whole_net(source, None)
    own = trained_game(net, game)
    searching = PlaythroughSettings(
        method=settings.method or str(net.settings["method"]), iterations=settings.iterations or net.play_iterations
    )
    agent = WholeSearchAgent(game, own, leaf_of(net, own), searching, generator, drawn=settings.drawn is not False)
    agent.about = f"{source}: trained on {net.card['solved']:,} subgames, {searching.iterations} iterations a street"
    return agent


@dataclass(frozen=True)
class LookingAheadSettings(SearchAgentSettings):
    """Where the values of a search come from, and how it searches."""

    leaf: str = setting("exact", "values where a search ends: exact, zero, or one's own, my.py:NAME")


class LookingAhead(AgentKind):
    """A search of some actions, with values from elsewhere."""

    name = "search"
    text = "searches some actions ahead; values after them are exact, zero or one's own"
    source = "Brown, Bakhtin, Lerer and Gong 2020 (ReBeL), section 6, without a network"
    plays = "games of two players with a public tree; hold'em from the turn on"
    example = "search(depth=2,leaf=exact)"
    settings = LookingAheadSettings

    def make(self, game: Game, settings: LookingAheadSettings, generator: np.random.Generator) -> Agent:
        if isinstance(game.public, HoldemGame):
            if settings.leaf == "zero":
                raise SpecError("turns of hold'em are searched with leaf=exact or one of your own, my.py:NAME")
            return settings.turn_agent(game.public, None if settings.leaf == "exact" else settings.leaf, generator)
        leaf: LeafValue = LEAVES[settings.leaf]() if settings.leaf in LEAVES else load_leaf(settings.leaf)
        searching = PlaythroughSettings(**settings.chosen, iterations=settings.iterations or ITERATIONS)
        agent = SearchAgent(public_tree(game.public), leaf, searching, generator, drawn=settings.drawn is not False)
        agent.think = settings.think
        return agent


LEAVES = {"exact": ExactLeaf, "zero": ZeroLeaf}
"""Leaves by name."""


def names_rebel(text: str) -> bool:
    """Whether a text names a network that comes with the library, a file with one, or the folder of a training."""
    from treeplex.learn.rebel.training.job import is_turn_folder
    from treeplex.learn.rebel.training.judge import is_rebel
    from treeplex.learn.rebel.training.whole import is_whole_folder

    return is_rebel(text) or is_turn_folder(text) or is_whole_folder(text)


def rebel_named(text: str) -> Spec | None:
    """ReBeL, where a text :func:`names_rebel`; else None.

    Raises:
        SpecError: ``rebel:`` without a name.
    """
    from treeplex.learn.rebel.training.judge import is_shipped

    if is_shipped(text):
        _, colon, name = text.partition(":")
        if colon and not name:
            raise SpecError(f"{text} names no network; write rebel for the best one, or rebel:NAME")
        return Spec("rebel", {"network": name} if name else {})
    return Spec("rebel", {"network": text}) if names_rebel(text) else None
