// The grid as a PNG: the canvas with its labels.
import { save } from "../../look/save.ts";
import { colour } from "../../theme.ts";

export async function savePicture(line: string): Promise<void> {
  const frame = document.querySelector<HTMLElement>(".grid13");
  const drawn = frame?.querySelector("canvas");
  if (!frame || !drawn) throw new Error("There is no grid to draw.");
  const size = 1040;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = colour("--panel");
  pen.fillRect(0, 0, size, size);
  pen.drawImage(drawn, 0, 0, size, size);
  const step = size / 13;
  for (const cell of frame.querySelectorAll<HTMLElement>(".cell")) {
    const place = Number(cell.dataset["place"]);
    const [x, y] = [(place % 13) * step, Math.floor(place / 13) * step];
    pen.fillStyle = getComputedStyle(cell).color;
    pen.font = "600 20px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(cell.firstChild?.textContent ?? "", x + 6, y + 24);
    const note = cell.dataset["note"];
    if (note) {
      pen.textAlign = "right";
      pen.fillText(note, x + step - 8, y + step - 10);
    }
  }
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("The browser could not make the picture.");
  save(`grid-${line.replaceAll(",", "-") || "start"}.png`, blob);
}
