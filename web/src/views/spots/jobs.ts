// The queue of spots being solved, kept up to date by the stream of events for as long as the page is open.
import { signal } from "@preact/signals";
import { listen, post } from "../../api.ts";

export type JobState = "waiting" | "running" | "paused" | "finished" | "stopped" | "failed";

/** [iterations done, seconds, exploitability in chips]. */
export type JobRecord = readonly [number, number, number | null];

export interface Job {
  id: string;
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
  board: string;
  records: JobRecord[];
  locks: number;
  viewable: boolean;
}

export const jobs = signal<readonly Job[]>([]);

function put(job: Omit<Job, "records"> & { records?: JobRecord[] }): void {
  const known = jobs.peek().find((each) => each.id === job.id);
  const next = { ...known, ...job, records: job.records ?? known?.records ?? [] } as Job;
  jobs.value = known ? jobs.peek().map((each) => (each.id === job.id ? next : each)) : [next, ...jobs.peek()];
}

listen<{ jobs: Job[] }>("jobs", (data) => (jobs.value = data.jobs));
listen<Job>("job", put);
listen<{ id: string }>("gone", ({ id }) => (jobs.value = jobs.peek().filter((job) => job.id !== id)));
listen<{ id: string; record: JobRecord }>("record", ({ id, record }) => {
  jobs.value = jobs.peek().map((job) => (job.id === id && !job.records.some(([done]) => done === record[0]) ? { ...job, records: [...job.records, record] } : job));
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
