// Many flops at once: a table to sort and to filter by texture, and means weighted by how often each flop comes.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Button, Notice, Panel, Select } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Cards } from "../../look/Cards.tsx";
import { chips, percent } from "../../look/numbers.ts";
import { Table, type Column } from "../../look/table.tsx";
import { ask, place } from "../../router.ts";
import { useLoaded, useTitle } from "../../use.ts";
import { PLAYERS, type Player } from "./node.ts";
import { kindOf, said } from "./steps.ts";
import "./solution.css";

interface Flop {
  board: string;
  weight: number;
  exploitability_percent: number | null;
  ev: [number | null, number | null];
  equity: [number | null, number | null];
  texture: Record<string, string | number>;
  actions: Record<string, { reach: number | null; shares: (number | null)[] }>;
  file?: string | null;
}

interface BatchData {
  boards: number;
  lines: { line: string; player: Player; actions: string[] }[];
  rows: Flop[];
}

const kindOfName = (name: string): string => (name.includes("all") ? "allin" : /^[a-z]+ /.test(name) || /^(fold|check|call|bet|raise)/.test(name) ? name.split(" ")[0]! : kindOf(name));

export default function Batch() {
  const file = place.value.path.slice(1).join("/");
  const line = place.value.query.get("node") ?? "";
  useTitle("Flops");
  const batch = useLoaded<BatchData>(file ? (signal) => get("batch", { file }, signal) : null, [file]);
  const wanted = useSignal<Readonly<Record<string, string>>>({});
  const data = batch.data;
  const rows = useMemo(() => (data?.rows ?? []).filter((row) => Object.entries(wanted.value).every(([key, value]) => !value || String(row.texture[key]) === value)), [data, wanted.value]);
  if (!data) return batch.error ? <Notice bad>{batch.error}</Notice> : <p class="empty" role="status">Reading {file}…</p>;
  const at = data.lines.find((each) => each.line === line) ?? data.lines[0];
  const kinds = (at?.actions ?? []).map(kindOfName);
  const means = meanShares(rows, at?.line ?? "", at?.actions.length ?? 0);
  const columns: Column<Flop>[] = [
    { key: "board", label: "Flop", show: (row) => <Cards of={row.board} />, sort: (row) => row.board },
    { key: "equity", label: "Equity OOP", number: true, show: (row) => percent(row.equity[0]), sort: (row) => row.equity[0] },
    { key: "ev0", label: "EV OOP", number: true, show: (row) => chips(row.ev[0]), sort: (row) => row.ev[0] },
    { key: "ev1", label: "EV IP", number: true, show: (row) => chips(row.ev[1]), sort: (row) => row.ev[1] },
    ...(at
      ? [
          {
            key: "strategy",
            label: PLAYERS[at.player],
            show: (row: Flop) => <div class="hand-bar"><Bars small parts={actionParts(kinds, at.actions, shares(row, at.line))} label={row.board} /></div>,
          },
          ...at.actions.map((name, a) => ({ key: "share" + a, label: name, number: true, show: (row: Flop) => percent(shares(row, at.line)[a]), sort: (row: Flop) => shares(row, at.line)[a] })),
        ]
      : []),
    { key: "weight", label: "Weight", number: true, show: (row) => chips(row.weight, 0), sort: (row) => row.weight },
    { key: "exploitability", label: "Exploitability", number: true, show: (row) => percent(row.exploitability_percent == null ? null : row.exploitability_percent / 100, 2), sort: (row) => row.exploitability_percent },
  ];
  return (
    <>
      <div class="row spread">
        <h1>{data.boards} flops <span class="soft small">{file}</span></h1>
        <Button small onClick={() => saveTable(rows, at)}>CSV</Button>
      </div>
      <Panel label="Which flops">
        <div class="row">
          {data.lines.length > 1 && <Select label="Node" value={at?.line ?? ""} options={data.lines.map((each) => ({ value: each.line, label: `${PLAYERS[each.player]} after ${said(each.line)}` }))} onChange={(value) => ask({ node: value })} />}
          {Object.keys(data.rows[0]?.texture ?? {}).map((key) => (
            <Select
              key={key}
              label={key}
              value={wanted.value[key] ?? ""}
              options={[{ value: "", label: "any" }, ...[...new Set(data.rows.map((row) => String(row.texture[key])))].sort().map((value) => ({ value, label: value }))]}
              onChange={(value) => (wanted.value = { ...wanted.peek(), [key]: value })}
            />
          ))}
        </div>
        {at && (
          <div class="stack tight">
            <h3>{rows.length} flops together, weighted</h3>
            <Bars parts={actionParts(kinds, at.actions, means)} label="All shown flops" />
            <Legend parts={actionParts(kinds, at.actions, means)} />
          </div>
        )}
      </Panel>
      <Panel label="Flops">
        <Table label="Flops" columns={columns} rows={rows} id={(row) => row.board} first={{ key: "ev0", down: true }} most={1800} />
      </Panel>
    </>
  );
}

const shares = (row: Flop, line: string): number[] => (row.actions[line]?.shares ?? []).map((share) => share ?? Number.NaN);

function meanShares(rows: readonly Flop[], line: string, size: number): number[] {
  const sums = new Array<number>(size).fill(0);
  let total = 0;
  for (const row of rows) {
    const found = row.actions[line];
    if (!found || found.shares.some((share) => share == null)) continue;
    const weight = row.weight * (found.reach ?? 1);
    total += weight;
    found.shares.forEach((share, a) => (sums[a]! += weight * share!));
  }
  return sums.map((sum) => (total ? sum / total : 0));
}

function saveTable(rows: readonly Flop[], at: BatchData["lines"][number] | undefined): void {
  const head = ["board", "weight", "equity_oop", "ev_oop", "ev_ip", ...(at?.actions ?? [])];
  const lines = rows.map((row) => [row.board, row.weight, row.equity[0], row.ev[0], row.ev[1], ...(at ? shares(row, at.line) : [])].join(","));
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([[head.join(","), ...lines].join("\n") + "\n"], { type: "text/csv" }));
  anchor.download = "flops.csv";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
