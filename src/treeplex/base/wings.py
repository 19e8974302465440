"""The wings: packages that add games, agents, learners and commands, imported on first use.

The core never imports a wing directly. A wing defines ``WING`` in its module ``wing`` and has one line in :data:`WINGS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

WINGS = ("treeplex.search.wing", "treeplex.holdem.wing", "treeplex.learn.wing", "treeplex.web.wing")
"""Modules of wings, lowest first; each may import those before it."""


@dataclass(frozen=True)
class Wing:
    """Contributions of a wing. An entry ``"package.module:name"`` refers to that name in that module.

    Attributes:
        games: descriptions of games (:class:`treeplex.games.parameters.GameInfo`) by name, in the order to list.
        loaders: functions that load a game from text, by the text or its ending, such as ``.yaml``.
        solvables: classes of games that are solved without being compiled
            (:class:`treeplex.run.solve.solvable.Solvable`), for messages about their options.
        sources: classes of policy sources (:class:`treeplex.run.policy_source.PolicySource`).
        policy_files: functions from a name such as ``network:NAME`` to its policy file, by prefix.
        devices: functions that return a solver on a device other than the CPU, or None.
        spot_devices: functions for hold'em spots on such a device: ``device`` resolves its name, ``form`` returns the form
            of a compiled spot there, and ``memory`` predicts the memory of solving one.
        warm_ups: functions that compile kernels, by purpose.
        first_streets: functions that solve only the first street of a hold'em spot, with values at its leaves: ``job`` and
            ``unlike_training``.
        agents: kinds of agents (:class:`treeplex.search.named_agents.kind.AgentKind`), classes, in display order. A class with
            the name of a lower wing's class replaces it; it is a subclass that supports more games.
        played_folders: agents that play a job's folder, by the kind of job: ``"agent:setting that names the folder"``.
        agent_texts: functions from a text to the agent's :class:`treeplex.base.spec.Spec`, or None if they do not recognise it.
        learners: kinds of training (:class:`treeplex.learn.train.kind.TrainingKind`): classes, values or tuples of them.
        options: options added to commands of lower wings (:class:`treeplex.run.cli.shared.commands.WingOptions`), values or
            tuples of them.
        commands: packages whose modules define commands of ``treeplex``.
        groups: modules with a command group ``group``, and its help text.
    """

    games: Mapping[str, str] = field(default_factory=dict)
    loaders: Mapping[str, str] = field(default_factory=dict)
    solvables: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    policy_files: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    spot_devices: Mapping[str, str] = field(default_factory=dict)
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
    """Return the :class:`Wing` of every wing, lowest first, without importing anything else of a wing."""
    return tuple(import_module(module).WING for module in WINGS)


def named(entry: str) -> Any:
    """Resolve an entry ``"package.module:name"``."""
    module, _, name = entry.partition(":")
    return getattr(import_module(module), name)


def provided(what: str) -> list[Any]:
    """Collect one list field of :class:`Wing` over all wings, with entries resolved and tuples flattened."""
    values = [named(entry) for wing in wings() for entry in getattr(wing, what)]
    return [item for value in values for item in (value if isinstance(value, tuple) else (value,))]


def provided_by_name(what: str) -> dict[str, str]:
    """Collect one mapping field of :class:`Wing` over all wings, without resolving its entries."""
    return {name: entry for wing in wings() for name, entry in getattr(wing, what).items()}
