// Cards and hand classes. A card is text, "Ah"; classes are numbered row by row of the grid: AA, AKs, ..., AKo, KK, ...
export const RANKS = "AKQJT98765432";
export const SUITS = "shdc";
export const SUIT_SIGNS: Record<string, string> = { s: "♠", h: "♥", d: "♦", c: "♣" };
export const SUIT_NAMES: Record<string, string> = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
const RANK_NAMES: Record<string, string> = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };

/** The name of a card: "ten of clubs". */
export function cardName(card: string): string {
  const rank = card[0] ?? "";
  return `${RANK_NAMES[rank] ?? rank} of ${SUIT_NAMES[card[1] ?? ""] ?? "?"}`;
}

/** All 169 classes in the order of the grid. */
export const CLASSES: readonly string[] = [...RANKS].flatMap((row, i) =>
  [...RANKS].map((column, j) => (i === j ? row + row : i < j ? row + column + "s" : column + row + "o")),
);

/** The place in CLASSES of a hand such as "AhKd". */
export function classOf(hand: string): number {
  const a = RANKS.indexOf(hand[0]!);
  const b = RANKS.indexOf(hand[2]!);
  const [high, low] = a < b ? [a, b] : [b, a];
  return hand[1] === hand[3] ? high * 13 + low : low * 13 + high;
}

/** How many hands a class has: 6, 4 or 12. */
export const combinations = (name: string) => (name.length === 2 ? 6 : name[2] === "s" ? 4 : 12);

/** The cards in a text: cards("Td9d 6h") is ["Td", "9d", "6h"]. */
export function cards(text: string): string[] {
  return [...text.matchAll(/(10|[2-9TJQKA])\s*([shdc♠♥♦♣])/gi)].map(([, rank = "", suit = ""]) => {
    const sign = "♠♥♦♣".indexOf(suit);
    return (rank === "10" ? "T" : rank.toUpperCase()) + (sign < 0 ? suit.toLowerCase() : SUITS[sign]!);
  });
}
