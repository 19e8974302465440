"""A person at a table: hands dealt, replies of the agent, what decisions were worth, and the results so far."""

from pathlib import Path
from typing import Any

import numpy as np

from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.evaluate.match.agents import Thought
from treeplex.forms.sources.load import load
from treeplex.games.poker.spots.spot import Spot
from treeplex.games.poker.whole.game import Holdem, HoldemHistory
from treeplex.games.poker.whole.phh import phh_of
from treeplex.located_text import is_solved_spot
from treeplex.play.tables.holdem import HoldemTable
from treeplex.play.tables.seating import policy_table, table_for
from treeplex.play.tables.table import AgentTable, Table
from treeplex.play.web.playing.judging import ITERATIONS, Decided, Solved, estimate
from treeplex.play.web.playing.results import Hand, kind_of, results_of
from treeplex.play.web.playing.scenes import board_cards, scene_of, spot_table
from treeplex.runs.holdem.solution import SUFFIX
from treeplex.runs.judge import load_policy
from treeplex.runs.match.entrants import MatchGame
from treeplex.runs.solve.solvable import UNIFORM

SOLUTION = "solution"
"""The opponent that plays the solution: of a solved spot its average strategy, of a small game one that is found at once."""
MOST_OPTIONS = 60
"""Actions that are listed; of more, which are bets of all sizes, some are, and the rest can be typed."""
MOST_HANDS = 10_000
SHOWN_RANGE = 200
"""Hands of a range that are shown, the most likely ones."""


class Session:
    """One person at one table."""

    def __init__(
        self,
        game: str,
        against: str,
        seat: int | None = None,
        iterations: int | None = None,
        think: str | None = None,
        seed: int | None = None,
        title: str = "",
    ) -> None:
        """Sit down.

        Args:
            game: a spec, a spot, the file of a solved spot, or a folder of such files, of which one is drawn for each hand.
            against: the opponent, as :func:`treeplex.agent` takes it, or :data:`SOLUTION`; empty for that.
            seat: the person's; None for taking turns.
            iterations, think: of each search of the opponent.
            seed: of deals and draws; None for others each time.
            title: what people call the game; empty for its spec.

        Raises:
            TreeplexError: no such game, agent or seat.
        """
        self.spots = sorted(map(str, Path(game).glob(f"*{SUFFIX}"))) if Path(game).is_dir() else []
        if Path(game).is_dir() and not self.spots:
            raise SpecError(f"{game} holds no solved spot; solve some into it, or name another game")
        self.against, self.seat, self.title = against or SOLUTION, seat, title
        self._how = iterations, think, seed
        self._take(self.spots[0] if self.spots else game)
        if seat is not None and not 0 <= seat < self.table.players:
            raise SpecError(f"seat must be from 0 to {self.table.players - 1}, not {seat}")
        self._seeds = np.random.default_rng(seed)
        self.hands: list[Hand] = []
        self.dice = 0
        self.next()

    def _take(self, game: str) -> None:
        """Sit down at a game, if it is not the one that is played."""
        if getattr(self, "_taken", None) == game:
            return
        self.rules = load_policy(game).game.spot if is_solved_spot(game) else load(game)
        self.game = game if is_solved_spot(game) else str(self.rules)
        self.solved = None if isinstance(self.rules, Spot | Holdem) else Solved.of(self.rules)
        self.table, self.about = self._sit(*self._how)
        self._taken = game

    def _sit(self, iterations: int | None, think: str | None, seed: int | None) -> tuple[Table, str]:
        """The table, and who the opponent is."""
        if self.against != SOLUTION:
            return table_for(self.rules, self.against, iterations, think, seed, public=True)
        if is_solved_spot(self.game):
            return table_for(self.rules, self.game, iterations, think, seed)[0], "the average strategy of the solved spot"
        if self.solved is None or isinstance(self.rules, Spot):
            raise SpecError(f"{self.game} is not solved while you wait; name an agent, such as {UNIFORM}, or a policy file")
        words = f"the solution: {ITERATIONS:,} iterations of CFR+"
        return policy_table(self.rules, self.solved.values.policy, np.random.default_rng(seed)), words

    @property
    def hand(self) -> Hand:
        """The hand under way, or the last one."""
        return self.hands[-1]

    def next(self, repeat: int | None = None) -> dict[str, Any]:
        """Deal the next hand, or the cards of an earlier one again, the person in the same seat."""
        if len(self.hands) >= MOST_HANDS:
            raise SpecError(f"{MOST_HANDS:,} hands were played; sit down at a new table")
        if self.hands and self.hand.payoff is None:
            raise SpecError("this hand is not over; play it to its end first")
        if repeat is None:
            number = len(self.hands)
            person = self.seat if self.seat is not None else number % self.table.players
            seed = int(self._seeds.integers(2**53))
            spot = str(self._seeds.choice(self.spots)) if self.spots else ""
        else:
            if not 1 <= repeat <= len(self.hands):
                raise SpecError(f"there is no hand {repeat}; {len(self.hands)} were played")
            person, seed, spot = (getattr(self.hands[repeat - 1], name) for name in ("person", "seed", "spot"))
        if spot:
            self._take(spot)
        self.hands.append(Hand(len(self.hands) + 1, seed, person, spot))
        try:
            self.table.begin(person, np.random.default_rng(seed))
            self._replies()
        except TreeplexError:
            self.hands.pop()
            raise
        return self.view()

    def play(self, action: int | None = None, text: str | None = None) -> dict[str, Any]:
        """Play an action of :meth:`view`, or a bet that is typed; the opponent replies.

        Raises:
            SpecError: it is not the person's turn, or there is no such action.
            GameError: a bet that the rules do not have.
        """
        table, hand = self.table, self.hand
        if hand.payoff is not None or table.actor != hand.person:
            raise SpecError("it is not your turn; deal the next hand")
        if text is not None:
            action = table.named(text.strip().lower())
        options = table.options()
        if action is None or action not in options:
            raise SpecError(f"{text if text is not None else action} cannot be played here; choose one of the actions shown")
        judged = self._judge(options, action)
        if judged is not None:
            hand.decided.append(judged)
        self._say(hand.person, options[action], None)
        table.play(action)
        if isinstance(table, HoldemTable):
            self._judge_spot()
        self._replies()
        return self.view()

    def _replies(self) -> None:
        """The others act until it is the person's turn."""
        table, hand = self.table, self.hand
        self.dice = int(self._seeds.integers(100))
        while (actor := table.actor) is not None and actor != hand.person:
            options, action = table.options(), table.reply()
            thought, seen = table.thought(), table.seen_by(hand.person)
            self._say(actor, options[action] if seen else "has chosen", thought)
            table.play(action)
        if actor is None:
            self._finish()

    def _say(self, seat: int, text: str, thought: Thought | None) -> None:
        searched = None if thought is None else {"iterations": thought.iterations, "seconds": thought.seconds}
        self.hand.said.append({"seat": seat, "text": text, "thought": searched, "at": self._where()})

    def _where(self) -> str:
        """The street or round, where there is one."""
        table = self.table
        if isinstance(table, HoldemTable):
            return table.street
        state = table.history()
        if isinstance(state, HoldemHistory):
            return ("preflop", "flop", "turn", "river")[state.table.street] if len(state.game.rules.format.deal) == 4 else ""
        return ""

    def _judge(self, options: dict[int, str], action: int) -> Decided | None:
        """What is known of a decision before it is played."""
        table, player = self.table, self.hand.person
        if isinstance(table, HoldemTable):
            return None
        if self.solved is not None and (infostate := table.infostate(player)) is not None:
            return self.solved.judge(player, infostate, self._where(), options, action)
        if isinstance(table, AgentTable) and isinstance(table.history(), HoldemHistory) and len(options) <= MOST_HANDS:
            listed, state = self._listed(options, action), table.public()[1]
            return estimate(table.agent, state, table.ranges(), table.hand_of(player), self._where(), listed, action)
        return None

    def _judge_spot(self) -> None:
        """What the agent of a spot says of the last decision."""
        table = self.table
        assert isinstance(table, HoldemTable)
        made = table.decided(self.hand.person)
        spots = [each for each in self.hand.decided if each.by != "estimate"]
        for each in made[len(spots) :]:
            by, close = ("solution", 0.001 * table.chips[2]) if table.exact else ("agent", 0.01 * table.chips[2])
            values = tuple(value + each.paid for value in each.values)  # from the pot: folding is worth 0
            where = f"{Path(self.hand.spot).stem}, {each.street}" if self.hand.spot else each.street
            self.hand.decided.append(Decided(where, each.options, each.chosen, values, each.policy, by, close))

    def _finish(self) -> None:
        """Keep what there is to see of a hand that is over."""
        table, hand = self.table, self.hand
        hand.payoff = float(table.returns()[hand.person])
        hand.end = {"scene": self._drawn(over=True), "outcome": table.outcome(hand.person), "ranges": self._ranges()}
        if isinstance(table, AgentTable):
            played = table.played()
            if played is not None and self.solved is not None:
                luckless = self.solved.luckless(table.public()[0], played)
                hand.luckless = None if luckless is None else luckless[hand.person]
            state = table.history()
            if isinstance(state, HoldemHistory):
                try:
                    hand.phh = phh_of(state)
                except GameError:
                    hand.phh = None

    def _ranges(self) -> list[dict[str, Any]]:
        """What each of the others could have held, given how it plays: its most likely hands."""
        table = self.table
        if isinstance(table, HoldemTable):
            other = 1 - self.hand.person
            ranked = sorted((table.range_of(other) or {}).items(), key=lambda each: -each[1])
            held = "".join(board_cards(table.cards(other)))
            hands = [{"name": name, "share": share} for name, share in ranked]
            return [{"seat": other, "hands": hands, "held": held}] if hands else []
        if not isinstance(table, AgentTable):
            return []
        found = []
        for player in range(table.players):
            if player == self.hand.person:
                continue
            shares = table.range_against(player, self.hand.person)
            order = np.argsort(-shares)[:SHOWN_RANGE]
            names = table.hand_names(player)
            hands = [{"name": names(int(hand)), "share": float(shares[hand])} for hand in order if shares[hand] > 0]
            found.append({"seat": player, "hands": hands, "held": names(table.hand_of(player))})
        return found

    def _drawn(self, *, over: bool) -> dict[str, Any]:
        """What lies on the table."""
        table, person = self.table, self.hand.person
        scene = (
            spot_table(table, person, over) if isinstance(table, HoldemTable) else scene_of(table.history(), person, over=over)
        )
        if scene is None:
            known = [f"{table.seat(seat)}: {text}" for seat, text in enumerate(table.shown())] if over else []
            lines = known or ([table.view(person)] if table.actor == person else [])
            scene = {"kind": "text", "seats": [{} for _ in range(table.players)], "lines": lines, "picture": table.picture()}
        for seat, each in enumerate(scene["seats"]):
            each |= {"name": each.get("name") or table.seat(seat), "person": seat == person, "acting": table.actor == seat}
        return scene

    def _listed(self, options: dict[int, str], also: int | None = None) -> dict[int, str]:
        """The options that are listed: all, or of very many some bets, spread over them."""
        if len(options) <= MOST_OPTIONS:
            return options
        labels = list(options)
        few, game = labels[:2], self.table.public() if isinstance(self.table, AgentTable) else None
        bets = None if game is None else game[0].bets(game[1])
        if bets is not None:
            sizes = {label: size for label, size, kind in zip(labels, bets.sizes, bets.kinds, strict=True) if kind == "bet"}
            few = [label for label, kind in zip(labels, bets.kinds, strict=True) if kind != "bet"]
            for wanted in (0.0, 0.33, 0.5, 0.75, 1.0, 1.5, np.inf):
                few.append(min(sizes, key=lambda label: (abs(min(sizes[label], 1e9) - min(wanted, 1e9)), label)))
        kept = sorted({*few, labels[-1], *(() if also is None else (also,))})
        return {label: options[label] for label in kept}

    def view(self) -> dict[str, Any]:
        """What the page shows: the table as the person sees it, the actions, and the results so far."""
        table, hand = self.table, self.hand
        over = hand.payoff is not None
        options = {} if over else table.options()
        listed = self._listed(options)
        return {
            "game": self.title or self.game,
            "against": self.against,
            "about": self.about,
            "players": table.players,
            "person": hand.person,
            "number": hand.number,
            "over": over,
            "scene": hand.end["scene"] if over else self._drawn(over=False),
            "options": [{"id": label, "name": name, "kind": kind_of(name)} for label, name in listed.items()],
            "typed": len(listed) < len(options) or isinstance(table, HoldemTable),
            "view": "" if over else table.view(hand.person).strip(),
            "said": hand.said,
            "dice": self.dice,
            "judged": self._judged_by(),
            "last": hand.decided[-1].plain() if hand.decided else None,
            "hand": self.reviewed(hand.number) if over else None,
            "results": self.results(),
        }

    def _judged_by(self) -> str | None:
        """By what decisions are judged."""
        if isinstance(self.table, HoldemTable):
            return "solution" if self.table.exact else "agent"
        if self.solved is not None:
            return "solution"
        return "estimate" if isinstance(self.rules, Holdem) and self.rules.num_players == 2 else None

    def reviewed(self, number: int) -> dict[str, Any]:
        """A hand that is over: what everybody held, what decisions cost, and what the others could have held.

        Raises:
            SpecError: no such hand, or it is under way.
        """
        if not 1 <= number <= len(self.hands) or self.hands[number - 1].payoff is None:
            raise SpecError(f"there is no finished hand {number}")
        hand = self.hands[number - 1]
        return {
            "number": number,
            "person": hand.person,
            "payoff": hand.payoff,
            "luckless": hand.luckless,
            "lost": hand.lost,
            "said": hand.said,
            "decided": [each.plain() for each in hand.decided],
            "phh": hand.phh is not None,
            **hand.end,
        }

    def phh(self, number: int) -> str:
        """A hand of whole hold'em as PHH writes it.

        Raises:
            SpecError: no such hand, or another game.
        """
        self.reviewed(number)
        text = self.hands[number - 1].phh
        if text is None:
            raise SpecError("hand histories are written of whole hold'em with 52 cards and whole chips only")
        return text

    def results(self) -> dict[str, Any]:
        """Hands and payoffs so far; see :func:`results_of`."""
        return results_of(self.hands, self.big_blind)

    @property
    def big_blind(self) -> float | None:
        """What results are counted in, where the game is poker."""
        return MatchGame(self.rules).big_blind
