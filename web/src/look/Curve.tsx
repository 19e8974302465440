// Curves over iterations or time (uPlot), in the colours of the theme.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "preact/hooks";
import { colour, dark } from "../theme.ts";

export interface Line {
  name: string;
  /** [x, y] points, x ascending; y null where nothing is known. */
  points: readonly (readonly [number, number | null])[];
  dashed?: boolean;
}

/** Colours of curves, told apart by every kind of colour vision (Okabe and Ito 2008), on both grounds; dashes beyond them. */
const PAINT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"] as const;
/** Instead of the first colour on a dark ground. */
const LIGHT_BLUE = "#56B4E9";
export const curvePaint = (place: number) => PAINT[place % PAINT.length]!;

/** All lines on one axis of x: [x, y of the first line, y of the second, ...]. */
function aligned(lines: readonly Line[], log: boolean): uPlot.AlignedData {
  const xs = [...new Set(lines.flatMap((line) => line.points.map(([x]) => x)))].sort((a, b) => a - b);
  const columns = lines.map((line) => {
    const known = new Map(line.points);
    return xs.map((x) => {
      const y = known.get(x);
      return y === undefined ? undefined : y === null || (log && y <= 0) ? null : y;
    });
  });
  return [xs, ...columns] as uPlot.AlignedData;
}

/** Distances between ticks of an axis that counts. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7];

export function Curve(props: { label: string; lines: readonly Line[]; x?: string; y?: string; log?: boolean; height?: number; level?: { value: number; name: string } | null }) {
  const { label, lines, x = "iterations", y = "", log = true, height = 220, level } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const all: readonly Line[] = level ? [...lines, { name: level.name, dashed: true, points: levelPoints(lines, level.value) }] : lines;
  const positive = all.some((line) => line.points.some(([, value]) => value != null && value > 0));
  const shape = [all.map((line) => line.name).join("\n"), dark.value, log && positive, height].join("|");
  useEffect(() => {
    const frame = box.current!;
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 } };
    const options: uPlot.Options = {
      width: frame.clientWidth || 400,
      height,
      scales: { x: { time: false }, y: { distr: log && positive ? 3 : 1 } },
      axes: [
        { ...axis, label: x, labelSize: 18, size: 34, ...(x.includes("seconds") ? {} : { incrs: WHOLE }) },
        { ...axis, label: y || null!, labelSize: y ? 18 : 0, size: 62, values: (_: uPlot, ticks: (number | null)[]) => ticks.map(tick) },
      ],
      series: [
        { label: x, value: (drawn: uPlot, value: number | null) => written(value ?? drawn.data[0]!.at(-1)) },
        ...all.map((line, place) => ({
          label: line.name,
          stroke: line.dashed ? colour("--soft") : dark.value && place === 0 ? LIGHT_BLUE : curvePaint(place),
          width: 2,
          dash: line.dashed ? [6, 5] : place >= PAINT.length ? [10, 3] : [],
          points: { show: line.points.length < 2 },
          spanGaps: true,
          value: (drawn: uPlot, value: number | null, series: number, at: number | null) => written(at === null ? [...drawn.data[series]!].findLast((known) => known != null) : value),
        })),
      ],
      cursor: { drag: { x: false, y: false } },
    };
    plot.current = new uPlot(options, aligned(all, log), frame);
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: frame.clientWidth, height }));
    watch.observe(frame);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(aligned(all, log)), [props.lines, level?.value]);
  const last = lines.map((line) => `${line.name}: ${line.points.at(-1)?.[1]?.toPrecision(3) ?? "nothing yet"}`).join("; ");
  return <div class="curve" ref={box} role="img" aria-label={`${label}. Last values: ${last}`} />;
}

/** A value of the legend: the one below the cursor, without a cursor the last one. */
const written = (value: number | null | undefined): string => (value == null ? "–" : String(Number(value.toPrecision(4))));

/** A label of the vertical axis; logarithmic axes skip some ticks. */
const tick = (value: number | null): string => (value == null ? "" : Math.abs(value) < 0.001 ? written(value) : value.toLocaleString("en"));

function levelPoints(lines: readonly Line[], value: number): [number, number][] {
  const xs = lines.flatMap((line) => line.points.map(([x]) => x));
  if (!xs.length) return [];
  return [[Math.min(...xs), value], [Math.max(...xs), value]];
}
