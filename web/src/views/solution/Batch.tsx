// A batch of flops from a folder; live while it is being solved.
import { LinkButton, Notice, Progress } from "../../look/basics.tsx";
import { count, duration } from "../../look/numbers.ts";
import { link, place } from "../../router.ts";
import { useTitle } from "../../use.ts";
import { jobs } from "../spots/jobs.ts";
import { Report } from "./Report.tsx";

export default function Batch() {
  const file = place.value.path.slice(1).join("/");
  useTitle("Flops");
  const job = jobs.value.find((each) => each.kind === "batch" && each.file === file);
  if (!file) return <Notice bad>Which batch? <a href="#/">Choose one</a>.</Notice>;
  return (
    <>
      <div class="row spread"><h1>Flops: {file}</h1><LinkButton small href={link(["drill", file])}>Drill</LinkButton></div>
      {job?.state === "running" && (
        <Notice>
          <p>{count(job.done)} of {count(job.total)} are solved{!!job.seconds_left && `, about ${duration(job.seconds_left)} left`}. <a href={link(["jobs", job.id])}>Pause or stop</a></p>
          <Progress part={job.total ? job.done / job.total : 0} label="Flops solved" />
        </Notice>
      )}
      <Report file={file} of={job ? `${job.done} ${job.state}` : ""} />
    </>
  );
}
