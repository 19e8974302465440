"""What the verbs of ``tp`` give, to write in annotations: ``compare``, ``judge``, ``structure``, ``train``."""

from typing import TYPE_CHECKING

from treeplex.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.evaluate.judge import Judgement
    from treeplex.forms.structure.classes import Structure
    from treeplex.runs.compare import Comparison
    from treeplex.runs.train.kind import Training

_HOMES = {
    "treeplex.evaluate.judge": "Judgement",
    "treeplex.forms.structure.classes": "Structure",
    "treeplex.runs.compare": "Comparison",
    "treeplex.runs.train.kind": "Training",
}

__all__ = ["Comparison", "Judgement", "Structure", "Training"]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
