import { expect, test } from "vitest";
import { raiseTo } from "../src/views/solution/words.ts";

test("raises in big blinds are written in the chips of lines", () => {
  expect(raiseTo("3", 2)).toBe("r6");
  expect(raiseTo(" 2.2 bb", 0.1)).toBe("r0.22");
  expect(raiseTo("3bb", 1)).toBe("r3");
  expect(raiseTo("3x", 100)).toBe("r3x");
});
