// Live solving: the queue, the exploitability curve, and the current strategy.
import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get, remove } from "../../api.ts";
import { Button, Facts, LinkButton, Notice, Panel, Progress, Segments, tried } from "../../look/basics.tsx";
import { Cards } from "../../look/Cards.tsx";
import { Curve } from "../../look/Curve.tsx";
import { bytes, chips, count, duration, percent } from "../../look/numbers.ts";
import { go, link, place } from "../../router.ts";
import { useTitle } from "../../use.ts";
import { useKeys } from "../../keys.ts";
import { jobs, order, type Job } from "./jobs.ts";
import { Report } from "../solution/Report.tsx";
import { SoFar } from "./SoFar.tsx";
import "./spots.css";

const WORDS: Record<string, string> = { waiting: "waiting", running: "solving", paused: "paused", finished: "finished", stopped: "stopped", failed: "failed" };

export default function Jobs() {
  useTitle("Solving");
  const all = jobs.value;
  const id = place.value.path[1];
  const job = all.find((each) => each.id === id) ?? (id ? undefined : (all.find((each) => each.state === "running") ?? all[0]));
  useEffect(() => {
    if (!jobs.peek().length) void tried(get<{ jobs: Job[] }>("jobs")).then((data) => data && (jobs.value = data.jobs));
  }, []);
  const waiting = all.filter((each) => each.state === "waiting").length;
  return (
    <>
      <div class="row spread">
        <h1>Solving</h1>
        <LinkButton kind="primary" href="#/spot/new">New spot</LinkButton>
      </div>
      {!all.length && <p class="empty">No jobs. <a href="#/spot/new">Create a spot</a>.</p>}
      {all.length > 0 && (
        <div class="queue">
          <Panel title="Queue" tools={<span class="soft small">{waiting ? `${waiting} waiting` : ""}</span>}>
            <ul class="queue-list">
              {all.map((each) => (
                <li key={each.id}>
                  <a href={link(["jobs", each.id])} aria-current={each.id === job?.id ? "true" : undefined}>
                    <span class="row spread"><b>{each.name}</b><span class={`state ${each.state}`}>{WORDS[each.state]}{each.place ? ` ${each.place}` : ""}</span></span>
                    <span class="row spread small"><Cards of={each.board} /><span class="soft">{each.kind === "batch" ? `${count(each.done)} of ${count(each.total)} flops` : share(each)}</span></span>
                    {each.state === "running" && <Progress part={part(each)} label={`Progress of ${each.name}`} />}
                  </a>
                </li>
              ))}
            </ul>
          </Panel>
          {job ? <Shown key={job.id} job={job} /> : <Notice>This job is no longer in the queue.</Notice>}
        </div>
      )}
    </>
  );
}

/** Progress of a job: by iterations, or by log exploitability toward its target, whichever is further. */
function part(job: Job): number {
  const byCount = job.total ? job.done / job.total : 0;
  const known = job.records.filter(([, , value]) => value != null && value > 0);
  const [first, last] = [known[0]?.[2], known.at(-1)?.[2]];
  if (!job.target || !first || !last || first <= job.target) return byCount;
  return Math.max(byCount, Math.log(first / last) / Math.log(first / job.target));
}

const rateOf = (rate: number) => (rate < 10 ? rate.toPrecision(2) : count(rate));
const share = (job: Job) => (job.exploitability == null ? "" : percent(job.exploitability / job.opening_pot, 2));

function Shown({ job }: { job: Job }) {
  const by = useSignal<"iterations" | "seconds">("iterations");
  const [running, batch] = [job.state === "running", job.kind === "batch"];
  const opened = link([batch ? "batch" : "solution", job.file], batch ? {} : { node: place.value.query.get("node") ?? undefined });
  const { query } = place.value;
  const [before, node] = [query.get("from") ?? undefined, query.get("node") ?? undefined];
  const act = (what: "pause" | "go-on" | "stop" | "first") => void tried(order(job, what));
  useKeys([
    { key: " ", does: "pause or resume", run: () => act(jobs.peek().find((each) => each.id === job.id)?.state === "paused" ? "go-on" : "pause") },
    { key: "Enter", does: "open the solution", run: () => job.viewable && go(opened) },
  ], [job.id, job.viewable]);
  const points = job.records.map(([done, seconds, value]) => [by.value === "seconds" ? seconds : done, value == null ? null : (100 * value) / job.opening_pot] as const);
  return (
    <div class="stack">
      <Panel
        title={<span class="row tight">{job.name} <Cards of={job.board} /></span>}
        tools={
          <>
            {running && <Button onClick={() => act("pause")}>Pause</Button>}
            {job.state === "paused" && <Button kind="primary" onClick={() => act("go-on")}>Resume</Button>}
            {job.state === "waiting" && (job.place ?? 0) > 1 && <Button onClick={() => act("first")}>First</Button>}
            {(running || job.state === "paused" || job.state === "waiting") && <Button onClick={() => act("stop")}>Stop</Button>}
            {!running && <Button kind="quiet" onClick={() => void tried(remove("jobs/" + encodeURIComponent(job.id)))}>Remove from list</Button>}
            {job.viewable && !running && before && <LinkButton href={link(["compare"], { file: before, with: job.file, node })}>Compare with original</LinkButton>}
            {job.viewable && !running && <LinkButton kind="primary" href={opened}>Open</LinkButton>}
          </>
        }
      >
        <div class="stack">
          {job.error && <Notice bad>{job.error}</Notice>}
          <Progress part={job.state === "finished" ? 1 : part(job)} label={`Progress of ${job.name}`} />
          <div role="status">
            <Facts
              of={[
                ["State", <span class={`state ${job.state}`}>{WORDS[job.state]}{job.phase && running ? `: ${job.phase}` : ""}{job.in_memory && ", in memory"}</span>],
                [batch ? "Flops" : "Iterations", `${count(job.done)} of ${count(job.total)}`],
                ...(batch ? [] : ([["Exploitability", job.exploitability == null ? "not yet known" : `${chips(job.exploitability)} ${job.unit}, ${share(job)} of the pot`]] as const)),
                ...(batch && !job.seconds ? [] : [["Solving time", duration(job.seconds)] as const]),
                ...(running && job.seconds_left != null ? ([["Time left", job.seconds_left ? `about ${duration(job.seconds_left)}${job.target ? " to the target" : ""}` : "evaluating and saving"]] as const) : []),
                ...(batch ? [] : ([
                  ...(running ? ([["Speed", job.rate ? `${rateOf(job.rate)} per second` : "–"]] as const) : []),
                  ["Memory", job.memory == null ? "–" : bytes(job.memory)],
                  ["Algorithm", job.algorithm || "–"],
                ] as const)),
                ...(job.budget ? ([["Budget", job.budget.replace(",", ", ")]] as const) : []),
                ...(job.left_out.length ? ([["Left out", job.left_out.join("; ")]] as const) : []),
              ]}
            />
          </div>
        </div>
      </Panel>
      {batch ? job.viewable && <Report file={job.file} of={`${job.done} ${job.state}`} /> : (
      <div class="so-far">
        <Panel
          title="Exploitability, % of the pot"
          tools={<Segments label="Axis" value={by.value} options={[{ value: "iterations", label: "Iterations" }, { value: "seconds", label: "Seconds" }]} onChange={(value) => (by.value = value)} />}
        >
          <Curve
            label="Exploitability in percent of the pot"
            lines={[{ name: "exploitability", points }]}
            x={by.value}
            level={job.target ? { value: (100 * job.target) / job.opening_pot, name: "target" } : null}
          />
        </Panel>
        <SoFar job={job} />
      </div>
      )}
    </div>
  );
}
