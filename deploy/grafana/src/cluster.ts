// All jobs and nodes.
import { type DashboardBuilder, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { allMarks, dashboard, heatmap, layers, lines, number } from "./parts.js";

export function cluster(): DashboardBuilder {
  return dashboard("bspnow-cluster", "bspnow: cluster")
    .annotations(allMarks(""))
    .withPanel(number("Jobs running", "", "none", 'bspnow_jobs{state="running"}'))
    .withPanel(number("Jobs waiting", "", "none", 'bspnow_jobs{state="waiting"}'))
    .withPanel(number("Oldest wait", "Of the job that has waited longest.", "s", "bspnow_queue_oldest_wait_seconds"))
    .withPanel(number("Nodes up", "", "none", 'bspnow_workers{state="up"}'))
    .withPanel(number("Nodes lost", "", "none", 'bspnow_workers{state="lost"}'))
    .withPanel(number("Slots free", "", "none", 'bspnow_slots{state="free"}'))
    .withRow(new RowBuilder("Jobs"))
    .withPanel(layers("Jobs by state", "", "none", [['bspnow_jobs{state=~"waiting|running|recovering|suspended|ending"}', "{{state}}"]]))
    .withPanel(lines("Jobs ended", "By outcome.", "none", [["increase(bspnow_jobs_ended_total[$__rate_interval])", "{{outcome}}"]]))
    .withPanel(heatmap("Wait in the queue", "From submission to the first start.", "s", "bspnow_queue_wait_seconds"))
    .withRow(new RowBuilder("Nodes"))
    .withPanel(layers("Slots", "Of nodes that are up.", "none", [["bspnow_slots", "{{state}}"]]))
    .withPanel(lines("Up and resting", "A node rests when it could not start what others can.", "bool", [
      ["bspnow_node_up", "{{node}} up"],
      ["bspnow_node_resting == 1", "{{node}} rests"],
    ]))
    .withPanel(lines("Disks", "Room on the disks of the daemons' directories.", "percentunit", [
      ["bspnow_disk_free_bytes / bspnow_disk_size_bytes", "{{instance}} {{directory}}"],
    ]))
    .withRow(new RowBuilder("Supersteps of all jobs"))
    .withPanel(heatmap("Supersteps", "How long they took. Of jobs on few nodes, averages over 250 ms; so it is with the next ones.", "s", "bspnow_superstep_seconds"))
    .withPanel(heatmap("Computing", "Of a process on average.", "s", "bspnow_computing_seconds"))
    .withPanel(heatmap("Waiting", "For the last process to arrive, of a process on average.", "s", "bspnow_waiting_seconds"))
    .withPanel(heatmap("Release", "From the last arrival to the release, of a process on average.", "s", "bspnow_release_seconds"))
    .withPanel(heatmap("Exchange", "Delivery after the barrier, of a process on average.", "s", "bspnow_exchange_seconds"))
    .withPanel(heatmap("h-relations", "The most bytes that a process sent or received.", "bytes", "bspnow_hrelation_bytes"))
    .withPanel(lines("Data between workers", "Payload of frames.", "Bps", [
      ["sum by (direction) (rate(bspnow_worker_bytes_total[$__rate_interval]))", "{{direction}}"],
    ]))
    .withRow(new RowBuilder("Losses"))
    .withPanel(lines("Recoveries", "By what was lost.", "none", [["increase(bspnow_recoveries_total[$__rate_interval])", "{{lost}}"]]))
    .withPanel(lines("Checkpoints", "", "none", [["increase(bspnow_checkpoints_total[$__rate_interval])", "{{end}}"]]))
    .withPanel(lines("Recovery time", "On average, from a loss until processes ran again.", "s", [
      ["increase(bspnow_recovery_seconds_sum[$__range]) / increase(bspnow_recovery_seconds_count[$__range])", "mean"],
    ]));
}
