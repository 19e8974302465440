"""Write a card for each shipped network, policy and chart: ``docs/models``.

Facts come from the headers of the shipped files, strength also from stored results in ``papers``, and remarks from
``docs/model_cards.toml``. Run ``python docs/generate_model_cards.py`` after shipping a file; a test checks that it was run.
"""

import json
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import safe_open

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from papers.common.lines import read_lines  # noqa: E402
from papers.common.pages import with_numbers  # noqa: E402
from papers.common.results import results_file  # noqa: E402
from treeplex.holdem.solve.solution import HoldemSolution  # noqa: E402
from treeplex.holdem.study.preflop_charts import SHIPPED as CHARTS  # noqa: E402
from treeplex.holdem.study.preflop_charts import all_ins_in_words, read_solved, shipped_charts, solution_chart  # noqa: E402
from treeplex.learn.neural.network_policy import WORD  # noqa: E402
from treeplex.learn.train.registry import learner_named  # noqa: E402

FOLDER = ROOT / "docs" / "models"
PACKAGE = ROOT / "src" / "treeplex"
WRITTEN = "<!-- Written by docs/generate_model_cards.py from the shipped files; do not edit. -->"
Row = tuple[str, ...]
Rows = Sequence[tuple[str, str]]
"""Name and text of each row of a card."""
WEAK = ("T2o", "92o")
"""Hands that players say a preflop chart should fold more often."""


def remarks() -> dict[str, Any]:
    """The hand-written parts."""
    return tomllib.loads((ROOT / "docs" / "model_cards.toml").read_text(encoding="utf-8"))


def files(pattern: str) -> list[Path]:
    """Shipped files, sorted by path."""
    return sorted(PACKAGE.glob(pattern))


def metadata(path: Path) -> dict[str, Any]:
    """The header of a shipped file: its JSON, or its fields if it has no JSON."""
    with safe_open(path, "np") as tensors:
        fields: dict[str, str] = tensors.metadata()
    return json.loads(fields["header"]) if "header" in fields else fields


def parameters(path: Path) -> int:
    """Number of elements in a file of tensors."""
    count = 0
    with safe_open(path, "np") as tensors:
        for name in tensors.keys():  # noqa: SIM118
            size = 1
            for length in tensors.get_slice(name).get_shape():
                size *= length
            count += size
    return count


def table(head: Row, rows: Sequence[Row]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def card(name: str, rows: Rows) -> str:
    """One model card."""
    return f"## {name}\n\n" + table(("", ""), [row for row in rows if row[1]])


def located(path: Path) -> str:
    """A shipped file by path and size."""
    return f"`src/treeplex/{path.relative_to(PACKAGE)}`, {path.stat().st_size:,} bytes, {parameters(path):,} numbers"


def command(learner: str, game: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """The training command: settings that differ from the defaults are set."""
    words = ["treeplex", "train", learner, *([game] if game else [])]
    for name, value in settings.items():
        if name in defaults and defaults[name] != value and isinstance(value, str | int | float):
            words += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return shlex.join(words)


def effort(about: Mapping[str, Any], counted: str) -> str:
    """Training effort and date."""
    parts = [f"{int(about[key]):,} {word}" for key, word in (("solved", counted), ("games", "games")) if key in about]
    parts += [f"{int(about['steps']):,} gradient steps"] if "steps" in about else []
    parts += [f"{about['cpu_seconds']:,.0f} CPU seconds"] if "cpu_seconds" in about else [f"{about['seconds']:,.0f} seconds"]
    return ", ".join(parts) + (f"; {about['date']}" if "date" in about else "")


def rebel() -> Iterator[str]:
    """Cards of ReBeL's value networks."""
    texts, rows, cards = remarks()["rebel"], [], []
    for path in files("learn/rebel/networks/**/*.safetensors"):
        header, said = metadata(path), texts["names"].get(path.stem, {})
        settings, about, game = header["settings"], header["card"], header["game"]
        judged = about.get("judged", {})
        name = "rivers" if path.stem == "rivers" else f"rebel:{path.stem}"
        if "playthroughs" in judged:
            strength = (
                f"exploitability {judged['exploitability']:.4f}, N = {judged['playthroughs']:,}, T = {judged['iterations']:,} "
                f"by {judged['method'].upper()} ({judged['date']})"
            )
            counts = ["--playthroughs", str(judged["playthroughs"]), "--iterations", str(judged["iterations"])]
            shown = f"`{shlex.join(['treeplex', 'evaluate', game, name, *counts])}`"
        else:
            strength, shown = with_numbers(said["strength"]), said["judged"]
        if "river" in judged:
            strength = (
                f"exploitability {judged['exploitability']:.2f} chips (big blind 100), average policy of {judged['method']} "
                f"with {judged['iterations']} iterations, rivers of {judged['river']} ({judged['date']}). {strength}"
            )
        made = said.get("command") or command("rebel", game, settings, recipe(game))
        size = f"{settings['layers']} layers of {settings['width']}"
        bins = f", {settings['bins']} bins of strength" if settings.get("bins") else ""
        cards.append(
            card(
                f"`{name}`",
                [
                    ("what", f"value network for `{game}`, {size}{bins}"),
                    ("file", located(path)),
                    ("trained by", f"`{made}`"),
                    ("effort", effort(about, "subgames")),
                    ("strength", strength),
                    ("evaluated by", shown),
                    ("limits", with_numbers(said["limits"]) if said else ""),
                ],
            )
        )
        gain = f"{judged['exploitability']:.4f}" if "playthroughs" in judged else "see below"
        rows.append((f"`{name}`", f"`{game}`", gain, f"{about.get('cpu_seconds', about['seconds']):,.0f}"))
    yield table(("network", "game", "exploitability", "training, seconds"), rows)
    yield from cards


def recipe(game: str) -> dict[str, Any]:
    """Default settings of ReBeL for a game."""
    settings = learner_named("rebel").for_game(game).presets(game)["recipe"]
    return asdict(settings)


def policies() -> Iterator[str]:
    """Cards of policy networks."""
    rows, cards = [], []
    for path in files("learn/neural/networks/*.safetensors"):
        about = metadata(path)
        name, made = f"{WORD}{path.stem}", about.get("command", "")
        gain = f"{float(about['exploitability']):.4f}"
        shown = shlex.join(["treeplex", "evaluate", about["game"], name])
        cards.append(
            card(
                f"`{name}`",
                [
                    ("what", f"average policy of `{about['algorithm']}` on `{about['game']}`, one network per player"),
                    ("file", located(path)),
                    (
                        "trained by",
                        f"`{made}`" if made else f"`{about['algorithm']}`, seed {about['seed']}; command not recorded",
                    ),
                    ("effort", learner_effort(about)),
                    ("strength", f"exploitability {gain} chips"),
                    ("evaluated by", f"`{shown}`"),
                ],
            )
        )
        rows.append((f"`{name}`", f"`{about['algorithm']}`", gain, f"{int(about['cpu_seconds']):,}"))
    yield table(("network", "learner", "exploitability, chips", "CPU seconds"), rows)
    yield from cards
    yield "The learners' curves over several seeds: [deep learners](../papers/learners.md#deep_cfr)."


def learner_effort(about: Mapping[str, str]) -> str:
    """Iterations, histories and time of a learner."""
    counts = f"{int(about['iterations']):,} iterations, {int(about['nodes']):,} histories"
    return f"{counts}, {int(about['cpu_seconds']):,} CPU seconds; {about['date']}"


def hand_values() -> Iterator[str]:
    """Cards of the networks for single hands."""
    errors = read_lines(results_file("holdem/hands"))[0]["tables"][0]["rows"]
    at_end = read_lines(results_file("holdem/street_ends"))[0]["tables"][0]["rows"]
    models = {row[1]: row for row in at_end if row[0] == "all"}
    measured = {"flop-end": (models["network"], models["showdown"], "street_ends")}
    for street in ("flop", "turn", "river"):
        found = {row[1]: row for row in errors if row[0] == street}
        measured[street] = found["the library's network"], found["showdown"], "hands"
    defaults = asdict(learner_named("hand-values").settings())
    rows, cards = [], []
    for street, (ours, showdown, study) in sorted(measured.items()):
        path = PACKAGE / "learn" / "hand_values" / "networks" / f"{street}.safetensors"
        header = metadata(path)
        settings, about = header["settings"], header["card"]
        where = f"{settings.get('at', 'start')} of the {settings['street']}"
        rows.append((street, *ours[2:], f"{about['situations']:,}", f"{about['cpu_seconds']:,.0f}"))
        cards.append(
            card(
                f"`{street}`",
                [
                    (
                        "what",
                        f"values of hands at the {where}, {settings['layers']} layers of {settings['width']}",
                    ),
                    ("file", located(path)),
                    ("trained by", f"`{command('hand-values', '', settings, defaults)}`"),
                    ("effort", f"{about['situations']:,} situations, {effort(about, '')}"),
                    (
                        "strength",
                        f"mean error of {ours[3]} pots for hands weighted by range, {ours[4]} for a range's value",
                    ),
                    ("baseline", f"errors of showdown values: {showdown[3]} and {showdown[4]}"),
                    ("evaluated by", f"`python papers/run.py holdem/{study}` ([results](../papers/holdem-solving.md#{study}))"),
                    ("stacks", f"{settings['least_stack']:g} to {settings['most_stack']:g} pots"),
                ],
            )
        )
    yield table(("network", "all hands", "hands weighted by range", "range", "situations", "CPU seconds"), rows)
    yield from cards


def discounts() -> Iterator[str]:
    """Cards of the discount policies."""
    rows, cards = [], []
    for path in files("solvers/rules/shipped/*.safetensors"):
        header = metadata(path)
        about, name = header["card"], path.stem
        defaults = asdict(learner_named(name).settings())
        scores = {game: found for game, found in about["scores"].items() if isinstance(found, dict)}
        base = next(key for key in next(iter(scores.values())) if key != "exploitability")
        better = sum(found["exploitability"] < found[base] for found in scores.values())
        rows.append(
            (f"`{name}`", f"`{base}`", f"{better} of {len(scores)}", f"{about['epochs']:,}", f"{about['seconds']:,.0f}")
        )
        made = shlex.join(["treeplex", "train", name, *about["games"]])
        made += command("", "", about["settings"], defaults).removeprefix("treeplex train ''")
        cards.append(
            card(
                f"`{name}`",
                [
                    (
                        "what",
                        f"{', '.join(header['exponents'])} of `{header['base']}`, from {' and '.join(header['features'])}",
                    ),
                    ("file", located(path)),
                    ("trained by", f"`{made}`"),
                    ("effort", f"{about['epochs']:,} epochs, {about['seconds']:,.0f} seconds; {about['date']}"),
                    ("evaluated by", about["scores"]["what"]),
                    ("results", "[published figures](../papers/ddcfr.md), [training](../papers/ddcfr-training.md)"),
                ],
            )
            + "\n\n"
            + table(
                ("game", f"`{name}`", f"`{base}`"),
                [(game, f"{found['exploitability']:.2e}", f"{found[base]:.2e}") for game, found in scores.items()],
            )
        )
    yield table(("policy", "baseline", "games with lower exploitability", "epochs", "seconds"), rows)
    yield from cards


def weak_hands(solution: HoldemSolution) -> str:
    """How the small blind opens hands that players fold more often: frequencies, and what a limp gains over a fold."""
    chart, words = solution_chart(solution), []
    assert chart.ev is not None
    for name in WEAK:
        place, limp = chart.classes.index(name), chart.actions.index("call")
        gain = 1000 * chart.ev[limp, place]
        words.append(
            f"{name} folds {chart.shares[0, place]:.0%} and limps {chart.shares[limp, place]:.0%}"
            + (f" (EV {gain:+.0f} mbb relative to a fold)" if gain == gain else "")
        )
    return "; ".join(words)


def charts() -> Iterator[str]:
    """Cards of the preflop charts."""
    apart = json.loads((CHARTS / "by_network.json").read_text(encoding="utf-8"))
    rows, cards = [], []
    for name in shipped_charts():
        solution, path = read_solved(name), CHARTS / f"{name}.spot"
        assert solution is not None
        record = solution.records[-1]
        gain = 1000 * record.numbers["exploitability"]
        value = f"{1000 * solution.ev[1]:+.0f}"
        rows.append((f"`{name}`", f"{gain:.1f}", value, f"{record.done:,}", f"{record.cpu_seconds:,.0f}"))
        differs = []
        if name in apart:
            text = f"differs by {apart[name]['apart']['first']:.1%} of play at the first decision"
            compared = "" if apart[name]["own"] else " from one by full solves, both with fewer bets than here"
            differs = [("chart by a network", text + compared)]
        often = ", ".join(f"{action} {100 * share:.1f}%" for action, share in solution_chart(solution).often.items())
        cards.append(
            card(
                f"`{name}`",
                [
                    ("what", f"heads-up preflop chart, stacks of {solution.spot.stack:g} big blinds"),
                    ("file", f"`src/treeplex/{path.relative_to(PACKAGE)}`, {path.stat().st_size:,} bytes"),
                    ("solved by", f"`python -m bench.preflop_charts {name}`"),
                    ("effort", f"{record.done:,} iterations, {record.cpu_seconds:,.0f} CPU seconds"),
                    ("strength", f"exploitability {gain:.1f} mbb/hand in the solved game, with its subset of boards"),
                    ("first decision", often),
                    ("weak hands", weak_hands(solution)),
                    ("all-ins", all_ins_in_words(solution)),
                    *differs,
                    ("evaluated by", "`python papers/run.py holdem/preflop_deep` ([results](../papers/holdem-preflop.md))"),
                ],
            )
        )
    yield table(("chart", "exploitability, mbb/hand", "small blind's value, mbb/hand", "iterations", "CPU seconds"), rows)
    yield from cards


KINDS = {"rebel": rebel, "policies": policies, "hand_values": hand_values, "discounts": discounts, "charts": charts}


def file_name(kind: str) -> str:
    """The page of a kind."""
    return f"{kind.replace('_', '-')}.md"


def page(kind: str, texts: Mapping[str, Any]) -> str:
    """The cards of one kind."""
    first, *rest = KINDS[kind]()
    parts = [WRITTEN, f"# {texts['title']}", with_numbers(texts["about"]), first]
    parts += [f"**Limits.** {with_numbers(texts['limits'])}", *rest]
    return "\n\n".join(parts) + "\n"


def render() -> dict[str, str]:
    """Every file of ``docs/models`` by name, as it should be."""
    texts = remarks()
    rows = [
        (f"[{texts[kind]['title']}]({file_name(kind)})", texts[kind]["about"].split(". ")[0].strip() + ".") for kind in KINDS
    ]
    index = [WRITTEN, f"# {texts['index']['title']}", with_numbers(texts["index"]["about"])]
    index.append(table(("cards", "content"), [(title, " ".join(about.split()).replace("..", ".")) for title, about in rows]))
    return {"index.md": "\n\n".join(index) + "\n", **{file_name(kind): page(kind, texts[kind]) for kind in KINDS}}


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in render().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/models/{name}")


if __name__ == "__main__":
    main()
