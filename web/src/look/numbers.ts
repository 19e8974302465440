// Number formatting. Unknown values are shown as a dash, never as 0 or NaN.
const NONE = "–";

/** 0.2534 is "25.3%"; whole per cents from 10 on where space is short. */
export function percent(part: number | null | undefined, digits = 1): string {
  return part == null || !Number.isFinite(part) ? NONE : (100 * part).toFixed(digits) + "%";
}

/** Chips or big blinds with two digits behind the point, without trailing zeros where whole. */
export function chips(value: number | null | undefined, digits = 2): string {
  if (value == null || !Number.isFinite(value)) return NONE;
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

/** An amount with at most two digits behind the point, none where it is whole, and its unit: "97.5 bb". */
export function amount(value: number | null | undefined, unit = ""): string {
  if (value == null || !Number.isFinite(value)) return NONE;
  const text = Number(value.toFixed(2)).toLocaleString("en", { maximumFractionDigits: 2 });
  return unit ? `${text} ${unit}` : text;
}

/** With its sign: "+1.20". */
export function signed(value: number | null | undefined, digits = 2): string {
  const text = chips(value, digits);
  return value != null && Number(text) > 0 ? "+" + text : text;
}

export function count(value: number | null | undefined): string {
  return value == null || !Number.isFinite(value) ? NONE : Math.round(value).toLocaleString("en");
}

export function bytes(value: number | null | undefined): string {
  if (value == null) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toPrecision(2)} ${units[unit]}`;
}

export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return NONE;
  if (seconds < 0.0995) return `${(1000 * seconds).toPrecision(2)} ms`;
  if (seconds < 10) return `${seconds.toPrecision(2)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
