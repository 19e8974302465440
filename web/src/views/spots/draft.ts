// The draft of a new spot: contents of the form, stored by the browser, and its conversion to fields of a spot file.
import { effect, signal } from "@preact/signals";
import { cards } from "../../look/deck.ts";

export type Street = "flop" | "turn" | "river";
export const STREETS: readonly Street[] = ["flop", "turn", "river"];
export type Seat = "oop" | "ip";
export const SEATS: readonly Seat[] = ["oop", "ip"];
export type SizeKind = "bets" | "raises" | "donk";

/** Sizes of one street and player. */
export type Sizes = Record<SizeKind, string>;

export interface Draft {
  board: string[];
  /** Boards of a batch, "subset:25" or "Td9d6h,AsKd2c"; null for one board. */
  boards: string | null;
  oop: string;
  ip: string;
  pot: string;
  stack: string;
  /** Whether sizes, storage and threads are chosen for the memory and the time below. */
  fit: boolean;
  memory: string;
  time: string;
  /** Whether sizes differ by street and player. */
  detailed: boolean;
  /** For all streets and players. */
  sizes: Sizes;
  table: Record<Street, Record<Seat, Sizes>>;
  /** The sizes for all from which the table was filled. */
  table_of: string;
  /** Fields that hold one text each; empty means not given. */
  rake_rate: string;
  rake_cap: string;
  add_allin: string;
  force_allin: string;
  merge: string;
  min_bet: string;
  chip: string;
  target: string;
  iterations: string;
  algorithm: string;
  storage: string;
  threads: string;
  device: string;
  /** Fields without a place in the form, such as locks and runouts, as they were read. */
  more: Fields;
}

/** A field of a spot file: text, number or a table of them. */
export type FieldValue = string | number | boolean | null | FieldValue[] | { [key: string]: FieldValue };
export type Fields = Record<string, FieldValue>;

const BLANK: Sizes = { bets: "", raises: "", donk: "" };
const table = (of: Sizes): Draft["table"] => ({ flop: { oop: { ...of }, ip: { ...of } }, turn: { oop: { ...of }, ip: { ...of } }, river: { oop: { ...of }, ip: { ...of } } });

export const EMPTY: Draft = {
  board: [], boards: null, oop: "", ip: "", pot: "", stack: "", fit: true, memory: "4 GB", time: "60 s", detailed: false, sizes: { bets: "50%, 100%, a", raises: "2.5x, a", donk: "" }, table: table(BLANK), table_of: "",
  rake_rate: "", rake_cap: "", add_allin: "", force_allin: "", merge: "", min_bet: "", chip: "", target: "", iterations: "", algorithm: "", storage: "", threads: "", device: "", more: {},
};

/** Fields that stand for themselves. */
const PLAIN = ["oop", "ip", "pot", "stack", "min_bet", "chip", "target", "iterations", "algorithm", "storage", "threads", "device"] as const;

const SIZES = ["bets", "raises", "donk"] as const;
const SHOWN: readonly string[] = ["board", "rake", "thresholds", ...PLAIN, ...SIZES];

function kept(): Draft | null {
  try {
    const text = sessionStorage.getItem("draft");
    return text ? ({ ...EMPTY, ...(JSON.parse(text) as Partial<Draft>) }) : null;
  } catch {
    return null;
  }
}

export const draft = signal<Draft | null>(kept());
effect(() => void (draft.value && sessionStorage.setItem("draft", JSON.stringify(draft.value))));

export const change = (changes: Partial<Draft>) => (draft.value = { ...(draft.peek() ?? EMPTY), ...changes });

let replacements = 0;

/** Replace the draft; requests of `fill` that are still pending are discarded. */
export function replace(next: Draft): void {
  replacements += 1;
  draft.value = next;
}

/** Replace the draft by the fields of a response, except for what has changed since the request; null if it failed or came too late. */
export async function fill(request: Promise<{ fields: Fields } | undefined>, changes: Partial<Draft> = {}): Promise<Draft | null> {
  const [turn, before] = [++replacements, draft.peek() ?? EMPTY];
  const read = await request;
  if (!read || turn !== replacements) return null;
  const typed = Object.entries(draft.peek() ?? EMPTY).filter(([key, value]) => value !== before[key as keyof Draft]);
  return (draft.value = { ...fromFields(read.fields), ...changes, ...Object.fromEntries(typed) });
}

/** The budget of a draft as text; null if its sizes are the user's own. */
export const budgetOf = ({ fit, memory, time }: Draft): string | null => (fit ? [memory, time].map((each) => each.trim()).filter(Boolean).join(",") : null);

/** The streets that a spot of this board still plays. */
export const streetsOf = ({ board, boards }: Draft): readonly Street[] => STREETS.slice(boards === null ? Math.max(0, Math.min(board.length, 5) - 3) : 0);

export function toFields(from: Draft): Fields {
  const { rake: free, ...more } = from.more;
  const fields: Fields = { ...more, ...(from.boards === null ? { board: from.board.join(" ") } : {}) };
  for (const key of PLAIN) if (from[key].trim()) fields[key] = from[key].trim();
  const streets = streetsOf(from);
  for (const kind of from.fit || more["limit"] ? [] : SIZES) {
    if (!from.detailed) {
      if (from.sizes[kind].trim()) fields[kind] = from.sizes[kind].trim();
    } else if (kind === "donk") {
      const given = streets.filter((street) => from.table[street].oop.donk.trim());
      if (given.length) fields["donk"] = { default: "default", ...Object.fromEntries(given.map((street) => [street, from.table[street].oop.donk.trim()])) };
    } else {
      const sizes = (street: Street, seat: Seat) => from.table[street][seat][kind].trim() || "none";
      fields[kind] = Object.fromEntries(streets.map((street) => [street, { oop: sizes(street, "oop"), ip: sizes(street, "ip") }]));
    }
  }
  const rake = given({ rate: from.rake_rate, cap: from.rake_cap });
  const thresholds = given({ add_allin: from.add_allin, force_allin: from.force_allin, merge: from.merge });
  if (rake) fields["rake"] = { ...(isTable(free) ? free : {}), ...rake };
  if (thresholds) fields["thresholds"] = thresholds;
  return fields;
}

function given(texts: Record<string, string>): Record<string, string> | null {
  const entries = Object.entries(texts).filter(([, text]) => text.trim());
  return entries.length ? Object.fromEntries(entries.map(([key, text]) => [key, text.trim()])) : null;
}

const text = (value: FieldValue | undefined): string => (value == null ? "" : Array.isArray(value) ? value.map(text).join(", ") : typeof value === "object" ? "" : String(value));
const isTable = (value: FieldValue | undefined): value is { [key: string]: FieldValue } => !!value && typeof value === "object" && !Array.isArray(value);

/** Sizes of a street and player in a table, which may be keyed by street, by player, or both in either order. */
function sizeIn(value: FieldValue | undefined, street: Street, seat: Seat): string {
  if (!isTable(value)) return text(value);
  const next = value[street] ?? value[seat] ?? value["default"];
  return isTable(next) ? sizeIn(next, street, seat) : text(next);
}

export function fromFields(fields: Fields): Draft {
  const found: Draft = { ...EMPTY, fit: !["bets", "raises", "limit"].some((kind) => fields[kind] !== undefined), table: table(BLANK), board: cards(text(fields["board"])) };
  for (const key of PLAIN) found[key] = text(fields[key]);
  found.detailed = SIZES.some((kind) => isTable(fields[kind]));
  found.sizes = { bets: text(fields["bets"]) || EMPTY.sizes.bets, raises: text(fields["raises"]) || EMPTY.sizes.raises, donk: text(fields["donk"]) };
  for (const street of STREETS) {
    for (const seat of SEATS) {
      for (const kind of SIZES) {
        const own = sizeIn(fields[kind], street, seat);
        found.table[street][seat][kind] = own || (kind === "donk" ? "" : EMPTY.sizes[kind]);
      }
    }
  }
  if (found.detailed) found.table_of = JSON.stringify(found.sizes);
  const rake = fields["rake"];
  found.rake_rate = isTable(rake) ? text(rake["rate"]) : text(rake);
  found.rake_cap = isTable(rake) ? text(rake["cap"]) : "";
  found.more = Object.fromEntries(Object.entries(fields).filter(([key]) => !SHOWN.includes(key)));
  if (isTable(rake) && "no_flop_no_drop" in rake) found.more["rake"] = { no_flop_no_drop: rake["no_flop_no_drop"]! };
  const thresholds = isTable(fields["thresholds"]) ? fields["thresholds"] : {};
  for (const key of ["add_allin", "force_allin", "merge"] as const) found[key] = text(thresholds[key]);
  return found;
}

/** The user's own sizes, beginning with those that were chosen for a budget. */
export function ownSizes(from: Draft, chosen: Fields): Draft {
  const { sizes, table: byStreet, detailed, add_allin, force_allin, merge, storage } = fromFields({ ...toFields(from), ...chosen });
  return { ...from, fit: false, sizes, table: byStreet, detailed, add_allin, force_allin, merge, storage };
}

/** Go from sizes for all to sizes by street and player, beginning with the same everywhere, and back. */
export function detail(from: Draft, detailed: boolean): Partial<Draft> {
  const key = JSON.stringify(from.sizes);
  if (!detailed || from.table_of === key) return { detailed };
  const filled = table(from.sizes);
  const [first] = streetsOf(from);
  if (first && from.sizes.donk.trim()) filled[first].oop.bets = from.sizes.donk;
  return { detailed, table: filled, table_of: key };
}
