// Runs and trainings in the folder, with live curves side by side.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../../api.ts";
import { Check, Notice, Panel, Segments, Select } from "../../look/basics.tsx";
import { Curve } from "../../look/Curve.tsx";
import { count, duration } from "../../look/numbers.ts";
import { Table } from "../../look/table.tsx";
import { go, link, place } from "../../router.ts";
import { useLoaded, useTitle } from "../../use.ts";
import { ago } from "../start/found.ts";

interface Run {
  file: string;
  kind: string;
  game: string;
  algorithm: string;
  status: string;
  done: number | null;
  last: Record<string, number>;
  modified: number;
}

interface RunCurve extends Run {
  settings: Record<string, string>;
  count: number;
  effort: Record<"done" | "seconds" | "cpu_seconds", (number | null)[]>;
  numbers: Record<string, (number | null)[]>;
}

const EVERY = 2000;
type Effort = "done" | "seconds" | "cpu_seconds";

/** A counter that increases every two seconds while the view is visible, to refresh the curves. */
function useTicks(on: boolean): number {
  const ticks = useSignal(0);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => document.hidden || ticks.value++, EVERY);
    return () => clearInterval(timer);
  }, [on]);
  return ticks.value;
}

export default function Trainings() {
  useTitle("Runs");
  const chosen = place.value.query.getAll("run");
  const live = useSignal(true);
  const ticks = useTicks(live.value);
  const runs = useLoaded((signal) => get<{ runs: Run[] }>("runs", {}, signal), [Math.floor(ticks / 3)]);
  const address = chosen.map((file) => "file=" + encodeURIComponent(file)).join("&");
  const curves = useLoaded(chosen.length ? (signal) => get<{ curves: RunCurve[] }>("runs/curves?" + address, {}, signal) : null, [address, ticks]);
  const choose = (file: string) => {
    const kept = chosen.includes(file) ? chosen.filter((each) => each !== file) : [...chosen, file].slice(-12);
    go(link(["trainings"]) + (kept.length ? "?" + kept.map((each) => "run=" + encodeURIComponent(each)).join("&") : ""), true);
  };
  return (
    <>
      <div class="row spread"><h1>Solver and training runs</h1><Check label="follow them live" value={live.value} onChange={(value) => (live.value = value)} /></div>
      {runs.error && <Notice bad>{runs.error}</Notice>}
      {curves.error && <Notice bad>{curves.error}</Notice>}
      {chosen.length > 0 && curves.data && <Curves of={curves.data.curves} />}
      <Panel title="Runs in the folder" tools={<span class="soft small">select runs to compare them</span>}>
        <Table
          label="Runs"
          columns={[
            { key: "chosen", label: "Shown", show: (row) => <input type="checkbox" aria-label={`Show ${row.file}`} checked={chosen.includes(row.file)} onChange={() => choose(row.file)} /> },
            { key: "file", label: "Run", show: (row) => row.file, sort: (row) => row.file },
            { key: "kind", label: "Kind", roomy: true, show: (row) => row.kind, sort: (row) => row.kind },
            { key: "game", label: "Game", roomy: true, show: (row) => row.game, sort: (row) => row.game },
            { key: "algorithm", label: "Algorithm", show: (row) => row.algorithm, sort: (row) => row.algorithm },
            { key: "status", label: "Status", roomy: true, show: (row) => row.status, sort: (row) => row.status },
            { key: "done", label: "Done", number: true, roomy: true, show: (row) => count(row.done), sort: (row) => row.done },
            { key: "worth", label: "Exploitability", number: true, show: (row) => row.last["exploitability"]?.toPrecision(3) ?? "–", sort: (row) => row.last["exploitability"] },
            { key: "modified", label: "Written", number: true, roomy: true, show: (row) => ago(row.modified), sort: (row) => row.modified },
          ]}
          rows={runs.data?.runs ?? []}
          id={(row) => row.file}
          empty={runs.loading ? "Reading the folder…" : "No runs yet. Create one: treeplex solve leduc_poker --out runs/leduc"}
        />
      </Panel>
    </>
  );
}

function Curves({ of }: { of: readonly RunCurve[] }) {
  const names = [...new Set(of.flatMap((run) => Object.keys(run.numbers)))];
  const number = useSignal("");
  const effort = useSignal<Effort>("done");
  const log = useSignal(true);
  const shown = names.includes(number.value) ? number.value : names.includes("exploitability") ? "exploitability" : (names[0] ?? "");
  const known = of.filter((run) => run.numbers[shown]);
  const lines = known.map((run) => ({
    name: run.file,
    points: run.numbers[shown]!.flatMap((value, place): [number, number | null][] => {
      const x = run.effort[effort.value][place];
      return x == null ? [] : [[x, value]];
    }),
  }));
  const keys = [...new Set(of.flatMap((run) => Object.keys(run.settings)))];
  const all: [string, string[]][] = [
    ["game", of.map((run) => run.game)],
    ["status", of.map((run) => run.status)],
    ["time", of.map((run) => duration(run.effort.seconds.at(-1)))],
    ...keys.map((key): [string, string[]] => [key, of.map((run) => run.settings[key] ?? "–")]),
  ];
  const rows = all.filter(([, values]) => of.length === 1 || new Set(values).size > 1);
  return (
    <>
      <Panel
        title="Curves"
        tools={
          <>
            <Select quiet label="Shown" value={shown} options={names.map((name) => ({ value: name, label: name.replace(/_/g, " ") }))} onChange={(value) => (number.value = value)} />
            <Segments label="Against" value={effort.value} options={[{ value: "done", label: "steps" }, { value: "seconds", label: "seconds" }, { value: "cpu_seconds", label: "CPU seconds" }]} onChange={(value) => (effort.value = value)} />
            <Check label="log" value={log.value} onChange={(value) => (log.value = value)} />
          </>
        }
      >
        {lines.length ? <Curve label={shown} lines={lines} x={effort.value.replace("done", "steps").replace("_", " ")} y={shown.replace(/_/g, " ")} log={log.value} height={340} /> : <p class="empty">No records yet.</p>}
        {of.length > known.length && known.length > 0 && <p class="soft small">Without {shown}: {of.filter((run) => !run.numbers[shown]).map((run) => run.file).join(", ")}</p>}
      </Panel>
      <Panel title={of.length > 1 ? "Settings that differ" : "Settings"}>
        <div class="table-frame" tabIndex={0} role="region" aria-label="Settings of the runs">
          <table class="table">
            <thead><tr><th scope="col">Setting</th>{of.map((run) => <th key={run.file} scope="col">{run.file}</th>)}</tr></thead>
            <tbody>
              {rows.map(([name, values]) => <tr key={name}><th scope="row">{name}</th>{values.map((value, run) => <td key={run}>{value}</td>)}</tr>)}
            </tbody>
          </table>
        </div>
      </Panel>
    </>
  );
}
