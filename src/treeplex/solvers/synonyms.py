"""Synonyms of algorithms in the literature, and hints for algorithms that are not implemented."""

from collections.abc import Iterable, Mapping

from treeplex.base.spec import nearest, shown
from treeplex.errors import SpecError

SYNONYMS: Mapping[str, str] = {
    "vanilla-cfr": "cfr",
    "cfr-plus": "cfr+",
    "cfrplus": "cfr+",
    "linear-cfr": "lcfr",
    "discounted-cfr": "dcfr",
    "predictive-cfr": "pcfr+",
    "predictive-cfr+": "pcfr+",
    "pcfr": "pcfr+",
    "mccfr": "es-mccfr",
    "mc-cfr": "es-mccfr",
    "monte-carlo-cfr": "es-mccfr",
    "es": "es-mccfr",
    "escfr": "es-mccfr",
    "external-sampling": "es-mccfr",
    "external-sampling-mccfr": "es-mccfr",
    "os": "os-mccfr",
    "outcome-sampling": "os-mccfr",
    "outcome-sampling-mccfr": "os-mccfr",
    "chance-sampling": "cs-mccfr",
    "cscfr": "cs-mccfr",
    "average-strategy-sampling": "as-mccfr",
    "vrmccfr": "vr-mccfr",
    "xfp": "fp",
    "fictitious-play": "fp",
    "greedy-weights": "greedy",
    "regret-matching": "rm",
    "linear-programming": "lp",
    "linear-program": "lp",
    "sequence-form": "lp",
    "sequence-form-lp": "lp",
    "backward-induction": "recursive",
    "magnetic-mirror-descent": "mmd",
    "smooth-predictive-cfr+": "smooth-pcfr+",
    "rtcfr": "rtcfr+",
    "vadcfr": "vad-cfr",
    "wopcfr": "wop-cfr",
}
"""Alternative names, in lower case with hyphens, mapped to names of algorithms."""

DEEP = "use ReBeL (treeplex train rebel GAME), or es-mccfr for large games (treeplex sample GAME)"
LEARNERS: Mapping[str, str] = {
    **{
        name: name
        for name in (
            *("deep-cfr", "sd-cfr", "dream", "escher", "vr-deep-dcfr+", "vr-deep-pdcfr+", "nfsp", "rcfr", "psro", "ned"),
            *("armac", "coma", "a2c"),
            *("qpg", "rpg", "rmpg", "neurd", "r-nad", "ppo", "ppg"),
        )
    },
    "deepcfr": "deep-cfr",
    "single-deep-cfr": "sd-cfr",
    "regression-cfr": "rcfr",
    "rnad": "r-nad",
    "deepnash": "r-nad",
    "deep-nash": "r-nad",
}
"""Names of learners and alternative names, mapped to names in ``treeplex train``."""
TABULAR = "use pcfr+ or dcfr, which usually converge fastest, or the exact lp"
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("dqn", "alphazero", "muzero", "alpha-zero", "deepstack"),
            *("player-of-games", "student-of-games", "pog", "sog"),
        ),
        DEEP,
    ),
    **dict.fromkeys(
        (
            *("omd", "oomd", "dilated-omd", "egt", "exploitability-descent", "ed", "cfr-br"),
            *("double-oracle", "do", "xdo", "qre", "agent-qre", "logit", "replicator-dynamics", "alpha-rank"),
        ),
        TABULAR,
    ),
    "rebel": "train it first: treeplex train rebel GAME --out DIR",
}
"""Hints for names that are not solving algorithms."""


def plain_name(name: str) -> str:
    """Return a name in lower case with hyphens."""
    return "-".join(name.lower().replace("_", " ").replace("-", " ").split())


def unknown_algorithm(name: str, known: Iterable[str], what: str = "unknown algorithm") -> SpecError:
    """Return the error for an unknown name, with a hint or the nearest known name."""
    known, plain = list(known), plain_name(name)
    if plain == "rebel":
        return SpecError(f"rebel is not a solving algorithm; {ELSEWHERE[plain]}")
    if plain in LEARNERS:
        return SpecError(f"{shown(name)} is not a solving algorithm; train it: treeplex train {LEARNERS[plain]} GAME --out DIR")
    if plain in ELSEWHERE:
        return SpecError(f"{shown(name)} is not implemented; {ELSEWHERE[plain]}")
    meant = plain if plain in known else SYNONYMS.get(plain, "")
    hint = f"; did you mean {meant!r}?" if meant in known else nearest(name, known)
    return SpecError(f"{what} {shown(name)}{hint}")
