import { beforeEach, expect, test } from "vitest";
import { ask, go, link, place } from "../src/router.ts";

beforeEach(() => go("#/"));

test("links survive any file name and leave empty values out", () => {
  expect(link(["solution", "runs/a b.spot"], { node: "x,b50", hand: undefined })).toBe("#/solution/runs%2Fa%20b.spot?node=x%2Cb50");
  go(link(["solution", "runs/ä?.spot"], { node: "x" }));
  expect(place.value.path).toEqual(["solution", "runs/ä?.spot"]);
  expect(place.value.query.get("node")).toBe("x");
});

test("a query changes in place", () => {
  go(link(["solution", "a"], { node: "x", hand: "AA" }));
  ask({ node: "b50", hand: undefined });
  expect([...place.value.query]).toEqual([["node", "b50"]]);
  expect(place.value.path).toEqual(["solution", "a"]);
});
