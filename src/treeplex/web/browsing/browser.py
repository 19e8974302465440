"""Browses a strategy on any game's tree, by public states if the game defines them, otherwise by histories."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex import evaluate
from treeplex.base.notices import tell
from treeplex.base.storage.memory import available_memory
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.errors import AlgorithmError, GameError, GameSizeError, SpecError
from treeplex.evaluate.history_values import HistoryValues
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import outcomes, turn_by_turn
from treeplex.forms.compile.views.histories import grow
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load, public_game
from treeplex.games.base import State
from treeplex.games.public import PublicGame, PublicTree, Terminal, pair_state
from treeplex.run.judge import as_policy
from treeplex.run.policy_source import UNIFORM
from treeplex.solvers import make_solver

MOST_HISTORIES = 300_000
"""Maximum number of histories for computing all values at once; larger games are browsed without values."""
MOST_WHOLE = 20_000_000
"""Maximum number of histories for computing all values on request."""
HISTORY_BYTES = 250
"""Memory per history with all its values, in bytes."""
ITERATIONS = 1000
"""Iterations of CFR+ if no policy is named."""
MOST_ROWS = 2000
MOST_LISTED = 200
MOST_PAYOFFS = 12
"""Maximum number of hands per player for showing payoffs at a public terminal state."""


def most_whole() -> int:
    """Maximum number of histories of a game that is computed on request, limited to half of the free memory."""
    free = available_memory()
    return MOST_WHOLE if free is None else max(MOST_HISTORIES, min(MOST_WHOLE, free // (2 * HISTORY_BYTES)))


class Browser:
    """A game and a policy to browse.

    Attributes:
        rules: the game, with simultaneous moves made sequential.
        values: the policy with values at all histories; None if the game is too large.
        public: the game's public states; None if the game does not define them, or has no private information.
    """

    def __init__(self, game: str, policy: str = "", *, whole: bool = False) -> None:
        """Load a policy of a game, or solve the game.

        Args:
            game: a spec or file.
            policy: a policy file, a run folder or ``uniform``; empty to solve the game.
            whole: whether to compute all values of a large game, with progress reports.

        Raises:
            GameSizeError: too many histories for ``whole``.
            GameError, SpecError, PolicyError, FileError: no such game or policy.
        """
        self.spec, self.policy_name = game, policy
        loaded = load(game).enumerable_rules()
        self.rules = turn_by_turn(loaded)
        self.values: HistoryValues | None = None
        self.by = UNIFORM
        limit = most_whole() if whole else MOST_HISTORIES
        try:
            tree = grow(loaded, limit=limit, watch=(lambda count: tell(f"{count:,} histories")) if whole else None)
        except GameSizeError:
            if whole:
                raise
            self.policy = None if policy in ("", UNIFORM) else as_policy(compile_game(loaded), policy)
        else:
            if whole:
                tell(f"{len(tree):,} histories, solving")
            compiled = compile_game(loaded, limit=limit)
            self.policy = self._named_policy(compiled, policy)
            self.values = HistoryValues(tree, self.policy)
        if self.policy is not None and policy not in ("", UNIFORM):
            self.by = policy
        self.public = self._public_states() if self.values is not None else None

    def _named_policy(self, compiled: CompiledGame, policy: str) -> Policy:
        """Load the named policy, or solve the game."""
        if policy:
            loaded: Policy = as_policy(compiled, policy)
            return loaded
        try:
            solver = make_solver(compiled, "cfr+")
            solver.run(ITERATIONS)
        except AlgorithmError:
            return Policy.uniform(compiled)
        self.by = f"{ITERATIONS:,} iterations of CFR+"
        return solver.average_policy()

    def _public_states(self) -> PublicGame | None:
        try:
            game = public_game(self.rules)
        except GameError:
            return None
        return None if game.perfect_information else game

    @cached_property
    def responses(self) -> list[Policy]:
        """For each player, the policy in which that player follows a best response."""
        assert self.values is not None
        policy = self.values.policy
        return [evaluate.best_response(policy.game, policy, player)[1] for player in range(policy.game.players)]

    def about(self) -> dict[str, Any]:
        """Size of the game and quality of the policy."""
        facts: dict[str, Any] = {
            "game": str(self.rules),
            "spec": self.spec,
            "policy": self.policy_name,
            "by": self.by,
            "players": self.rules.num_players,
            "public": self.public is not None,
            "whole": self.values is not None,
        }
        if self.values is None or self.policy is None:
            return facts
        judged, game = evaluate.judge(self.policy.game, self.policy), self.policy.game
        return {
            **facts,
            "histories": len(self.values.tree),
            "infosets": list(game.infosets),
            "exploitability": judged.exploitability,
            "nash_conv": judged.nash_conv,
            "values": list(judged.value),
            "gains": list(judged.gains),
            "zero_sum": game.zero_sum,
        }

    def node(self, path: Sequence[int] = ()) -> dict[str, Any]:
        """Return the node at the end of a path, which has the index of an action or chance outcome at each step.

        Raises:
            SpecError: the game has no such path.
        """
        if self.public is not None:
            return self._public_node(self.public, path)
        return self._history_node(path)

    def infosets(self, player: int | None = None, find: str = "") -> dict[str, Any]:
        """Return the infosets with the largest losses, with paths to them.

        Args:
            player: the player; None for all.
            find: a text that the infostate string must contain.
        """
        values = self.values
        if values is None:
            return {"total": None, "infosets": []}
        wanted = find.lower()
        order = np.argsort(-values.regrets, kind="stable").tolist()
        matching = [
            number
            for number in order
            if (player is None or values.tree.infoset_player[number] == player)
            and (not wanted or wanted in values.tree.infostates[number].lower())
        ]
        return {"total": len(matching), "infosets": [self._row(number, path=True) for number in matching[:MOST_LISTED]]}

    def _row(self, number: int, *, path: bool = False) -> dict[str, Any]:
        """Describe an infoset: reach, value, regret, and each action's probability, value and gain."""
        values = self.values
        assert values is not None
        tree, player = values.tree, int(values.tree.infoset_player[number])
        game, infostate = values.policy.game, tree.infostates[number]
        ids = game.actions_at(game.lookup[player, infostate])
        response = self.responses[player].probabilities[game.sequences_at(game.lookup[player, infostate])]
        policy, worth = values.probabilities[number], values.action_values[number]
        names = tree.action_names[player]
        row = {
            "player": player,
            "infostate": infostate,
            "own_reach": float(values.own_reach[number]),
            "others_reach": float(values.others_reach[number]),
            "value": float(policy @ worth),
            "regret": float(values.regrets[number]),
            "actions": [
                {
                    "name": names.get(label, str(label)),
                    "probability": float(policy[index]),
                    "value": float(worth[index]),
                    "response": bool(response[index] > 0.5),
                }
                for index, label in enumerate(ids)
            ],
        }
        return {**row, "path": self._path_to(number)} if path else row

    def _path_to(self, number: int) -> list[int]:
        """Return a path to the public state or the first history of an infoset."""
        values = self.values
        assert values is not None
        if self.public is not None:
            return self._places.get((int(values.tree.infoset_player[number]), values.tree.infostates[number]), [])
        history, path = int(self._firsts[number]), list[int]()
        while history > 0:
            path.append(int(values.place[history]))
            history = int(values.parent[history])
        return path[::-1]

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """The first history of each infoset, int64 [I]."""
        assert self.values is not None
        nodes = self.values.tree.histories.nodes
        decisions = np.flatnonzero(nodes[:, ACTOR] >= 0)
        return np.asarray(decisions[np.unique(nodes[decisions, KEY], return_index=True)[1]], np.int64)

    @cached_property
    def _places(self) -> dict[tuple[int, str], list[int]]:
        """Path to each infoset's public state."""
        game = self.public
        assert game is not None
        paths: dict[tuple[int, str], list[int]] = {}
        waiting: list[tuple[Any, list[int]]] = [(game.first_state(), [])]
        while waiting:
            state, path = waiting.pop()
            options = game.options(state)
            if options.player >= 0:
                for hand in np.flatnonzero(game.possible(state)[options.player]).tolist():
                    paths.setdefault((options.player, game.infostate_at(state, options.player, hand)), path)
            labels = options.labels[:1] if options.private else options.labels
            waiting += [(game.after(state, label), [*path, number]) for number, label in enumerate(labels)]
        return paths

    def _public_node(self, game: PublicGame, path: Sequence[int]) -> dict[str, Any]:
        state, steps = game.first_state(), list[dict[str, Any]]()
        for number in path:
            options = game.options(state)
            labels = options.labels[:1] if options.private else options.labels
            if not 0 <= number < len(labels):
                raise SpecError(
                    f"the path cannot continue with action {number} after {len(steps)} steps; start again from the root"
                )
            names = ["(hidden)"] if options.private else [game.action_name(state, label) for label in labels]
            shares = self._shares(self._rows_at(game, state), len(names)) if options.player >= 0 else [None] * len(names)
            steps.append({"player": options.player, "taken": number, "options": names, "probabilities": shares})
            state = game.after(state, labels[number])
        options = game.options(state)
        rows = self._rows_at(game, state) if options.player >= 0 else []
        weights = np.array([row["own_reach"] * row["others_reach"] for row in rows])
        total = float(weights.sum())
        names = [game.action_name(state, label) for label in options.labels]
        if options.private:
            names = ["(hidden)"]
        shares = self._shares(rows, len(names))
        return {
            "path": list(path),
            "steps": steps,
            "player": options.player if options.player >= 0 else None,
            "chance": options.player == CHANCE,
            "over": options.player == TERMINAL,
            "picture": game.picture_of(state),
            "children": [{"name": name, "probability": share} for name, share in zip(names, shares, strict=True)],
            "reach": total if rows else None,
            "value": float(weights @ np.array([row["value"] for row in rows])) / total if total > 0 else None,
            "infosets": rows[:MOST_ROWS],
            "payoffs": self._payoffs(game, state) if options.player == TERMINAL else None,
            "returns": None,
        }

    def _shares(self, rows: Sequence[Mapping[str, Any]], actions: int) -> list[float | None]:
        """Frequency of each action over all hands: None at zero reach or without a decision, 1 for private actions."""
        if actions == 1:
            return [1.0]
        weights = np.array([row["own_reach"] * row["others_reach"] for row in rows])
        total = float(weights.sum())
        if not total > 0:
            return [None] * actions
        played = np.array([[action["probability"] for action in row["actions"]] for row in rows])
        return [float(share) for share in weights @ played / total]

    def _rows_at(self, game: PublicGame, state: Any) -> list[dict[str, Any]]:
        """Return the infosets of a public state, hand by hand."""
        values, player = self.values, game.options(state).player
        assert values is not None
        rows = []
        for hand in np.flatnonzero(game.possible(state)[player]).tolist():
            number = values.infosets.get((player, game.infostate_at(state, player, hand)))
            if number is not None:
                rows.append({"hand": game.hand_name(state, player, hand), **self._row(number)})
        return rows

    def _payoffs(self, game: PublicGame, state: Any) -> dict[str, Any] | None:
        """Player 0's payoffs at a terminal public state for all pairs of hands; None if there are too many pairs."""
        if not isinstance(game, PublicTree):
            return None
        leaf = game.visit(pair_state(state).node)
        assert isinstance(leaf, Terminal)
        possible = [np.flatnonzero(possible_hands).tolist() for possible_hands in game.possible(state)]
        if max(map(len, possible)) > MOST_PAYOFFS:
            return None
        table = leaf.scale * np.asarray(leaf.matrix, np.float64)
        met = game.joint(state, game.possible(state)) > 0
        rows, columns = ([game.hand_name(state, player, hand) for hand in possible[player]] for player in (0, 1))
        cells = [[float(table[a, b]) if met[a, b] else None for b in possible[1]] for a in possible[0]]
        return {"rows": rows, "columns": columns, "cells": cells}

    def _history_node(self, path: Sequence[int]) -> dict[str, Any]:
        state, history, steps, reach = self.rules.new_initial_state(), 0, list[dict[str, Any]](), 1.0
        for number in path:
            names, chances = self._moves(state)
            if not 0 <= number < len(names):
                raise SpecError(
                    f"the path cannot continue with action {number} after {len(steps)} steps; start again from the root"
                )
            steps.append({"player": int(state.current_player()), "taken": number, "options": names, "probabilities": chances})
            reach *= chances[number]
            state = state.child(self._actions(state)[number])
            if self.values is not None:
                history = int(self.values.tree.histories.nodes[history, CHILD]) + number
        actor, over = int(state.current_player()), state.is_terminal()
        names, chances = self._moves(state)
        rows = []
        if actor >= 0 and self.values is not None:
            assert self.values.tree.histories.nodes[history, CHILDREN] == len(names)
            rows = [{"hand": state.knowledge(actor).strip(), **self._row(int(self.values.tree.histories.nodes[history, KEY]))}]
        elif actor >= 0:
            actions = [
                {"name": name, "probability": chance, "value": None, "response": False}
                for name, chance in zip(names, chances, strict=True)
            ]
            empty = dict.fromkeys(("own_reach", "others_reach", "value", "regret"))
            infostate = state.information_state_string(actor)
            rows = [
                {"hand": state.knowledge(actor).strip(), "player": actor, "infostate": infostate, **empty, "actions": actions}
            ]
        return {
            "path": list(path),
            "steps": steps,
            "player": actor if actor >= 0 else None,
            "chance": actor == CHANCE,
            "over": over,
            "picture": state.picture(),
            "children": [{"name": name, "probability": chance} for name, chance in zip(names, chances, strict=True)],
            "reach": reach,
            "value": None,
            "expected": None if self.values is None else self.values.values[history].tolist(),
            "infosets": rows,
            "payoffs": None,
            "returns": list(map(float, state.returns())) if over else None,
        }

    def _actions(self, state: State) -> list[int]:
        return outcomes(state)[0] if state.is_chance_node() else [int(action) for action in state.legal_actions()]

    def _moves(self, state: State) -> tuple[list[str], list[float]]:
        """Return names and probabilities of a history's actions or chance outcomes."""
        if state.is_terminal():
            return [], []
        actions = self._actions(state)
        names = [state.action_to_string(action) for action in actions]
        if state.is_chance_node():
            return names, outcomes(state)[1]
        if self.policy is None:
            return names, [1.0 / len(names)] * len(names)
        chances = self.policy.action_probabilities(state)
        return names, [float(chances[action]) for action in actions]
