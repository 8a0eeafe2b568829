// The page: what the coordinator sends, put into its place.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { ClusterView } from "./cluster_view";
import { element, setText } from "./elements";
import { JobView } from "./job_view";
import type { About, Jobs, Node } from "./messages";

const user = element("span");
const connection = element("span", { role: "status" }, "◌ waiting for the coordinator");
const summary = element("span", { class: "summary" });
const cluster = new ClusterView();
const job = new JobView();
const nobody = element("p", { class: "nobody" }, "Choose a job: arrow keys and Enter, or a click.");
let stream: EventSource | undefined;
let shown = "";

function on<T>(source: EventSource, name: string, show: (value: T) => void): void {
  source.addEventListener(name, (event) => show(JSON.parse((event as MessageEvent<string>).data)));
}

function summarise(nodes: Node[]): void {
  const up = nodes.filter((node) => node.state === "NODE_UP");
  const sum = (of: (node: Node) => number): number => up.reduce((all, node) => all + of(node), 0);
  setText(summary, `${up.length} of ${nodes.length} nodes up, ${sum((node) => node.slotsUsed ?? 0)} ` +
    `of ${sum((node) => node.spec?.slots ?? 0)} slots in use`);
}

function connect(): void {
  stream?.close();
  const source = new EventSource(shown === "" ? "/events" : `/events?job=${shown}`);
  stream = source;
  on<About>(source, "about", (about) => {
    setText(user, `${about.user}${about.administrator ? ", administrator" : ""}`);
    setText(connection, "● live");
  });
  on<{ nodes?: Node[] }>(source, "nodes", ({ nodes }) => {
    cluster.showNodes(nodes ?? []);
    summarise(nodes ?? []);
  });
  on<Jobs>(source, "jobs", (jobs) => cluster.showJobs(jobs));
  on(source, "job", job.show.bind(job));
  on(source, "series", job.addSeries.bind(job));
  on(source, "output", job.addOutput.bind(job));
  source.onopen = () => {
    if (shown !== "") job.begin(shown);  // All of it comes again.
  };
  source.onerror = () => setText(connection, source.readyState === EventSource.CLOSED
    ? "✕ the session is over, or too many pages are open: `bsp web` opens another"
    : "◌ waiting for the coordinator");
}

function route(): void {
  const before = shown;
  shown = /^#job=(\d+)$/.exec(location.hash)?.[1] ?? "";
  document.body.dataset["view"] = shown === "" ? "cluster" : "job";
  job.box.hidden = shown === "";
  nobody.hidden = shown !== "";
  document.title = shown === "" ? "bspnow" : `bspnow: job ${shown}`;
  connect();
  if (shown === "" && before !== "") cluster.focus(before);
}

document.body.append(
  element("header", { class: "top" }, element("h1", {}, "bspnow"), summary, user, connection),
  element("div", { class: "columns" }, cluster.box, job.box, nobody));
addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && shown !== "") location.hash = "";
});
route();
