"""Settings for training a blueprint."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.holdem.buckets.plan import HISTOGRAM, METHODS


@dataclass(frozen=True)
class BlueprintTraining(Settings):
    """Settings for solving full-game hold'em by external sampling."""

    boards: int = setting(1_000_000, "total number of boards to traverse, including those before a resume", low=1)
    deals: int = setting(64, "deals per board, each with one traversal per player", low=1, fixed=True)
    buckets: tuple[int, ...] = setting(
        (169, 200, 200, 200),
        "number of buckets per street (none: no abstraction, each hand on each board is separate)",
        low=1,
        fixed=True,
    )
    method: str = setting(HISTOGRAM, "method that assigns hands to buckets", choices=METHODS, fixed=True)
    recall: bool = setting(
        False,
        "perfect recall of earlier streets' buckets (buckets are computed separately for each sequence of earlier buckets)",
        fixed=True,
    )
    discount_every: int = setting(
        10_000,
        "boards between discounts (0: never), where the k-th discount multiplies all sums by k / (k + 1)",
        low=0,
        fixed=True,
    )
    prune: float = setting(
        0.95, "fraction of deals in which actions with very negative regrets are skipped", low=0, high=1, fixed=True
    )
    prune_after: int = setting(20_000, "boards before pruning starts", low=0, fixed=True)
    prune_below: float = setting(-20_000.0, "regret in big blinds below which actions are pruned", high=0, fixed=True)
    every: int | None = setting(None, "boards between records (none: 1, 2, 5, 10, 20, 50, ...)", low=1, fixed=True)
    seed: int = setting(0, "random seed", low=0, fixed=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.buckets) not in (0, 4):
            raise SpecError(f"buckets has {len(self.buckets)} numbers; give four, one per street, such as 169,50,50,50")
        if self.buckets and self.recall and self.method == HISTOGRAM:
            raise SpecError(
                "method=histogram does not support recall=true, since it clusters all hands at once; use percentile or kmeans"
            )
