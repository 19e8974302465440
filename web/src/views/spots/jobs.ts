// The queue of spots being solved, kept up to date by the stream of events for as long as the page is open.
import { signal } from "@preact/signals";
import { listen, post } from "../../api.ts";

export type JobState = "waiting" | "running" | "paused" | "finished" | "stopped" | "failed";

/** [iterations done, seconds, exploitability in chips]. */
export type JobRecord = readonly [number, number, number | null];

export interface Job {
  id: string;
  /** A spot, or one on many boards; then `file` is a folder, and units are boards. */
  kind: "spot" | "batch";
  name: string;
  file: string;
  state: JobState;
  phase: string | null;
  error: string | null;
  place: number | null;
  algorithm: string;
  done: number;
  total: number;
  rate: number | null;
  seconds_left: number | null;
  seconds: number;
  exploitability: number | null;
  target: number | null;
  opening_pot: number;
  unit: string;
  board: string;
  records: JobRecord[];
  locks: number;
  /** Bytes for solving and evaluation. */
  memory: number | null;
  /** Memory and time for which the sizes were chosen, such as "4 GB,60 s". */
  budget: string | null;
  left_out: string[];
  viewable: boolean;
  /** Whether it is paused within an iteration, in memory. */
  in_memory: boolean;
}

export const jobs = signal<readonly Job[]>([]);

function put(job: Omit<Job, "records"> & { records?: JobRecord[] }): void {
  const known = jobs.peek().find((each) => each.id === job.id);
  const next = { ...known, ...job, records: job.records ?? known?.records ?? [] } as Job;
  jobs.value = known ? jobs.peek().map((each) => (each.id === job.id ? next : each)) : [next, ...jobs.peek()];
}

/** A small spot is judged hundreds of times per second; updates are shown a few times per second. */
const PAUSE = 250;
const MOST_RECORDS = 600;
let heardJobs = new Map<string, Omit<Job, "records">>();
let heardRecords: { id: string; record: JobRecord }[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

function later(): void {
  if (timer === null) timer = setTimeout(show, PAUSE);
}

function show(): void {
  const [found, records] = [heardJobs, heardRecords];
  [heardJobs, heardRecords] = [new Map(), []];
  timer = null;
  for (const job of found.values()) put(job);
  if (!records.length) return;
  jobs.value = jobs.peek().map((job) => {
    const last = job.records.at(-1)?.[0] ?? -1;
    const own = records.flatMap(({ id, record }) => (id === job.id && record[0] > last ? [record] : []));
    return own.length ? { ...job, records: thinned([...job.records, ...own]) } : job;
  });
}

/** Drop every second record if there are more than a curve can show, but not the last one. */
function thinned(records: JobRecord[]): JobRecord[] {
  while (records.length > MOST_RECORDS) records = records.filter((_, place) => place % 2 === 0 || place === records.length - 1);
  return records;
}

listen<{ jobs: Job[] }>("jobs", (data) => {
  [heardJobs, heardRecords] = [new Map(), []];
  jobs.value = data.jobs;
});
listen<Omit<Job, "records">>("job", (job) => {
  heardJobs.set(job.id, job);
  later();
});
listen<{ id: string }>("gone", ({ id }) => {
  heardJobs.delete(id);
  jobs.value = jobs.peek().filter((job) => job.id !== id);
});
listen<{ id: string; record: JobRecord }>("record", (heard) => {
  heardRecords.push(heard);
  later();
});

/** Put a spot into the queue; the answer is its job. */
export async function begin(body: unknown): Promise<Job> {
  const job = await post<Job>("jobs", body);
  put(job);
  return job;
}

export async function order(job: Job, what: "pause" | "go-on" | "stop" | "first"): Promise<void> {
  put(await post<Job>(`jobs/${encodeURIComponent(job.id)}/${what}`));
}
