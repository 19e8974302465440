"""Policy network for full-game hold'em, which warm-starts street searches (Brown et al. 2020, section 5.3)."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import ANY
from treeplex.holdem.betting.rules import CALL
from treeplex.holdem.street_search.street import StreetPlaces, StreetSubgame
from treeplex.holdem.whole.public import PublicHand, PublicHoldem
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import Forward, Module
from treeplex.learn.rebel.nets import probabilities
from treeplex.learn.rebel.policy_encoding import STEPS, PolicyRows
from treeplex.learn.rebel.whole.value_leaf import Rows, WholeEncoding
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.subgame import Ranges


class StreetPolicies:
    """Output layout of a policy network: one output for each hand, or bin, of the acting player and each column.

    Columns are fold, call, and the betting plan's raises by size. A raise that is not in the plan uses the column of the
    nearest raise and shares its probability.

    Attributes:
        encoding: encoding of the inputs.
        columns: number of columns.
        outputs: hands or bins times columns.
    """

    def __init__(self, encoding: WholeEncoding, game: PublicHoldem) -> None:
        """Create the layout from the game's betting plan.

        Raises:
            SpecError: the game allows bets of any integer number of chips.
        """
        plan = game.rules.betting.plan
        lists = [raises for street in range(len(plan.streets)) for raises in plan.raise_lists(street)]
        if ANY in lists or not lists:
            raise SpecError("a policy network needs sizes for every street, such as sizes=[50%;100%;a]")
        most = max(1, max(map(len, lists)) + (plan.add_allin > 0))
        self.encoding, self.columns = encoding.of_decisions(), 2 + most
        self.outputs = encoding.knots * self.columns

    def columns_at(self, street: StreetSubgame, decision: int) -> Ints:
        """Column of each action of a decision, int64 [actions]; if the plan has no raise there, raises use the last column."""
        here = street.betting.decisions[decision]
        planned = np.array(street.game.rules.betting.actions(here.table).raises)
        if not len(planned):
            return np.array([action if action <= CALL else self.columns - 1 for action in here.actions])
        return np.array([action if action <= CALL else 2 + int(np.abs(planned - action).argmin()) for action in here.actions])

    def prepared(self, street: StreetSubgame, decision: int, rows: Ints) -> Rows:
        """Input rows for a decision on the listed boards, with all columns filled in except the beliefs."""
        table = street.betting.decisions[decision].table._replace(line="")
        return self.encoding.prepared(StreetPlaces(street.game, [PublicHand(table, street.boards[row]) for row in rows]))

    def rows(self, search: SubgameSearch, rows: Ints) -> PolicyRows:
        """Training rows: the average policy at every decision on the listed boards, with the beliefs that this policy leads to.

        Hands with zero reach have no target. A bin's target is the mean over its hands, weighted by reach.
        """
        street, average = search.subgame, search.average_policy()
        assert isinstance(street, StreetSubgame)
        inputs, targets, legal = [], [], []
        for number, decision in enumerate(street.betting.decisions):
            reached = tuple(street.at(search.average, player, last)[rows] for player, last in enumerate(decision.both))
            columns, prepared = self.columns_at(street, number), self.prepared(street, number, rows)
            policies = np.zeros((len(rows), self.encoding.knots, self.columns), np.uint8)
            played = prepared.rows_of_policies(
                street.block(average, number)[:, rows].transpose(1, 2, 0), np.ascontiguousarray(reached[decision.player])
            )
            policies[:, :, columns] = np.rint(STEPS * played)
            inputs.append(prepared.write(reached).copy())
            targets.append(policies)
            legal.append(np.tile(np.isin(np.arange(self.columns), columns), (len(rows), 1)))
        return PolicyRows.of(np.concatenate(inputs), np.concatenate(targets), np.concatenate(legal))


class NetworkStreetGuess:
    """Initial policies from a network whose outputs are logits.

    Attributes:
        encoding: the encoding of its input rows.
        net: the network.
        forward: evaluates the network.
    """

    def __init__(self, encoding: StreetPolicies, net: Module) -> None:
        self.encoding, self.net, self.forward = encoding, net, Forward(net)

    def __call__(self, street: StreetSubgame, decision: int, reached: Ranges) -> Floats:
        encoding, boards = self.encoding, np.arange(len(street.boards))
        columns = encoding.columns_at(street, decision)
        prepared = encoding.prepared(street, decision, boards)
        logits = self.forward(prepared.write(reached))
        legal = np.tile(np.isin(np.arange(encoding.columns), columns), (len(boards), 1))
        from_numpy = torch_module().from_numpy
        shared = np.bincount(columns, minlength=encoding.columns)[columns].astype(np.float32)
        policy = probabilities(from_numpy(logits), from_numpy(legal)).numpy()[:, :, columns] / shared
        return prepared.policies(policy).transpose(2, 0, 1)
