// Types of the served folder's contents (GET /api/start).
export interface FoundSolution {
  file: string;
  bytes: number;
  modified: number;
  board: string;
  pot: number;
  stack: number;
  /** Weights of both ranges; empty for files of earlier versions. */
  combos: number[];
  unit: string;
  iterations: number;
  exploitability: number | null;
  exploitability_percent: number | null;
  status: string;
  locks: number;
  /** Whether it is a preflop chart: no board, blinds, the whole deck. */
  preflop: boolean;
}

export interface FoundFile {
  file: string;
  modified: number;
}

export interface StartData {
  version: string;
  folder: string;
  opened: string | null;
  machine: { threads: number; memory: number | null };
  solutions: FoundSolution[];
  spot_files: FoundFile[];
  runs: (FoundFile & { kind: string })[];
  /** `spots`: solved spots in the batch. */
  batches: (FoundFile & { spots: number })[];
}

/** How long ago: "3 min ago", from seconds since 1970. */
export function ago(seconds: number): string {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86400) return `${Math.floor(past / 3600)} h ago`;
  return new Date(1000 * seconds).toISOString().slice(0, 10);
}
