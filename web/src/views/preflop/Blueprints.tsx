// Preflop strategy of a full-game hold'em blueprint: its tree as columns, and a chart at each decision.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Notice, Panel } from "../../look/basics.tsx";
import { aggressiveFirst, colours } from "../../look/actions.ts";
import { CLASSES } from "../../look/deck.ts";
import { Grid13, type Cell } from "../../look/Grid13.tsx";
import { percent } from "../../look/numbers.ts";
import { Tree } from "../../look/Tree.tsx";
import { ask, link, place } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import { ago, type StartData } from "../start/found.ts";

interface Chart {
  game: string;
  line: string;
  /** The lines of the decisions before this one. */
  path: string[];
  player: number;
  title: string;
  actions: string[];
  kinds: string[];
  often: number[];
  shares: number[][];
  next: (string | null)[];
}

/** Blueprints in the folder, and the chart of the selected one. */
export function Blueprints() {
  const file = place.value.query.get("blueprint");
  const line = place.value.query.get("line") ?? "";
  const start = useLoaded((signal) => get<StartData>("start", {}, signal), []);
  const chart = useLoaded<Chart>(file ? (signal) => get("preflop/blueprint", { file, line }, signal) : null, [file, line]);
  const found = (start.data?.runs ?? []).filter((run) => run.kind === "holdem blueprint");
  if (!file && !found.length) return null;
  return (
    <Panel title="Blueprints of full-game hold'em">
      <div class="stack">
        <ul class="files">
          {found.map((run) => (
            <li key={run.file}><a href={link(["preflop"], { blueprint: run.file })} aria-current={run.file === file ? "true" : undefined}>{run.file}</a><span class="soft small">{ago(run.modified)}</span></li>
          ))}
        </ul>
        {chart.error && <Notice bad>{chart.error}</Notice>}
        {file && !chart.data && !chart.error && <p class="empty" role="status">Reading {file}; its buckets are made again, which takes a while…</p>}
        {chart.data && <Decision of={chart.data} />}
      </div>
    </Panel>
  );
}

function Decision({ of }: { of: Chart }) {
  const pointed = useSignal<number | null>(null);
  const paint = colours(of.kinds);
  const parts = actionParts(of.kinds, of.actions, of.often);
  const to = (line: string) => ask({ line }, false);
  const cells = useMemo(() => {
    const order = aggressiveFirst(of.kinds);
    return CLASSES.map((_, at): Cell => ({
      height: 1,
      parts: order.map((action) => [paint[action]!, of.shares[action]![at]!] as const),
      said: order.filter((action) => of.shares[action]![at]! > 0.005).map((action) => `${of.actions[action]} ${percent(of.shares[action]![at], 0)}`).join(", "),
    }));
  }, [of]);
  const at = pointed.value;
  return (
    <>
      <Tree
        label="Path"
        columns={[
          ...of.path.map((line) => ({ key: line || "root", who: line || "the start", onHead: () => to(line), choices: [] })),
          {
            key: "here",
            who: of.title,
            here: true,
            choices: of.actions.map((name, action) => ({
              key: name, label: name, note: percent(of.often[action]), colour: paint[action]!, onTake: () => of.next[action] != null && to(of.next[action]!),
            })),
          },
        ]}
      />
      <div class="stack tight chart">
        <Bars parts={parts} label="All hands" />
        <Legend parts={parts} />
        <Grid13 label={`Strategy by hand class: ${of.title}`} cells={cells} onPoint={(place) => (pointed.value = place)} />
        <p class="soft small chart-line">{at === null ? "Point at a hand class. Charts end where the betting closes and the flop comes." : `${CLASSES[at]}: ${cells[at]!.said}`}</p>
      </div>
    </>
  );
}
