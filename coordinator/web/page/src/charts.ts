// Three pictures of a job over time, with one cursor: where its time goes, what a superstep takes,
// and what it moves. Checkpoints and recoveries are marked on each.
import uPlot from "uplot";
import { element, setText } from "./elements";
import type { Mark, Series, Stretch } from "./messages";
import { bytes, clock, count, duration, percent } from "./quantities";

// Labels have seconds: a step of less would repeat them.
const TIME_STEPS_S = [1, 2, 5, 10, 15, 30].flatMap((s) => [s, 60 * s]).concat(
  [1, 2, 3, 6, 12, 24, 48, 168].map((h) => 3600 * h)).sort((a, b) => a - b);
const HEIGHT = 150;

interface Line {
  name: string;
  of: (stretch: Stretch, processes: number) => number;
  colour: string;
  dash?: number[];
  /** Of filled lines: how a pattern tells them apart without colour. */
  hatch?: "none" | "rising" | "falling" | "dots";
}

interface Picture {
  title: string;
  lines: Line[];
  show: (value: number) => string;
  /** Its lines are parts of one whole, the first at the bottom. */
  stacked?: boolean;
  /** Between lines of the grid; else as decimal numbers go. */
  steps?: number[];
}

const spent = (s: Stretch): number => s[3] + s[4] + s[5] + s[6];
const share = (part: (s: Stretch) => number) => (s: Stretch) =>
  spent(s) > 0 ? part(s) / spent(s) : 0;

const PICTURES: Picture[] = [
  {
    title: "Where the time goes",
    show: percent,
    stacked: true,
    lines: [
      { name: "computing", of: share((s) => s[3]), colour: "--computing", hatch: "none" },
      { name: "waiting for the last", of: share((s) => s[4]), colour: "--waiting", hatch: "rising" },
      { name: "release", of: share((s) => s[5]), colour: "--release", hatch: "dots" },
      { name: "exchange", of: share((s) => s[6]), colour: "--exchange", hatch: "falling" },
    ],
  },
  {
    title: "A superstep takes",
    show: duration,
    lines: [
      { name: "in all", of: (s) => spent(s) / s[2], colour: "--first" },
      { name: "w, the slowest process", of: (s) => s[7] / s[2], colour: "--second", dash: [6, 4] },
    ],
  },
  {
    title: "A superstep moves",
    show: bytes,
    steps: Array.from({ length: 50 }, (_, i) => 2 ** i),
    lines: [
      { name: "h, the process with most", of: (s) => s[8] / s[2], colour: "--first" },
      {
        name: "sent by a process on average", of: (s, processes) => s[9] / s[2] / processes,
        colour: "--second", dash: [6, 4],
      },
    ],
  },
];

function colourOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function fillOf(line: Line): CanvasPattern | string {
  const colour = colourOf(line.colour);
  if (line.hatch === "none") return colour;
  const tile = element("canvas", { width: "8", height: "8" });
  const pen = tile.getContext("2d")!;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = pen.fillStyle = colourOf("--ground");
  pen.lineWidth = 1;
  if (line.hatch === "dots") pen.fillRect(3, 3, 2, 2);
  else
    for (const shift of [-8, 0, 8]) {
      pen.moveTo(shift, line.hatch === "rising" ? 8 : 0);
      pen.lineTo(shift + 8, line.hatch === "rising" ? 0 : 8);
    }
  pen.stroke();
  return pen.createPattern(tile, "repeat") ?? colour;
}

/** Two points a stretch, and a hole where there is none: the job did not run. */
function dataOf(picture: Picture, stretches: Stretch[], processes: number): uPlot.AlignedData {
  const times: number[] = [];
  const values: (number | null)[][] = picture.lines.map(() => []);
  const add = (ms: number, of: (line: number) => number | null): void => {
    times.push(ms / 1000);
    values.forEach((each, line) => each.push(of(line)));
  };
  stretches.forEach((stretch, i) => {
    const end = stretches[i - 1]?.[1] ?? stretch[0];
    if (stretch[0] > end) add(end + 1, () => null);
    let sum = 0;
    const shown = picture.lines.map((line) => {
      sum = (picture.stacked ? sum : 0) + line.of(stretch, processes);
      return sum;
    });
    add(stretch[0] + 0.5, (line) => shown[line]!);
    add(stretch[1], (line) => shown[line]!);
  });
  return [times, ...(picture.stacked ? values.reverse() : values)] as uPlot.AlignedData;
}

function drawMarks(plot: uPlot, marks: Mark[]): void {
  const pen = plot.ctx;
  const { left, top, width, height } = plot.bbox;
  const unit = devicePixelRatio;
  pen.save();
  for (const [kind, unixMs] of marks) {
    const x = Math.round(plot.valToPos(unixMs / 1000, "x", true));
    if (x < left || x > left + width) continue;
    const recovery = kind === "recovery";
    pen.strokeStyle = pen.fillStyle = colourOf(recovery ? "--bad" : "--text");
    pen.lineWidth = (recovery ? 2 : 1) * unit;
    pen.setLineDash(recovery ? [] : [2 * unit, 4 * unit]);
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, top + height);
    pen.stroke();
    pen.font = `bold ${11 * unit}px sans-serif`;
    pen.textAlign = "center";
    pen.fillText(recovery ? "✕" : "▾", x, top - 2 * unit);
  }
  pen.restore();
}

export class Charts {
  readonly box: HTMLElement;
  private readonly readout = element("p", { class: "readout", "aria-live": "polite" });
  private readonly holders: HTMLElement[];
  private plots: uPlot[] = [];
  private stretches: Stretch[] = [];
  private marks: Mark[] = [];
  private at: number | null = null;
  private processes = 1;

  constructor() {
    this.holders = PICTURES.map((picture) => element("figure", {},
      element("figcaption", {}, element("h3", {}, picture.title), this.legend(picture))));
    this.box = element("section", {
      class: "charts", tabindex: "0", role: "group",
      "aria-label": "Pictures of the job over time; the arrow keys read them",
    }, ...this.holders, element("p", { class: "note" },
      "▾ checkpoint   ✕ recovery. Arrow keys, or a pointer, read the pictures."), this.readout);
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.resize()).observe(this.box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  clear(): void {
    this.stretches = [];
    this.marks = [];
    this.at = null;
    this.update();
  }

  /** p of the job. */
  setProcesses(processes: number): void {
    this.processes = Math.max(1, processes);
  }

  add(series: Series): void {
    this.stretches.splice(series.from, Infinity, ...series.stretches);
    this.marks = series.marks;
    this.update();
  }

  private legend(picture: Picture): HTMLElement {
    return element("ul", { class: "legend" }, ...picture.lines.map((line) => element("li", {
      class: `${line.hatch ? `area ${line.hatch}` : line.dash ? "dashed" : "line"} ` +
        line.colour.slice(2),
    }, line.name)));
  }

  private update(): void {
    this.box.hidden = this.stretches.length === 0;
    if (this.box.hidden) return;
    if (this.plots.length === 0) this.draw();
    else this.plots.forEach((plot, i) => plot.setData(dataOf(PICTURES[i]!, this.stretches, this.processes)));
    this.read();
  }

  private draw(): void {
    if (this.box.hidden) return;
    for (const plot of this.plots) plot.destroy();
    this.plots = PICTURES.map((picture, i) => this.plot(picture, this.holders[i]!));
  }

  private plot(picture: Picture, holder: HTMLElement): uPlot {
    const axis = {
      stroke: colourOf("--text"),
      font: "11px sans-serif",
      grid: { stroke: colourOf("--line"), width: 1 },
      ticks: { stroke: colourOf("--line"), width: 1 },
    };
    const lines = picture.stacked ? [...picture.lines].reverse() : picture.lines;
    return new uPlot({
      width: holder.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      padding: [14, 8, 0, 0],
      cursor: { sync: { key: "job" }, drag: { x: false, y: false }, points: { show: false } },
      scales: {
        y: { range: (_, __, max) => [0, picture.stacked ? 1 : Math.max(max, 1) * 1.1] },
      },
      axes: [
        {
          ...axis, size: 28, space: 80, incrs: TIME_STEPS_S,
          values: (_, at) => at.map((s) => clock(s * 1000)),
        },
        {
          ...axis, size: 64, space: 24, values: (_, at) => at.map((v) => picture.show(v)),
          ...(picture.steps ? { incrs: picture.steps } : {}),
        },
      ],
      series: [{}, ...lines.map((line): uPlot.Series => ({
        stroke: colourOf(line.colour),
        width: picture.stacked ? 0 : 2,
        points: { show: false },
        ...(line.dash ? { dash: line.dash } : {}),
        ...(picture.stacked ? { fill: () => fillOf(line) as unknown as string } : {}),
      }))],
      hooks: {
        draw: [(plot) => drawMarks(plot, this.marks)],
        setCursor: [(plot) => this.onCursor(plot)],
      },
    }, dataOf(picture, this.stretches, this.processes), holder);
  }

  private resize(): void {
    this.plots.forEach((plot, i) => {
      const width = this.holders[i]!.clientWidth;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
  }

  private onCursor(plot: uPlot): void {
    if (plot !== this.plots[0]) return;
    const { left, idx } = plot.cursor;
    if (left === undefined || left < 0 || idx == null) this.at = null;
    else {
      const ms = plot.posToVal(left, "x") * 1000;
      this.at = this.stretches.findIndex((stretch) => stretch[1] >= ms);
    }
    this.read();
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.stretches.length - 1;
    const at = this.at ?? last + 1;
    const wanted = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    const plot = this.plots[0];
    if (wanted === undefined || !plot) return;
    event.preventDefault();
    const stretch = this.stretches[Math.min(Math.max(wanted, 0), last)]!;
    const left = plot.valToPos((stretch[0] + stretch[1]) / 2000, "x");
    plot.setCursor({ left, top: 10 });
  }

  private read(): void {
    const stretch = this.at === null ? this.stretches.at(-1) : this.stretches[this.at];
    if (!stretch) return;
    const parts = PICTURES.flatMap((picture) =>
      picture.lines.map((line) => `${line.name} ${picture.show(line.of(stretch, this.processes))}`));
    setText(this.readout, `${clock(stretch[0])} – ${clock(stretch[1])}: ${count(stretch[2])} ` +
      `supersteps; ${parts.join("; ")}`);
  }
}
