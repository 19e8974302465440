import { expect, test } from "vitest";
import { csvOf, meansBy, meanShares, shares, type Flop } from "../src/views/solution/flops.ts";

const AT = { line: "x", player: 1 as const, actions: ["check", "bet 5"] };
const flop = (board: string, chance: number, ev: number, reach: number, actions: Record<string, number | null>): Flop => ({
  board, weight: 1, chance, pot: 10, unit: "chips", exploitability_percent: 1, ev: [ev, 10 - ev], equity: [0.5, 0.5], texture: { suits: "rainbow" },
  lines: { x: { reach, actions } }, spot: null,
});

test("means over flops weigh them by their probability, those of actions also by reach", () => {
  const rows = [flop("As7h2d", 1, 2, 0.5, { check: 1, "bet 5": 0 }), flop("Kc8h3d", 3, 6, 1, { check: 0.2, "bet 5": 0.8 })];
  const found = meanShares(rows, AT);
  expect(found[0]).toBeCloseTo((0.5 * 1 + 3 * 0.2) / 3.5);
  expect(found[1]).toBeCloseTo((3 * 0.8) / 3.5);
  const [mean] = meansBy(rows, "suits", [AT]);
  expect(mean).toMatchObject({ board: "rainbow", weight: 2, chance: 4 });
  expect(mean!.ev[0]).toBeCloseTo(5);
  expect(mean!.lines["x"]!.reach).toBeCloseTo(0.875);
  expect(shares(mean!, AT)[1]).toBeCloseTo(found[1]!);
});

test("an action that a flop lacks is never taken there, and zero reach has no strategy", () => {
  const rows = [flop("As7h2d", 1, 2, 1, { check: 1 }), flop("Kc8h3d", 1, 2, 1, { check: 0, "bet 5": 1 }), flop("Qc8h3d", 1, 2, 0, { check: null, "bet 5": null })];
  expect(meanShares(rows, AT)).toEqual([0.5, 0.5]);
  expect(shares(rows[2]!, AT)).toEqual([Number.NaN, Number.NaN]);
  expect(meansBy(rows.slice(2), "suits", [AT])[0]!.lines["x"]!.actions).toEqual({ check: null, "bet 5": null });
});

test("a table as CSV has what its means weigh, and no number where there is none", () => {
  const rows = [flop("As7h2d", 2, 3, 0.5, { check: 1 }), flop("Kc8h3d", 4, 6, 0, { check: null, "bet 5": null })];
  const [head, ...lines] = csvOf(rows, AT).trimEnd().split("\n");
  expect(head).toBe("board,weight,chance,equity_oop,ev_oop,ev_ip,reach,check,bet 5");
  expect(lines).toEqual(["As7h2d,1,2,0.5,3,7,0.5,1,0", "Kc8h3d,1,4,0.5,6,4,0,,"]);
  expect(csvOf(meansBy(rows, "suits", [AT]), AT)).toContain("rainbow,2,6,0.5,5,5,");
});
