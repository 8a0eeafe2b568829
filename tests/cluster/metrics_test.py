#!/usr/bin/env python3
"""A real Prometheus scrapes a real run: jobs end in every way, one goes back to a checkpoint when
its worker is killed and goes on when the coordinator is, connections break, strangers call. Every
family moves, and is right by `bsp show`; every panel of the dashboards has data."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True

from harness import alerts, disturbances, strangers
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.ports import reserve
from harness.programs import path_of
from harness.prometheus import SCRAPE_S, Prometheus
from harness.waiting import wait_until

DASHBOARDS = "deploy/grafana/dashboards"
JSON_LOG = ("--log-format", "json")
NS = 1e9
SEEDED = random.Random(1)

# Their value is always the same, or the disk's: they have to be there.
SERIES_MAX = 100  # Of a job.
PIDS_MAX = 8      # For which a family has a series.
CONSTANT = {"bspnow_build_info", "bspnow_job_info", "bspnow_disk_size_bytes", "process_max_fds",
            "bspnow_worker_slots", "process_start_time_seconds"}
# What makes them move takes longer than this test, and has a test of its own.
ELSEWHERE = {
    "bspnow_checkpoints_damaged_total",  # cluster_recovery_test
    "bspnow_worker_resent_bytes_total",  # stream tests: it is by chance that anything is under way
}
# Alerts whose conditions take longer, or a disk that is full or wrong; tests/deploy:alerts_test
# makes each fire, with series as they are here.
LONG_ALERTS = {"BspnowDaemonCrashLoop", "BspnowCommitTooOld", "BspnowCheckpointsFail",
               "BspnowCheckpointDamaged", "BspnowDiskNearlyFull", "BspnowNetworkUnsteady"}


def serve():
    return ["--metrics", reserve()]


def read_page(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as reply:
        return reply.read().decode()


class MetricsTest(unittest.TestCase):
    """One run, at which all tests look."""

    @classmethod
    def setUpClass(cls):
        cls.enduring = Enduring(supersteps=250, program="mixed")
        cls.began_s = time.time()
        cluster = cls.cluster = cls.enterClassContext(
            Cluster(workers=0, proxied=["data"], worker_options=JSON_LOG,
                    coordinator_options=[*serve(), *JSON_LOG, "--log-level", "debug"]))
        options = {"w1": [], "w2": [], "w3": ["--checkpoint-dir", cluster.path("images")]}
        workers = [cluster.add_worker(name, 2, serve() + more) for name, more in options.items()]
        cluster.await_workers(3)
        targets = {"coordinator": [cluster.coordinator.addresses()["metrics"]],
                   "worker": [worker.addresses()["metrics"] for worker in workers]}
        cls.prometheus = cls.enterClassContext(
            Prometheus(cluster.directory, targets, alerts.write_impatient(cluster.path("rules"))))
        cls.run_calm()
        cls.run_disturbed()
        cls.run_others()

    # ---- What happens ------------------------------------------------------------------------

    @classmethod
    def run_calm(cls):
        """A job that nothing disturbs; its values are looked at while it is still shown."""
        name = os.fsdecode(b'ca"l\xffm')
        cls.calm = cls.cluster.submit("-n", 4, "--name", name, path_of("mixed"), 60, 20_000, 5)
        cls.cluster.await_state(cls.calm, "succeeded")
        cls.calm_shown = cls.cluster.show(cls.calm)
        grouped = cls.grouped = cls.cluster.submit("-n", 4, path_of("partitioned"), 60, 1000, 20)
        cls.cluster.await_state(grouped, "succeeded")  # So that the families of groups move.

    @classmethod
    def run_disturbed(cls):
        """A job that loses a worker, and later the coordinator."""
        cluster, enduring = cls.cluster, cls.enduring
        job = cls.disturbed = enduring.submit(cluster, "--checkpoint=every=300ms")
        enduring.await_commits(cluster, job, 2)
        lost = disturbances.hosting_worker(cluster, SEEDED)
        cls.killed_s = time.time()
        cluster.workers[lost].kill()
        wait_until(lambda: cls.prometheus.query(f'bspnow_node_up{{node="{lost}"}} == 0'),
                   f"{lost} is shown as lost", COMMAND_S)
        wait_until(lambda: cluster.show(job)["restarts"] == 1
                   and cluster.state(job) == "running", f"job {job} recovers", COMMAND_S)
        cluster.workers[lost].start()
        cluster.await_workers(3)
        enduring.await_commits(cluster, job, cluster.show(job)["checkpoints"]["count"] + 2)
        cls.let_scrapes_pass()
        cls.before_restart = (cluster.show(job), cls.counter_values(job), cluster.show(job))
        for name in cluster.workers:
            cluster.proxy.now("reset", name)
        cls.stop_and_start_the_coordinator()
        commits = cluster.show(job)["checkpoints"]["count"]
        enduring.await_commits(cluster, job, commits + 1)
        cls.let_scrapes_pass()
        enduring.check_end(cluster, job)
        cls.disturbed_shown = cluster.show(job)
        cls.let_scrapes_pass()

    @classmethod
    def stop_and_start_the_coordinator(cls):
        """It stays away for longer than a lease holds."""
        cls.cluster.coordinator.kill()
        wait_until(lambda: cls.prometheus.query("bspnow_lease_valid == 0"), "a lease ends",
                   COMMAND_S)
        cls.cluster.restart_coordinator()
        cls.cluster.await_workers(3)

    @classmethod
    def run_others(cls):
        """Jobs that end otherwise, a node that cannot start any, and strangers."""
        cluster = cls.cluster
        failing = cluster.submit("-n", 1, "/bin/false")
        cluster.await_state(failing, "failed")
        filler = cls.filler = cluster.submit("-n", 6, path_of("mixed"), 10_000, 1000, 20)
        wait_until(lambda: cls.goes_on(filler, 0), "it goes on", COMMAND_S)
        queued = cluster.submit("-n", 6, path_of("mixed"), 5, 1000)
        cluster.await_state(queued, "waiting")
        cls.let_a_process_be_late()
        cls.lose_processes(filler)
        cls.let_scrapes_pass()
        cluster.bsp("cancel", queued)
        # The only node with room cannot start it; when there is room elsewhere it runs.
        sick = cluster.add_worker("sick", 2, serve())
        cluster.await_workers(4)
        jobs = os.path.join(sick.state_dir, "jobs")
        os.chmod(jobs, 0o500)
        tried = cluster.submit("-n", 2, "--name", "tried", path_of("mixed"), 5, 1000)
        wait_until(lambda: "event=job_not_started" in sick.log(), "it cannot be started there")
        cluster.bsp("suspend", filler)
        cluster.await_state(tried, "succeeded")
        wait_until(lambda: cls.prometheus.query('bspnow_node_resting{node="sick"} == 1'),
                   "the node rests", COMMAND_S)
        os.chmod(jobs, 0o700)
        cluster.bsp("cancel", filler)
        cluster.await_state(filler, "cancelled")
        strangers.call_all(cluster)
        cls.let_scrapes_pass()

    @classmethod
    def let_a_process_be_late(cls):
        """It is stopped until several scrapes have named it."""
        late = next(pid for pids in disturbances.processes_of(cls.cluster).values() for pid in pids)
        os.kill(late, signal.SIGSTOP)
        seen = "count_over_time(bspnow_job_barrier_wait_seconds[1m]) > 3"
        wait_until(lambda: cls.prometheus.query(seen), "the barrier waits", COMMAND_S)
        os.kill(late, signal.SIGCONT)

    @classmethod
    def goes_on(cls, job, losses):
        before, shown = cls.cluster.show(job), cls.cluster.show(job)
        return (shown["restarts"] == losses
                and shown["totals"]["supersteps"] > before["totals"]["supersteps"])

    @classmethod
    def lose_processes(cls, job):
        """As often as it is started again."""
        for losses in 1, 2, 3:
            disturbances.kill_process(cls.cluster, job, SEEDED)
            wait_until(lambda losses=losses: cls.goes_on(job, losses), "it goes on", COMMAND_S)

    @classmethod
    def let_scrapes_pass(cls):
        """Each daemon has been scraped after what was before this call."""
        now_s = time.time()
        wait_until(lambda: cls.prometheus.value(f"count(timestamp(up) > {now_s + SCRAPE_S})") == 4,
                   "all are scraped")

    @classmethod
    def counter_values(cls, job):
        """Of one scrape."""
        found = cls.prometheus.query(f'{{__name__=~"bspnow_job_.*",bsp_job="{job}"}}')
        return {labels["__name__"]: value for labels, value in found}

    # ---- What is right -----------------------------------------------------------------------

    def value_of(self, name, job, **labels):
        pairs = "".join(f',{label}="{value}"' for label, value in labels.items())
        # Ended jobs are shown for five minutes: the last value of the run.
        return self.prometheus.value(f'last_over_time({name}{{bsp_job="{job}"{pairs}}}[10m])')

    def test_the_calm_job_is_as_bsp_show_has_it(self):
        totals = self.calm_shown["totals"]
        self.assertGreater(totals["supersteps"], 100)
        wanted = [
            ("bspnow_job_supersteps_total", {}, totals["supersteps"]),
            ("bspnow_job_superstep", {}, totals["supersteps"]),
            ("bspnow_job_superstep_seconds_count", {}, totals["supersteps"]),
            ("bspnow_job_measured_seconds", {}, totals["total_ns"] / NS),
            ("bspnow_job_time_seconds_total", {"part": "computing"}, totals["compute_ns"] / NS),
            ("bspnow_job_time_seconds_total", {"part": "exchange"}, totals["exchange_ns"] / NS),
            ("bspnow_job_messages_total", {"direction": "out"}, totals["messages"]),
            ("bspnow_job_recoveries_total", {}, 0),
            ("bspnow_job_recovery_seconds_total", {}, 0),
        ]
        for name, labels, value in wanted:
            with self.subTest(name, **labels):
                self.assertAlmostEqual(self.value_of(name, self.calm, **labels), value, places=6)

    def test_an_ended_job_is_still_shown_and_has_its_name(self):
        self.assertEqual(self.cluster.state(self.disturbed), "succeeded")
        self.assertTrue(self.prometheus.query(f'bspnow_job_info{{bsp_job="{self.disturbed}"}}'))
        found = self.prometheus.query(
            f'last_over_time(bspnow_job_info{{bsp_job="{self.calm}"}}[10m])')
        self.assertEqual([labels["name"] for labels, _ in found], ['ca"l\ufffdm'])
        self.assertEqual([labels["user"] for labels, _ in found], [self.calm_shown["user"]])

    def test_the_disturbed_job_before_the_restart(self):
        before, counted, after = self.before_restart
        loss = before["losses"][0]
        self.assertEqual(counted["bspnow_job_recoveries_total"], 1)
        self.assertAlmostEqual(counted["bspnow_job_recovery_seconds_total"],
                               loss["after_ms"] / 1000, places=6)
        # At least those of the second epoch: of the first, what it had reported when it was lost.
        of_both = counted["bspnow_job_supersteps_total"]
        self.assertGreaterEqual(of_both,
                                counted["bspnow_job_superstep"] - loss["from_superstep"])
        self.assertLessEqual(of_both, counted["bspnow_job_superstep"] + loss["superstep"])
        self.assertEqual(counted["bspnow_job_supersteps_total"],
                         counted["bspnow_job_superstep_seconds_count"])
        for name, (lower, upper) in {
                "bspnow_job_superstep": (
                    0, after["totals"]["supersteps"]),
                "bspnow_job_committed_superstep": (
                    loss["from_superstep"], after["checkpoints"]["superstep"]),
                "bspnow_job_checkpoint_seconds_total": (
                    1e-6, after["checkpoints"]["cost_ns"] / NS),
                "bspnow_job_commit_age_seconds": (0, COMMAND_S)}.items():
            with self.subTest(name):
                self.assertGreaterEqual(counted[name], lower)
                self.assertLessEqual(counted[name], upper)

    def test_the_restart_begins_counters_anew_and_no_job(self):
        counted = self.value_of("bspnow_job_supersteps_total", self.disturbed)
        shown = self.value_of("bspnow_job_superstep", self.disturbed)
        self.assertEqual(shown, self.disturbed_shown["totals"]["supersteps"])
        self.assertGreater(counted, 0)
        self.assertLess(counted, shown, "what an earlier coordinator has counted is counted again")
        self.assertEqual(self.prometheus.value("bspnow_term"), 2)

    def test_outcomes_are_counted(self):
        ended = {labels["outcome"]: value for labels, value in
                 self.prometheus.query("bspnow_jobs_ended_total")}
        self.assertEqual(ended, {"succeeded": 2, "failed": 1, "cancelled": 2})  # After the restart.
        self.assertEqual(self.prometheus.value("bspnow_suspensions_total"), 1)
        self.assertEqual(self.prometheus.value("bspnow_queue_wait_seconds_count"), 3)

    def test_every_family_moves(self):
        """In one series at least, a histogram by its count."""
        names = {name for name in self.prometheus.names()
                 if name.startswith(("bspnow_", "process_"))
                 and not name.endswith(("_bucket", "_sum"))}
        self.assertLessEqual(CONSTANT | ELSEWHERE, names)
        for name in sorted(names - CONSTANT - ELSEWHERE):
            with self.subTest(name):
                found = self.prometheus.query(f"changes({name}[10m]) > 0 or "
                                              f"count_over_time({name}[10m]) < 20 and {name} > 0")
                self.assertTrue(found, f"{name} has not moved")

    def test_every_family_is_documented(self):
        with open("docs/operations.md", encoding="utf-8") as file:
            page = file.read()
        for name in self.families():
            with self.subTest(name):
                self.assertIn(f"`{name}", page)

    def families(self):
        names = set()
        for daemon in self.cluster.daemons():
            for line in self.scrape(daemon).splitlines():
                if line.startswith("# TYPE "):
                    names.add(line.split()[2])
        # Those of the library that serves them are its own.
        return sorted(name for name in names if not name.startswith("exposer_"))

    @staticmethod
    def scrape(daemon):
        return read_page(f"http://{daemon.addresses()['metrics']}/metrics")

    def test_a_job_has_fewer_than_a_hundred_series(self):
        """Even if each family with a pid had as many series as it may."""
        ours = '__name__=~"bspnow_.*",bsp_job!=""'
        of_pids = self.prometheus.query(
            f'group by (__name__) (last_over_time({{{ours},pid!=""}}[10m]))')
        most = self.prometheus.value(
            f'max(max_over_time((count by (bsp_job) ({{{ours},pid=""}}))[10m:5s]))')
        self.assertGreater(most, 20)
        self.assertLess(most + PIDS_MAX * len(of_pids), SERIES_MAX)

    def test_promtool_finds_nothing_wrong(self):
        for daemon in self.cluster.daemons():
            done = subprocess.run(["promtool", "check", "metrics"], input=self.scrape(daemon),
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), daemon.name)

    def test_no_name_has_two_meanings(self):
        """Of one name both daemons say the same, by its help."""
        meant = {}
        for daemon in self.cluster.daemons():
            for line in self.scrape(daemon).splitlines():
                if line.startswith("# HELP "):
                    _, _, name, help_text = line.split(" ", 3)
                    self.assertEqual(meant.setdefault(name, help_text), help_text, name)

    # ---- Dashboards ----------------------------------------------------------------------------

    def has_data(self, expression):
        """In the time of the run; of a job's panel for one of the jobs at least."""
        text = expression.replace("$__rate_interval", "10s").replace("$__range", "10m")
        jobs = (self.disturbed, self.calm, self.grouped, self.filler)
        ways = [text.replace("$bsp_job", str(job)) for job in jobs]
        return any(self.prometheus.query_range(way, self.began_s, time.time(), 1) for way in ways)

    def test_every_panel_of_the_dashboards_has_data(self):
        names = sorted(os.listdir(DASHBOARDS))
        self.assertEqual(len(names), 3)
        for name in names:
            with open(os.path.join(DASHBOARDS, name), encoding="utf-8") as file:
                dashboard = json.load(file)
            queries = [(panel["title"], target["expr"]) for panel in dashboard["panels"]
                       if panel["type"] != "row" for target in panel["targets"]]
            queries += [(f"mark {each['name']}", each["expr"])
                        for each in dashboard.get("annotations", {}).get("list", [])]
            self.assertGreater(len(queries), 10)
            for title, expression in queries:
                with self.subTest(dashboard["title"], panel=title, query=expression):
                    self.assertNotIn("$", re.sub(r"\$(__rate_interval|__range|bsp_job)\b", "",
                                                 expression))
                    self.assertTrue(self.has_data(expression))

    def test_the_variable_of_the_dashboard_of_a_job_lists_jobs(self):
        with open(os.path.join(DASHBOARDS, "bspnow-job.json"), encoding="utf-8") as file:
            variables = json.load(file)["templating"]["list"]
        queries = [each["query"] for each in variables if each["type"] == "query"]
        self.assertEqual(queries, ["label_values(bspnow_job_info, bsp_job)"])
        jobs = {labels["bsp_job"] for labels, _ in self.prometheus.query("bspnow_job_info")}
        self.assertIn(str(self.disturbed), jobs)

    # ---- Alerts, logs --------------------------------------------------------------------------

    def test_alerts_have_fired(self):
        fired = {labels["alertname"] for labels, _ in
                 self.prometheus.query('last_over_time(ALERTS{alertstate="firing"}[10m])')}
        self.assertEqual(LONG_ALERTS | fired, alerts.names())

    def assert_exported(self, series):
        with self.subTest(series=series):
            self.assertTrue(self.prometheus.query(f"last_over_time({series}[10m])"))

    def test_every_series_that_an_alert_looks_at_is_there(self):
        """The daemons must have such series, by name and labels, or the alert could not fire."""
        for rule in alerts.rules():
            series = alerts.series_of(rule)
            self.assertTrue(series, rule["alert"])
            for each in series:
                self.assert_exported(each)

    def test_series_that_promtool_is_given_are_those_of_the_daemons(self):
        series = alerts.tested_series()
        self.assertGreater(len(series), 20)
        for each in series:
            self.assert_exported(each)

    def test_every_line_of_the_logs_is_an_object(self):
        events = set()
        for daemon in self.cluster.daemons():
            lines = daemon.log().splitlines()
            self.assertGreater(len(lines), 2, daemon.name)
            for line in lines:
                entry = json.loads(line)
                self.assertRegex(entry["time"], r"^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}[+-]\d\d:\d\d$")
                self.assertIn(entry["level"], ("debug", "info", "warning", "error"))
                if entry["message"].startswith("event="):
                    self.assertEqual(entry["message"].split(" ")[0], f"event={entry['event']}")
                    events.add(entry["event"])
        self.assertLessEqual({"job_started", "job_ended", "worker_lost", "checkpoint_committed",
                              "registered", "ready"}, events)


if __name__ == "__main__":
    unittest.main(verbosity=2)
