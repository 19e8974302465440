// A node of a solved spot: both players hand by hand, and sums over hand classes or any other groups.
import { arrays, type Arrays } from "../../api.ts";
import { HAND_CLASSES } from "../spots/range.ts";
import { stepName } from "./words.ts";

export type Player = 0 | 1;
export const PLAYERS = ["OOP", "IP"] as const;
export const GROUPINGS = ["made", "draw", "suits"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface Action {
  step: string;
  name: string;
  kind: string;
  size: string;
  amount: number;
  frequency: number | null;
  combos: number | null;
  ev: number | null;
}

export interface PathStep {
  line: string;
  player: Player | null;
  step: string | null;
  steps: string[];
  board: string[];
  /** How often each of `steps` is taken. */
  frequency: (number | null)[];
  pot?: number;
}

export interface Measures {
  eqr: [number | null, number | null];
  call: number | null;
  pot_odds: number | null;
  mdf: number | null;
  defended: number | null;
}

export interface NodeHead {
  line: string;
  /** Unit of amounts: "chips" or "bb". */
  unit: string;
  board: string[];
  street: string;
  player: Player | null;
  pot: number;
  stacks: [number, number];
  committed: [number, number];
  street_bets: [number, number];
  /** How many cards come next. */
  deals: number;
  over: boolean;
  actions: Action[];
  children: string[];
  path: PathStep[];
  sides: [SideTotals, SideTotals];
  locked: number;
  /** Names of groups by their codes; none before the flop. */
  groupings: Partial<Record<Grouping, string[]>>;
  measures: Measures;
  /** A remark on the strategy, such as that it is a preview. */
  note: string | null;
}

export interface SideTotals {
  combos: number;
  ev: number | null;
  equity: number | null;
}

/** One player, one number per hand, in the order of `hands`. */
export interface Side {
  player: Player;
  hands: Uint16Array;
  weight: Float32Array;
  share: Float32Array;
  ev: Float32Array;
  equity: Float32Array;
  /** [A] rows of the strategy; none for who does not act. */
  frequency: Float32Array[];
  actionEv: Float32Array[];
  codes: Record<Grouping, Float32Array>;
}

export interface Node {
  head: NodeHead;
  sides: [Side, Side];
}

export async function loadNode(path: string, query: Record<string, string>, signal: AbortSignal): Promise<Node> {
  return toNode(await arrays<NodeHead>(path, query, signal));
}

export function toNode({ head, array }: Arrays<NodeHead>): Node {
  const side = (player: Player): Side => {
    const hands = Uint16Array.from(array("hands" + player));
    const rows = (name: string) =>
      head.player === player ? head.actions.map((_, a) => array(name).subarray(a * hands.length, (a + 1) * hands.length)) : [];
    return {
      player,
      hands,
      weight: array("weight" + player),
      share: array("share" + player),
      ev: array("ev" + player),
      equity: array("equity" + player),
      frequency: rows("frequency"),
      actionEv: rows("action_ev"),
      codes: { made: array("made" + player), draw: array("draw" + player), suits: array("suits" + player) },
    };
  };
  const actions = head.actions.map((action) => ({ ...action, name: stepName(action.step, head.unit) }));
  return { head: { ...head, actions }, sides: [side(0), side(1)] };
}

/** Strategy and values of a group of hands. */
export interface Group {
  combos: number;
  /** Part of the range, in [0, 1]. */
  share: number;
  /** Mean weight of its hands. */
  weight: number;
  ev: number;
  equity: number;
  frequency: number[];
  actionEv: number[];
}

/** Group hands by a code per hand: means weighted by share (at zero reach by weight, or equally). */
export function grouped(side: Side, codes: ArrayLike<number>, size: number, keep?: Uint8Array | null): Group[] {
  const n = side.hands.length;
  const total = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0);
  const measure = [side.share, side.weight].find((each) => total(each) > 0);
  const groups = Array.from({ length: size }, (): Group => ({ combos: 0, share: 0, weight: 0, ev: 0, equity: 0, frequency: side.frequency.map(() => 0), actionEv: side.frequency.map(() => 0) }));
  const counts = new Float64Array(size);
  const known = { ev: new Float64Array(size), equity: new Float64Array(size), all: new Float64Array(size) };
  const knownActions = side.frequency.map(() => new Float64Array(size));
  for (let i = 0; i < n; i++) {
    if (keep && !keep[i]) continue;
    const code = codes[i]!;
    const group = groups[code];
    if (!group) continue;
    const part = measure ? measure[i]! : 1;
    counts[code]!++;
    group.combos += side.weight[i]!;
    group.share += side.share[i]!;
    known.all[code]! += part;
    if (Number.isFinite(side.ev[i]!)) {
      group.ev += part * side.ev[i]!;
      known.ev[code]! += part;
    }
    if (Number.isFinite(side.equity[i]!)) {
      group.equity += part * side.equity[i]!;
      known.equity[code]! += part;
    }
    side.frequency.forEach((row, a) => {
      group.frequency[a]! += part * row[i]!;
      const value = side.actionEv[a]![i]!;
      const taken = part * row[i]!;
      if (taken > 0 && Number.isFinite(value)) {
        group.actionEv[a]! += taken * value;
        knownActions[a]![code]! += taken;
      }
    });
  }
  groups.forEach((group, code) => {
    group.weight = counts[code] ? group.combos / counts[code] : 0;
    group.ev /= known.ev[code]!;
    group.equity /= known.equity[code]!;
    group.frequency = group.frequency.map((sum) => sum / known.all[code]!);
    group.actionEv = group.actionEv.map((sum, a) => sum / knownActions[a]![code]!);
  });
  return groups;
}

const classCodes = (side: Side): Uint8Array => Uint8Array.from(side.hands, (hand) => HAND_CLASSES[hand]!);

/** The 169 classes of a side, in the order of the grid. */
export const byClass = (side: Side, keep?: Uint8Array | null): Group[] => grouped(side, classCodes(side), 169, keep);

/** A player's whole range as one group. */
export const together = (side: Side, keep?: Uint8Array | null): Group => grouped(side, new Uint8Array(side.hands.length), 1, keep)[0]!;

/** Groups by name that are chosen; hands must be in a chosen group of every grouping that has any. */
export type Filter = Readonly<Record<Grouping, readonly number[]>>;
export const NO_FILTER: Filter = { made: [], draw: [], suits: [] };
export const filtering = (filter: Filter): boolean => GROUPINGS.some((by) => filter[by].length > 0);

export function kept(side: Side, filter: Filter): Uint8Array | null {
  if (!filtering(filter)) return null;
  return Uint8Array.from(side.hands, (_, i) => Number(GROUPINGS.every((by) => !filter[by].length || filter[by].includes(side.codes[by][i]!))));
}

/** A curve over the range from its worst hand to its best: [part of the range, value]. */
export function spread(side: Side, values: Float32Array, keep?: Uint8Array | null): [number, number][] {
  const rows = [...side.hands.keys()].filter((i) => side.share[i]! > 0 && Number.isFinite(values[i]!) && (!keep || keep[i])).sort((a, b) => values[a]! - values[b]!);
  const total = rows.reduce((sum, i) => sum + side.share[i]!, 0);
  let before = 0;
  const points = rows.map((i): [number, number] => {
    before += side.share[i]!;
    return [(100 * (before - side.share[i]! / 2)) / total, values[i]!];
  });
  return points;
}
