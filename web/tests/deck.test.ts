import { expect, test } from "vitest";
import { CLASSES, cardName, cards, classOf, combinations } from "../src/look/deck.ts";
import { CLASS_HANDS, HANDS, HAND_CLASSES, cardNumber, classWeights, combos, withWeight } from "../src/views/spots/range.ts";

test("169 classes of 1,326 hands", () => {
  expect(CLASSES.length).toBe(169);
  expect(CLASSES.slice(0, 3)).toEqual(["AA", "AKs", "AQs"]);
  expect(CLASSES[13]).toBe("AKo");
  expect(CLASSES.reduce((sum, name) => sum + combinations(name), 0)).toBe(1326);
  expect(HANDS.length).toBe(1326);
  expect(new Set(HANDS).size).toBe(1326);
});

test("the class of a hand does not depend on the order of its cards", () => {
  expect(CLASSES[classOf("AhKd")]).toBe("AKo");
  expect(CLASSES[classOf("KdAh")]).toBe("AKo");
  expect(CLASSES[classOf("2s7s")]).toBe("72s");
  HANDS.forEach((hand, number) => expect(HAND_CLASSES[number]).toBe(classOf(hand)));
  CLASS_HANDS.forEach((hands, place) => expect(hands.length).toBe(combinations(CLASSES[place]!)));
});

test("cards are read in any notation", () => {
  expect(cards("Td9d 6h")).toEqual(["Td", "9d", "6h"]);
  expect(cards("10♦, 9♦ 6H")).toEqual(["Td", "9d", "6h"]);
  expect(cards("no cards")).toEqual([]);
  expect(cardName("Tc")).toBe("ten of clubs");
});

test("the board takes combos away", () => {
  const aces = withWeight(new Float64Array(1326), CLASS_HANDS[CLASSES.indexOf("AA")]!, 0.5);
  const board = ["Ah", "7d", "2c"].map(cardNumber);
  expect(combos(aces, [])).toBe(3);
  expect(combos(aces, board)).toBe(1.5); // three of six pairs of aces are left
  expect(classWeights(aces, board)[0]).toBe(0.5);
});
