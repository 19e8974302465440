import { expect, test } from "vitest";
import { aggressiveFirst, apart, colours, letters, ramp } from "../src/look/actions.ts";
import { differenceCells, numberCells, strategyCells } from "../src/views/solution/cells.ts";
import type { Action, Group } from "../src/views/solution/node.ts";
import { isCards, joined, parent, said, stepName } from "../src/views/solution/words.ts";

const KINDS = ["fold", "call", "raise", "raise", "allin"];

test("every action has its colour and letter; bets differ by size", () => {
  const paint = colours(KINDS);
  expect(new Set(paint).size).toBe(5);
  expect(colours(["check", "bet"])[1]).toBe(colours(["fold", "call", "raise"])[2]); // a single size looks the same everywhere
  expect(letters(KINDS)).toEqual(["F", "C", "1", "2", "A"]);
  expect(aggressiveFirst(KINDS)).toEqual([4, 3, 2, 1, 0]);
});

test("colour scales keep to their ends", () => {
  expect(ramp(-1)).toBe(ramp(0));
  expect(ramp(2)).toBe(ramp(1));
  expect(apart(0)).not.toBe(apart(0.5));
  expect(ramp(0.37)).toMatch(/^#[0-9a-f]{6}$/i);
});

const group = (weight: number, frequency: number[], ev = 0): Group => ({ weight, frequency, ev, equity: 0.5 }) as Group;
const ACTIONS = [{ kind: "check", name: "Check" }, { kind: "bet", name: "Bet 50" }] as Action[];

test("cells are as full as the class is frequent, and say what is done", () => {
  const [often, rarely, never] = strategyCells([group(1, [0.25, 0.75]), group(0.01, [1, 0]), group(0, [0.5, 0.5])], ACTIONS);
  expect([often!.height, never!.height]).toEqual([1, 0]);
  expect(rarely!.height).toBeGreaterThan(0.01); // rare lines stay readable
  expect(often!.said).toBe("Bet 50 75%, Check 25%");
  expect(never!.said).toBeUndefined();
});

test("numbers run from the lowest to the highest shown; absent classes are empty", () => {
  const cells = numberCells([group(1, [], -2), group(1, [], 3), group(0, [], 9)], "ev");
  expect(cells.map((cell) => cell.height)).toEqual([1, 1, 0]);
  expect(cells[1]!.note).toBe("3.0");
  expect(cells[0]!.parts[0]![0]).toBe(ramp(0));
});

test("differences have a sign and none where a class is missing", () => {
  const cells = differenceCells([0.5, -0.25, NaN], [true, true, true], "EV");
  expect(cells.map((cell) => cell.note)).toEqual(["+0.50", "-0.25", undefined]);
});

test("lines of a tree", () => {
  expect(joined("", "x")).toBe("x");
  expect(joined("x", "b50")).toBe("x,b50");
  expect(parent("x,b50,c")).toBe("x,b50");
  expect(parent("x")).toBe("");
  expect(isCards("7s2d")).toBe(true);
  expect(isCards("b50")).toBe(false);
  expect([stepName("b120"), stepName("x"), stepName("a")]).toEqual(["Bet 120", "Check", "All-in"]);
  expect(said("x,b50,c,7s")).toBe("check, bet 50, call, 7s");
});
