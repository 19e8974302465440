"""Job requests, sent by the page and stored in the folder: a spot, a spot with node locks, or a resumed solution."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from treeplex.base.located_text import located
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import hand_numbers
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.spots.fields import SolveFields, read_lock
from treeplex.holdem.spots.files import SpotRequest
from treeplex.holdem.spots.locks import AnyLock, NodeLock
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.boards import Board, check_symmetric
from treeplex.web.served import Refusal
from treeplex.web.spots.fields import PLACE, BudgetRequest, Shallow, boards_named, spot_of, spot_request

MOST_LOCKS = 200


class Lock(BaseModel):
    """A node lock, written as text or painted hand by hand.

    Attributes:
        line: the line to the decision.
        hands: a range, for a lock written as text; None for all hands.
        rows: indices of hands, for a painted lock.
        strategy: a text such as ``x 70%, b50% 30%``, or each action's frequencies for the ``rows``.
    """

    model_config = ConfigDict(extra="forbid")
    line: str = Field("", max_length=2000)
    hands: str | None = Field(None, max_length=20_000)
    rows: list[int] | None = Field(None, max_length=1326)
    strategy: str | list[list[FiniteFloat]]

    @model_validator(mode="after")
    def check(self) -> Self:
        """Check that the lock has exactly one of the two forms."""
        if (self.rows is None) != isinstance(self.strategy, str) or (self.rows is not None and self.hands is not None):
            raise ValueError("a lock needs 'hands' with a strategy as text, or 'rows' with a strategy as a table")
        return self

    def lock(self, spot: Spot) -> AnyLock:
        """Convert the lock to the library's form.

        Raises:
            SpecError: the lock cannot be parsed, or names unknown hands.
        """
        if self.rows is None:
            given = {"line": self.line, "hands": self.hands, "strategy": self.strategy}
            return read_lock(located({name: text for name, text in given.items() if text is not None}, f"{PLACE}locks"))
        numbers = hand_numbers(spot.format.hands)
        rows, table = np.array(self.rows, np.int64), self.strategy
        if not np.isin(rows, numbers).all() or any(len(shares) != len(rows) for shares in table):
            raise SpecError("a painted lock needs hand numbers, and one frequency per hand for each action")
        return NodeLock(
            self.line, np.searchsorted(numbers, rows), np.array(table, np.float64), place=f"lock at {self.line or 'root'!r}"
        )


class JobRequest(BaseModel):
    """A request to solve a spot.

    Attributes:
        fields: fields of a new spot.
        boards: boards on which to solve the spot, as in ``treeplex holdem flops --boards`` but without files.
        keep: whether to save the solved spot of each board.
        origin: (``from`` in JSON) file of a solution whose spot is solved again with node locks.
        resume: file of a solution to resume.
        locks: node locks for ``from``.
        keep_locks: for ``from``, whether to keep that solution's locks.
        name: name of the solution's file.
        target: target exploitability as in spot files, for ``from`` and ``resume``.
        iterations: maximum total number of iterations, for ``from`` and ``resume``.
        budget: memory and time for ``fields``, such as ``4GB,60s``; sizes are chosen for it.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    fields: Shallow | None = None
    boards: str | None = Field(None, max_length=20_000)
    keep: bool = False
    origin: str | None = Field(None, alias="from", max_length=1000)
    resume: str | None = Field(None, max_length=1000)
    locks: list[Lock] = Field(default_factory=list, max_length=MOST_LOCKS)
    keep_locks: bool = True
    name: str | None = Field(None, max_length=200)
    target: str | None = Field(None, max_length=40)
    iterations: int | None = Field(None, ge=1, le=1_000_000)
    budget: str | None = Field(None, max_length=80)

    @model_validator(mode="after")
    def check(self) -> Self:
        """Check that exactly one of the three forms is requested."""
        if sum(form is not None for form in (self.fields, self.origin, self.resume)) != 1:
            raise ValueError("give exactly one of 'fields', 'from' and 'resume'")
        if self.locks and self.origin is None:
            raise ValueError("'locks' applies only with 'from'; put the locks of a new spot in 'fields'")
        if (self.boards is not None or self.keep) and self.fields is None:
            raise ValueError("'boards' and 'keep' apply only with 'fields'")
        if self.budget is not None and self.fields is None:
            raise ValueError("'budget' applies only with 'fields'")
        return self

    def fitted(self, threads: int | None, pace: float | None) -> "tuple[JobRequest, tuple[str, ...]]":
        """Return the request with the fields chosen for its budget, and the sizes that were left out.

        Raises:
            Refusal: a field is missing or invalid, or the budget is too small.
        """
        if self.budget is None or self.fields is None:
            return self, ()
        board = {} if self.boards is None else {"board": boards_named(self.boards)[0].name}
        spot = spot_of({**self.fields, **board}, wish=True)
        try:
            fitted = BudgetRequest(self.budget, pace).fit(spot, threads)
        except SpecError as error:
            raise Refusal(400, str(error).removeprefix("budget: "), "budget") from error
        return self.model_copy(update={"fields": {**self.fields, **fitted.fields()}}), fitted.left_out

    def limits(self) -> Budget:
        """Return the budget; without limits if there is none."""
        return Budget() if self.budget is None else Budget.read(self.budget)

    def flops(self) -> tuple[SpotRequest, tuple[Board, ...]]:
        """Return the spot and the boards of a batch.

        Raises:
            Refusal: a field or a board is missing or invalid.
        """
        assert self.fields is not None
        boards = boards_named(self.boards or "")
        spot_of({**self.fields, "board": boards[0].name})
        request = spot_request(self.fields)
        try:
            check_symmetric(request.ranges(), boards)
        except SpecError as error:
            raise Refusal(400, str(error), "boards") from error
        return request, boards

    def spot(self) -> Spot:
        """Return the new spot.

        Raises:
            Refusal: a field is missing or invalid.
        """
        assert self.fields is not None
        return spot_of(self.fields)

    def how(self) -> SolveFields:
        """Return the requested stopping conditions that are not part of a spot.

        Raises:
            Refusal: the target cannot be parsed.
        """
        if self.target is None:
            return SolveFields(iterations=self.iterations)
        try:
            return replace(spot_request({"target": self.target}).settings(), iterations=self.iterations)
        except SpecError as error:
            raise Refusal(400, str(error).removeprefix(PLACE), "target") from error

    def library_locks(self, spot: Spot) -> Sequence[AnyLock]:
        """Convert the locks to the library's form.

        Raises:
            Refusal: a lock cannot be parsed.
        """
        try:
            return [lock.lock(spot) for lock in self.locks]
        except SpecError as error:
            raise Refusal(400, str(error).replace(PLACE, ""), "locks") from error
