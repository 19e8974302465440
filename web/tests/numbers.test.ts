import { expect, test } from "vitest";
import { bytes, chips, count, duration, percent, signed } from "../src/look/numbers.ts";

test("unknown numbers are a dash, never 0 or NaN", () => {
  for (const show of [percent, chips, signed, count, duration]) for (const value of [null, undefined, NaN]) expect(show(value)).toBe("–");
  expect(bytes(null)).toBe("–");
});

test("percentages and chips", () => {
  expect(percent(0.2534)).toBe("25.3%");
  expect(percent(1, 0)).toBe("100%");
  expect(chips(-0.001)).toBe("0.00"); // no negative zero
  expect([signed(1.2), signed(-1.2), signed(0.001)]).toEqual(["+1.20", "-1.20", "0.00"]);
});

test("sizes and times have two digits and the right unit", () => {
  expect([0, 999, 1000, 607e6, 2.5e9].map(bytes)).toEqual(["0 B", "999 B", "1.0 kB", "607 MB", "2.5 GB"]);
  expect([0.0123, 1.234, 42.4, 120, 7200].map((value) => duration(value))).toEqual(["12 ms", "1.2 s", "42 s", "2 min", "2.0 h"]);
  expect(count(1234567.4)).toBe("1,234,567");
});
