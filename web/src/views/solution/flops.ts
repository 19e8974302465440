// Results of a batch of flops, and means over them, which weigh each flop by its probability given both ranges.
import type { Player } from "./node.ts";

export interface Flop {
  board: string;
  /** How many flops it stands for. */
  weight: number;
  /** Its weight in means: the flop's probability given both ranges, up to a factor. */
  chance: number;
  pot: number;
  unit: string;
  exploitability_percent: number | null;
  ev: [number | null, number | null];
  equity: [number | null, number | null];
  texture: Record<string, string | boolean>;
  /** The strategy at each saved node, by its line. */
  lines: Record<string, { reach: number | null; actions: Record<string, number | null> }>;
  /** The file of the solved spot, where it was kept. */
  spot: string | null;
}

export interface BatchData {
  boards: number;
  lines: { line: string; player: Player; actions: string[] }[];
  rows: Flop[];
}

type Line = BatchData["lines"][number];

/** Action frequencies on a flop: 0 for an action that it lacks, NaN at zero reach. */
export const shares = (row: Flop, at: Line): number[] => {
  const here = row.lines[at.line]?.actions;
  return at.actions.map((name) => (!here ? Number.NaN : name in here ? (here[name] ?? Number.NaN) : 0));
};

/** Mean action frequencies over flops, weighted by the node's reach as well. */
export function meanShares(rows: readonly Flop[], at: Line): number[] {
  const sums = at.actions.map(() => 0);
  let total = 0;
  for (const row of rows) {
    const found = shares(row, at);
    const weight = row.chance * (row.lines[at.line]?.reach ?? 0);
    if (!weight || found.some(Number.isNaN)) continue;
    total += weight;
    found.forEach((share, a) => (sums[a]! += weight * share));
  }
  return sums.map((sum) => (total ? sum / total : 0));
}

/** Flops grouped by a texture, one row of means each. */
export function meansBy(rows: readonly Flop[], key: string, lines: readonly Line[]): Flop[] {
  const names = [...new Set(rows.map((row) => String(row.texture[key])))];
  return names.map((name) => {
    const flops = rows.filter((row) => String(row.texture[key]) === name);
    const mean = (value: (row: Flop) => number | null | undefined): number | null => {
      const known = flops.filter((row) => value(row) != null);
      const total = known.reduce((sum, row) => sum + row.chance, 0);
      return total ? known.reduce((sum, row) => sum + row.chance * value(row)!, 0) / total : null;
    };
    const means = lines.map((at) => {
      const reach = mean((row) => row.lines[at.line]?.reach);
      const means = meanShares(flops, at);
      return [at.line, { reach, actions: Object.fromEntries(at.actions.map((action, a) => [action, reach ? means[a]! : null])) }] as const;
    });
    return {
      board: name,
      pot: flops[0]!.pot,
      unit: flops[0]!.unit,
      weight: flops.reduce((sum, row) => sum + row.weight, 0),
      chance: flops.reduce((sum, row) => sum + row.chance, 0),
      exploitability_percent: mean((row) => row.exploitability_percent),
      ev: [mean((row) => row.ev[0]), mean((row) => row.ev[1])],
      equity: [mean((row) => row.equity[0]), mean((row) => row.equity[1])],
      texture: { [key]: name },
      spot: null,
      lines: Object.fromEntries(means),
    };
  });
}

/** A table as CSV, with the weights of means: `chance`, for actions times `reach`; unknown numbers are empty. */
export function csvOf(rows: readonly Flop[], at: Line | undefined): string {
  const head = ["board", "weight", "chance", "equity_oop", "ev_oop", "ev_ip", ...(at ? ["reach", ...at.actions] : [])];
  const lines = rows.map((row) => {
    const numbers = [row.weight, row.chance, row.equity[0], row.ev[0], row.ev[1], ...(at ? [row.lines[at.line]?.reach ?? null, ...shares(row, at)] : [])];
    return [row.board, ...numbers.map((number) => (Number.isFinite(number) ? number : ""))].join(",");
  });
  return [head.join(","), ...lines].join("\n") + "\n";
}
