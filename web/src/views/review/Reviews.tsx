// Review of many hands: start a review, follow it, and read its leaks.
import { useSignal } from "@preact/signals";
import { get, post, remove } from "../../api.ts";
import { Button, Field, Notice, Panel, Select, tried } from "../../look/basics.tsx";
import { go, link, place } from "../../router.ts";
import { message, useLoaded, useTitle } from "../../use.ts";
import { Leaks } from "./Leaks.tsx";
import { decoded, parts } from "./texts.ts";
import "./review.css";

export default function Reviews() {
  const [, file] = place.value.path;
  return file ? <Leaks key={file} file={file} /> : <NewReview />;
}

const STREETS = [{ value: "", label: "first heads-up street" }, { value: "flop", label: "the flop" }, { value: "turn", label: "the turn" }, { value: "river", label: "the river" }];

function NewReview() {
  useTitle("Review");
  const saved = useLoaded((signal) => get<{ reviews: string[] }>("reviews", {}, signal), []);
  const text = useSignal("");
  const files = useSignal<readonly File[]>([]);
  const name = useSignal("");
  const folder = useSignal("");
  const hero = useSignal("");
  const street = useSignal("");
  const budget = useSignal("");
  const oop = useSignal("");
  const ip = useSignal("");
  const wrong = useSignal<string | null>(null);
  const busy = useSignal("");
  const begin = async () => {
    if (busy.peek()) return;
    wrong.value = null;
    busy.value = "Starting…";
    let made: { file: string } | null = null;
    try {
      const given = { hero: hero.value.trim() || null, street: street.value || null, budget: budget.value.trim() || null, oop: oop.value.trim() || null, ip: ip.value.trim() || null };
      made = await post<{ file: string }>("reviews", { name: name.value.trim() || new Date().toISOString().slice(0, 10), folder: folder.value.trim() || null, ...given });
      for (const part of parts(text.value)) await post("reviews/texts", { file: made.file, text: part });
      for (const [number, each] of files.value.entries()) {
        busy.value = `Reading file ${number + 1} of ${files.value.length}`;
        for (const part of parts(decoded(new Uint8Array(await each.arrayBuffer())))) await post("reviews/texts", { file: made.file, text: part });
      }
      await post("reviews/start", { file: made.file });
      go(link(["review", made.file]));
    } catch (error) {
      wrong.value = message(error);
      if (made) void remove("reviews", { file: made.file }).catch(() => undefined);
    }
    busy.value = "";
  };
  const drop = async (file: string) => {
    if (confirm(`Delete ${file} with all its results?`) && (await tried(remove("reviews", { file })))) saved.again();
  };
  const some = text.value.trim() || files.value.length || folder.value.trim();
  return (
    <>
      <h1>Review many hands</h1>
      <div class="columns review-start">
        <Panel title="Hands">
          <div class="stack">
            <Field label="Paste hand histories" rows={9} value={text.value} onInput={(value) => (text.value = value)} hint="PokerStars, GGPoker, PHH, ACPC, PartyPoker, iPoker, Ongame, Full Tilt, Absolute Poker; any number of hands" />
            <div class="row tight">
              <label class="button open-file">
                Choose files…
                <input type="file" multiple accept=".txt,.phh,.phhs,.log,.xml,.hh" class="hidden" onChange={(event) => (files.value = [...(event.currentTarget.files ?? [])])} />
              </label>
              <span class="soft small">{files.value.length ? `${files.value.length} ${files.value.length === 1 ? "file" : "files"}` : "any number"}</span>
            </div>
            <Field label="Folder on the server" value={folder.value} placeholder="hands" hint="within the folder that is served; later runs review only new hands" onInput={(value) => (folder.value = value)} />
          </div>
        </Panel>
        <div class="stack">
          <Panel title="Settings">
            <div class="stack">
              <div class="fields">
                <Field label="Player" value={hero.value} placeholder="whose cards are shown" onInput={(value) => (hero.value = value)} />
                <Field label="Name of the review" value={name.value} placeholder="today's date" onInput={(value) => (name.value = value)} />
                <Field label="Time per street" value={budget.value} placeholder="10s" hint="or memory and time: 2GB, 30s" onInput={(value) => (budget.value = value)} />
                <Select label="Start from" value={street.value} options={STREETS} onChange={(value) => (street.value = value)} />
                <Field label="Range out of position" value={oop.value} placeholder="by position" onInput={(value) => (oop.value = value)} />
                <Field label="Range in position" value={ip.value} placeholder="by position" onInput={(value) => (ip.value = value)} />
              </div>
              {wrong.value && <Notice bad>{wrong.value}</Notice>}
              <div class="row tight">
                <Button kind="primary" disabled={!some || !!busy.value} onClick={() => void begin()}>Review</Button>
                {busy.value && <span class="soft" role="status">{busy.value}</span>}
              </div>
              <p class="soft small">Each street is solved, and a flop takes about the whole time per street. Hands that never get heads-up, and others that cannot be reviewed, are counted by reason. <a href="#/play/hands">Review a single hand</a> to keep its solutions.</p>
            </div>
          </Panel>
          {!!saved.data?.reviews.length && (
            <Panel title="Reviews">
              <ul class="files">
                {saved.data.reviews.map((file) => (
                  <li key={file}><a href={link(["review", file])}>{file.replace(/^reviews\//, "")}</a><Button small kind="quiet" label={`Delete ${file}`} onClick={() => void drop(file)}>Delete</Button></li>
                ))}
              </ul>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}
