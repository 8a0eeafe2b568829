// One job: what it costs, whom it waits for, what it has survived, what it prints.
import { Charts } from "./charts";
import { nameOf, stateOf } from "./cluster_view";
import { element, Facts, Notes, setText, Table } from "./elements";
import type {
  BarrierWait, Job, LateProcess, Loss, Output, Refusal, Series, Totals,
} from "./messages";
import {
  bytes, clock, count, duration, number, percent, printed, ranges, text,
} from "./quantities";

const OUTPUT_CHARACTERS_MAX = 200_000;

const LATENESS: Record<string, string> = {
  LATE_COMPUTING: "computes", LATE_ASLEEP: "waits for something else, not in bsp_sync",
  LATE_STOPPED: "is stopped", LATE_DEAD: "is dead",
};
const ILL = ["LATE_STOPPED", "LATE_DEAD", "LATE_COUNTING"];

function whatItDoes(process: LateProcess): string {
  if (process.lateness === "LATE_COUNTING")
    return `waits for ${number(process.messagesExpected)} messages in superstep ` +
      `${count(number(process.superstep))}, has ${number(process.messagesHere)}`;
  const does = LATENESS[process.lateness ?? ""] ?? "is late";
  return process.begun ? does : `${does}, before bsp_begin`;
}

/** As IsNews in client/view/barrier_view.h: where all compute nobody waits for anybody. */
function isNews(waits: BarrierWait[]): boolean {
  const late = waits.flatMap((wait) => wait.late ?? []);
  return late.some((process) => ILL.includes(process.lateness ?? "")) ||
    (late.length > 0 && waits.some((wait) => (wait.arrived ?? 0) > 0));
}

function waitNotes(waits: BarrierWait[]): string[] {
  if (!isNews(waits)) return [];
  return waits.filter((wait) => (wait.lateCount ?? 0) > 0).map((wait) => {
    const late = (wait.late ?? []).map((process) =>
      `pid ${process.pid ?? 0} ${whatItDoes(process)}`);
    const rest = (wait.lateCount ?? 0) - late.length;
    return `${text(wait.node) || "this machine"}: ${late.join(", ")}` +
      `${rest > 0 ? ` and ${rest} more` : ""}; for ${duration(number(wait.forMs) * 1e6)}`;
  });
}

function lossNote(loss: Loss): string {
  const from = loss.fromStart ? "from the start" : `from superstep ${number(loss.fromSuperstep)}`;
  const after = loss.resumed
    ? `; resumed ${from} after ${duration(number(loss.afterMs) * 1e6)}` : "; not resumed yet";
  return `${clock(number(loss.unixMs))} ${text(loss.reason)}${after}`;
}

function reasonOf(job: Job): string {
  const reason = text(job.reason);
  const lost = text(job.filesLost);
  if (reason.includes(lost)) return reason;
  return `${reason}${reason ? "; " : ""}files that it left are lost: ${lost}`;
}

function measured(value: number | undefined, error: number | undefined,
                  show: (value: number) => string): string {
  if (value === undefined) return "–";
  return error === undefined ? show(value) : `${show(value)} ± ${show(error)}`;
}

/** Nothing of a job without groups. */
function groupFacts(totals: Totals): [string, string][] {
  const supersteps = number(totals.groupSupersteps);
  if (supersteps === 0) return [];
  return [
    ["supersteps in groups, by member", count(supersteps)],
    ["of computing, in their barriers", duration(number(totals.groupSyncNs))],
    ["sent in groups", bytes(number(totals.groupBytesOut))],
    ["messages in groups", count(number(totals.groupMessages))],
  ];
}

function costFacts(totals: Totals): [string, string][] {
  const total = number(totals.totalNs);
  const part = (ns: number): string =>
    total > 0 ? `${duration(ns)} (${percent(ns / total)})` : duration(ns);
  const predicted = number(totals.predictedNs);
  const unmeasured = number(totals.unmeasured);
  const perByte = (ns: number): string => `${Number(ns.toPrecision(3))}\u00a0ns/byte`;
  return [
    ["supersteps", count(number(totals.supersteps)) +
      (unmeasured > 0 ? `, of ${count(unmeasured)} nothing else is known` : "")],
    ["time in them", duration(total)],
    ["predicted, w + h·g + l", predicted > 0 ? part(predicted) : "–"],
    ["computing", part(number(totals.computeNs))],
    ["waiting for the last", part(Math.max(0, number(totals.waitNs) - number(totals.releaseNs)))],
    ["release", part(number(totals.releaseNs))],
    ["exchange", part(number(totals.exchangeNs))],
    ["w, the slowest", part(number(totals.wNs))],
    ["h, summed", bytes(number(totals.hBytes))],
    ["g", measured(totals.fit?.gNsPerByte, totals.fit?.gErrorNsPerByte, perByte)],
    ["l", measured(totals.fit?.lNs, totals.fit?.lErrorNs, duration)],
    ["imbalance", totals.imbalance ? totals.imbalance.toFixed(2) : "–"],
    ["sent", bytes(number(totals.bytesOut))],
    ["messages", count(number(totals.messages))],
    ...groupFacts(totals),
  ];
}

function aboutFacts(job: Job): [string, string][] {
  const facts: [string, string][] = [
    ["user", text(job.spec?.user)],
    ["processes", String(job.spec?.nprocs ?? 0)],
    ["ran", duration(number(job.runMs) * 1e6)],
    ["submitted", clock(number(job.submittedUnixMs))],
    ["started", clock(number(job.startedUnixMs))],
    ["ended", clock(number(job.endedUnixMs))],
    ["restarts", String(job.restarts ?? 0)],
  ];
  if (job.endedUnixMs) facts.push(["exit status", String(job.exitStatus ?? 0)]);
  if (job.spec?.arguments)
    facts.push(["command", job.spec.arguments.map((word) => text(word)).join(" ")]);
  if (job.spec?.files)
    facts.push(["files", job.spec.files.map((file) => text(file.name)).join(", ")]);
  return facts;
}

function checkpointNotes(job: Job): string[] {
  const status = job.checkpoints ?? {};
  const notes: string[] = [];
  if (number(status.committed) > 0)
    notes.push(`The last is of superstep ${count(number(status.superstep))}, committed at ` +
      `${clock(number(status.committedUnixMs))}: ${bytes(number(status.imageBytes))} on ` +
      `${(status.holders ?? []).map((node) => text(node)).join(", ")}, a pause of ` +
      `${duration(number(status.pauseNs))}. ${number(status.count)} in all.`);
  if (status.underWay) notes.push("One is under way.");
  if (number(status.givenUp) > 0)
    notes.push(`${number(status.givenUp)} given up; the last: ${text(status.lastFailure)}`);
  return notes;
}

export class JobView {
  readonly box: HTMLElement;
  private readonly title = element("h2", { tabindex: "-1" });
  private readonly state = element("span", { class: "state" });
  private readonly reason = element("p", { class: "note" });
  private readonly about = new Facts();
  private readonly costs = new Facts();
  private readonly charts = new Charts();
  private readonly waits = new Notes("The barrier waits for", "warning");
  private readonly losses = new Notes("Recoveries", "losses");
  private readonly checkpoints = new Notes("Checkpoints", "checkpoints");
  private readonly stragglers = new Table("Last to arrive",
    ["pid", "node", "supersteps", "cost"], "Nobody stands out.");
  private readonly places = new Table("Where it runs", ["node", "pids"], "Nowhere.");
  private readonly output = element("pre", { tabindex: "0", "aria-label": "Output" });
  private readonly outputNote = element("p", { class: "note" });
  private readonly details: HTMLElement;

  constructor() {
    const part = (title: string, ...children: Node[]): HTMLElement =>
      element("section", {}, element("h3", {}, title), ...children);
    this.details = element("div", {}, this.waits.box, this.about.box, this.charts.box,
      part("What it costs", this.costs.box), this.losses.box, this.checkpoints.box,
      element("div", { class: "pair" }, this.stragglers.box, this.places.box),
      part("Output", this.outputNote, this.output));
    this.box = element("main", {},
      element("p", { class: "back" }, element("a", { href: "#" }, "← All jobs (Esc)")),
      element("header", {}, this.title, this.state), this.reason, this.details);
  }

  /** Of the job that follows nothing is known yet. */
  begin(job: string): void {
    setText(this.title, `Job ${job}`);
    setText(this.state, "");
    setText(this.reason, "");
    this.details.hidden = true;
    this.output.replaceChildren();
    setText(this.outputNote, "Nothing was printed yet.");
    this.charts.clear();
    this.title.focus();
  }

  show(job: Job | Refusal): void {
    if ("error" in job) {
      setText(this.reason, job.error);
      return;
    }
    this.details.hidden = false;
    setText(this.title, `Job ${job.job ?? 0}: ${nameOf(job)}`);
    setText(this.state, stateOf(job.state));
    this.state.dataset["state"] = job.state ?? "";
    setText(this.reason, reasonOf(job));
    this.waits.show(waitNotes(job.barrierWaits ?? []));
    this.charts.setProcesses(job.totals?.processes ?? job.spec?.nprocs ?? 1);
    this.about.show(aboutFacts(job));
    this.costs.show(costFacts(job.totals ?? {}));
    this.losses.show([...(job.losses ?? [])].reverse().map(lossNote));
    this.checkpoints.show(checkpointNotes(job));
    this.stragglers.show((job.totals?.stragglers ?? []).map((each) => ({
      key: `${each.pid ?? 0}`,
      cells: [`${each.pid ?? 0}`, text(each.node) || "this machine",
        count(number(each.supersteps)), duration(number(each.costNs))],
    })));
    this.places.show((job.placement ?? []).map((place) => ({
      key: text(place.node), cells: [text(place.node), ranges(place.pids ?? [])],
    })));
  }

  addSeries(series: Series): void {
    this.charts.add(series);
  }

  addOutput(output: Output): void {
    if (output.error) return setText(this.outputNote, output.error);
    const follows = this.output.scrollTop + this.output.clientHeight >=
      this.output.scrollHeight - 40;
    if (output.left_out)
      this.output.append(element("i", {}, `… ${bytes(output.left_out)} left out …\n`));
    for (const line of output.lines ?? []) {
      const from = line.ofLauncher ? "bspnow" : `${line.pid ?? 0}`;
      const error = line.stream === "STDERR" && !line.ofLauncher;
      const said = printed(line.text).replace(/\n$/, "");
      const lines = said.split("\n").map((each) => `${from}${error ? "!" : ":"} ${each}\n`);
      this.output.append(element("span", {
        class: line.ofLauncher ? "launcher" : error ? "stderr" : "stdout",
      }, lines.join("")));
    }
    let characters = this.output.textContent?.length ?? 0;
    while (characters > OUTPUT_CHARACTERS_MAX && this.output.children.length > 1) {
      characters -= this.output.firstChild!.textContent!.length;
      this.output.firstChild!.remove();
    }
    setText(this.outputNote, "The end of it, as PID: line, and PID! for standard error; " +
      "`bsp logs` gives all.");
    if (follows) this.output.scrollTop = this.output.scrollHeight;
  }
}
