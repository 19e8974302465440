// Grid contents for a player: the strategy, or one number per hand class as a colour.
import { aggressiveFirst, apart, colours, ramp } from "../../look/actions.ts";
import type { Cell } from "../../look/Grid13.tsx";
import { chips, percent } from "../../look/numbers.ts";
import type { Action, Group } from "./node.ts";

export type Show = "strategy" | "ev" | "equity" | "reach";
export const SHOWS: readonly { value: Show; label: string; title: string }[] = [
  { value: "strategy", label: "Strategy", title: "how often each action is taken" },
  { value: "ev", label: "EV", title: "amount received from the pot" },
  { value: "equity", label: "Equity", title: "share of the pot at a showdown now" },
  { value: "reach", label: "Reach", title: "how much of each class gets here" },
];

/** Weights below this fraction of the largest one count as zero. */
const ABSENT = 0.0005;
const LEAST_HEIGHT = 0.06;

/** Fill height of each cell: weights relative to the largest, so that rare lines stay readable. */
function heights(classes: readonly Group[]): number[] {
  const largest = Math.max(...classes.map((each) => each.weight));
  return classes.map((each) => {
    const part = largest > 0 ? each.weight / largest : 0;
    return part >= ABSENT ? Math.max(part, LEAST_HEIGHT) : 0;
  });
}

export function strategyCells(classes: readonly Group[], actions: readonly Action[]): Cell[] {
  const paint = colours(actions.map((action) => action.kind));
  const order = aggressiveFirst(actions.map((action) => action.kind));
  const filled = heights(classes);
  return classes.map((each, place) => ({
    height: filled[place]!,
    parts: order.map((a) => [paint[a]!, each.frequency[a]!] as const),
    said: filled[place] ? order.filter((a) => each.frequency[a]! > 0.005).map((a) => `${actions[a]!.name} ${percent(each.frequency[a], 0)}`).join(", ") : undefined,
  }));
}

/** One number per class; the colour runs from the lowest to the highest shown. */
export function numberCells(classes: readonly Group[], show: "ev" | "equity" | "reach"): Cell[] {
  const filled = heights(classes);
  const value = (each: Group) => (show === "reach" ? each.weight : each[show]);
  const there = classes.filter((each, place) => filled[place] && Number.isFinite(value(each))).map(value);
  const [low, high] = show === "ev" ? [Math.min(...there), Math.max(...there)] : [0, 1];
  return classes.map((each, place) => {
    const number = value(each);
    if (!filled[place] || !Number.isFinite(number)) return { height: 0, parts: [] };
    const text = show === "ev" ? chips(number, Math.abs(number) < 99.5 ? 1 : 0) : String(Math.round(100 * number));
    return {
      height: show === "reach" ? Math.max(number, LEAST_HEIGHT) : 1,
      parts: [[ramp(high > low ? (number - low) / (high - low) : 0.5), 1]],
      note: text,
      said: show === "ev" ? `EV ${chips(number)}` : `${show} ${percent(number)}`,
    };
  });
}

/** Differences between two strategies by class, largest at full colour: blue lost, orange gained. */
export function differenceCells(values: readonly number[], filled: readonly boolean[], name: string): Cell[] {
  const largest = Math.max(1e-9, ...values.filter((value, place) => filled[place] && Number.isFinite(value)).map(Math.abs));
  return values.map((value, place) => {
    if (!filled[place] || !Number.isFinite(value)) return { height: 0, parts: [] };
    const text = (value > 0 ? "+" : "") + chips(value, largest < 10 ? 2 : 1);
    return { height: 1, parts: [[apart(value / largest), 1]], note: text, said: `${name} ${text}` };
  });
}

export function cellsFor(show: Show, classes: readonly Group[], actions: readonly Action[]): Cell[] {
  if (show === "strategy") return actions.length ? strategyCells(classes, actions) : numberCells(classes, "reach");
  return numberCells(classes, show);
}
