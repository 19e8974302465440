"""Settings of a blueprint's training."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.holdem.buckets.plan import HISTOGRAM, METHODS


@dataclass(frozen=True)
class BlueprintTraining(Settings):
    """Settings of external sampling on whole hold'em."""

    boards: int = setting(1_000_000, "complete boards to walk, over all resumes", low=1)
    deals: int = setting(64, "hands of all players on each board, a walk of each player for each", low=1, fixed=True)
    buckets: tuple[int, ...] = setting(
        (169, 200, 200, 200), "buckets of each street; none: every hand on every board by itself", low=1, fixed=True
    )
    method: str = setting(HISTOGRAM, "how hands are put into buckets", choices=METHODS, fixed=True)
    recall: bool = setting(
        False, "whether players remember buckets of earlier streets; then they are made anew after each sequence", fixed=True
    )
    discount_every: int = setting(
        10_000, "boards after which sums are multiplied by k / (k + 1), the k-th time; 0 never", low=0, fixed=True
    )
    prune: float = setting(
        0.95, "share of deals in which actions with very negative regrets are skipped", low=0, high=1, fixed=True
    )
    prune_after: int = setting(20_000, "boards before that begins", low=0, fixed=True)
    prune_below: float = setting(-20_000.0, "how negative regrets must be, in big blinds", high=0, fixed=True)
    every: int | None = setting(None, "boards between records; none: 1, 2, 5, 10, 20, 50, ...", low=1, fixed=True)
    seed: int = setting(0, "seed of everything drawn", low=0, fixed=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.buckets) not in (0, 4):
            raise SpecError(f"buckets has {len(self.buckets)} numbers; give four, one for each street, such as 169,50,50,50")
        if self.buckets and self.recall and self.method == HISTOGRAM:
            raise SpecError("histograms are clustered once for all hands; with recall=true take method=percentile or kmeans")
