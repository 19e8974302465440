"""Turns ``bench/results/*.json`` into ``docs/benchmarks.md`` and the short table of the README.

The README's table stands between the markers ``<!-- bench:start -->`` and ``<!-- bench:end -->``, where they exist.

    python bench/report.py [--quick]
"""

import json
from typing import Any

import cold_start
import compile_scale
import holdem
import iteration_speed
import long_runs
import rebel
import record
import roofline
import sampling
import showdown_limits

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
IMAGE = "images/compile_scale.png"
SECTIONS = (
    ("iteration_speed", "Iterations beside other systems", iteration_speed),
    ("sampling", "Sampling beside OpenSpiel", sampling),
    ("long_runs", "A thousand iterations of large games", long_runs),
    ("holdem", "Hold'em beside other solvers", holdem),
    ("rebel", "ReBeL beside the released code", rebel),
    ("showdown_limits", "How far hold'em is from the machine's limits", showdown_limits),
    ("compile_scale", "Compiling: time and memory", compile_scale),
    ("roofline", "How far from the memory's speed", roofline),
    ("cold_start", "Cold start", cold_start),
)
ABOUT = {
    "iteration_speed": "One process each, one core, one thread; the systems take turns, medians over the turns. An iteration "
    "updates all players, averages included: alternating in Treeplex, in OpenSpiel and in LiteEFG's CFR+, simultaneous in "
    "LiteEFG's CFR. Treeplex computes in float64, OpenSpiel's JAX solver in float32. Milliseconds are wall-clock; CPU "
    "milliseconds far below them would mean that the machine was busy.",
    "sampling": "One process, one core, one thread; the systems take turns, medians over the turns; the state goes on from "
    "turn to turn. An iteration is one walk for each player. Averages are kept as each system does by default: Treeplex the "
    "exact ones (the lazy ledger), OpenSpiel's external sampling at the other player's infosets, its outcome sampling weighted "
    "by the probability of the walk, LiteEFG by a sweep over all infosets. Histories are those that our walks visit in an "
    "iteration. Threads share the tables and are on two cores.",
    "long_runs": "Fresh processes on one core, medians; compiled kernels come from the cache. The paper's hours are "
    "those of its own implementation on its own machines.",
    "compile_scale": "Each game in a fresh process on one core. Memory is the highest resident size above the one at the "
    "start; bytes kept are the arrays of the compiled game (infostate strings not counted).",
    "roofline": "One core, one thread, passes over all players in the middle of a CFR run. KiB to move counts every array "
    "element that a pass reads and writes, once; the plain pass reads, rewrites and writes as many bytes in simple loops. The "
    "shared dense operator does many multiply-adds for each byte, so that bytes are not what limits its gradient.",
    "holdem": "One process each, the systems take turns, medians over the turns; one thread on one core, two on two. "
    "Exploitability is the mean over players in percent of the pot at the start; it is checked every ten iterations, and "
    "the checks are not in the seconds (TexasSolver reports them together, so ours are added where it is compared). Every "
    "solver runs its own variant of DCFR and its own check. Build makes the game without solving; arrays are the bytes that "
    "the system says it needs; peak is the largest resident size of the process, Python and compiled kernels included.",
    "rebel": "One process each, one core, one thread, taking turns; CPU seconds, sums over the turns. Liar's Dice with the "
    "released settings: linear CFR, 1,024 updates of one player (512 iterations of ours), subgames of two actions, an "
    "untrained network of two layers of 256; in self-play a leaf is drawn and a quarter of the exploring player's actions are "
    "random. The released code asks its network for one player at all leaves and plays one episode after another. Ours gives "
    "both players' values at once, leaves out leaves that the other player never plays to, counts hands of several dice "
    "without their order, and advances 64 episodes, or 32 playthroughs, side by side. Leaves are those of a subgame on "
    "average, which tell whether both met alike states. The recipe solves by Discounted CFR of 64 iterations with a network of "
    "128; in it and where “shared” is said, a subgame at which several episodes stand is solved once and counts for each of "
    "them, as in trainings. A playthrough of an evaluation searches all public states of the game, each until the iteration "
    "drawn.",
    "showdown_limits": "One core, one thread, in the middle of a run, all boards of the last street and both players. A "
    "limit is the time of the stored bytes in plain passes over as many, of the loads and stores in the first-level cache, "
    "or of the operations as multiply-adds in registers; the largest counts. The limits of a whole iteration leave out "
    "streets before the last.",
    "cold_start": "One core, wall seconds, imports and output included.",
}


def load(quick: bool) -> dict[str, dict[str, Any]]:
    """The results there are, by name."""
    folder = record.QUICK_RESULTS if quick else record.RESULTS
    paths = {name: folder / f"{name}.json" for name, _, _ in SECTIONS}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}


def provenance(result: dict[str, Any]) -> str:
    """Where, when and with what a result was measured, in one paragraph."""
    machine, versions = result["machine"], result["versions"]
    cache = ", ".join(f"{level} {size}" for level, size in machine["caches"].items())
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    busy = f", load {result['load_average'][0]:g} at the end"
    return (
        f"{result['date']}, commit `{result['commit']}`, {machine['cpu']}, {machine['cores']} cores, {cache}, "
        f"{machine['memory_gib']:g} GiB, {machine['system']}, Python {machine['python']}{busy}; {packages}."
    )


def page(results: dict[str, dict[str, Any]]) -> str:
    """The whole page."""
    parts = [
        "# Benchmarks",
        "<!-- Generated by `python bench/report.py` from bench/results/*.json; do not edit. -->",
        "This page is generated: `python bench/run.py` measures everything, `python bench/report.py` writes the page. "
        "Goals are the project's own; a missed goal is shown like a met one.",
    ]
    for name, title, module in SECTIONS:
        if name in results:
            parts += [f"## {title}", ABOUT[name], module.tables(results[name])]
            if name == "compile_scale":
                parts.append(f"![Compile time and memory against the number of histories]({IMAGE})")
            parts.append(f"Measured with `python bench/{name}.py`: {provenance(results[name])}")
    return "\n\n".join(parts) + "\n"


def short_table(results: dict[str, dict[str, Any]]) -> str:
    """The README's table: each case beside the fastest other system and beside OpenSpiel."""
    parts = []
    if "iteration_speed" in results:
        rows = [short_row(case) for case in results["iteration_speed"]["cases"].values()]
        parts.append(record.markdown_table(["one CFR iteration, ms", "Treeplex", "OpenSpiel C++", "fastest other"], rows))
    for name, run in results.get("long_runs", {}).get("games", {}).items():
        parts.append(
            f"{name}, {results['long_runs']['iterations']} iterations of DCFR: {run['total_seconds']:.1f} s, "
            f"compiling included ({run['paper_hours']:g} h in the paper of Xu et al., 2024)."
        )
    if "iteration_speed" in results:
        about = results["iteration_speed"]
        parts.append(
            f"One core of {about['machine']['cpu']}, one thread, medians of alternating runs, commit `{about['commit']}`; "
            "all figures and how they were measured: [benchmarks](docs/benchmarks.md)."
        )
    return "\n\n".join(parts)


def short_row(case: dict[str, Any]) -> list[str]:
    """Ours, OpenSpiel's plain C++ and the fastest of the others, each with its ratio to the same algorithm of ours."""
    times = {name: found["ms"] for name, found in case["systems"].items()}
    ratios = {each["other"]: each["ratio"] for each in case["comparisons"] if each["other"]}
    plain = [name for name in ratios if name.startswith("OpenSpiel C++")][:1]
    fastest = sorted(ratios, key=lambda name: times[name])[:1]
    cells = [f"{record.digits(times[name])} ({record.digits(ratios[name])} times)" for name in (*plain, *fastest)]
    if len(cells) < 2:
        return [case["title"], *map(record.digits, list(times.values())[:1]), "", ""]
    return [case["title"], record.digits(next(iter(times.values()))), cells[0], f"{cells[1]}, {fastest[0]}"]


def write_readme(table: str) -> bool:
    """Replace what stands between the README's markers; whether they exist."""
    path = record.ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        return False
    path.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
    return True


def main() -> None:
    """Write the page and the README's table; with ``--quick`` only print them."""
    parser = record.parser(__doc__)
    options = parser.parse_args()
    results = load(options.quick)
    if options.quick:
        print(f"{page(results)}\n{short_table(results)}")
        return
    target = record.ROOT / "docs" / "benchmarks.md"
    target.write_text(page(results), encoding="utf-8")
    print(f"Written to {target}" + (" and README.md" if write_readme(short_table(results)) else ""))


if __name__ == "__main__":
    main()
