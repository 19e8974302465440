// Types of the server's table data (web/playing/tables.py).
export interface Seat {
  name: string;
  person: boolean;
  acting: boolean;
  cards?: string[];
  dice?: number[];
  sides?: number;
  paid?: number;
  behind?: number;
  out?: boolean;
  dealer?: boolean;
  points?: number;
  played?: string[];
  mark?: string;
}

export interface Board {
  columns: number;
  cells: string[];
  /** Actions by cell. */
  actions: Record<string, number>;
  label?: string;
  hex?: boolean;
}

export interface Scene {
  kind: "cards" | "dice" | "grid" | "text";
  seats: Seat[];
  board?: string[];
  due?: number;
  pot?: number;
  /** Unit of amounts, "bb" or "chips". */
  unit?: string;
  label?: string;
  won?: { card: string; by: number }[];
  chosen?: number;
  bids?: { by: number; count?: number; face?: number; liar?: boolean }[];
  boards?: Board[];
  last?: number | null;
  lines?: string[];
  picture?: string | null;
}

export interface Option {
  id: number;
  name: string;
  kind: string;
}

export interface Said {
  seat: number;
  text: string;
  at: string;
  thought: { iterations: number; seconds: number } | null;
}

export interface Decided {
  where: string;
  options: string[];
  chosen: number;
  values: (number | null)[];
  policy: number[];
  by: "solution" | "agent" | "estimate" | "chart" | "";
  lost: number | null;
  verdict: "best" | "mixed" | "mistake" | "unknown";
}

/** An opponent's decision, shown once the hand is over. */
export interface Thought {
  seat: number;
  where: string;
  options: string[];
  chosen: number;
  held: string;
  /** By action: the strategy with the hand it held, and of its whole range. */
  policy: number[];
  mean: number[];
  /** Hands, or classes of hold'em's hands, the most likely first. */
  hands: { name: string; share: number; policy: number[] }[];
  search: { iterations: number; seconds: number; subgames: number } | null;
}

export interface HandDone {
  number: number;
  person: number;
  payoff: number;
  luckless: number | null;
  lost: number | null;
  said: Said[];
  decided: Decided[];
  thoughts: Thought[];
  phh: boolean;
  scene: Scene;
  outcome: string;
  ranges: { seat: number; held: string; held_share: number; hands: { name: string; share: number }[] }[];
}

export interface Sum {
  total: number;
  mean: number;
  half: number | null;
}

export interface Results {
  /** `lost` is the loss of `judged` of the `decisions`; that of the others is unknown. */
  hands: { number: number; payoff: number; luckless: number | null; lost: number | null; judged: number; decisions: number }[];
  raw: Sum | null;
  luckless: Sum | null;
  spots: { where: string; decisions: number; judged: number; lost: number | null; mistakes: number }[];
  big_blind: number | null;
  /** Hands below which there is no interval. */
  fewest: number;
}

export interface TableView {
  id: string;
  name: string;
  /** What the table is doing while a request is not answered yet, and for how many seconds; then the rest is the last view. */
  busy: { doing: "opening" | "thinking"; seconds: number } | null;
  /** The line to the node of a solved spot at which hands start. */
  node: string;
  game: string;
  against: string;
  about: string;
  players: number;
  person: number;
  number: number;
  over: boolean;
  scene: Scene;
  options: Option[];
  typed: boolean;
  view: string;
  said: Said[];
  dice: number;
  judged: "solution" | "agent" | "resolver" | "estimate" | null;
  last: Decided | null;
  hand: HandDone | null;
  results: Results;
}

/** A table that can be resumed, with a summary of its hands. */
export interface KeptTable {
  id: string;
  /** The name that the user gave it; empty for that of the game. */
  name: string;
  hands?: number;
  won: number | null;
  lost: number | null;
  mistakes: number | null;
  big_blind: number | null;
  game: string;
  against: string;
  modified: number;
}

export interface Choices {
  /** `seats`: names of the two seats; empty without a choice. */
  offered: { title: string; game: string; about: string; against: string[]; poker: boolean; seats: string[] }[];
  games: { name: string; about: string }[];
  agents: { name: string; about: string; example: string }[];
  networks: string[];
}
