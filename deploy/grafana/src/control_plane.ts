// The daemons themselves.
import { type DashboardBuilder, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboard, heatmap, lines, number } from "./parts.js";

const OURS = "and on (job, instance) bspnow_build_info";

export function controlPlane(): DashboardBuilder {
  return dashboard("bspnow-control-plane", "bspnow: control plane")
    .withPanel(number("Coordinator up since", "", "dateTimeFromNow", "1000 * (process_start_time_seconds and on (job, instance) bspnow_term)"))
    .withPanel(number("Term", "Starts of the coordinator, with its state directory.", "none", "bspnow_term"))
    .withPanel(number("Workers connected", "For frames.", "none", 'bspnow_connections{plane="barrier"}'))
    .withPanel(number("Without a lease", "Workers that run, and cannot reach the coordinator.", "none", "count(bspnow_lease_valid) - sum(bspnow_lease_valid)"))
    .withPanel(number("Versions", "More than one: an update is under way.", "none", "count(count by (version) (bspnow_build_info))"))
    .withPanel(number("Calls refused", "In the last hour.", "none", "increase(bspnow_calls_refused_total[1h])"))
    .withRow(new RowBuilder("Coordinator"))
    .withPanel(heatmap("Journal", "Until a transaction was on the disk.", "s", "bspnow_journal_sync_seconds"))
    .withPanel(lines("Age of leases", "When all is well, 0.25 s at most of a node that has jobs, else 3 s; at 10 s a node is lost.", "s", [["bspnow_lease_age_seconds", "{{node}}"]]))
    .withPanel(lines("Barriers", "That the coordinator released.", "none", [["rate(bspnow_barriers_total[$__rate_interval])", "barriers a second"]]))
    .withPanel(lines("Frames from and to workers", "", "Bps", [["rate(bspnow_frame_bytes_total[$__rate_interval])", "{{direction}}"]]))
    .withPanel(lines("Output of jobs", "", "Bps", [["rate(bspnow_output_bytes_total[$__rate_interval])", "output"]]))
    .withPanel(lines("Images of committed checkpoints", "", "Bps", [["rate(bspnow_checkpoint_bytes_total[$__rate_interval])", "images"]]))
    .withPanel(heatmap("Pauses", "For how long checkpoints held processes.", "s", "bspnow_checkpoint_pause_seconds"))
    .withPanel(lines("Connections", "Of workers: for frames, and for orders.", "none", [["bspnow_connections", "{{plane}}"]]))
    .withRow(new RowBuilder("Network"))
    .withPanel(lines("Frames refused", "Late ones are usual after a loss; bad ones are not.", "none", [
      ["increase(bspnow_frames_refused_total[$__rate_interval]) > 0", "coordinator: {{reason}}"],
      ["increase(bspnow_worker_frames_refused_total[$__rate_interval]) > 0", "{{instance}}: {{reason}}"],
    ]))
    .withPanel(lines("Streams made again", "", "none", [["increase(bspnow_worker_reconnects_total[$__rate_interval])", "{{instance}}"]]))
    .withPanel(lines("Leases of workers", "", "bool", [["bspnow_lease_valid", "{{instance}}"]]))
    .withRow(new RowBuilder("Processes"))
    .withPanel(lines("Processor time", "", "percentunit", [[`rate(process_cpu_seconds_total[$__rate_interval]) ${OURS}`, "{{instance}}"]]))
    .withPanel(lines("Memory", "Resident.", "bytes", [[`process_resident_memory_bytes ${OURS}`, "{{instance}}"]]))
    .withPanel(lines("Descriptors", "Of those that may be open.", "percentunit", [[`process_open_fds / process_max_fds ${OURS}`, "{{instance}}"]]));
}
