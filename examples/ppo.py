"""PPO in self-play on an imperfect-information game, in one file.

Both players share a network from infosets to action logits and a value. An update plays a batch of games with the current
policy and takes several passes of clipped gradient steps over their decisions (Schulman et al. 2017). Self-play by policy
gradients cycles; an entropy bonus damps that, and 0.05 to 0.2 is a good weight for such games (Rudolph et al. 2025). Payoffs
come at the end, so advantages are the payoff minus the value. The last policy is the result, and its exploitability is exact: 0
is an equilibrium, and uniform play on Leduc poker has 2.37.

    python examples/ppo.py                              # Leduc poker, about a minute
    python examples/ppo.py --game "liars_dice(dice_sides=3)" --updates 200
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

import treeplex as tp
from treeplex.learn import infoset_features

CHANCE, TERMINAL = -1, -2


@dataclass
class Args:
    """Options of the command."""

    game: str = "leduc_poker"
    updates: int = 300
    games: int = 1024  # games per update
    passes: int = 4  # passes over an update's decisions
    minibatches: int = 4
    rate: float = 2e-3  # Adam's initial step size, which falls linearly to 0
    clip: float = 0.2  # PPO's clip range of the probability ratio
    entropy: float = 0.1  # weight of the entropy bonus
    value: float = 0.5  # weight of the value loss
    norm: float = 0.5  # gradient norm at which gradients are clipped
    width: int = 64
    seed: int = 0
    every: int = 25  # updates between two lines of output


class Tree(NamedTuple):
    """All histories of a game as arrays, for playing many games at once; a history's children are consecutive.

    Attributes:
        actor: int [H], the player to act, CHANCE or TERMINAL.
        infoset: int [H], infoset where a player acts.
        child: int [H], the first child.
        chance: float [H, C], cumulative probabilities of children; 1 beyond the last, and where chance does not act.
        payoffs: float [H, N], at terminal histories.
    """

    actor: np.ndarray
    infoset: np.ndarray
    child: np.ndarray
    chance: np.ndarray
    payoffs: np.ndarray


class Decisions(NamedTuple):
    """Decisions played: infosets, action columns, their log probabilities, and payoffs."""

    infosets: torch.Tensor
    actions: torch.Tensor
    logs: torch.Tensor
    payoffs: torch.Tensor


def tree_of(compiled: tp.CompiledGame, game: tp.Game) -> Tree:
    """Traverse the rules once, level by level."""
    states, actor, infoset, child, chance, payoffs = [game.new_initial_state()], [], [], [], [], []
    for state in states:  # the list grows
        player = state.current_player()
        actor.append(TERMINAL if state.is_terminal() else CHANCE if state.is_chance_node() else player)
        infoset.append(-1)
        child.append(len(states))
        chance.append([])
        payoffs.append(list(state.returns()) if state.is_terminal() else [0.0] * game.num_players)
        if state.is_terminal():
            continue
        if state.is_chance_node():
            actions, shares = zip(*state.chance_outcomes(), strict=True)
            chance[-1] = np.cumsum(shares).tolist()
        else:
            infoset[-1] = compiled.lookup[player, state.information_state_string(player)]
            actions = compiled.actions_at(infoset[-1])
        states += [state.child(action) for action in actions]
    table = np.ones((len(states), max(map(len, chance))))
    for row, shares in zip(table, chance, strict=True):
        if shares:
            row[: len(shares) - 1] = shares[:-1]
    return Tree(np.array(actor), np.array(infoset), np.array(child), table, np.array(payoffs))


def play(tree: Tree, policy: np.ndarray, games: int, generator: np.random.Generator) -> Decisions:
    """Play a batch of games with a policy float [I, A]."""
    at, cumulative = np.zeros(games, np.int64), np.cumsum(policy, axis=1)
    cumulative /= cumulative[:, -1:]
    steps = []
    while (going := np.flatnonzero(tree.actor[at] != TERMINAL)).size:
        here, draws = at[going], generator.random((len(going), 1))
        deciding = tree.actor[here] != CHANCE
        taken = np.empty(len(going), np.int64)
        taken[~deciding] = (draws[~deciding] >= tree.chance[here[~deciding]]).sum(axis=1)
        infosets = tree.infoset[here[deciding]]
        taken[deciding] = (draws[deciding] >= cumulative[infosets]).sum(axis=1)
        steps.append((going[deciding], tree.actor[here[deciding]], infosets, taken[deciding]))
        at[going] = tree.child[here] + taken
    who, players, infosets, actions = (np.concatenate(column) for column in zip(*steps, strict=True))
    payoffs = tree.payoffs[at[who], players].astype(np.float32)
    logs = np.log(policy[infosets, actions]).astype(np.float32)
    return Decisions(*map(torch.from_numpy, (infosets, actions, logs, payoffs)))


class Agent(torch.nn.Module):
    """Action logits and a value for each infoset."""

    def __init__(self, features: torch.Tensor, legal: torch.Tensor, width: int) -> None:
        super().__init__()
        self.features, self.legal = features, legal
        self.body = torch.nn.Sequential(
            torch.nn.Linear(features.shape[1], width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU()
        )
        self.logits, self.values = torch.nn.Linear(width, legal.shape[1]), torch.nn.Linear(width, 1)
        for head in (self.logits, self.values):
            torch.nn.init.normal_(head.weight, std=0.01)
            torch.nn.init.zeros_(head.bias)

    def forward(self, infosets: torch.Tensor | slice) -> tuple[torch.Tensor, torch.Tensor]:
        """Log probabilities [n, A], very low for illegal actions, and values [n]."""
        hidden = self.body(self.features[infosets])
        logits = self.logits(hidden).masked_fill(~self.legal[infosets], -1e9)
        return logits.log_softmax(dim=1), self.values(hidden)[:, 0]


def update(agent: Agent, adam: torch.optim.Optimizer, played: Decisions, args: Args) -> None:
    """Take passes of gradient steps over the decisions."""
    with torch.no_grad():
        advantages = played.payoffs - agent(played.infosets)[1]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(args.passes):
        for rows in torch.randperm(len(advantages)).chunk(args.minibatches):
            infosets, actions, gains = played.infosets[rows], played.actions[rows], advantages[rows]
            logs, values = agent(infosets)
            ratio = (logs.gather(1, actions[:, None])[:, 0] - played.logs[rows]).exp()
            objective = torch.minimum(ratio * gains, ratio.clamp(1 - args.clip, 1 + args.clip) * gains).mean()
            entropy = -(logs.exp() * logs).sum(dim=1).mean()
            errors = (values - played.payoffs[rows]).square().mean()
            adam.zero_grad()
            (args.value * errors - objective - args.entropy * entropy).backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), args.norm)
            adam.step()


def policy_of(compiled: tp.CompiledGame, table: np.ndarray) -> tp.Policy:
    """The policy of a table float [I, A]."""
    weights = np.ones(len(compiled.action_ids))
    for infoset, row in enumerate(table):
        weights[compiled.sequences_at(infoset)] = row[: len(compiled.actions_at(infoset))]
    return tp.Policy.from_weights(compiled, weights)


def train(args: Args) -> float:
    """Train and print exploitability periodically; returns the final one."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # more threads are slower with so small a network
    generator, began = np.random.default_rng(args.seed), time.perf_counter()
    compiled, game = tp.compile(args.game), tp.load(args.game)
    tree, counts = tree_of(compiled, game), [len(compiled.actions_at(infoset)) for infoset in range(len(compiled.infostates))]
    players = np.eye(compiled.players, dtype=np.float32).repeat(compiled.infosets, axis=0)
    features = torch.from_numpy(np.concatenate([infoset_features(compiled), players], axis=1))
    legal = torch.from_numpy(np.arange(max(counts)) < np.array(counts)[:, None])
    agent = Agent(features, legal, args.width)
    adam = torch.optim.Adam(agent.parameters(), lr=args.rate, eps=1e-5)
    exploitability = float("nan")
    for number in range(args.updates + 1):
        with torch.no_grad():
            table = agent(slice(None))[0].exp().double().numpy()
        if number % args.every == 0 or number == args.updates:
            exploitability = tp.exploitability(compiled, policy_of(compiled, table))
            print(f"{number:5} updates  exploitability {exploitability:.4f}  {time.perf_counter() - began:6.1f} s", flush=True)
        if number < args.updates:
            adam.param_groups[0]["lr"] = args.rate * (1.0 - number / args.updates)
            update(agent, adam, play(tree, table, args.games, generator), args)
    return exploitability


def main(words: Sequence[str] | None = None) -> None:
    """Read options and train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, default in vars(Args()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"default: {default}")
    train(Args(**vars(parser.parse_args(words))))


if __name__ == "__main__":
    main()
