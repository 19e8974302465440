import { expect, test } from "vitest";
import { decoded, parts } from "../src/views/review/texts.ts";

test("texts are cut between hands, whatever ends their lines", () => {
  const hands = [1, 2, 3, 4].map((number) => `hand ${number}\nfolds`);
  for (const end of ["\n", "\r\n"]) {
    const text = hands.join("\n\n").replaceAll("\n", end);
    expect(parts(text, 16).map((part) => part.trim())).toEqual(hands);
    expect(parts(text)).toEqual([hands.join("\n\n")]);
  }
  expect(parts("STATE:1\nSTATE:2\n", 10).map((part) => part.trim())).toEqual(["STATE:1", "STATE:2"]);
  expect(parts("x".repeat(50), 20).join("")).toBe("x".repeat(50));
  expect(parts(" \n")).toEqual([]);
});

test("files in UTF-16 are read as well", () => {
  expect(decoded(new TextEncoder().encode("Zoë"))).toBe("Zoë");
  expect(decoded(Uint8Array.from([0xff, 0xfe, 0x5a, 0x00, 0xeb, 0x00]))).toBe("Zë");
  expect(decoded(Uint8Array.from([0xfe, 0xff, 0x00, 0x5a]))).toBe("Z");
});
