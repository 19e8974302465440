// Report of a batch of flops: a table to sort and filter by texture, and means over flops.
import { useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get } from "../../api.ts";
import { Button, Notice, Panel, Select } from "../../look/basics.tsx";
import { actionParts, Bars, Legend } from "../../look/Bars.tsx";
import { Cards } from "../../look/Cards.tsx";
import { amount, chips, percent } from "../../look/numbers.ts";
import { save } from "../../look/save.ts";
import { Table, type Column } from "../../look/table.tsx";
import { ask, go, link, place } from "../../router.ts";
import { useLoaded } from "../../use.ts";
import { csvOf, meansBy, meanShares, shares, type BatchData, type Flop } from "./flops.ts";
import { PLAYERS } from "./node.ts";
import { actionName, reached } from "./words.ts";
import "./solution.css";

const WORDS: Record<string, string> = { true: "yes", false: "no" };
const TEXTURES: Record<string, string> = { suits: "Suits", pairing: "Pairing", high: "High card", connected: "Connected" };

/** The report of a batch, read again whenever `of` changes. */
export function Report({ file, of }: { file: string; of?: string }) {
  const line = place.value.query.get("node") ?? "";
  const batch = useLoaded<BatchData>((signal) => get("batch", { file }, signal), [file, of]);
  /** The texture by which flops are grouped; "" for no grouping. */
  const by = useSignal("");
  const wanted = useSignal<Readonly<Record<string, string>>>({});
  const data = batch.data;
  const rows = useMemo(() => (data?.rows ?? []).filter((row) => Object.entries(wanted.value).every(([key, value]) => !value || String(row.texture[key]) === value)), [data, wanted.value]);
  if (!data) return batch.error ? <Notice bad>{batch.error}</Notice> : <p class="empty" role="status">Reading {file}…</p>;
  const at = data.lines.find((each) => each.line === line) ?? data.lines[0];
  const kinds = (at?.actions ?? []).map((name) => name.split(" ")[0]!);
  const means = at ? meanShares(rows, at) : [];
  const table = by.value ? meansBy(rows, by.value, data.lines) : rows;
  const unit = data.rows[0]?.unit ?? "chips";
  const names = (at?.actions ?? []).map((name) => actionName(name, unit));
  const textures = Object.keys(data.rows[0]?.texture ?? {});
  const columns: Column<Flop>[] = [
    by.value
      ? { key: "board", label: TEXTURES[by.value] ?? by.value, show: (row) => WORDS[row.board] ?? row.board, sort: (row) => row.board }
      : { key: "board", label: "Flop", show: (row) => <Cards of={row.board} />, sort: (row) => row.board },
    { key: "equity", label: "Equity OOP", number: true, roomy: true, show: (row) => percent(row.equity[0]), sort: (row) => row.equity[0] },
    { key: "ev0", label: "EV OOP", number: true, show: (row) => chips(row.ev[0]), sort: (row) => row.ev[0] },
    { key: "ev1", label: "EV IP", number: true, roomy: true, show: (row) => chips(row.ev[1]), sort: (row) => row.ev[1] },
    ...(at
      ? [
          {
            key: "strategy",
            label: PLAYERS[at.player],
            show: (row: Flop) => <div class="hand-bar"><Bars small parts={actionParts(kinds, names, shares(row, at))} label={row.board} /></div>,
          },
          ...names.map((name, a) => ({ key: "share" + a, label: name, number: true, show: (row: Flop) => percent(shares(row, at)[a]), sort: (row: Flop) => shares(row, at)[a] })),
        ]
      : []),
    { key: "weight", label: "Weight", number: true, minor: true, show: (row) => chips(row.weight, 0), sort: (row) => row.weight },
    { key: "exploitability", label: "Exploitability", number: true, roomy: true, show: (row) => percent(row.exploitability_percent == null ? null : row.exploitability_percent / 100, 2), sort: (row) => row.exploitability_percent },
  ];
  return (
    <>
      <div class="row spread">
        <h2>{data.rows.length} of {data.boards} flops{data.rows.length > 0 && <span class="soft small"> EV from a pot of {amount(data.rows[0]!.pot, unit)}</span>}</h2>
        <Button small onClick={() => save("flops.csv", csvOf(table, at), "text/csv")}>CSV</Button>
      </div>
      <Panel label="Which flops">
        <div class="row">
          {data.lines.length > 1 && <Select label="Node" value={at?.line ?? ""} options={data.lines.map((each) => ({ value: each.line, label: `${PLAYERS[each.player]} ${reached(each.line, unit)}` }))} onChange={(value) => ask({ node: value })} />}
          {textures.map((key) => (
            <Select
              key={key}
              label={TEXTURES[key] ?? key}
              value={wanted.value[key] ?? ""}
              options={[{ value: "", label: "any" }, ...[...new Set(data.rows.map((row) => String(row.texture[key])))].sort().map((value) => ({ value, label: WORDS[value] ?? value }))]}
              onChange={(value) => (wanted.value = { ...wanted.peek(), [key]: value })}
            />
          ))}
          <Select label="Table" value={by.value} options={[{ value: "", label: "each flop" }, ...textures.map((key) => ({ value: key, label: `means by ${(TEXTURES[key] ?? key).toLowerCase()}` }))]} onChange={(value) => (by.value = value)} />
        </div>
        {at && (
          <div class="stack tight batch-mean">
            <h2 class="soft small">{rows.length} flops together, weighted</h2>
            <Bars parts={actionParts(kinds, names, means)} label="All flops shown" />
            <Legend parts={actionParts(kinds, names, means)} />
          </div>
        )}
      </Panel>
      <Panel label="Flops">
        <Table label="Flops" columns={columns} rows={table} id={(row) => row.board} first={{ key: "ev0", down: true }} most={1800} {...(data.rows.some((row) => row.spot) && !by.value ? { onRow: (row: Flop) => row.spot && go(link(["solution", row.spot])) } : {})} />
      </Panel>
    </>
  );
}
