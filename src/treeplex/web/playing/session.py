"""A person's session at a table: deals, the agent's replies, evaluated decisions and results."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.forms.sources.load import load
from treeplex.holdem.spots.solved import is_solved_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import SOLVED_FILE
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.holdem.tables.whole import WholeTable
from treeplex.holdem.whole.game import Holdem, HoldemHistory
from treeplex.holdem.whole.phh import phh_of
from treeplex.run.judge import load_policy
from treeplex.run.policy_source import UNIFORM
from treeplex.search.agents.agent import Thought
from treeplex.search.tables.judging import ITERATIONS, DecisionReview, QuickSolution, SolvedGame
from treeplex.search.tables.listed import listed
from treeplex.search.tables.results import Hand, results_of
from treeplex.search.tables.seating import policy_table, table_for
from treeplex.search.tables.table import AgentTable, Table
from treeplex.web.playing.kept import TableFile, TableRecord, review_of
from treeplex.web.playing.scenes import scene_of, spot_table
from treeplex.web.playing.thoughts import ranges_of, thought_of

SOLUTION = "solution"
"""The opponent that plays the solution: a solved spot's average strategy, or a small game's equilibrium computed on the spot.
"""
MOST_HANDS = 10_000


class TableSession:
    """One person's session at one table."""

    def __init__(
        self,
        game: str,
        against: str,
        seat: int | None = None,
        iterations: int | None = None,
        think: str | None = None,
        seed: int | None = None,
        title: str = "",
        node: str = "",
        keep: str | None = None,
    ) -> None:
        """Open a table, or resume it from its file.

        Args:
            game: a spec, a spot, a solved-spot file, or a folder of such files, one of which is drawn for each hand.
            against: the opponent, as for :func:`treeplex.agent`, or :data:`SOLUTION`; empty means :data:`SOLUTION`.
            seat: the person's seat; None alternates seats.
            iterations, think: limits for each of the opponent's searches.
            seed: random seed for deals and sampled actions; None for a random one.
            title: display name of the game; empty for its spec.
            node: line of a solved spot's node at which each hand starts; empty for the start of the spot.
            keep: file in which to store the table; None for none.

        Raises:
            TreeplexError: the game, agent or seat is unknown.
        """
        self.spots = sorted(map(str, Path(game).glob(f"*{SOLVED_FILE}"))) if Path(game).is_dir() else []
        if Path(game).is_dir() and not self.spots:
            raise SpecError(f"{game} contains no solved spot; save solved spots there, or name another game")
        self.against, self.seat, self.title = against or SOLUTION, seat, title
        self._how, self._node = (iterations, think, seed), node
        if node and (self.spots or not is_solved_spot(game)):
            raise SpecError("a hand can only start at a node of a solved spot; leave the node out")
        self._take(self.spots[0] if self.spots else game)
        if seat is not None and not 0 <= seat < self.table.players:
            raise SpecError(f"seat must be from 0 to {self.table.players - 1}, not {seat}")
        self._seeds = np.random.default_rng(seed)
        self.hands: list[Hand] = []
        self.dice = 0
        self._kept = None if keep is None else TableFile(Path(keep))
        self._made: list[int] = []
        """Recorded actions of the opponents that are still to be replayed when a table is resumed."""
        played = TableRecord() if self._kept is None else self._kept.read()
        if played.deal:
            self._go_on(played)
        else:
            self.next()

    def _take(self, game: str) -> None:
        """Switch the table to a game, unless it already plays this game."""
        if getattr(self, "_taken", None) == game:
            return
        self.rules = load_policy(game).game.spot if is_solved_spot(game) else load(game)
        self.game = game if is_solved_spot(game) else str(self.rules)
        self.solved = None if isinstance(self.rules, Spot | Holdem) else SolvedGame.of(self.rules)
        self.table, self.about = self._sit(*self._how)
        if self._node and isinstance(self.table, HoldemTable):
            self.table.start_at(self._node)
        self._taken = game

    def _sit(self, iterations: int | None, think: str | None, seed: int | None) -> tuple[Table, str]:
        """Create the table; returns it and a description of the opponent."""
        if self.against != SOLUTION:
            table, about = table_for(self.rules, self.against, iterations, think, seed, public=True)
            if isinstance(table, AgentTable) and isinstance(self.rules, Holdem):
                table = WholeTable(table.agent, "the opponent", np.random.default_rng(seed), game=self.rules, judges=False)
            return table, about
        if is_solved_spot(self.game):
            return table_for(self.rules, self.game, iterations, think, seed)[0], "the average strategy of the solved spot"
        if self.solved is not None:
            policy, words = self.solved.values.policy, f"the solution: {ITERATIONS:,} iterations of CFR+"
        elif (quick := None if isinstance(self.rules, Spot | Holdem) else QuickSolution.of(self.rules)) is not None:
            policy = quick.policy
            words = f"the solution: {quick.iterations:,} iterations of CFR+, exploitability {quick.exploitability:.2g}"
        else:
            raise SpecError(
                f"{self.game} is too large to solve when the table opens; name an agent, such as {UNIFORM}, or a policy file"
            )
        return policy_table(self.rules, policy, np.random.default_rng(seed)), words

    @property
    def hand(self) -> Hand:
        """The current or latest hand."""
        return self.hands[-1]

    def next(self, repeat: int | None = None) -> dict[str, Any]:
        """Deal the next hand, or an earlier hand's cards again, with the person in the same seat."""
        if len(self.hands) >= MOST_HANDS:
            raise SpecError(f"this table reached its limit of {MOST_HANDS:,} hands; open a new table")
        if self.hands and self.hand.payoff is None:
            raise SpecError("this hand is not over; finish it first")
        if repeat is None:
            number = len(self.hands)
            person = self.seat if self.seat is not None else number % self.table.players
            seed = int(self._seeds.integers(2**53))
            spot = str(self._seeds.choice(self.spots)) if self.spots else ""
        else:
            if not 1 <= repeat <= len(self.hands):
                raise SpecError(f"there is no hand {repeat}; this table has hands 1 to {len(self.hands)}")
            person, seed, spot = (getattr(self.hands[repeat - 1], name) for name in ("person", "seed", "spot"))
        dealt: dict[str, Any] = {"number": len(self.hands) + 1, "seed": seed, "person": person, "spot": spot}
        self._keep("deal", {**dealt, "draws": self._seeds.bit_generator.state})
        self._deal(Hand(**dealt))
        return self.view()

    def _deal(self, hand: Hand) -> None:
        """Start a hand and play the opponents' actions up to the person's turn."""
        if hand.spot:
            self._take(hand.spot)
        self.hands.append(hand)
        try:
            self.table.begin(hand.person, np.random.default_rng(hand.seed))
            self._replies()
        except TreeplexError:
            self.hands.pop()
            raise

    def play(self, action: int | None = None, text: str | None = None) -> dict[str, Any]:
        """Play an action of :meth:`view` or a typed bet; the opponents reply.

        Raises:
            SpecError: it is not the person's turn, or no such action is available.
            GameError: the typed bet is illegal.
        """
        table, hand = self.table, self.hand
        if hand.payoff is not None or table.actor != hand.person:
            raise SpecError("it is not your turn; deal the next hand")
        self._act(action, text)
        return self.view()

    def _act(self, action: int | None, text: str | None, *, again: dict[str, Any] | None = None) -> None:
        """Play the person's action and the opponents' replies; ``again`` is the recorded move that is replayed."""
        table, hand = self.table, self.hand
        if text is not None:
            bare = isinstance(table, WholeTable) and re.fullmatch(r"[\d.,]+", text.strip())
            action = table.named(f"{text.strip().lower()}{' bb' if bare else ''}")
        options = table.options()
        if action is None or action not in options:
            raise SpecError(f"{text if text is not None else action} is not available here; choose one of the actions shown")
        if again is not None and "judged" in again:
            judged = None if again["judged"] is None else review_of(again["judged"])
        else:
            judged = self._judge(options, action)
        if again is None:
            move = {"seat": hand.person, "action": action, "text": text}
            self._keep("move", move | {"judged": None if judged is None else asdict(judged)})
        if judged is not None:
            hand.decided.append(judged)
        self._say(hand.person, options[action], None)
        table.play(action)
        if isinstance(table, HoldemTable):
            self._judge_spot()
        self._replies()

    def _keep(self, kind: str, event: dict[str, Any]) -> None:
        if self._kept is not None:
            self._kept.add(kind, event)

    def _go_on(self, played: TableRecord) -> None:
        """Resume from a file by replaying the current hand; deals a new hand if the replay fails."""
        self.hands, deal = played.hands, dict(played.deal)
        self._seeds.bit_generator.state = deal.pop("draws")
        if not played.under_way:
            return
        self._made = [move["action"] for move in played.moves if move["seat"] != deal["person"]]
        try:
            self._deal(Hand(**deal))
            for move in played.moves:
                if move["seat"] == deal["person"]:
                    self._act(move["action"], move["text"], again=move)
        except TreeplexError:
            self.hands, self._made = [hand for hand in self.hands if hand.payoff is not None], []
            self.next()

    def _replies(self) -> None:
        """Play the opponents' actions up to the person's turn."""
        table, hand = self.table, self.hand
        self.dice = int(self._seeds.integers(100))
        while (actor := table.actor) is not None and actor != hand.person:
            options, action = table.options(), table.reply()
            if self._made:
                action = self._made.pop(0)
            else:
                self._keep("move", {"seat": actor, "action": action})
            thought, seen = table.thought(), table.seen_by(hand.person)
            thought_data = thought_of(table, self._where(), thought)
            if thought_data is not None:
                hand.thoughts.append(thought_data)
            self._say(actor, options[action] if seen else "has chosen", thought)
            table.play(action)
        if actor is None:
            self._finish()

    def _say(self, seat: int, text: str, thought: Thought | None) -> None:
        searched = None if thought is None else {"iterations": thought.iterations, "seconds": thought.seconds}
        self.hand.said.append({"seat": seat, "text": text, "thought": searched, "at": self._where()})

    def _where(self) -> str:
        """The current street, empty for other games."""
        table = self.table
        if isinstance(table, HoldemTable):
            return table.street
        state = table.history()
        if isinstance(state, HoldemHistory):
            return ("preflop", "flop", "turn", "river")[state.table.street] if len(state.game.rules.format.deal) == 4 else ""
        return ""

    def _judge(self, options: dict[int, str], action: int) -> DecisionReview | None:
        """Evaluate a decision before it is played; None if this is impossible."""
        table, player = self.table, self.hand.person
        if isinstance(table, HoldemTable):
            return None
        if self.solved is not None and (infostate := table.infostate(player)) is not None:
            return self.solved.judge(player, infostate, self._where(), options, action)
        return table.judged(action) if isinstance(table, WholeTable) else None

    def _judge_spot(self) -> None:
        """Record the spot table's evaluation of the person's latest decisions."""
        table = self.table
        assert isinstance(table, HoldemTable)
        made = table.decided(self.hand.person)
        spots = [decision for decision in self.hand.decided if decision.by != "estimate"]
        for decision in made[len(spots) :]:
            by, close = ("solution", 0.001 * table.chips[2]) if table.exact else ("agent", 0.01 * table.chips[2])
            values = tuple(value + decision.paid for value in decision.values)  # relative to the pot: folding is worth 0
            where = f"{Path(self.hand.spot).stem}, {decision.street}" if self.hand.spot else decision.street
            self.hand.decided.append(
                DecisionReview(where, decision.options, decision.chosen, values, decision.policy, by, close)
            )

    def _finish(self) -> None:
        """Record the result of a finished hand, and all information revealed at its end."""
        table, hand = self.table, self.hand
        hand.payoff = float(table.returns()[hand.person])
        hand.end = {
            "scene": self._drawn(over=True),
            "outcome": table.outcome(hand.person),
            "ranges": ranges_of(table, hand.person),
        }
        inner = agent_table(table)
        if inner is not None:
            played = inner.played()
            if played is not None and self.solved is not None:
                luckless = self.solved.luckless(inner.public()[0], played, hand.person)
                hand.luckless = None if luckless is None else luckless[hand.person]
            state = table.history()
            if isinstance(state, HoldemHistory):
                try:
                    hand.phh = phh_of(state)
                except GameError:
                    hand.phh = None
        if self._kept is not None:
            self._kept.finish(hand, self.summary())

    def _drawn(self, *, over: bool) -> dict[str, Any]:
        """The table's scene."""
        table, person = self.table, self.hand.person
        scene = (
            spot_table(table, person, over) if isinstance(table, HoldemTable) else scene_of(table.history(), person, over=over)
        )
        if scene is None:
            known = [f"{table.seat(seat)}: {text}" for seat, text in enumerate(table.shown())] if over else []
            lines = known or ([table.view(person)] if table.actor == person else [])
            scene = {"kind": "text", "seats": [{} for _ in range(table.players)], "lines": lines, "picture": table.picture()}
        for seat, seat_data in enumerate(scene["seats"]):
            seat_data |= {
                "name": seat_data.get("name") or table.seat(seat),
                "person": seat == person,
                "acting": table.actor == seat,
            }
        return scene

    def _listed(self, options: dict[int, str], also: int | None = None) -> dict[int, str]:
        """The options to show; see :func:`treeplex.search.tables.listed.listed`."""
        inner = agent_table(self.table)
        return listed(options, None if inner is None else inner.public(), also)

    def view(self) -> dict[str, Any]:
        """Return the person's view of the table, the available actions and the results so far, as JSON data."""
        table, hand = self.table, self.hand
        over = hand.payoff is not None
        options = {} if over else table.options()
        few = self._listed(options)
        return {
            "game": self.title or self.game,
            "against": self.against,
            "about": self.about,
            "node": self._node,
            "players": table.players,
            "person": hand.person,
            "number": hand.number,
            "over": over,
            "scene": hand.end["scene"] if over else self._drawn(over=False),
            "options": [{"id": label, "name": name, "kind": action_type(name)} for label, name in few.items()],
            "typed": len(few) < len(options) or isinstance(table, HoldemTable),
            "view": "" if over else table.view(hand.person).strip(),
            "said": hand.said,
            "dice": self.dice,
            "judged": self._judged_by(),
            "last": hand.decided[-1].plain() if hand.decided else None,
            "hand": self.reviewed(hand.number) if over else None,
            "results": self.results(),
        }

    def _judged_by(self) -> str | None:
        """The method that evaluates decisions: ``solution``, ``agent``, ``resolver``, ``estimate`` or None."""
        if isinstance(self.table, HoldemTable):
            return "solution" if self.table.exact else "agent"
        if self.solved is not None:
            return "solution"
        if not isinstance(self.table, WholeTable) or self.table.players > 2:
            return None
        return "resolver" if self.table.judged_by_solves else "estimate"

    def reviewed(self, number: int) -> dict[str, Any]:
        """Review a finished hand: all cards, the loss of each decision, and the opponents' ranges.

        Raises:
            SpecError: there is no such hand, or it is not over.
        """
        if not 1 <= number <= len(self.hands) or self.hands[number - 1].payoff is None:
            raise SpecError(f"hand {number} is not among this table's finished hands; there are {len(self.hands)} hands")
        hand = self.hands[number - 1]
        return {
            "number": number,
            "person": hand.person,
            "payoff": hand.payoff,
            "luckless": hand.luckless,
            "lost": hand.lost,
            "said": hand.said,
            "decided": [decision.plain() for decision in hand.decided],
            "thoughts": hand.thoughts,
            "phh": hand.phh is not None,
            **hand.end,
        }

    def phh(self, number: int) -> str:
        """Return a hand of full-game hold'em in PHH format.

        Raises:
            SpecError: there is no such hand, or the game is not hold'em.
        """
        self.reviewed(number)
        text = self.hands[number - 1].phh
        if text is None:
            raise SpecError("this hand has no PHH file; PHH needs full-game hold'em with 52 cards and whole chips")
        return text

    def summary(self) -> dict[str, Any]:
        """Summarise the finished hands for a list of tables: number, winnings, EV lost, mistakes and the big blind."""
        done = [hand for hand in self.hands if hand.payoff is not None]
        lost = [hand.lost for hand in done if hand.lost is not None]
        return {
            "hands": len(done),
            "won": sum(hand.payoff or 0.0 for hand in done),
            "lost": sum(lost) if lost else None,
            "mistakes": sum(decision.verdict == "mistake" for hand in done for decision in hand.decided),
            "big_blind": self.rules.big_blind,
        }

    def results(self) -> dict[str, Any]:
        """Summarise hands and payoffs so far; see :func:`results_of`."""
        return results_of(self.hands, self.rules.big_blind)


def agent_table(table: Table) -> AgentTable | None:
    """Return the table of an agent with public states, also within a table of full-game hold'em; None for others."""
    inner = table.inner if isinstance(table, WholeTable) else table
    return inner if isinstance(inner, AgentTable) else None


def action_type(name: str) -> str:
    """Return an action's type, which sets its colour: fold, check, call, bet, raise, allin, pass or other."""
    word = name.lower().replace("-", "").partition(" ")[0]
    return word if word in ("fold", "check", "call", "bet", "raise", "allin", "pass") else "other"
