// Preflop: solved charts, push or fold for one stack or for all stacks, and charts of other games.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Bars, type Part } from "../../look/Bars.tsx";
import { Button, Field, Notice, Panel, Segments } from "../../look/basics.tsx";
import { colours, ramp } from "../../look/actions.ts";
import { CLASSES, combinations } from "../../look/deck.ts";
import { Grid13, type Cell } from "../../look/Grid13.tsx";
import { chips, percent, signed } from "../../look/numbers.ts";
import { save } from "../../look/save.ts";
import { ask, go, link, place } from "../../router.ts";
import { useKeys } from "../../keys.ts";
import { useLoaded, useRested, useTitle } from "../../use.ts";
import { Blueprints } from "./Blueprints.tsx";
import { Charts } from "./Charts.tsx";
import { TablePushFold } from "./TablePushFold.tsx";
import { FromTheDeal } from "./FromTheDeal.tsx";

interface PushFold {
  stack: number;
  value: number;
  pushed: number;
  called: number;
  push: number[];
  call: number[];
  push_ev: number[];
  call_ev: number[];
}

interface Chart {
  to: number;
  step: number;
  push: number[];
  call: number[];
}

const MOST = 50;
const [FOLD, CALL, ALL_IN] = colours(["fold", "call", "allin"]) as [string, string, string];
const SIDES = [
  { key: "push", title: "Small blind", does: "all-in", charted: "pushes", letter: "A", paint: ALL_IN },
  { key: "call", title: "Big blind, after an all-in", does: "call", charted: "calls", letter: "C", paint: CALL },
] as const;
type Side = (typeof SIDES)[number];

const number = (text: string | null, otherwise: number) => (text !== null && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : otherwise);

const VIEWS = [{ value: "charts", label: "Charts" }, { value: "pushfold", label: "Push or fold" }, { value: "table", label: "ICM" }, { value: "more", label: "More" }] as const;

export default function Preflop() {
  useTitle("Preflop");
  const { query } = place.value;
  const asked = VIEWS.find((each) => each.value === query.get("view"))?.value;
  const view = asked ?? (query.has("blueprint") ? "more" : query.has("stack") || query.has("chart") ? "pushfold" : "charts");
  return (
    <>
      <div class="row spread">
        <h1>Preflop</h1>
        <Segments label="View" value={view} options={VIEWS} onChange={(value) => go(link(["preflop"], { view: value }))} />
      </div>
      {view === "pushfold" ? <PushOrFold /> : view === "table" ? <TablePushFold key={["stacks", "payouts", "antes"].map((name) => query.get(name)).join(";")} /> : view === "more" ? <><Blueprints /><FromTheDeal /></> : <Charts />}
    </>
  );
}

function PushOrFold() {
  const { query } = place.value;
  const all = query.has("chart");
  const stack = number(query.get("stack"), all ? 20 : 10);
  const ante = number(query.get("ante"), 0);
  const to = (changes: Record<string, string | undefined>) => ask(changes);
  const rested = useRested(`${stack} ${ante}`, 120);
  const [asked, antes] = rested.split(" ").map(Number) as [number, number];
  const one = useLoaded<PushFold>(all ? null : (signal) => get("preflop/pushfold", { stack: asked, ante: antes }, signal), [all, rested]);
  const chart = useLoaded<Chart>(all ? (signal) => get("preflop/chart", { to: asked, ante: antes }, signal) : null, [all, rested]);
  const step = (by: number) => to({ stack: String(Math.min(Math.max(Math.round(2 * stack) / 2 + by, 1.5), all ? MOST : 200)) });
  useKeys([
    { key: "ArrowRight", does: "half a big blind more", run: () => step(0.5) },
    { key: "ArrowLeft", does: "half a big blind less", run: () => step(-0.5) },
    { key: "c", does: "one stack, or all up to it", run: () => to({ chart: all ? undefined : "1" }) },
  ], [stack, all]);
  const error = all ? chart.error : one.error;
  return (
    <>
      <Panel
        title="Push or fold, heads-up"
        tools={
          <div class="row tight">
            <Segments label="Chart of" value={all ? "all" : "one"} options={[{ value: "one", label: "One stack" }, { value: "all", label: "All stacks" }]} onChange={(value) => to({ chart: value === "all" ? "1" : undefined })} />
            <Button small disabled={all ? !chart.data : !one.data} onClick={() => saveTable(all ? chart.data! : one.data!)}>CSV</Button>
          </div>
        }
      >
        <div class="preflop-fields">
          <label class="row tight grow">
            <span class="soft small">{all ? "Stacks up to" : "Stack"}</span>
            <input type="range" min={1.5} max={all ? MOST : 30} step={0.5} value={stack} class="grow" aria-label={all ? "Largest stack in big blinds" : "Stack in big blinds"} onInput={(event) => to({ stack: event.currentTarget.value })} />
          </label>
          <Field label="Stack, bb" value={query.get("stack") ?? String(stack)} width="90px" onInput={(value) => to({ stack: value })} />
          <Field label="Ante, bb" value={query.get("ante") ?? "0"} width="90px" onInput={(value) => to({ ante: value })} />
        </div>
        <p class="soft small">{!all && one.data && <>EV of the small blind <b>{signed(one.data.value, 4)} bb/hand</b>. </>}{all ? "Each cell shows the largest stack, in big blinds, at which the hand is played at least half of the time." : "Exact equilibrium over all boards. Each cell shows the EV of playing relative to folding, in big blinds."}</p>
      </Panel>
      {error && <Notice bad>{error}</Notice>}
      <div class="columns two" aria-busy={all ? chart.loading : one.loading}>
        {SIDES.map((side) => (
          <Panel key={side.key} title={side.title}>
            {all ? chart.data && <Stacks of={chart.data} side={side} /> : one.data && <Strategy of={one.data} side={side} />}
          </Panel>
        ))}
      </div>
    </>
  );
}

function Strategy({ of, side }: { of: PushFold; side: Side }) {
  const pointed = useSignal<number | null>(null);
  const [often, ev] = side.key === "push" ? [of.push, of.push_ev] : [of.call, of.call_ev];
  const share = side.key === "push" ? of.pushed : of.called;
  const parts: Part[] = [{ label: side.does, share, colour: side.paint, letter: side.letter }, { label: "fold", share: 1 - share, colour: FOLD, letter: "F" }];
  const cells = useMemo(
    () => often.map((part, at): Cell => ({ height: 1, parts: [[side.paint, part], [FOLD, 1 - part]], note: chips(ev[at], Math.abs(ev[at]!) < 9.95 ? 1 : 0), said: `${side.does} ${percent(part, 0)}, ${signed(ev[at], 3)} bb` })),
    [of, side],
  );
  const at = pointed.value;
  return (
    <div class="stack tight chart push-chart">
      <Bars words parts={parts} label={`${side.title}: all hands`} />
      <Grid13 label={`${side.title}: frequency by hand class`} cells={cells} onPoint={(place) => (pointed.value = place)} />
      <p class="soft small chart-line">{at === null ? "Point at a hand class." : `${CLASSES[at]}: ${cells[at]!.said}, ${combinations(CLASSES[at]!)} hands`}</p>
    </div>
  );
}

function Stacks({ of, side }: { of: Chart; side: Side }) {
  const values = of[side.key];
  const cells = useMemo(
    () => values.map((value): Cell => ({ height: value > 0 ? 1 : 0, parts: [[ramp(value / of.to), 1]], note: value > 0 ? chips(value, value % 1 ? 1 : 0) + (value >= of.to ? "+" : "") : undefined, said: value > 0 ? `${side.charted} with up to ${value} big blinds` : undefined })),
    [of, side],
  );
  return <div class="chart push-chart"><Grid13 label={`${side.title}: largest stack by hand class`} cells={cells} /></div>;
}

function saveTable(of: PushFold | Chart): void {
  const columns = "value" in of ? (["push", "call", "push_ev", "call_ev"] as const) : (["push", "call"] as const);
  const rows = CLASSES.map((name, at) => [name, ...columns.map((column) => (of as PushFold)[column][at])].join(","));
  save("pushfold.csv", [["hand", ...columns].join(","), ...rows].join("\n") + "\n", "text/csv");
}
