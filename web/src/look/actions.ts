// Colours and letters of actions, as in the terminal and in pictures (report/colours.py).
const FOLD = "#A9CBE8";
const CALL = "#3DBB8F";
const ALL_IN = "#A765D6";
const BETS = ["#F5E663", "#E69F00", "#D65A14"] as const;
const RAMP = ["#F3ECD8", "#EBC98C", "#DD9E5B", "#B98586", "#8D87B8"] as const;
/** Below zero to above zero, for differences: blue over pale to orange. */
const APART = ["#6BA3D6", "#A9CBE8", "#F3F1EC", "#F0B46A", "#D65A14"] as const;

/** The colour of each action of a node, given their kinds (fold, check, call, bet, raise, allin), bets from small to large. */
export function colours(kinds: readonly string[]): string[] {
  const bets = kinds.flatMap((kind, place) => (kind === "bet" || kind === "raise" ? [place] : []));
  return kinds.map((kind, place) => {
    if (kind === "fold") return FOLD;
    if (kind === "check" || kind === "call") return CALL;
    if (kind === "allin") return ALL_IN;
    const rank = bets.indexOf(place);
    if (bets.length === 1) return BETS[1];
    if (bets.length === 2) return rank ? BETS[2] : BETS[1];
    return along(BETS, rank / (bets.length - 1));
  });
}

/** One character for each action: F fold, X check, C call, A all-in, 1, 2, ... bets and raises by size. */
export function letters(kinds: readonly string[]): string[] {
  const known: Record<string, string> = { fold: "F", check: "X", call: "C", allin: "A" };
  let bets = 0;
  return kinds.map((kind) => known[kind] ?? ("123456789bdeghijklmnopqrstuvwyz"[Math.min(bets++, 30)] as string));
}

/** The order in which actions fill a cell: largest bet first, fold last. */
export function aggressiveFirst(kinds: readonly string[]): number[] {
  const passive: Record<string, number> = { fold: 2, check: 1, call: 1 };
  return kinds.map((_, place) => place).sort((a, b) => (passive[kinds[a]!] ?? 0) - (passive[kinds[b]!] ?? 0) || b - a);
}

/** The colour of a value in [0, 1], from low to high. */
export const ramp = (part: number) => along(RAMP, part);

/** The colour of a difference in [-1, 1]. */
export const apart = (part: number) => along(APART, (part + 1) / 2);

function along(stops: readonly string[], part: number): string {
  const where = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(where), stops.length - 2);
  return blend(stops[low]!, stops[low + 1]!, where - low);
}

function blend(first: string, second: string, part: number): string {
  const channel = (text: string, at: number) => parseInt(text.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(first, at) + part * (channel(second, at) - channel(first, at))));
  return "#" + mixed.map((value) => value.toString(16).padStart(2, "0")).join("");
}
