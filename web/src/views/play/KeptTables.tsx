// The user's tables: what was won and lost at each, to resume, rename and delete.
import { useSignal } from "@preact/signals";
import { post, remove } from "../../api.ts";
import { Button, Panel, tell, tried } from "../../look/basics.tsx";
import { count, signed } from "../../look/numbers.ts";
import { link } from "../../router.ts";
import { Table } from "../../look/table.tsx";
import { ago } from "../start/found.ts";
import { amount } from "./After.tsx";
import { shortName } from "./names.ts";
import type { KeptTable } from "./types.ts";

export function KeptTables({ tables, again }: { tables: readonly KeptTable[]; again: () => void }) {
  if (!tables.length) return null;
  const unit = (row: KeptTable) => row.big_blind ?? 1;
  return (
    <Panel title="Your tables" tools={<span class="soft small">leaving a table keeps its hands</span>}>
      <Table
        label="Your tables"
        columns={[
          { key: "name", label: "Table", show: (row) => <a href={link(["play", row.id])}>{row.name || row.game}</a>, sort: (row) => row.name || row.game },
          { key: "against", label: "Against", minor: true, show: (row) => shortName(row.against), sort: (row) => row.against },
          { key: "hands", label: "Hands", number: true, show: (row) => count(row.hands), sort: (row) => row.hands },
          { key: "won", label: "Won", number: true, show: (row) => (row.won == null ? "–" : `${signed(row.won / unit(row))}${row.big_blind ? " bb" : ""}`), sort: (row) => row.won },
          { key: "lost", label: "EV lost", number: true, show: (row) => amount(row.lost, row.big_blind), sort: (row) => row.lost },
          { key: "mistakes", label: "Mistakes", number: true, minor: true, show: (row) => count(row.mistakes), sort: (row) => row.mistakes },
          { key: "modified", label: "Played", number: true, roomy: true, show: (row) => ago(row.modified), sort: (row) => row.modified },
          { key: "more", label: "Actions", number: true, show: (row) => <More of={row} again={again} /> },
        ]}
        rows={tables}
        id={(row) => row.id}
        most={50}
      />
    </Panel>
  );
}

function More({ of, again }: { of: KeptTable; again: () => void }) {
  const naming = useSignal<string | null>(null);
  const name = of.name || of.game;
  const rename = async () => {
    if (await tried(post(`tables/${of.id}/rename`, { name: naming.peek() ?? "" }))) naming.value = null;
    again();
  };
  const drop = async () => {
    const { deleted } = (await tried(remove<{ deleted: string }>(`tables/${of.id}`))) ?? {};
    again();
    if (deleted) tell(`${name} is deleted, with ${of.hands ?? 0} ${of.hands === 1 ? "hand" : "hands"}.`, false, { label: "Undo", run: () => void tried(post(`deleted/${deleted}/restore`)).then(again) });
  };
  if (naming.value !== null)
    return (
      <form class="row tight more" onSubmit={(event) => (event.preventDefault(), void rename())}>
        <input type="text" aria-label={`New name of ${name}`} value={naming.value} class="preset-name" onInput={(event) => (naming.value = event.currentTarget.value)} />
        <Button small submit kind="primary">Rename</Button>
        <Button small onClick={() => (naming.value = null)}>Cancel</Button>
      </form>
    );
  return (
    <span class="row tight more">
      <Button small kind="quiet" label={`Rename ${name}`} onClick={() => (naming.value = name)}>Rename</Button>
      <Button small kind="quiet" label={`Delete ${name}`} onClick={() => void drop()}>Delete</Button>
    </span>
  );
}
