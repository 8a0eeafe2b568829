#!/usr/bin/env python3
"""Workers that the coordinator reaches, and that do not reach each other: jobs run where they can,
and users are told."""

import re
import sys
import unittest

sys.dont_write_bytecode = True

from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.waiting import wait_until


class PeersTest(unittest.TestCase):
    def setUp(self):
        self.job = Enduring(nprocs=4, supersteps=20)

    @staticmethod
    def placement(cluster, number):
        return {place["node"] for place in cluster.show(number)["placement"]}

    @staticmethod
    def unreachable(cluster):
        """The nodes that each node cannot reach."""
        return {name: [peer["name"] for peer in node["unreachable"]]
                for name, node in cluster.nodes().items()}

    def await_unreachable(self, cluster, wanted):
        wait_until(lambda: self.unreachable(cluster) == wanted, f"{wanted} is found", COMMAND_S)

    def test_cut_one_way_before_a_job_runs(self):
        with Cluster(workers=3, slots=2, proxied=["data"]) as cluster:
            cluster.workers["w1"].kill()
            cluster.proxy.now("cut-to", "w1")
            cluster.workers["w1"].start()
            self.await_unreachable(cluster, {"w1": [], "w2": ["w1"], "w3": ["w1"]})
            self.assertRegex(cluster.bsp("nodes").stdout, r"w2 .*cannot reach w1: \S+: no answer")
            number = self.job.submit(cluster, "--nodes", 2)
            everywhere = self.job.submit(cluster, "--nodes", 3)
            self.assertRegex(cluster.show(everywhere)["reason"],
                             "nodes w[23] and w1 do not reach each other: .*no answer")
            self.job.check_end(cluster, number)
            self.assertEqual(self.placement(cluster, number), {"w2", "w3"})
            cluster.proxy.now("heal", "w1")
            self.job.check_end(cluster, everywhere)
            self.assertEqual(self.placement(cluster, everywhere), {"w1", "w2", "w3"})
            self.await_unreachable(cluster, {"w1": [], "w2": [], "w3": []})

    def test_cut_one_way_that_is_over_before_it_ends_a_job(self):
        with Cluster(workers=2, slots=2, proxied=["data"]) as cluster:
            job = Enduring(nprocs=4, supersteps=100)  # It must not end before the cut.
            number = job.submit(cluster)
            job.await_superstep(cluster, number, 3)
            cluster.proxy.now("cut-to", "w1")
            wait_until(lambda: re.match(r"stands: node w2 cannot reach w1: \S+: no answer",
                                        cluster.show(number)["reason"]),
                       "`bsp show` names the two", COMMAND_S)
            self.assertEqual(self.unreachable(cluster), {"w1": [], "w2": ["w1"]})
            cluster.proxy.now("heal", "w1")
            job.check_end(cluster, number)
            self.assertEqual(cluster.show(number)["restarts"], 0)
            self.await_unreachable(cluster, {"w1": [], "w2": []})

    def test_cut_one_way_while_a_job_runs(self):
        with Cluster(workers=3, slots=2, proxied=["data"],
                     worker_options=["--unreachable-ms", "2000"]) as cluster:
            job = Enduring(nprocs=4, supersteps=60)  # It must not end before the cut.
            number = job.submit(cluster, "--nodes", 2)
            job.await_superstep(cluster, number, 3)
            deaf, other = sorted(self.placement(cluster, number))
            cluster.proxy.now("cut-to", deaf)
            job.check_end(cluster, number)
            self.assertEqual(self.placement(cluster, number), {"w1", "w2", "w3"} - {deaf})
            # The third one may first have to find out for itself.
            self.assertLessEqual(cluster.show(number)["restarts"], 2)
            self.assertIn(deaf, self.unreachable(cluster)[other])


if __name__ == "__main__":
    unittest.main(verbosity=2)
