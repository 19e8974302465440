"""Custom agents and leaf values from the user's files: ``my.py:MyAgent(depth=2)``, ``my.py:MyLeaf``."""

import inspect
from inspect import signature
from typing import Any

import numpy as np

from treeplex.errors import SpecError
from treeplex.forms.sources.user_module import ObjectKind, load_user_object, user_source
from treeplex.games.public import PublicGame
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.leaf import LeafValue

PLAYS = ("begin", "see", "policy", "act")
"""Methods that an agent must have."""
LEAF_PARAMETERS = ("places", "believed", "reached")
"""The first parameters of a leaf-value function, in this order, before ``player=None``."""


def is_agent(thing: object) -> bool:
    """Whether an object is an agent or an agent class."""
    return all(callable(getattr(thing, name, None)) for name in PLAYS)


def is_leaf_class(thing: object) -> bool:
    """Whether an object is a leaf-value class."""
    return inspect.isclass(thing) and "__call__" in dir(thing) and not is_agent(thing)


def is_leaf(thing: Any) -> bool:
    """Whether an object is a leaf-value function: a callable of public states, beliefs and reach probabilities."""
    if inspect.isclass(thing) or not callable(thing):
        return False
    return not inspect.isfunction(thing) or not set(LEAF_PARAMETERS).isdisjoint(signature(thing).parameters)


def is_agent_class(thing: object) -> bool:
    """Whether an object is an agent class."""
    return inspect.isclass(thing) and is_agent(thing)


AGENT = ObjectKind("agent", "MyAgent", "class of agents", is_agent_class, lambda thing: False)
LEAF = ObjectKind("leaf", "MyLeaf", "class of leaves", is_leaf_class, is_leaf)


def load_leaf(text: str) -> LeafValue:
    """Load leaf values from ``file.py:NAME`` or ``file.py:NAME(key=value)``, a class, object or function; executes the file.

    Raises:
        SpecError: the file, name or parameter does not exist, the file raises an exception, or the object is not a leaf-value
            function.
    """
    source, spec = user_source(text, LEAF)
    required = inspect.isfunction(source) and any(
        parameter.default is parameter.empty for parameter in signature(source).parameters.values()
    )
    leaf: LeafValue = source if required and not spec.parameters else load_user_object(text, LEAF)
    wanted = "a leaf must accept (places, believed, reached, player=None), in this order"
    if not callable(leaf) or inspect.isclass(leaf):
        raise SpecError(f"{text!r} is a {type(leaf).__name__}, not a leaf; {wanted}")
    if (names := tuple(signature(leaf).parameters)[:3]) != LEAF_PARAMETERS and names[:1] != ("args",):
        raise SpecError(f"{text!r} has parameters {signature(leaf)}; {wanted}")
    return leaf


def names_leaf(text: str) -> bool:
    """Whether ``file.py:NAME`` is a leaf-value function rather than an agent; executes the file.

    Raises:
        SpecError: as in :func:`load_agent`.
    """
    source, _ = user_source(text, AGENT)
    return is_leaf(source) or is_leaf_class(source)


def load_agent(text: str, game: PublicGame, generator: np.random.Generator) -> Agent:
    """Create the agent in ``file.py:NAME`` or ``file.py:NAME(key=value)``; executes the file.

    Args:
        text: name of a class or function that is called with the game.
        game: the game.
        generator: random generator of its draws.

    Raises:
        SpecError: the file, name or parameter does not exist, the file raises an exception, or the object is not an agent.
    """
    agent: Agent = load_user_object(text, AGENT, game)
    if not is_agent(agent):
        lacks = ", ".join(name for name in PLAYS if not callable(getattr(agent, name, None)))
        raise SpecError(
            f"{text!r} is a {type(agent).__name__}, not an agent: it lacks {lacks}; derive it from treeplex.search.BaseAgent"
        )
    return drawing_with(generator, agent)


def drawing_with(generator: np.random.Generator, agent: Agent) -> Agent:
    """Let a custom agent draw from a random generator, if it derives from :class:`treeplex.search.BaseAgent`."""
    if isinstance(agent, BaseAgent):
        agent.generator = generator
    return agent
