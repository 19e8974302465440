// Lines of a betting tree as columns: names, colours and frequencies of the actions at each node on the path.
import { colours } from "../../look/actions.ts";
import { percent } from "../../look/numbers.ts";
import type { TreeColumn } from "../../look/Tree.tsx";
import { PLAYERS, type Node, type PathStep } from "./node.ts";

const CARDS = /^([2-9TJQKA][cdhs])+$/;
export const isCards = (step: string): boolean => CARDS.test(step);

const KINDS: Record<string, string> = { x: "check", c: "call", f: "fold", b: "bet", r: "raise", a: "allin" };
export const kindOf = (step: string): string => KINDS[step[0] ?? ""] ?? "bet";

/** "b120" is "Bet 120". */
export function stepName(step: string): string {
  const kind = kindOf(step);
  const word = kind === "allin" ? "All-in" : kind[0]!.toUpperCase() + kind.slice(1);
  return word + (kind === "bet" || kind === "raise" ? " " + step.slice(1) : "");
}

export const joined = (line: string, step: string): string => (line ? `${line},${step}` : step);
export const parent = (line: string): string => line.split(",").slice(0, -1).join(",");

/** A line for people: "Check, bet 50, call, 7♠". */
export const said = (line: string): string => (line ? line.split(",").map((step) => (isCards(step) ? step : stepName(step).toLowerCase())).join(", ") : "the start");

export function treeColumns(node: Node, move: (line: string) => void): TreeColumn[] {
  const { head } = node;
  const columns = head.path.map((step) => passed(step, move));
  const key = head.line || "root";
  if (head.deals) {
    columns.push({ key, who: head.deals > 1 ? `next ${head.deals} cards` : "next card", here: true, choices: [], deal: { count: head.deals, blocked: head.deals > 1 ? head.board : missing(head.children), onTake: (cards) => move(joined(head.line, cards)) } });
  } else if (head.player !== null) {
    const paint = colours(head.actions.map((action) => action.kind));
    columns.push({
      key,
      who: PLAYERS[head.player],
      about: head.locked ? `pot ${head.pot}, locked` : `pot ${head.pot}`,
      here: true,
      choices: head.actions.map((action, a) => ({
        key: action.step,
        label: stepName(action.step),
        detail: action.size,
        note: percent(action.frequency, 1),
        colour: paint[a]!,
        onTake: () => move(head.children[a] ?? joined(head.line, action.step)),
      })),
    });
  } else columns.push({ key, who: "hand over", about: `pot ${head.pot}`, here: true, choices: [] });
  return columns;
}

function passed(step: PathStep, move: (line: string) => void): TreeColumn {
  const key = step.line || "root";
  const onHead = () => move(step.line);
  if (step.player === null) {
    const taken = step.step;
    return { key, who: "card", onHead, choices: [{ key: "card", label: taken ?? "", note: "change", taken: false, onTake: onHead }] };
  }
  const paint = colours(step.steps.map(kindOf));
  return {
    key,
    who: PLAYERS[step.player],
    about: step.pot === undefined ? "" : `pot ${step.pot}`,
    onHead,
    choices: step.steps.map((each, a) => ({
      key: each,
      label: stepName(each),
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
