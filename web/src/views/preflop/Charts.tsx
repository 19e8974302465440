// Solved heads-up charts by depth: frequencies and EVs at every decision, responses to any raise, and the ranges that see a flop.
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Button, Check, Field, Notice, Panel, Select, tried } from "../../look/basics.tsx";
import { ask, go, link, place } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import { FlopLines, spotOf, useAbout } from "../spots/ChartRanges.tsx";
import { change, type Fields } from "../spots/draft.ts";
import { begin } from "../spots/jobs.ts";
import { raiseTo } from "../solution/words.ts";
import type { StartData } from "../start/found.ts";
import { Decision, type Chart } from "./Decision.tsx";

interface Solved extends Chart {
  notes: string[];
  pot: number;
  faced: number;
  /** The big blind in the chart's chips, in which lines are written. */
  big_blind: number;
}

const chartName = (file: string) => file.replace(/^(\d+)bb$/, "$1 bb").replace(/\.spot$/, "");

export function Charts() {
  const { query } = place.value;
  const [file, line] = [query.get("file") ?? "100bb", query.get("line") ?? ""];
  const charts = useLoaded((signal) => get<{ charts: string[] }>("preflop/charts", {}, signal), []);
  const start = useLoaded((signal) => get<StartData>("start", {}, signal), []);
  const chart = useLoaded<Solved>((signal) => get("preflop/solved", { file, line }, signal), [file, line]);
  const about = useAbout(file);
  const raise = useSignal("");
  const own = (start.data?.solutions ?? []).filter((each) => each.preflop).map((each) => each.file);
  const shipped = charts.data?.charts ?? ["100bb"];
  const to = (line: string) => ask({ line }, false);
  const show = (value: string) => ask({ file: value, line: undefined }, false);
  const now = chart.of?.[0] === file ? chart.data : null;
  const raises = now?.kinds.some((kind) => kind === "raise" || kind === "allin");
  return (
    <div class="columns two">
      <Panel
        title="Heads-up charts"
        tools={
          <Select quiet label="Chart" value={file} options={[...new Set([...shipped, ...own, file])].map((value) => ({ value, label: chartName(value) }))} onChange={show} />
        }
      >
        <div class="stack" aria-busy={chart.loading}>
          {chart.error && <Notice bad>{chart.error}</Notice>}
          {!now && !chart.error && <p class="empty" role="status">Reading the chart…</p>}
          {now?.notes.map((note) => <Notice key={note}>{note}</Notice>)}
          {now && <Decision of={now} to={to} />}
          {now && raises && (
            <form class="row tight end" onSubmit={(event) => (event.preventDefault(), raise.value.trim() && to([now.line, raiseTo(raise.value, now.big_blind)].filter(Boolean).join(",")))}>
              <Field label="Response to a raise to (bb)" value={raise.value} onInput={(value) => (raise.value = value)} placeholder={String(3 * Math.max(now.faced, 1))} width="220px" />
              <Button submit>Show</Button>
            </form>
          )}
          {about.data && <p class="soft small made">{about.data.made}</p>}
        </div>
      </Panel>
      <div class="stack">
        {about.data && (
          <Panel title="Ranges on the flop">
            <FlopLines of={about.data}>
              {(flop) => <Button small onClick={() => (change(spotOf(flop)), go(link(["spot", "new"])))}>Solve a flop</Button>}
            </FlopLines>
          </Panel>
        )}
        <OwnChart />
      </div>
    </div>
  );
}

const OWN = { stack: "40", ante: "0", rate: "", cap: "", open: "2.5x", reraise: "4x" };

/** The deep charts' tree with other stacks, antes, rake and sizes; boards are those of the shipped charts. */
function OwnChart() {
  const typed = useSignal(OWN);
  const limps = useSignal(true);
  const busy = useSignal(false);
  const { stack, ante, rate, cap, open, reraise } = typed.value;
  const fields = (): Fields => {
    const each = Number(ante) || 0;
    return {
      board: "", oop: "all", ip: "all", blinds: "0.5, 1", pot: `${2 * each}bb`, stack: `${Number(stack) - each}bb`, chip: "0.05", limps: limps.value,
      bets: { preflop: "none", flop: "50%", turn: "75%", river: "75%" },
      raises: { preflop: { oop: reraise, ip: open }, flop: { oop: "3x", ip: "a" }, turn: "a", river: "none" },
      donk: "none", thresholds: { force_allin: "40%" }, runouts: "48x2x2", algorithm: "hs-dcfr", iterations: "150",
      ...(rate.trim() ? { rake: { rate: rate.trim(), ...(cap.trim() ? { cap: cap.trim() } : {}), no_flop_no_drop: true } } : {}),
    };
  };
  const solve = async () => {
    busy.value = true;
    const job = await tried(begin({ fields: fields(), name: `chart-${stack}bb` }));
    busy.value = false;
    if (job) go(link(["jobs", job.id]));
  };
  const field = (name: keyof typeof OWN, label: string, hint: string) => <Field label={label} value={typed.value[name]} onInput={(value) => (typed.value = { ...typed.peek(), [name]: value })} hint={hint} />;
  return (
    <Panel title="Solve your own chart">
      <div class="stack tight">
        <div class="fields">
          {field("stack", "Stack, bb", "before antes and blinds")}
          {field("ante", "Ante per player, bb", "0 for none")}
          {field("rate", "Rake", "5%; none before a flop")}
          {field("cap", "Rake cap, bb", "empty for none")}
          {field("open", "Small blind raises", "2.5x, or 2x, a")}
          {field("reraise", "Big blind raises", "4x, or 3x, a")}
        </div>
        <Check label="the small blind may limp" value={limps.value} onChange={(value) => (limps.value = value)} />
        <p class="soft small">Solved on 48 flops with two turns and two rivers each, like the shipped charts. This takes a few minutes on one core. The solution then appears among the charts above.</p>
        <div><Button kind="primary" disabled={busy.value} onClick={() => void solve()}>Solve</Button></div>
      </div>
    </Panel>
  );
}
