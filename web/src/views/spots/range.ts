// A range as 1326 weights, and its display in the grid.
import type { Cell } from "../../look/Grid13.tsx";
import { CLASSES, RANKS } from "../../look/deck.ts";
import { percent } from "../../look/numbers.ts";

export type Weights = Float64Array;

const DECK = [..."23456789TJQKA"].flatMap((rank) => [..."cdhs"].map((suit) => rank + suit));

/** All hands as text, the higher card first, in the library's order. */
export const HANDS: readonly string[] = DECK.flatMap((low, i) => DECK.slice(i + 1).map((high) => high + low));

/** The cards of hands, as numbers in DECK, [low, high]. */
export const HAND_CARDS: readonly (readonly [number, number])[] = DECK.flatMap((_, low) =>
  DECK.slice(low + 1).map((_, i) => [low, low + 1 + i] as const),
);

export const cardNumber = (card: string): number => DECK.indexOf(card);
export const cardText = (number: number): string => DECK[number] ?? "";

/** The class of each hand: its place in CLASSES. */
export const HAND_CLASSES: Uint8Array = Uint8Array.from(HANDS, (hand) => {
  const [high, low] = [RANKS.indexOf(hand[0]!), RANKS.indexOf(hand[2]!)];
  return hand[1] === hand[3] ? 13 * high + low : 13 * low + high;
});

/** The hands of each class. */
export const CLASS_HANDS: readonly (readonly number[])[] = CLASSES.map((_, place) =>
  HANDS.flatMap((_, hand) => (HAND_CLASSES[hand] === place ? [hand] : [])),
);

/** Whether a hand holds a card of a board. */
export const blocked = (hand: number, board: readonly number[]): boolean => board.includes(HAND_CARDS[hand]![0]) || board.includes(HAND_CARDS[hand]![1]);

/** The mean weight of each class over the hands that the board leaves. */
export function classWeights(weights: Weights, board: readonly number[]): number[] {
  return CLASS_HANDS.map((hands) => {
    const left = hands.filter((hand) => !blocked(hand, board));
    return left.length ? left.reduce((sum, hand) => sum + weights[hand]!, 0) / left.length : 0;
  });
}

export function rangeCells(weights: Weights, board: readonly number[], paint: string): Cell[] {
  return classWeights(weights, board).map((weight) => ({
    height: weight,
    parts: [[paint, 1]],
    note: weight > 0.0005 && weight < 0.9995 ? String(Math.round(100 * weight)) : undefined,
    said: weight > 0 ? percent(weight, 0) : undefined,
  }));
}

/** Hands that count one each: the range's size once the board is taken away. */
export function combos(weights: Weights, board: readonly number[]): number {
  return weights.reduce((sum, weight, hand) => sum + (blocked(hand, board) ? 0 : weight), 0);
}

/** The same weights with some hands at another weight. */
export function withWeight(weights: Weights, hands: readonly number[], weight: number): Weights {
  const changed = weights.slice();
  for (const hand of hands) changed[hand] = weight;
  return changed;
}
