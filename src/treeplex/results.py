"""Result types of ``tp.compare``, ``tp.judge``, ``tp.structure`` and ``tp.train``, for type annotations."""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.evaluate.check_rules import RulesCheck
    from treeplex.evaluate.judge import Judgement
    from treeplex.forms.compile.compiled_game import GameSize
    from treeplex.forms.structure.classes import Structure
    from treeplex.learn.train.kind import TrainingRun
    from treeplex.run.compare import Comparison
    from treeplex.run.job.folder import JobFolder
    from treeplex.run.job.record import Progress, Record
    from treeplex.run.solve.settings import SolveSettings
    from treeplex.run.solve.solvable import GameOptions
    from treeplex.run.solve.tree_job import GameSolution

_HOMES = {
    "treeplex.run.job.folder": "JobFolder",
    "treeplex.run.solve.settings": "SolveSettings",
    "treeplex.run.solve.tree_job": "GameSolution",
    "treeplex.run.solve.solvable": "GameOptions",
    "treeplex.evaluate.check_rules": "RulesCheck",
    "treeplex.forms.compile.compiled_game": "GameSize",
    "treeplex.run.job.record": "Progress, Record",
    "treeplex.evaluate.judge": "Judgement",
    "treeplex.forms.structure.classes": "Structure",
    "treeplex.run.compare": "Comparison",
    "treeplex.learn.train.kind": "TrainingRun",
}

__all__ = [
    "Comparison",
    "GameOptions",
    "GameSize",
    "GameSolution",
    "JobFolder",
    "Judgement",
    "Progress",
    "Record",
    "RulesCheck",
    "SolveSettings",
    "Structure",
    "TrainingRun",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
