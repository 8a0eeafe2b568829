#!/usr/bin/env python3
"""As whom programs run, of workers that root starts, on two accounts that every Debian has: never
as root, and with no right that their account has not. If this is not root there is nothing to give
up: then it is shown that a worker runs its own user's jobs alone."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from harness import disturbances
from harness.cluster import Cluster
from harness.programs import path_of
from harness.waiting import wait_until

IS_ROOT = os.geteuid() == 0
POOL = ("nobody", "games")
# Of which no other test that runs here now has a process: while one lives nothing is removed.
LONELY = ("backup", "irc", "list", "lp", "news", "proxy", "uucp")
SECRETS = ("/etc/shadow", "/root")


class AccountsTest(unittest.TestCase):
    def setUp(self):
        # Where other users can come to.
        place = self.enterContext(tempfile.TemporaryDirectory(dir="/tmp"))
        os.chmod(place, 0o711)
        self.place = place
        self.restore = shutil.copy(path_of("bsp-restore"), place)
        os.chmod(self.restore, 0o755)

    def cluster(self, accounts, workers=2):
        state_dirs = {f"w{i}": f"{self.place}/w{i}" for i in range(1, workers + 1)}
        return Cluster(workers=workers, slots=4, state_dirs=state_dirs, accounts=accounts,
                       worker_options=["--restore-program", self.restore])

    def intrude(self, cluster, supersteps, *options, others=(), nodes=2):
        worker = cluster.workers["w1"]
        return cluster.submit("-n", 4, "--nodes", nodes, *options, path_of("intruder"), supersteps,
                              worker.process.pid, *SECRETS, worker.state_dir,
                              worker.state_dir + "/cache", worker.state_dir + "/jobs", *others)

    def processes_of(self, cluster, job):
        """As the kernel numbers them."""
        return [os_pid for place in cluster.show(job)["placement"] for os_pid in place["os_pids"]
                if os_pid != 0]

    def check(self, cluster, job, names):
        """It got nowhere, as one of these accounts; what it left is here, but for the links."""
        self.assertEqual(cluster.bsp("wait", job, check=False).returncode, 0, cluster.show(job))
        lines = cluster.bsp("logs", job).stdout.splitlines()
        users = {pwd.getpwnam(name).pw_uid for name in names}
        ran_as = {int(word.rstrip(",")) for line in lines if line.startswith("runs as")
                  for word in line.split()[2:5]}
        self.assertEqual([line for line in lines if line.startswith(("can ", "missed "))], [])
        self.assertTrue(ran_as and ran_as <= users, (ran_as, users))
        fetched = cluster.path("fetched-" + str(job))
        cluster.bsp("fetch", job, "--dir", fetched)
        self.assertEqual(os.listdir(fetched), ["left"])
        return ran_as.pop()

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_an_account_for_each_job(self):
        with self.cluster("pool:" + ",".join(POOL)) as cluster:
            first = self.intrude(cluster, 60)
            wait_until(lambda: "works" in cluster.bsp("logs", first).stdout, "it runs")
            wait_until(lambda: len(self.processes_of(cluster, first)) == 4, "it is known where")
            theirs = cluster.workers["w1"].state_dir + f"/jobs/{first}"
            second = self.intrude(cluster, 10,
                                  others=(theirs, theirs + "/left", theirs + "/intruder",
                                          *self.processes_of(cluster, first)))
            users = {self.check(cluster, job, POOL) for job in (first, second)}
            self.assertEqual(len(users), 2)

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_the_next_job_of_an_account_finds_nothing(self):
        """Of what the one before has left where everybody may leave files, whoever's the directory
        is. It waits for the account."""
        account = LONELY[os.getpid() % len(LONELY)]
        open_to_all = self.enterContext(tempfile.TemporaryDirectory(dir="/tmp"))
        os.chmod(open_to_all, 0o1777)
        left = [f"{place}/bspnow-accounts-{os.getpid()}"
                for place in ("/tmp", "/dev/shm", "/run/lock", open_to_all)
                if os.access(place, os.W_OK)]
        with self.cluster("pool:" + account, workers=1) as cluster:
            job = cluster.submit("-n", 1, path_of("misbehaviour"), "leavefiles", *left)
            second = self.intrude(cluster, 1, others=left, nodes=1)
            self.assertEqual(cluster.bsp("wait", job, check=False).returncode, 0)
            self.assertIn(f"left {len(left)}", cluster.bsp("logs", job).stdout)
            self.check(cluster, second, [account])
            self.assertNotIn("could not start", cluster.bsp("logs", second).stderr)
            self.assertEqual([path for path in left if os.path.exists(path)], [])

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_a_state_directory_that_the_account_may_not_enter(self):
        self.place += "/hidden"
        os.mkdir(self.place, 0o700)
        with self.cluster("fixed:nobody", workers=1) as cluster:
            job = cluster.submit("-n", 1, path_of("everybody"), 1)
            self.assertEqual(cluster.bsp("wait", job, check=False).returncode, 126)
            self.assertIn("nobody cannot come to " + self.place, cluster.show(job)["reason"])

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_it_goes_on_from_its_images(self):
        hidden = self.place + "/hidden"  # As where homes are the same on all nodes, and closed.
        os.mkdir(hidden, 0o700)
        with self.cluster("fixed:nobody") as cluster:
            done = cluster.bsprun("-n", 1, path_of("everybody"), 1, cwd=hidden)
            self.assertNotIn("could not start", done.stderr)
            job = self.intrude(cluster, 40, "--checkpoint=every=300ms")
            wait_until(lambda: cluster.show(job)["checkpoints"]["count"] > 1, "two checkpoints")
            for pids in disturbances.processes_of(cluster).values():
                for pid in pids[:1]:
                    os.kill(pid, 9)
            self.check(cluster, job, ["nobody"])
            self.assertTrue(all(loss["resumed"] and not loss["from_start"]
                                for loss in cluster.show(job)["losses"]))
            self.assertGreater(cluster.show(job)["restarts"], 0)

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_images_at_rest_are_nobodys(self):
        """Else the next job of the same account could read them, whosever it is; and put links
        there, which root would follow when it gives the images to their job again."""
        with self.cluster("pool:nobody", workers=1) as cluster:
            images = cluster.workers["w1"].state_dir + "/checkpoints/job-"
            job = cluster.submit("-n", 2, path_of("intruder"), 60, 1)
            wait_until(lambda: "works" in cluster.bsp("logs", job).stdout, "it runs")
            self.assertEqual(os.stat(images + str(job)).st_uid, pwd.getpwnam("nobody").pw_uid)
            os.symlink("/etc/shadow", f"{images}{job}/link")
            os.makedirs(f"{images}{job}/directory/shadow")
            os.link("/etc/shadow", self.place + "/shadow")
            os.rename(self.place + "/shadow", f"{images}{job}/shadow")
            cluster.bsp("suspend", job)
            cluster.await_state(job, "suspended")
            wait_until(lambda: os.stat(images + str(job)).st_uid == 0, "they are root's again")
            kept = [os.lstat(os.path.join(images + str(job), name))
                    for name in os.listdir(images + str(job))]
            self.assertTrue(kept)
            self.assertEqual({(status.st_uid, status.st_mode, status.st_nlink)
                              for status in kept}, {(0, 0o100600, 1)})
            self.assertEqual(os.stat(images + str(job)).st_mode & 0o777, 0o700)
            cluster.bsp("resume", job)
            self.check(cluster, job, ["nobody"])
            self.assertEqual(os.stat("/etc/shadow").st_uid, 0)

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_a_job_leaves_its_neighbours_their_part(self):
        """Memory that is no process's own data, and processes: the kernel limits them by job."""
        with self.cluster("pool:" + ",".join(POOL), workers=1) as cluster:
            limits = cluster.nodes()["w1"]["limits"]
            neighbour = cluster.submit("-n", 2, path_of("intruder"), 50, 1)
            if "memory" in limits:
                bad = cluster.submit("-n", 2, "--memory", "50M", path_of("misbehaviour"), "fill",
                                     300)
                self.assertEqual(cluster.bsp("wait", bad, check=False).returncode, 1)
                reason = cluster.show(bad)["reason"]
                self.assertIn("out of memory", reason)
                self.assertIn("2 processes on this node may have 134 MiB", reason)
                self.assertIn("--memory 50M", reason)
                self.assertEqual(cluster.show(bad)["restarts"], 0)
            if "processes" in limits:
                bad = cluster.submit("-n", 1, path_of("misbehaviour"), "swarm", 10_000)
                cluster.bsp("wait", bad, check=False)
                self.assertIn("started 57", cluster.bsp("logs", bad).stdout)
            self.check(cluster, neighbour, POOL)
            self.assertTrue(cluster.workers["w1"].running)

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_root_runs_nothing_as_itself(self):
        with self.cluster("same", workers=1) as cluster:
            job = cluster.submit("-n", 1, path_of("intruder"), 1, 1)
            self.assertEqual(cluster.bsp("wait", job, check=False).returncode, 126)
            self.assertIn('the account "root" is root\'s', cluster.show(job)["reason"])
            done = cluster.bsp("submit", "-n", 1, path_of("intruder"), 1, 1,
                               variables={"USER": "nobody", "LOGNAME": "nobody"})
            self.assertEqual(cluster.show(int(done.stdout))["user"], "root", "the kernel knows")
            self.assertEqual(cluster.nodes()["w1"]["accounts"], "same")

    @unittest.skipUnless(IS_ROOT, "only root has rights to give up")
    def test_root_has_to_choose(self):
        command = [path_of("bsp-worker"), "--coordinator", "127.0.0.1:1", "--name", "w",
                   "--state-dir", self.place + "/none"]
        for more in ([], ["--accounts=own"], ["--accounts=own:everybody"],
                     ["--accounts=fixed:root"], ["--accounts=pool:nobody,none-such"]):
            done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, more)
            self.assertIn("bsp-worker: ", done.stderr)
        self.assertFalse(os.path.exists(self.place + "/none"))

    @unittest.skipIf(IS_ROOT, "of an ordinary user's worker")
    def test_a_users_worker_is_his_own(self):
        with self.cluster("own", workers=1) as cluster:
            self.assertEqual(cluster.nodes()["w1"]["accounts"], "own")
            cluster.bsprun("-n", 1, path_of("everybody"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
