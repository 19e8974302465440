// The current strategy of a running job, refreshed as it runs.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Button, Notice, Panel, Segments, Select } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Grid13 } from "../../look/Grid13.tsx";
import { useLoaded } from "../../use.ts";
import { cellsFor } from "../solution/cells.ts";
import { byClass, loadNode, PLAYERS, together, type Player } from "../solution/node.ts";
import type { Job } from "./jobs.ts";

export function SoFar({ job }: { job: Job }) {
  const line = useSignal("");
  const other = useSignal<"acting" | "other">("acting");
  const there = job.viewable;
  const node = useLoaded(there ? (signal) => loadNode(`jobs/${encodeURIComponent(job.id)}/node`, { line: line.value }, signal) : null, [Math.floor(job.seconds), job.state, line.value, there]);
  const data = node.data;
  const acting = data?.head.player ?? 0;
  const player = (other.value === "acting" ? acting : 1 - acting) as Player;
  const cells = useMemo(() => {
    if (!data) return [];
    return cellsFor(player === acting ? "strategy" : "reach", byClass(data.sides[player]), player === acting ? data.head.actions : []);
  }, [data, player]);
  const title = job.state === "finished" ? "Strategy" : "Strategy so far";
  if (!data) return <Panel title={title}><p class="empty">{node.error ?? (there ? "Loading…" : "The strategy appears after the first iterations.")}</p></Panel>;
  const { actions } = data.head;
  const parts = actionParts(actions.map((each) => each.kind), actions.map((each) => each.name), together(data.sides[acting]).frequency);
  return (
    <Panel
      title={title}
      tools={
        <Segments
          label="Player"
          value={other.value}
          options={[{ value: "acting", label: `${PLAYERS[acting]} acts` }, { value: "other", label: PLAYERS[(1 - acting) as Player] }]}
          onChange={(value) => (other.value = value)}
        />
      }
    >
      <div class="stack tight chart">
        {node.error && <Notice>{node.error}</Notice>}
        {data.head.note && <p class="soft small" role="status">{data.head.note}</p>}
        <div class="row tight">
          <Button small disabled={!line.value} onClick={() => (line.value = line.value.split(",").slice(0, -1).join(","))}>Back</Button>
          {!data.head.deals && actions.map((action, a) => (
            <Button key={action.step} small onClick={() => (line.value = data.head.children[a] ?? line.value)}>{action.name}</Button>
          ))}
          {data.head.deals === 1 && (
            <Select quiet label="Next card" value="" options={[{ value: "", label: "next card…" }, ...data.head.children.map((value) => ({ value, label: value.split(",").at(-1)! }))]} onChange={(value) => (line.value = value)} />
          )}
          <code class="soft">{line.value || "start"}</code>
        </div>
        <Bars parts={parts} label="Whole range" />
        <Legend parts={parts} />
        <Grid13 label={`Strategy of ${PLAYERS[player]} so far`} cells={cells} />
      </div>
    </Panel>
  );
}
