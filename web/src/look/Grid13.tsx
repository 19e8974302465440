// The 13x13 grid of hand classes: colours on one canvas, labels and focus in light elements above it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { dark, colour } from "../theme.ts";
import { CLASSES } from "./deck.ts";

export interface Cell {
  /** How much of the cell is filled from below, in [0, 1]; 0: the class is not there. */
  height: number;
  /** Parts of the filled width from left to right, [colour, share]; shares sum to one. */
  parts: readonly (readonly [string, number])[];
  /** A number in the corner. */
  note?: string;
  /** What a screen reader says after the name of the class. */
  said?: string;
}

export interface Grid13Props {
  label: string;
  cells: readonly Cell[];
  chosen?: number | null;
  onPoint?: (place: number | null) => void;
  onChoose?: (place: number) => void;
  /** Painting: called for each cell on which a stroke begins or passes; `first` for the one where it begins. */
  onPaint?: (place: number, first: boolean) => void;
  onPaintEnd?: () => void;
}

export function Grid13({ label, cells, chosen, onPoint, onChoose, onPaint, onPaintEnd }: Grid13Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const stroke = useRef<number | null>(null);
  const theme = dark.value;

  useEffect(() => {
    const draw = () => canvas.current && drawCells(canvas.current, cells);
    const next = requestAnimationFrame(draw);
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => {
      cancelAnimationFrame(next);
      watch.disconnect();
    };
  }, [cells, theme]);

  const at = (event: PointerEvent): number | null => {
    const box = frame.current!.getBoundingClientRect();
    const column = Math.floor((13 * (event.clientX - box.left)) / box.width);
    const row = Math.floor((13 * (event.clientY - box.top)) / box.height);
    return column >= 0 && column < 13 && row >= 0 && row < 13 ? 13 * row + column : null;
  };
  const passed = (event: PointerEvent) => {
    const place = at(event);
    if (stroke.current !== null && place !== null && place !== stroke.current) {
      for (const each of between(stroke.current, place)) onPaint?.(each, false);
      stroke.current = place;
    }
    onPoint?.(place);
  };
  const step: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 };
  const pressed = (event: KeyboardEvent) => {
    const place = Number((event.target as HTMLElement).dataset["place"]);
    const by = step[event.key];
    if (by !== undefined) {
      const next = place + by;
      if (next < 0 || next > 168 || (Math.abs(by) === 1 && Math.floor(next / 13) !== Math.floor(place / 13))) return;
      event.preventDefault();
      event.stopPropagation();
      frame.current!.querySelector<HTMLElement>(`[data-place="${next}"]`)?.focus();
      onPoint?.(next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onPaint?.(place, true);
      onPaintEnd?.();
      onChoose?.(place);
    }
  };
  const labels = useMemo(() => rows(cells, chosen ?? null, label), [cells, chosen, label]);
  return (
    <div
      ref={frame}
      class={onPaint ? "grid13" : "grid13 still"}
      onPointerDown={(event) => {
        if (!onPaint || event.button !== 0) return;
        const place = at(event);
        if (place === null) return;
        stroke.current = place;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        onPaint(place, true);
      }}
      onPointerMove={passed}
      onPointerUp={() => {
        if (stroke.current !== null) onPaintEnd?.();
        stroke.current = null;
      }}
      onPointerLeave={() => onPoint?.(null)}
      onClick={(event) => {
        const place = at(event as unknown as PointerEvent);
        if (place !== null && event.detail > 0) onChoose?.(place);
      }}
      onKeyDown={pressed}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {labels}
    </div>
  );
}

/** The labels; remade only where cells change. */
function rows(cells: readonly Cell[], chosen: number | null, label: string) {
  const stop = chosen ?? 0;
  return (
    <div class="cells" role="grid" aria-label={label}>
      {Array.from({ length: 13 }, (_, row) => (
        <div role="row" key={row}>
          {Array.from({ length: 13 }, (_, column) => {
            const place = 13 * row + column;
            const cell = cells[place];
            const there = !!cell && cell.height > 0;
            return (
              <div
                key={place}
                role="gridcell"
                class={`cell${there ? "" : " none"}${place === chosen ? " chosen" : ""}`}
                data-place={place}
                data-note={cell?.note}
                tabIndex={place === stop ? 0 : -1}
                aria-selected={place === chosen}
                aria-label={`${CLASSES[place]}${cell?.said ? ", " + cell.said : there ? "" : ", not in the range"}`}
              >
                {CLASSES[place]}
              </div>
            );
          })}
        </div>
      ))}
    </div>
  );
}

/** The cells on a straight line between two cells, so that a fast stroke leaves no gaps. */
function between(from: number, to: number): number[] {
  const [x0, y0, x1, y1] = [from % 13, Math.floor(from / 13), to % 13, Math.floor(to / 13)];
  const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
  return Array.from({ length: steps }, (_, i) => {
    const part = (i + 1) / steps;
    return 13 * Math.round(y0 + part * (y1 - y0)) + Math.round(x0 + part * (x1 - x0));
  });
}

function drawCells(canvas: HTMLCanvasElement, cells: readonly Cell[]): void {
  const scale = devicePixelRatio || 1;
  const size = Math.round(canvas.clientWidth * scale);
  if (!size) return;
  if (canvas.width !== size) canvas.width = canvas.height = size;
  const pen = canvas.getContext("2d")!;
  const [none, rest] = [colour("--cell-none"), colour("--cell-rest")];
  const gap = Math.max(1, Math.round(scale));
  pen.clearRect(0, 0, size, size);
  for (let place = 0; place < 169; place++) {
    const [column, row] = [place % 13, Math.floor(place / 13)];
    const [x, y] = [Math.round((column * size) / 13), Math.round((row * size) / 13)];
    const width = Math.round(((column + 1) * size) / 13) - x - gap;
    const height = Math.round(((row + 1) * size) / 13) - y - gap;
    const cell = cells[place];
    pen.fillStyle = cell && cell.height > 0 ? rest : none;
    pen.fillRect(x, y, width, height);
    if (!cell || cell.height <= 0) continue;
    const filled = Math.round(height * Math.min(cell.height, 1));
    let from = 0;
    for (const [paint, share] of cell.parts) {
      const [left, right] = [Math.round(from * width), Math.round((from + share) * width)];
      pen.fillStyle = paint;
      pen.fillRect(x + left, y + height - filled, right - left, filled);
      from += share;
    }
  }
}
