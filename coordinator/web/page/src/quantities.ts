// Values as people read them.
import type { Bytes, Int64 } from "./messages";

const utf8 = new TextDecoder();

/** What a process has printed, as it is. */
export function printed(bytes: Bytes | undefined): string {
  if (!bytes) return "";
  return utf8.decode(Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)));
}

/** What others have chosen, within text of the page: as client/view/harmless.h has it, nothing in
 * it makes what follows read otherwise. */
export function text(bytes: Bytes | undefined): string {
  return printed(bytes).replace(/[\p{Cc}\p{Bidi_Control}]/gu, "?");
}

export function number(value: Int64 | undefined): number {
  return value === undefined ? 0 : Number(value);
}

function scaled(value: number, units: [size: number, name: string][]): string {
  const [size, name] = units.find(([each]) => value >= each) ?? units[units.length - 1]!;
  const shown = value / size;
  const digits = shown >= 100 || Number.isInteger(shown) ? 0 : shown >= 10 ? 1 : 2;
  return `${shown.toFixed(digits)}\u00a0${name}`;
}

export function duration(ns: number): string {
  if (ns >= 120e9) {
    const s = Math.floor(ns / 1e9);
    const h = Math.floor(s / 3600);
    const min = Math.floor((s % 3600) / 60);
    const shown = h > 0 ? `${h} h ${min} min` : `${min} min ${s % 60} s`;
    return shown.replaceAll(" ", "\u00a0");
  }
  return scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
}

export function bytes(value: number): string {
  return scaled(value, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"],
    [1, "B"]]);
}

export function count(value: number): string {
  return value.toLocaleString("en").replace(/,/g, "\u2009");
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(part > 0 && part < 0.1 ? 1 : 0)}\u00a0%`;
}

export function clock(unixMs: number): string {
  return unixMs === 0 ? "–" : new Date(unixMs).toLocaleTimeString("en-GB");
}

/** "0–3, 7". */
export function ranges(numbers: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < numbers.length;) {
    let end = i;
    while (numbers[end + 1] === numbers[end]! + 1) end += 1;
    parts.push(end > i ? `${numbers[i]}–${numbers[end]}` : `${numbers[i]}`);
    i = end + 1;
  }
  return parts.join(", ");
}
