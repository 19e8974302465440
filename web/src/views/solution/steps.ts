// Lines of a betting tree as columns: names, colours and frequencies of the actions at each node on the path.
import { colours } from "../../look/actions.ts";
import { amount, percent } from "../../look/numbers.ts";
import type { TreeColumn } from "../../look/Tree.tsx";
import { PLAYERS, type Node, type PathStep } from "./node.ts";
import { joined, kindOf, stepName } from "./words.ts";

export function treeColumns(node: Node, move: (line: string) => void): TreeColumn[] {
  const { head } = node;
  const columns = head.path.map((step) => passed(step, move, head.unit));
  const key = head.line || "root";
  const unit = head.unit === "chips" ? "" : head.unit;
  if (head.deals) {
    columns.push({ key, who: head.deals > 1 ? `next ${head.deals} cards` : "next card", here: true, choices: [], deal: { count: head.deals, blocked: head.deals > 1 ? head.board : missing(head.children), onTake: (cards) => move(joined(head.line, cards)) } });
  } else if (head.player !== null) {
    const paint = colours(head.actions.map((action) => action.kind));
    columns.push({
      key,
      who: PLAYERS[head.player],
      about: `pot ${amount(head.pot, unit)}${head.locked ? ", locked" : ""}`,
      here: true,
      choices: head.actions.map((action, a) => ({
        key: action.step,
        label: action.name,
        detail: action.size,
        note: percent(action.frequency, 1),
        colour: paint[a]!,
        onTake: () => move(head.children[a] ?? joined(head.line, action.step)),
      })),
    });
  } else columns.push({ key, who: "hand over", about: `pot ${amount(head.pot, unit)}`, here: true, choices: [] });
  return columns;
}

function passed(step: PathStep, move: (line: string) => void, unit: string): TreeColumn {
  const key = step.line || "root";
  const onHead = () => move(step.line);
  if (step.player === null) {
    const taken = step.step;
    return { key, who: "card", onHead, choices: [{ key: "card", label: taken ?? "", cards: taken ?? "", note: "change", taken: false, onTake: onHead }] };
  }
  const paint = colours(step.steps.map(kindOf));
  return {
    key,
    who: PLAYERS[step.player],
    about: step.pot === undefined ? "" : `pot ${amount(step.pot, unit === "chips" ? "" : unit)}`,
    onHead,
    choices: step.steps.map((each, a) => ({
      key: each,
      label: stepName(each, unit),
      note: percent(step.frequency[a], 1),
      colour: paint[a]!,
      taken: each === step.step,
      onTake: () => move(joined(step.line, each)),
    })),
  };
}

/** Cards that cannot come: those that no child deals. */
function missing(children: readonly string[]): string[] {
  const there = new Set(children.map((line) => line.split(",").at(-1)));
  return [..."shdc"].flatMap((suit) => [..."AKQJT98765432"].map((rank) => rank + suit)).filter((card) => !there.has(card));
}
