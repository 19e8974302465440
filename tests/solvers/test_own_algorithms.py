"""Algorithms in a user's own Python file, ``file.py:NAME``: solved with, sampled with, resumed and refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.solvers.registry import make_solver, named_in, pace_of, rule_of, same_algorithm, samples

OWN = """\
import treeplex as tp
from treeplex.solvers import SamplingScheme


def damped(t, horizon, *, alpha=1.5, gamma=2.0):
    kept = (t - 1) ** alpha / ((t - 1) ** alpha + 1) if t > 1 else 0.0
    return tp.solvers.Weights(positive=kept, negative=0.5, average_discount=((t - 1) / t) ** gamma)


DAMPED = tp.solvers.Variant("damped", "", "", damped, {"alpha": 1.5, "gamma": 2.0})
PREDICTS = tp.solvers.Variant("predicts", "", "", lambda t, horizon: tp.solvers.Weights(prediction=1.0))
HEDGE = tp.solvers.Rule("hedge", lambda step: step.memory[0].__iadd__(step.regrets).clip(0.0), rows=1)
SLOW = tp.solvers.FictitiousRule("slow", "", "", step=lambda t: 1 / (t + 2))
SCHEME = SamplingScheme("mine", "", "", own="subset", others="all", parameters={"k": 1, "averaging": "full"})
THREE = 3


def made(alpha=2):
    return tp.solvers.Variant("made", "", "", damped, {"alpha": alpha, "gamma": 1.0})


def broken():
    return 1 / 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(OWN)
    return tmp_path


@pytest.mark.quick_cases("my.py:DAMPED-my.py:DAMPED")
@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("my.py:DAMPED", "my.py:DAMPED"),
        ("my.py:DAMPED(alpha=2,gamma=2)", "my.py:DAMPED(alpha=2.0)"),
        ("my.py:made(alpha=1)", "my.py:made(alpha=1)"),
        ("my.py:HEDGE", "my.py:HEDGE"),
        ("my.py:SLOW", "my.py:SLOW"),
        ("my.py:SCHEME", "my.py:SCHEME"),
        ("my.py:SCHEME(k=2)", "my.py:SCHEME(k=2.0)"),
        ("es-mccfr(variant=my.py:DAMPED)", "es-mccfr(variant=my.py:DAMPED)"),
        ("my.py:SCHEME(variant=my.py:DAMPED(alpha=2))", "my.py:SCHEME(variant='my.py:DAMPED(alpha=2)')"),
    ],
)
def test_every_kind_is_solved_with_and_resumed(text: str, canonical: str) -> None:
    whole = tp.solve("kuhn_poker", text, iterations=120)
    assert whole.algorithm == canonical
    assert whole.exploitability < 0.25
    tp.solve("kuhn_poker", text, iterations=50, out="run")
    with pytest.raises(
        SpecError, match=r"are never executed; give the algorithm again: treeplex solve --resume run -a \"" + canonical[:8]
    ):
        tp.solve(resume="run", iterations=120)
    resumed = tp.solve(resume="run", algorithm=text, iterations=120)
    assert np.array_equal(resumed.policy.probabilities, whole.policy.probabilities)


def test_parameters_reach_the_variant() -> None:
    assert rule_of("my.py:DAMPED(alpha=3)", "dcfr")[0].parameters == {"alpha": 3.0, "gamma": 2.0}  # type: ignore[attr-defined]
    assert rule_of("my.py:made(alpha=3)", "dcfr")[0].parameters == {"alpha": 3, "gamma": 1.0}  # type: ignore[attr-defined]
    assert samples("my.py:SCHEME")
    assert not samples("my.py:DAMPED")
    assert pace_of("my.py:DAMPED") is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("other.py:DAMPED", SpecError, r"no file other\.py; write .*: myalgorithm\.py:DAMPED"),
        ("my.py:DAMPD", SpecError, r"my\.py defines no 'DAMPD'; did you mean 'DAMPED'"),
        (
            "my.py",
            SpecError,
            r"no algorithm selected in my\.py: it defines DAMPED, PREDICTS, HEDGE, SLOW, SCHEME; write my\.py:Name",
        ),
        ("my.py:DAMPED(alfa=1)", SpecError, r"my\.py:DAMPED has no parameter 'alfa'; did you mean 'alpha'"),
        ("my.py:DAMPED(alpha=much)", SpecError, "parameter alpha of my.py:DAMPED must be a number, not 'much'"),
        ("my.py:HEDGE(rate=1)", SpecError, "my.py:HEDGE has no parameter 'rate'; it takes no parameters"),
        ("my.py:THREE", SpecError, "'my.py:THREE' returned a int, not an algorithm; return a treeplex.solvers.Variant, Rule"),
        ("my.py:made(beta=1)", SpecError, r"unexpected keyword argument 'beta'; its signature is \(alpha=2\)"),
        ("my.py:broken", AlgorithmError, r"^my\.py:23: ZeroDivisionError: .* \(while creating my\.py:broken\)"),
        ("es-mccfr(variant=my.py:PREDICTS)", AlgorithmError, "variant=predicts does not support sampling: it predicts"),
        ("es-mccfr(variant=my.py:HEDGE)", AlgorithmError, "'my.py:HEDGE' returned a Rule, not a treeplex.solvers.Variant"),
    ],
)
def test_refusals(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_solver(tp.compile("kuhn_poker"), text)


def test_a_scheme_that_is_none_is_refused() -> None:
    from treeplex.solvers import SamplingScheme

    with pytest.raises(SpecError, match="mine: unknown own 'some'; did you mean 'one'"):
        SamplingScheme("mine", "", "", own="some", others="all")
    with pytest.raises(SpecError, match="mine has no parameter 'kk'; did you mean 'k'"):
        SamplingScheme("mine", "", "", own="subset", others="all", parameters={"kk": 1})


def test_the_file_runs_once_until_it_changes(folder: Path) -> None:
    more = "\nfrom pathlib import Path\nPath('ran.txt').write_text(Path('ran.txt').read_text() + 'x')\n"
    (folder / "ran.txt").write_text("")
    (folder / "once.py").write_text(OWN + more)
    tp.solve("kuhn_poker", "once.py:DAMPED", iterations=5)
    tp.solve("kuhn_poker", "once.py:DAMPED", iterations=5)
    assert (folder / "ran.txt").read_text() == "x"
    (folder / "once.py").write_text(OWN.replace('"damped"', '"another"') + more)
    assert rule_of("once.py:DAMPED", "dcfr")[0].name == "another"
    assert (folder / "ran.txt").read_text() == "xx"


def test_no_code_runs_on_a_files_word(folder: Path) -> None:
    tp.solve("kuhn_poker", "dcfr", iterations=5, out="run")
    (folder / "bad.py").write_text("open('ran', 'w')\n")
    about = json.loads((folder / "run/run.json").read_text())
    for text in ("bad.py:X", "es-mccfr(variant=bad.py:X)", "es-mccfr(variant='./bad.py:X(k=1)')"):
        (folder / "run/run.json").write_text(json.dumps(about | {"algorithm": text}))
        with pytest.raises((SpecError, FileError), match=r"never executed|was altered|checksum"):
            tp.solve(resume="run", iterations=9)
        with pytest.raises(SpecError, match="never executed"):
            named_in("run", text, "solve")
    assert not (folder / "ran").exists()


@pytest.mark.slow
def test_the_file_may_lie_elsewhere_when_a_run_is_resumed(folder: Path) -> None:
    tp.solve("kuhn_poker", "my.py:DAMPED(alpha=2)", iterations=5, out="run")
    (folder / "moved").mkdir()
    (folder / "my.py").rename(folder / "moved/my.py")
    assert tp.solve(resume="run", algorithm="moved/my.py:DAMPED(alpha=2)", iterations=9).iterations == 9
    with pytest.raises(
        SpecError, match=r"was run with algorithm my\.py:DAMPED\(alpha=2\.0\), not moved/my\.py:DAMPED; start a new run"
    ):
        tp.solve(resume="run", algorithm="moved/my.py:DAMPED", iterations=12)
    assert same_algorithm("es-mccfr(variant=a/my.py:D)", "es-mccfr(variant=/b/my.py:D)")
    assert same_algorithm("es-mccfr(variant='a/my.py:D(k=1)')", "es-mccfr(variant='my.py:D(k=1)')")
    assert not same_algorithm("a/my.py:D", "a/mine.py:D")


@pytest.mark.slow
def test_sampling_without_compiling(folder: Path) -> None:
    """A scheme and variant over rules and on the compiled game: equal infosets, both near equilibrium."""
    text = "my.py:SCHEME(averaging=lazy,variant=my.py:DAMPED)"
    sampled = tp.sample("kuhn_poker", text, iterations=4000, judge=True, out="run")
    assert sampled.last.numbers["exploitability"] < 0.08
    with pytest.raises(SpecError, match="give the algorithm again: treeplex sample --resume run -a"):
        tp.sample(resume="run", iterations=4100)
    resumed = tp.sample(resume="run", algorithm=text, iterations=4100)
    assert resumed.last.done == 4100
    with pytest.raises(AlgorithmError, match=r"my\.py:DAMPED needs a compiled game"):
        tp.sample("kuhn_poker", "my.py:DAMPED")
