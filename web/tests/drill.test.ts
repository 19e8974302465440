import { expect, test } from "vitest";
import { after, answerOf, belongs, scoreOf, type Mistake, type Question } from "../src/views/drill/memory.ts";

const QUESTION: Question = {
  file: "flops/a.spot", over: false, unit: "bb", line: "x", player: 1, position: "IP", hand: "AsKd", hands: [3, 7], board: "Ks7h2d", street: "flop", pot: 10, stacks: [90, 90],
  actions: ["check", "bet 5"], kinds: ["check", "bet"], lines: ["x,x", "x,b5"], mix: [0.2, 0.8], ev: [4, 6], loss: [2, 0], verdict: ["mistake", "best"],
};

test("answers are scored by EV and by frequency", () => {
  const given = [answerOf(QUESTION, 0), answerOf(QUESTION, 1), answerOf(QUESTION, 1)];
  expect(given[0]).toMatchObject({ action: "check", loss: 2, share: 0.25 });
  const score = scoreOf(given);
  expect(score).toMatchObject({ count: 3, streak: 2 });
  expect(score.loss).toBeCloseTo(0.2 / 3);
  expect(score.frequency).toBeCloseTo(0.75);
  expect(score.right).toBeCloseTo(2 / 3);
  expect(scoreOf([])).toEqual({ count: 0, loss: 0, frequency: 0, right: 0, streak: 0 });
});

test("a mistake comes back until it was answered right twice", () => {
  let known: readonly Mistake[] = after([], answerOf(QUESTION, 0));
  expect(known.map((each) => each.due)).toEqual([2]);
  known = after(known, answerOf(QUESTION, 1));
  expect(known.map((each) => each.due)).toEqual([1]);
  expect(after(known, answerOf(QUESTION, 0)).map((each) => each.due)).toEqual([2]);
  expect(after(known, answerOf({ ...QUESTION, hand: "AcKc" }, 1))).toEqual(known);
  expect(after(known, answerOf(QUESTION, 1))).toEqual([]);
});

test("answers of a folder are those of its solutions", () => {
  const answer = answerOf(QUESTION, 1);
  expect([belongs(answer, "flops"), belongs(answer, "flops/a.spot"), belongs(answer, "flop")]).toEqual([true, true, false]);
});
