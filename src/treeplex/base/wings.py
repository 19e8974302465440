"""The wings: games, agents, learners and commands they add, imported on first use.

The core imports no wing. A wing has one value, ``WING`` in its module ``wing``, and one line in :data:`WINGS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

WINGS = ("treeplex.search.wing", "treeplex.holdem.wing", "treeplex.learn.wing", "treeplex.web.wing")
"""Modules of wings, the lowest first: each may use those before it."""


@dataclass(frozen=True)
class Wing:
    """Contributions of a wing. An entry ``"package.module:name"`` is what has that name there.

    Attributes:
        games: descriptions of games (:class:`treeplex.games.parameters.GameInfo`) by name, in the order to list.
        loaders: what makes a game of a text, by what the text is or by how it ends, ``.yaml``.
        solvables: classes of what is solved in another way than games that are compiled
            (:class:`treeplex.run.solve.solvable.Solvable`).
        sources: classes of what policies are read from (:class:`treeplex.run.policy_source.PolicySource`).
        policy_files: functions from a name such as ``network:NAME`` to its policy file, by what such names begin with.
        devices: functions that make a solver on another device than the processor, or None.
        warm_ups: functions that compile kernels, by what they are for.
        first_streets: functions with which hold'em solves a spot's first street alone, values behind it: ``job``, and
            ``unlike_training``.
        agents: kinds of agents (:class:`treeplex.search.named_agents.kind.AgentKind`), classes, in the order to list. One that
            has the name of a lower wing's stands for it: a subclass that knows more games.
        played_folders: folders that agents play, by the kind of job that wrote them: ``"agent:setting that names the folder"``.
        agent_texts: functions from other texts to the agent that they mean, a :class:`treeplex.base.spec.Spec`; None of others.
        learners: kinds of trainings (:class:`treeplex.learn.train.kind.TrainingKind`): classes, values or tuples of them.
        options: options of commands below the wing (:class:`treeplex.run.cli.shared.commands.WingOptions`), values or tuples
            of them.
        commands: packages whose files have commands of ``treeplex``.
        groups: modules with a group of commands, ``group``, and what the help says of it.
    """

    games: Mapping[str, str] = field(default_factory=dict)
    loaders: Mapping[str, str] = field(default_factory=dict)
    solvables: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    policy_files: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    warm_ups: Mapping[str, str] = field(default_factory=dict)
    first_streets: Mapping[str, str] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    played_folders: Mapping[str, str] = field(default_factory=dict)
    agent_texts: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)


@cache
def wings() -> tuple[Wing, ...]:
    """The :class:`Wing` of every wing, lowest first; imports nothing else of a wing."""
    return tuple(import_module(module).WING for module in WINGS)


def named(entry: str) -> Any:
    """Resolve an entry ``"package.module:name"``."""
    module, _, name = entry.partition(":")
    return getattr(import_module(module), name)


def provided(what: str) -> list[Any]:
    """What all wings provide under one of the fields of :class:`Wing` that list entries; a tuple counts as its items."""
    found = [named(entry) for wing in wings() for entry in getattr(wing, what)]
    return [item for each in found for item in (each if isinstance(each, tuple) else (each,))]


def provided_by_name(what: str) -> dict[str, str]:
    """The entries of all wings under one of the fields of :class:`Wing` that map names to entries; nothing is imported."""
    return {name: entry for wing in wings() for name, entry in getattr(wing, what).items()}
