import { expect, test } from "vitest";
import { EMPTY, budgetOf, detail, fromFields, ownSizes, streetsOf, toFields, type Draft } from "../src/views/spots/draft.ts";

const RIVER: Draft = { ...EMPTY, fit: false, board: ["Td", "9d", "6h", "Qc", "2s"], oop: "66+", ip: "QQ", pot: " 200 ", stack: "900" };

test("a draft becomes the fields of a spot file; what was not given is left out", () => {
  expect(toFields(RIVER)).toEqual({ board: "Td 9d 6h Qc 2s", oop: "66+", ip: "QQ", pot: "200", stack: "900", bets: "50%, 100%, a", raises: "2.5x, a" });
  expect(toFields({ ...RIVER, rake_rate: "5%", rake_cap: "3" })).toHaveProperty("rake", { rate: "5%", cap: "3" });
  expect(toFields({ ...RIVER, boards: "subset:25" })).not.toHaveProperty("board");
});

test("fields and drafts convert into each other", () => {
  const detailed = { ...RIVER, pot: "200", ...detail(RIVER, true) };
  detailed.table.river.ip.raises = "3x";
  for (const draft of [{ ...RIVER, pot: "200" }, detailed]) expect(toFields(fromFields(toFields(draft)))).toEqual(toFields(draft));
});

test("only streets that are still to come have sizes", () => {
  expect(streetsOf(EMPTY)).toEqual(["flop", "turn", "river"]);
  expect(streetsOf(RIVER)).toEqual(["river"]);
  expect(streetsOf({ ...RIVER, boards: "subset:25" })).toEqual(["flop", "turn", "river"]);
});

test("by street, the leads are the first street's bets out of position", () => {
  const flop = { ...RIVER, pot: "200", board: ["Kh", "7d", "2c"], sizes: { bets: "50%", raises: "a", donk: "none" } };
  expect(toFields(flop)).toMatchObject({ bets: "50%", raises: "a", donk: "none" });
  expect(fromFields(toFields(flop))).toMatchObject({ detailed: false, sizes: flop.sizes });
  const detailed = detail(flop, true);
  expect(detailed.table?.flop).toMatchObject({ oop: { bets: "none" }, ip: { bets: "50%" } });
  expect(detailed.table?.turn.oop).toMatchObject({ bets: "50%", donk: "none" });
});

test("the table of sizes follows sizes that were changed before it was opened again", () => {
  const first = { ...RIVER, ...detail(RIVER, true) };
  const wide = { ...first, ...detail(first, false), sizes: { bets: "25%, 50%", raises: "4x", donk: "" } };
  expect(detail(wide, true).table?.river.oop.bets).toBe("25%, 50%");
  expect(detail({ ...first, ...detail(first, false) }, true)).toEqual({ detailed: true });
});

test("a budget replaces the sizes, and its choice becomes the user's own", () => {
  const fit = { ...RIVER, fit: true, time: " 2 min " };
  expect(budgetOf(fit)).toBe("4 GB,2 min");
  expect(budgetOf(RIVER)).toBeNull();
  expect(toFields(fit)).not.toHaveProperty("bets");
  expect(fromFields(toFields(fit)).fit).toBe(true);
  const own = ownSizes(fit, { bets: { river: "33%,75%" }, raises: { river: { oop: "none", ip: "2.5x" } }, thresholds: { merge: "10%" }, storage: "int16" });
  expect(own.fit).toBe(false);
  expect(toFields(own)).toMatchObject({ bets: { river: { oop: "33%,75%", ip: "33%,75%" } }, raises: { river: { oop: "none", ip: "2.5x" } }, thresholds: { merge: "10%" }, storage: "int16" });
});

test("fields without a place in the form stay part of the spot", () => {
  const more = { format: "royal", runouts: { river: "3" }, locks: ["x [AA]: x"], until: "turn" };
  const read = fromFields({ ...toFields(RIVER), ...more, rake: { rate: "5%", no_flop_no_drop: "true" } });
  expect(toFields(read)).toMatchObject({ ...more, pot: "200", rake: { rate: "5%", no_flop_no_drop: "true" } });
  expect(toFields({ ...read, rake_rate: "" })).not.toHaveProperty("rake");
  const limit = { limit: { bets: "2, 4", most: "4" } };
  expect(toFields(fromFields({ board: "Td 9d 6h", ...limit }))).toEqual({ board: "Td 9d 6h", ...limit });
});
