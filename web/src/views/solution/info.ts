// What a solved spot says of itself (GET /api/solution).
import type { Fields } from "../spots/draft.ts";
import type { Player } from "./node.ts";

export interface SolutionInfo {
  file: string;
  name: string;
  spot: { board: string; pot: number; stack: number; rake: { rate: number; cap: number | null }; chip: number; opening_pot: number };
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
  /** By node of the betting tree: on how many boards it is locked. */
  locks: { player: Player; node: number; boards: number }[];
}
