// Types of a solved spot's summary (GET /api/solution).
import type { Fields } from "../spots/draft.ts";
import type { Player } from "./node.ts";

export interface SolutionInfo {
  file: string;
  name: string;
  spot: { board: string; pot: number; stack: number; rake: { rate: number; cap: number | null }; chip: number; opening_pot: number; unit: string };
  fields: Fields;
  ranges: [string, string];
  algorithm: string;
  iterations: number;
  seconds: number;
  status: string;
  exploitability: number | null;
  exploitability_percent: number | null;
  target: number | null;
  ev: [number | null, number | null];
  equity: [number | null, number | null];
  streets: string[];
  resumable: boolean;
  records: [number, number, number | null][];
  /** Where something is locked: the line (with cards where it is one board only), on how many boards, how many hands of each. */
  locks: { line: string; player: Player; boards: number; hands: number }[];
}
