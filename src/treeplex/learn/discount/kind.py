"""Discount policies as learners: ``ddcfr``, ``dpcfr+`` and ``pddcfr``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted, split_outside_brackets
from treeplex.errors import SpecError
from treeplex.forms.sources.load import named_file
from treeplex.learn.discount.evolution_trainer import EvolutionTrainer
from treeplex.learn.discount.fitness import fitness_on, training_games
from treeplex.learn.discount.job import BEST, DISCOUNT, DiscountJob, best_of
from treeplex.learn.discount.ppo import PPOTrainer
from treeplex.learn.discount.settings import GAMES, DiscountSettings
from treeplex.learn.discount.trainer import Trainer
from treeplex.learn.train.kind import Options, TrainingKind, TrainingRun, count_of
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import load_discount_policy
from treeplex.solvers.rules.learned import LEARNED, REFERENCE


class DiscountKind(TrainingKind):
    """Trains a network that sets the discounting of a CFR variant.

    Args:
        name: one of :data:`treeplex.solvers.rules.learned.LEARNED`.
    """

    job_kind, settings, source = DISCOUNT, DiscountSettings, REFERENCE
    takes = ("workers", "ray")
    line: ClassVar[Mapping[str, str]] = {"fitness": "fitness {:.3f}", "best_fitness": "best {:.3f}", "lost": "{} workers lost"}
    needs_game = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.base, self.summary = LEARNED[name]

    def make(self, game: Any, settings: DiscountSettings, options: Options) -> DiscountJob:
        """Create a training run at epoch 0."""
        specs = specs_of(game)
        games = training_games(specs, named_in=options.named_in)
        fitness = fitness_on(games, settings.horizon, kind=settings.fitness, weights=settings.weights, floor=settings.floor)
        policy, work = settings.start(self.base), options.work
        trainer: Trainer
        if settings.optimizer == "ppo":
            if work.ray is not None:
                raise SpecError(
                    "PPO does not support --ray, since its episodes run on threads; remove it, or use --set optimizer=es"
                )
            trainer = PPOTrainer(policy, games, fitness, ppo=settings.ppo, workers=work.cores)
        else:
            trainer = EvolutionTrainer(policy, games, fitness, evolution=settings.evolution, executor=work.executor())
        return DiscountJob(self.name, specs, games, settings, trainer, fitness)

    def load(self, folder: Path) -> DiscountPolicy:
        """Load the policy with the best fitness."""
        return load_discount_policy(folder / BEST)

    def named_again(self, training: TrainingRun) -> str:
        """Comma-separated games that a resume command must repeat if any of them is custom; empty for built-in games."""
        return ",".join(training.game) if any(map(named_file, training.game)) else ""

    def summarise(self, training: TrainingRun) -> dict[str, Any]:
        """Exploitability on each game, the best epoch, and the number of workers that died."""
        last, best = training.records[-1], best_of(training.records)

        def by_game(values: Sequence[float]) -> dict[str, float]:
            return dict(zip(training.game, values, strict=True))

        summary = {"epoch": best.done, "fitness": best.fitness, "exploitability": by_game(best.exploitability)}
        lost = sum(record.lost for record in training.records)
        return {"exploitability": by_game(last.exploitability), "best": summary, "lost": lost}

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report fitness and exploitabilities."""
        first, last, best = training.records[0], training.records[-1], best_of(training.records)
        now = f"{first.fitness:.4f} before, {last.fitness:.4f} now, {best.fitness:.4f} at best (epoch {best.done:,})"
        facts = {"fitness": now}
        for number, game in enumerate(training.game):
            before, after = first.exploitability[number], best.exploitability[number]
            facts[game] = f"{before:.2e} -> {after:.2e}   exploitability after T iterations, best policy"
        effort = f"{count_of(last.done, 'epochs')} in {three_digits(last.seconds)} s"
        return f"{self.name} by {training.settings.optimizer}: {effort}", facts

    def next_steps(self, training: TrainingRun) -> list[tuple[str, str]]:
        """Suggest solving with the policy, and resuming training."""
        policy, named = f"{self.name}(policy={training.folder}/{BEST})", self.named_again(training)
        again = f"treeplex train {f'{self.name} {quoted(named)} ' if named else ''}--resume {quoted(str(training.folder))}"
        return [
            (f'treeplex solve leduc_poker -a "{policy}"', "use it"),
            (f"{again} --set epochs={2 * training.settings.epochs}", "train on"),
        ]


def specs_of(game: Any) -> list[str]:
    """Specs of the training games: the given list or comma-separated string, by default DDCFR's four games."""
    if game is None:
        return list(GAMES)
    texts = [game] if isinstance(game, str) else list(game)
    return [part.strip() for text in texts for part in split_outside_brackets(str(text), ",", str(text))]


DISCOUNT_LEARNERS = tuple(DiscountKind(name) for name in LEARNED)
"""The three learners of discount policies."""
