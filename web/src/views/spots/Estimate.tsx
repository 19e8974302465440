// Estimated cost of solving, before anything is built.
import { Facts, Notice } from "../../look/basics.tsx";
import type { Fields } from "./draft.ts";
import { bytes, count, duration } from "../../look/numbers.ts";

export interface Problem {
  field: string | null;
  message: string;
}

export interface EstimateData {
  nodes: number;
  boards: number[];
  decisions: number;
  infosets: number;
  numbers: number;
  /** Bytes by kind of storage; left out with all other numbers where counting was broken off. */
  memory?: Record<string, number>;
  available: number | null;
  fits: Record<string, boolean>;
  seconds_per_iteration: number;
  iterations_typical: number;
  seconds_typical: number;
  /** Whether the first solve compiles kernels, which the estimate leaves out. */
  compiles: boolean;
  threads: number;
  refusal: string | null;
}

/** What was chosen for a budget. */
export interface Plan {
  fields: Fields;
  facts: Record<string, string>;
  left_out: string[];
  memory: number;
  seconds: number;
  late: boolean;
}

export interface Checked {
  ok: boolean;
  problems: Problem[];
  board: string[] | null;
  /** How many boards there are in a batch; the estimate is of the first one. */
  boards: number | null;
  opening_pot: number | null;
  chip: number | null;
  combos: [number, number] | null;
  text: string | null;
  plan: Plan | null;
  estimate: EstimateData | null;
  /** Whether the machine seems to have a CUDA GPU and PyTorch. */
  gpu: boolean;
}

export function Estimate({ checked, loading, error }: { checked: Checked | null; loading: boolean; error: string | null }) {
  if (error) return <Notice bad>{error}</Notice>;
  const found = checked?.estimate;
  if (!checked || !found) {
    const wrong = checked?.problems.find((each) => each.field);
    return <p class="soft" role="status">{wrong ? wrong.message : loading ? "Counting…" : ""}</p>;
  }
  if (!found.memory) return <Notice bad>{found.refusal}</Notice>;
  const need = checked.plan?.memory ?? found.memory["float32"] ?? 0;
  const short = found.available !== null && need > found.available;
  const smaller = ["int16", "int8", "packed"].find((kind) => found.fits[kind]);
  return (
    <div class={loading ? "stack tight stale" : "stack tight"} role="status" aria-busy={loading}>
      <Facts
        of={[
          ...(checked.plan
            ? ([["Budget", checked.plan.facts["budget"]], ["Bets", checked.plan.facts["bets"]], ["Raises", checked.plan.facts["raises"]]] as [string, string][])
            : ([["Betting", `${count(found.nodes)} nodes`], ["Decisions", count(found.decisions)], ["Infosets", count(found.infosets)]] as [string, string][])),
          ["Memory", bytes(need) + (found.available === null ? "" : ` of ${bytes(found.available)} free`)],
          ...(checked.boards ? ([["All flops", `about ${duration(checked.boards * found.seconds_typical)} for ${count(checked.boards)}`]] as [string, string][]) : []),
          [checked.boards ? "Time per flop" : "Time", <>about {duration(found.seconds_typical)}<span class="per"> ({duration(found.seconds_per_iteration)} per iteration, {found.threads} {found.threads === 1 ? "thread" : "threads"})</span></>],
        ]}
      />
      {found.compiles && <span class="soft small">The first solve also compiles kernels, about a minute; <code>treeplex kernels warm</code> does so beforehand.</span>}
      {loading && <span class="soft small counting">Counting again…</span>}
      {found.refusal && <Notice bad>{found.refusal}</Notice>}
      {!found.refusal && short && (
        <Notice bad>{smaller ? `Fits only with storage ${smaller} (see Precision).` : "Not enough memory: offer fewer bet sizes or narrow the ranges."}</Notice>
      )}
    </div>
  );
}
