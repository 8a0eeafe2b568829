// One job, in the terms of the cost model.
import { type DashboardBuilder, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { allMarks, dashboard, heatmap, jobVariable, layers, lines, number } from "./parts.js";

const JOB = '{bsp_job="$bsp_job"}';

function rate(name: string): string {
  return `rate(${name}${JOB}[$__rate_interval])`;
}

export function job(): DashboardBuilder {
  return dashboard("bspnow-job", "bspnow: job")
    .withVariable(jobVariable())
    .annotations(allMarks(JOB))
    .withPanel(number("Superstep", "Supersteps that count.", "none", `bspnow_job_superstep${JOB}`))
    .withPanel(number("Committed", "With which it goes on after a loss.", "none", `bspnow_job_committed_superstep${JOB}`))
    .withPanel(number("At risk", "What a loss now would take.", "s", `bspnow_job_commit_age_seconds${JOB}`))
    .withPanel(number("Recoveries", "", "none", `bspnow_job_recoveries_total${JOB}`))
    .withPanel(number("Imbalance", "Computing of the slowest process, to the average: 1 is even.", "none", `bspnow_job_imbalance_ratio${JOB}`))
    .withPanel(number("Measured to predicted", "1: the supersteps take what w + h*g + l says.", "none", `bspnow_job_measured_seconds${JOB} / bspnow_job_predicted_seconds${JOB}`))
    .withRow(new RowBuilder("Where the time goes"))
    .withPanel(layers("Parts of a superstep", "Of a process on average; together they are the time.", "percentunit", [[rate("bspnow_job_time_seconds_total"), "{{part}}"]]))
    .withPanel(heatmap("Supersteps", "How long they took. Of a job on few nodes, averages over 250 ms.", "s", "bspnow_job_superstep_seconds", JOB))
    .withPanel(lines("Supersteps a second", "", "none", [[rate("bspnow_job_supersteps_total"), "supersteps"]]))
    .withPanel(lines("Measured and predicted", "Sums over the supersteps that count.", "s", [
      [`bspnow_job_measured_seconds${JOB}`, "measured"],
      [`bspnow_job_predicted_seconds${JOB}`, "w + h*g + l"],
    ]))
    .withPanel(lines("l", "As the supersteps show it.", "s", [[`bspnow_job_l_seconds${JOB}`, "l"]]))
    .withPanel(lines("g", "As the supersteps show it, for a byte.", "s", [[`bspnow_job_g_seconds_per_byte${JOB}`, "g"]]))
    .withRow(new RowBuilder("Whom it waits for"))
    .withPanel(lines("Stragglers", "Time that the others waited for this process.", "s", [[`bspnow_job_straggler_seconds${JOB}`, "pid {{pid}} on {{node}}"]]))
    .withPanel(lines("The barrier waits", "Now, where it is unusual.", "s", [[`bspnow_job_barrier_wait_seconds${JOB}`, "pid {{pid}} on {{node}}"]]))
    .withPanel(lines("Imbalance", "Computing of the slowest process, to the average.", "none", [[`bspnow_job_imbalance_ratio${JOB}`, "imbalance"]]))
    .withRow(new RowBuilder("Communication"))
    .withPanel(lines("Bytes", "Of all processes, to and from others.", "Bps", [[rate("bspnow_job_bytes_total"), "{{direction}}"]]))
    .withPanel(lines("Messages", "Puts, gets and messages.", "cps", [[rate("bspnow_job_messages_total"), "{{direction}}"]]))
    .withRow(new RowBuilder("Groups"))
    .withPanel(lines("Supersteps of groups", "A second, each counted by each process that ends it. The rows above have them as computing.", "none", [[rate("bspnow_job_group_supersteps_total"), "supersteps"]]))
    .withPanel(lines("Time of groups", "Of a process's time, that in the calls that end them.", "percentunit", [[rate("bspnow_job_group_seconds_total"), "groups"]]))
    .withRow(new RowBuilder("Safety"))
    .withPanel(lines("At risk", "What a loss would take; the interval of checkpoints beside it.", "s", [
      [`bspnow_job_commit_age_seconds${JOB}`, "at risk"],
      [`bspnow_job_checkpoint_interval_seconds${JOB}`, "interval"],
    ]))
    .withPanel(lines("Progress", "Supersteps, and those that are committed.", "none", [
      [`bspnow_job_superstep${JOB}`, "reached"],
      [`bspnow_job_committed_superstep${JOB}`, "committed"],
    ]))
    .withPanel(lines("Checkpoints", "Those that were committed, and given up.", "none", [
      [`increase(bspnow_job_checkpoints_total${JOB}[$__rate_interval])`, "{{end}}"],
    ]))
    .withPanel(lines("Cost of safety", "Time for checkpoints and recoveries.", "s", [
      [`bspnow_job_checkpoint_seconds_total${JOB}`, "checkpoints"],
      [`bspnow_job_recovery_seconds_total${JOB}`, "recoveries"],
    ]));
}
