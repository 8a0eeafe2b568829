// The cluster: its nodes, what runs, what waits and why, what has ended.
import { element, Table } from "./elements";
import type { Job, Jobs, Listed, Node } from "./messages";
import { count, duration, number, text } from "./quantities";

const SYMBOLS: Record<string, string> = {
  NODE_UP: "● up", NODE_DRAINED: "◌ drained", NODE_LOST: "✕ lost", NODE_RESTING: "◐ resting",
  NODE_CONNECTING: "◔ connecting", WAITING: "… waiting", RUNNING: "▶ running", ENDING: "◑ ending",
  RECOVERING: "↺ recovering", SUSPENDED: "‖ suspended", SUCCEEDED: "✓ succeeded", FAILED: "✕ failed",
  CANCELLED: "– cancelled",
};

export function stateOf(state: string | undefined): string {
  return (SYMBOLS[state ?? ""] ?? state ?? "").replace(" ", "\u00a0");
}

function more(listed: Listed, shown: number): string {
  return number(listed.next) === 0 ? "" : `The newest ${shown}; \`bsp jobs\` lists all.`;
}

export function nameOf(job: Job): string {
  return text(job.spec?.name) || text(job.spec?.program?.name) || "job";
}

function rowOf(job: Job, cells: string[]) {
  const id = String(job.job ?? 0);
  return {
    key: id, link: `#job=${id}`, state: job.state ?? "",
    cells: [`${id} ${nameOf(job)}`, text(job.spec?.user), String(job.spec?.nprocs ?? 0), ...cells],
  };
}

/** Where less keeps jobs apart than could. client/view/node_remarks.cc has the same. */
function isolationOf(nodes: Node[]): string {
  const shared = new Map<string, string[]>();  // Nodes, by --accounts.
  const unlimited: string[] = [];
  for (const { spec } of nodes) {
    const accounts = spec?.accounts ?? "";
    if (accounts === "own:everybody" || accounts.startsWith("fixed:"))
      shared.set(accounts, [...(shared.get(accounts) ?? []), text(spec?.name)]);
    if (spec?.limits === "none") unlimited.push(text(spec.name));
  }
  const names = (some: string[]) =>
    some.length > 1 && some.length === nodes.length ? "all nodes" : some.join(", ");
  const remarks = [...shared].map(([accounts, where]) => `${accounts} on ${names(where)}: the ` +
    "programs of all users run there as one account, and can reach each other's files and processes.");
  if (unlimited.length > 0)
    remarks.push(`No limits on ${names(unlimited)}: no control group limits what jobs take there ` +
      "of memory, processes and processors.");
  return remarks.join(" ");
}

export class ClusterView {
  readonly box: HTMLElement;
  private readonly nodes = new Table("Nodes",
    ["node", "state", "slots", "load", "jobs"], "No worker has registered yet.");
  private readonly running = new Table("Running",
    ["job", "user", "p", "state", "supersteps", "time"], "Nothing runs.");
  private readonly waiting = new Table("Queue", ["job", "user", "p", "why it waits"],
    "Nothing waits.");
  private readonly ended = new Table("Ended", ["job", "user", "p", "state", "time"],
    "Nothing has ended yet.");

  constructor() {
    this.box = element("nav", { "aria-label": "The cluster" }, this.running.box, this.waiting.box,
      this.nodes.box, this.ended.box);
    this.box.addEventListener("keydown", (event) => this.onKey(event));
  }

  showNodes(nodes: Node[]): void {
    this.nodes.show(nodes.map((node) => ({
      key: text(node.spec?.name),
      state: node.state ?? "",
      cells: [
        text(node.spec?.name),
        stateOf(node.state) + (node.reason ? `: ${text(node.reason)}` : ""),
        `${node.slotsUsed ?? 0}\u00a0of\u00a0${node.spec?.slots ?? 0}`,
        (node.load ?? 0).toFixed(1),
        (node.jobs ?? []).join(", "),
      ],
    })), isolationOf(nodes));
  }

  showJobs(jobs: Jobs): void {
    const running = jobs.running.jobs ?? [];
    const waiting = [...(jobs.waiting.jobs ?? [])].reverse();  // Who came first is first.
    const ended = jobs.ended.jobs ?? [];
    this.running.show(running.map((job) => rowOf(job, [
      stateOf(job.state), count(number(job.totals?.supersteps)),
      duration(number(job.runMs) * 1e6),
    ])), more(jobs.running, running.length));
    this.waiting.show(waiting.map((job) => rowOf(job, [text(job.reason)])),
      more(jobs.waiting, waiting.length));
    this.ended.show(ended.map((job) => rowOf(job, [
      stateOf(job.state), duration(number(job.runMs) * 1e6),
    ])), more(jobs.ended, ended.length));
  }

  focus(job: string): void {
    this.box.querySelector<HTMLElement>(`a[href="#job=${job}"]`)?.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const links = [...this.box.querySelectorAll<HTMLElement>("a[data-row]")];
    const next = links[links.indexOf(document.activeElement as HTMLElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}
