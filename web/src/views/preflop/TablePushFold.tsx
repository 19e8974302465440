// Push or fold for two to six players, in chips or in prize money by ICM: one grid at a time, chosen by the actions before.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Bars, type Part } from "../../look/Bars.tsx";
import { Button, Elapsed, Facts, Field, Notice, Panel } from "../../look/basics.tsx";
import { colours } from "../../look/actions.ts";
import { CLASSES } from "../../look/deck.ts";
import { Grid13, type Cell } from "../../look/Grid13.tsx";
import { chips, percent, signed } from "../../look/numbers.ts";
import { ask, place } from "../../router.ts";
import { useLoaded } from "../../use.ts";

interface TableNode {
  title: string;
  player: number;
  all_in: number[];
  share: number;
  reached: number;
  often: number[];
  ev: (number | null)[];
}

interface Table {
  seats: string[];
  payouts: number[];
  before: number[];
  values: number[];
  errors: number[];
  nash_conv: [number, number];
  deals: number;
  nodes: TableNode[];
}

const [FOLD, CALL, ALL_IN] = colours(["fold", "call", "allin"]) as [string, string, string];

/** Reached less often than this, a decision has too few deals. */
const RARE = 0.0005;

export function TablePushFold() {
  const { query } = place.value;
  const asked = { stacks: query.get("stacks") ?? "", payouts: query.get("payouts") ?? "", ante: query.get("antes") ?? "0" };
  const typed = useSignal({ ...asked, stacks: asked.stacks || "10, 10, 10" });
  const key = JSON.stringify(asked);
  const since = useMemo(() => Date.now(), [key]);
  const solved = useLoaded<Table>(asked.stacks ? (signal) => get("preflop/table", asked, signal) : null, [key]);
  const data = solved.of?.[0] === key ? solved.data : null;
  const field = (name: "stacks" | "payouts" | "ante", label: string, hint: string) => <Field label={label} value={typed.value[name]} onInput={(value) => (typed.value = { ...typed.peek(), [name]: value })} hint={hint} />;
  return (
    <>
      <Panel title="Push or fold at a table, with ICM">
        <form class="table-fields" onSubmit={(event) => (event.preventDefault(), ask({ stacks: typed.value.stacks, payouts: typed.value.payouts, antes: typed.value.ante, node: undefined }, false))}>
          <div class="fields">
            {field("stacks", "Stacks, bb", "2 to 6 players, blinds last")}
            {field("payouts", "Payouts", "50, 30, 20; empty for chips")}
            {field("ante", "Ante per player, bb", "0 for none")}
          </div>
          <div class="row tight table-solve"><Button submit kind="primary" disabled={solved.loading}>Solve</Button>{solved.loading && <Elapsed since={since}>Solving on random deals</Elapsed>}</div>
        </form>
        {solved.error && !solved.loading && <Notice bad>{solved.error}</Notice>}
      </Panel>
      {data && !solved.loading && <Solved of={data} />}
    </>
  );
}

function Solved({ of }: { of: Table }) {
  const pointed = useSignal<number | null>(null);
  const chosen = Math.min(Number(place.value.query.get("node") ?? 0) || 0, of.nodes.length - 1);
  const node = of.nodes[chosen]!;
  const unit = of.payouts.length ? "" : " bb";
  const [does, paint, letter] = node.all_in.length ? ["call", CALL, "C"] as const : ["all-in", ALL_IN, "A"] as const;
  const parts: Part[] = [{ label: does, share: node.share, colour: paint, letter }, { label: "fold", share: 1 - node.share, colour: FOLD, letter: "F" }];
  const cells = useMemo(() => node.often.map((part, at): Cell => ({ height: 1, parts: [[paint, part], [FOLD, 1 - part]], note: chips(node.ev[at], Math.abs(node.ev[at] ?? 0) < 9.95 ? 1 : 0), said: `${does} ${percent(part, 0)}, ${signed(node.ev[at], 3)}${unit}` })), [node]);
  const at = pointed.value;
  return (
    <div class="columns two">
      <Panel title={node.title}>
        <div class="stack tight chart push-chart">
          <Bars words parts={parts} label={`${node.title}: all hands`} />
          <Grid13 label={`${node.title}: frequency by hand class`} cells={cells} onPoint={(place) => (pointed.value = place)} />
          <p class="soft small chart-line">{at === null ? `Point at a hand class. Numbers: EV relative to a fold${unit ? ", in bb" : ", in prize money"}.` : `${CLASSES[at]}: ${cells[at]!.said}`}</p>
        </div>
      </Panel>
      <div class="stack">
        <Panel title="Decisions">
          <div class="table-frame" tabIndex={0} role="group" aria-label="Decisions">
            <table class="table">
              <thead><tr><th>Player</th><th class="number">Plays</th><th class="number">Reached</th></tr></thead>
              <tbody>
                {of.nodes.map((each, number) => (
                  <tr key={each.title} class={number === chosen ? "chosen" : ""} tabIndex={0} onClick={() => ask({ node: String(number) })} onKeyDown={(event) => event.key === "Enter" && ask({ node: String(number) })}>
                    <td>{each.title}</td><td class="number">{each.reached < RARE ? "–" : percent(each.share)}</td><td class="number">{percent(each.reached)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
        <Panel title="Values and accuracy">
          <div class="stack tight">
            <Facts of={of.seats.map((seat, player) => [seat, `${chips(of.before[player])}${unit}, ${signed(of.values[player]! - of.before[player]!, 3)} ± ${chips(2 * of.errors[player]!, 3)}`] as const)} />
            <p class="soft small">{of.payouts.length ? "Prize money of the stacks before the hand (ICM by Malmuth-Harville, exact)" : "Stacks before the hand"}, and what the hand adds on average. NashConv is between {chips(of.nash_conv[0], 4)} and {chips(of.nash_conv[1], 4)}{unit} per hand, measured on new deals after {of.deals.toLocaleString("en")} deals.{of.seats.length > 2 && " With more than two players, no algorithm guarantees an equilibrium."} A dash marks decisions that are reached too rarely to be solved.</p>
          </div>
        </Panel>
      </div>
    </div>
  );
}
