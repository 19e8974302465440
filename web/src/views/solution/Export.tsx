// Exports of a node: pictures, tables, ranges as text, the stand-alone page.
import { useSignal } from "@preact/signals";
import { address, get } from "../../api.ts";
import { Button, Dialog, Field, LinkButton, tell, tried } from "../../look/basics.tsx";
import { savePicture } from "./picture.ts";

export function Export({ file, line }: { file: string; line: string }) {
  const open = useSignal(false);
  const ranges = useSignal<readonly [string, string] | null>(null);
  const show = async () => {
    open.value = true;
    ranges.value = null;
    const asked = [0, 1].map((player) => get<{ text: string }>("solution/range", { file, line, player }));
    const found = await tried(Promise.all(asked));
    if (found) ranges.value = [found[0]!.text, found[1]!.text];
  };
  const copy = (text: string) => void navigator.clipboard.writeText(text).then(() => tell("Copied."), () => tell("The browser does not allow copying.", true));
  return (
    <>
      <Button small onClick={() => void show()}>Export…</Button>
      <Dialog title="Export this node" open={open.value} onClose={() => (open.value = false)}>
        <div class="row tight">
          <Button onClick={() => void tried(savePicture(line))}>PNG of the grid</Button>
          <LinkButton href={address("solution/export", { file, line, as: "csv" })} download>CSV</LinkButton>
          <LinkButton href={address("solution/export", { file, line, as: "json" })} download>JSON</LinkButton>
          <LinkButton href={address("solution/export", { file, line, as: "jsonl", depth: 2 })} download>JSON lines, depth 2</LinkButton>
          <LinkButton href={address("solution/page", { file, line })} download>Stand-alone page</LinkButton>
        </div>
        {(["OOP", "IP"] as const).map((name, player) => (
          <div key={name} class="stack tight">
            <Field label={`Range of ${name} at this node, as text`} rows={4} value={ranges.value?.[player] ?? "…"} onInput={() => undefined} />
            <div><Button small disabled={!ranges.value} onClick={() => copy(ranges.value![player]!)}>Copy</Button></div>
          </div>
        ))}
      </Dialog>
    </>
  );
}
