// Home: solved spots, running jobs, and links to the other views.
import { get, listen, post, remove, upload } from "../../api.ts";
import { Button, LinkButton, Notice, Panel, tell, tried } from "../../look/basics.tsx";
import { Cards } from "../../look/Cards.tsx";
import { amount, count, percent } from "../../look/numbers.ts";
import { Table, type Column } from "../../look/table.tsx";
import { go, link } from "../../router.ts";
import { fromFields, replace, type Fields } from "../spots/draft.ts";
import { begin, jobs } from "../spots/jobs.ts";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLoaded, useTitle } from "../../use.ts";
import { ago, type FoundFile, type FoundSolution, type StartData } from "./found.ts";
import "./start.css";

const SOLUTIONS: readonly Column<FoundSolution>[] = [
  { key: "board", label: "Board", show: (row) => <Cards of={row.board} />, sort: (row) => row.board },
  { key: "file", label: "File", show: (row) => <a href={link(["solution", row.file])}>{row.file}</a>, sort: (row) => row.file },
  { key: "pot", label: "Pot", number: true, roomy: true, show: (row) => amount(row.pot, row.unit), sort: (row) => row.pot },
  { key: "stack", label: "Stack", number: true, minor: true, show: (row) => amount(row.stack, row.unit), sort: (row) => row.stack },
  { key: "combos", label: "Combos OOP, IP", number: true, minor: true, show: (row) => row.combos.map((size) => amount(size)).join(", ") || "–", sort: (row) => row.combos[0] },
  { key: "iterations", label: "Iterations", number: true, minor: true, show: (row) => count(row.iterations), sort: (row) => row.iterations },
  {
    key: "exploitability",
    label: "Exploitability",
    number: true,
    show: (row) => percent(row.exploitability_percent == null ? null : row.exploitability_percent / 100, 2),
    sort: (row) => row.exploitability_percent,
  },
  { key: "locks", label: "Locks", number: true, minor: true, show: (row) => row.locks || "", sort: (row) => row.locks },
  { key: "modified", label: "Solved", number: true, roomy: true, show: (row) => ago(row.modified), sort: (row) => row.modified },
  { key: "more", label: "Actions", number: true, show: (row) => <More of={row} /> },
];

/** What can be done with a solution of the list. */
function More({ of }: { of: FoundSolution }) {
  const naming = useSignal<string | null>(null);
  const rename = async () => {
    const name = naming.peek()?.trim();
    if (name && (await tried(post("solution/rename", { file: of.file, name })))) naming.value = null;
  };
  const template = async () => {
    const info = await tried(get<{ fields: Fields }>("solution", { file: of.file }));
    if (!info) return;
    replace(fromFields(info.fields));
    go("#/spot/new");
  };
  const drop = async () => {
    const { deleted } = (await tried(remove<{ deleted: string }>("solution", { file: of.file }))) ?? {};
    if (deleted) tell(`${of.file} is deleted.`, false, { label: "Undo", run: () => void tried(post(`deleted/${deleted}/restore`)) });
  };
  if (naming.value !== null)
    return (
      <form class="row tight more" onSubmit={(event) => (event.preventDefault(), void rename())}>
        <input type="text" aria-label={`New name of ${of.file}`} value={naming.value} class="preset-name" onInput={(event) => (naming.value = event.currentTarget.value)} />
        <Button small submit kind="primary">Rename</Button>
        <Button small onClick={() => (naming.value = null)}>Cancel</Button>
      </form>
    );
  return (
    <span class="row tight more">
      <Button small kind="quiet" label={`New spot from ${of.file}`} title="a new spot with these ranges, stacks and sizes" onClick={() => void template()}>New spot</Button>
      <Button small kind="quiet" label={`Rename ${of.file}`} onClick={() => (naming.value = of.file.split("/").at(-1)!.replace(/\.spot$/, ""))}>Rename</Button>
      <Button small kind="quiet" label={`Delete ${of.file}`} onClick={() => void drop()}>Delete</Button>
    </span>
  );
}

/** Whether the file of the command line has been shown since the page was loaded. */
let opened = location.hash.length > 2;

export default function Start() {
  useTitle("");
  const start = useLoaded((signal) => get<StartData>("start", {}, signal), []);
  useEffect(() => listen("files", start.again), []);
  const data = start.data;
  // The file that the server was opened with is shown at first, unless the address names something else.
  useEffect(() => {
    if (data?.opened && !opened) go(data.opened.endsWith(".spot") ? link(["solution", data.opened]) : link(["spot", "new"], { file: data.opened }));
    if (data) opened = true;
  }, [data]);
  const active = jobs.value.filter((job) => job.state === "running" || job.state === "waiting" || job.state === "paused");
  return (
    <>
      <h1 class="hidden">Treeplex</h1>
      <div class="starts">
        <Way href="#/spot/new" title="Solve a spot" sign="♠">Set board, ranges and bet sizes, watch it converge, browse its tree.</Way>
        <Way href="#/play" title="Play" sign="♟">Play against any agent, or against your solutions.</Way>
        <Way href="#/drill" title="Drill" sign="✓">Practise decisions from solutions and preflop charts. Mistakes come back.</Way>
        <Way href="#/review" title="Review hands" sign="⌕">Find the leaks in your hand histories, by position, street and board.</Way>
        <Way href="#/games" title="Browse a game" sign="Ψ">Trees, infosets and best responses of any game.</Way>
        <Way href="#/trainings" title="Compare runs" sign="∿">Compare convergence curves of solver and training runs.</Way>
      </div>
      {start.error && <Notice bad>{start.error}</Notice>}
      {active.length > 0 && (
        <Notice>
          {active.length === 1 ? "One spot is" : `${active.length} spots are`} being solved or waiting. <a href="#/jobs">Show</a>
        </Notice>
      )}
      <Panel title="Solved spots" tools={<><OpenFile /><LinkButton kind="primary" href="#/spot/new">New spot</LinkButton></>}>
        {data && !data.solutions.length ? (
          <p class="empty">No solved spots in <code>{data.folder}</code> yet. <Button small onClick={() => void example()}>Solve the example</Button> (a river, about a second)</p>
        ) : (
          <Table
            label="Solved spots"
            columns={SOLUTIONS}
            rows={data?.solutions ?? []}
            id={(row) => row.file}
            onRow={(row) => go(link(["solution", row.file]))}
            empty={start.loading ? "Reading the folder…" : "Nothing here."}
            most={100}
          />
        )}
      </Panel>
      <div class="columns two">
        <Files title="Spot files" files={data?.spot_files} address={(file) => link(["spot", "new"], { file })} />
        <Files title="Batches of flops" files={data?.batches} address={(file) => link(["batch", file])} />
      </div>
    </>
  );
}

/** Solve the example spot. */
async function example(): Promise<void> {
  const read = await tried(get<{ fields: Fields }>("spots/default"));
  const job = read && (await tried(begin({ fields: read.fields, name: "example" })));
  if (job) go(link(["jobs", job.id]));
}

/** A solved spot or a spot file from elsewhere, copied into the folder. */
function OpenFile() {
  const take = async (file: File | undefined) => {
    const taken = file && (await tried(upload(file)));
    if (taken) go(taken.file.endsWith(".spot") ? link(["solution", taken.file]) : link(["spot", "new"], { file: taken.file }));
  };
  return (
    <label class="button open-file">
      Open a file…
      <input type="file" accept=".spot,.yaml,.toml" class="hidden" onChange={(event) => void take(event.currentTarget.files?.[0])} />
    </label>
  );
}

function Way({ href, title, sign, children }: { href: string; title: string; sign: string; children: string }) {
  return (
    <a class="way" href={href}>
      <span class="sign" aria-hidden="true">{sign}</span>
      <span><b>{title}</b><span class="soft small">{children}</span></span>
    </a>
  );
}

function Files({ title, files, address }: { title: string; files: readonly FoundFile[] | undefined; address: (file: string) => string }) {
  if (!files?.length) return null;
  return (
    <Panel title={title}>
      <ul class="files">
        {files.slice(0, 30).map((each) => (
          <li key={each.file}><a href={address(each.file)}>{each.file}</a><span class="soft small">{ago(each.modified)}</span></li>
        ))}
      </ul>
    </Panel>
  );
}
