// Preflop strategy of a full-game hold'em blueprint: a chart at each decision.
import { get } from "../../api.ts";
import { Notice, Panel } from "../../look/basics.tsx";
import { ask, link, place } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import { ago, type StartData } from "../start/found.ts";
import { Decision, type Chart } from "./Decision.tsx";

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
            <li key={run.file}><a href={link(["preflop"], { view: "more", blueprint: run.file })} aria-current={run.file === file ? "true" : undefined}>{run.file}</a><span class="soft small">{ago(run.modified)}</span></li>
          ))}
        </ul>
        {chart.error && <Notice bad>{chart.error}</Notice>}
        {file && !chart.data && !chart.error && <p class="empty" role="status">Reading {file}; its buckets are made again, which takes a while…</p>}
        {chart.data && <Decision of={chart.data} to={(line) => ask({ line }, false)} />}
      </div>
    </Panel>
  );
}
