#!/usr/bin/env python3
"""The coordinator's web page as HTTP shows it: who gets in and sees what, what is sent of a job
that is watched while its worker is killed, and what outsiders can keep busy. How the page looks in
a browser is the affair of `run`."""

import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import unittest
from collections import Counter
from urllib.parse import urlsplit

sys.dont_write_bytecode = True

from browser import Browser, opened
from harness.cluster import COMMAND_S, Cluster
from harness.enduring import Enduring
from harness.programs import path_of
from harness.scratch import scratch_directory
from harness.waiting import wait_until

LINES = path_of("lines")
SECRET = "this-is-nobody-elses"


def text_of(encoded):
    return base64.b64decode(encoded).decode()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(
            Cluster(workers=2, slots=4, coordinator_options=["--web", "127.0.0.1:0"]))
        cls.address = cls.cluster.coordinator.addresses()["web"]
        cls.base = f"http://{cls.address}"
        cls.anna = {"BSP_TOKEN_FILE": cls.cluster.token_file("anna", "read,submit")}
        cls.guest = {"BSP_TOKEN_FILE": cls.cluster.token_file("guest", "read")}

    def url(self, **options):
        return json.loads(self.cluster.bsp("web", "--json", **options).stdout)["url"]

    # ---- Who gets in -------------------------------------------------------------------------

    def test_without_a_session_there_is_nothing_but_the_way_to_one(self):
        stranger = Browser(self.base)
        for path in ("/", "/page.js", "/events", "/events?job=1", "/nothing", "/open",
                     "/open?ticket=0123", "/../address", "/%2e%2e/tokens"):
            with stranger.get(path) as answer:
                self.assertEqual(answer.status, 401, path)
                text = answer.read().decode()
            self.assertIn("bsp web", text)
            self.assertEqual(text.count("\n"), 1)
            self.assertLess(len(text), 250)
        stranger.cookie = f"bspnow_{urlsplit(self.base).port}=0123"
        self.assertEqual(stranger.status("/"), 401)
        def refusals():
            path = os.path.join(self.cluster.coordinator.state_dir, "refused.log")
            with open(path, encoding="utf-8") as log:
                return [line for line in log if 'reason="there is no session' in line]
        wait_until(lambda: len(refusals()) >= 5, "they are written down", COMMAND_S)
        refused = refusals()
        self.assertRegex(refused[0], 'user="" from="127.0.0.1:[0-9]+" call=page outcome=una')

    def test_ticket_opens_a_session_once(self):
        browser = Browser(self.base)
        url = self.url()
        cookie = browser.open(url)
        for word in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"):
            self.assertIn(word, cookie)
        self.assertNotIn("Secure", cookie)
        with browser.get("/") as answer:
            self.assertEqual(answer.status, 200)
            policy = answer.headers["Content-Security-Policy"]
            self.assertEqual(answer.headers["Cache-Control"], "no-store")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(Browser(self.base).status(url.removeprefix(self.base)), 401)
        with browser.get(url.removeprefix(self.base)) as answer:  # Its own browser goes on.
            self.assertEqual((answer.status, answer.headers["Set-Cookie"]), (303, None))
        audit = os.path.join(self.cluster.coordinator.state_dir, "audit.log")
        def said():
            with open(audit, encoding="utf-8") as file:
                return file.read()
        wait_until(lambda: "OpenPage" in said(), "the call for the ticket is written down")
        self.assertNotIn(url.rpartition("=")[2], said())

    def test_shows_files_of_its_own_only_and_changes_nothing(self):
        browser = opened(self.cluster)
        for path in ("/page.js", "/page.css"):
            self.assertEqual(browser.status(path), 200)
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page.js/",
                     "/page"):
            self.assertEqual(browser.status(path), 404)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            self.assertEqual(browser.status("/", method), 405)
        self.assertEqual(browser.status("/events?job=x"), 400)

    def test_session_ends_with_the_token_that_opened_it(self):
        variables = {"BSP_TOKEN_FILE": self.cluster.token_file("eve", "read")}
        browser = opened(self.cluster, variables=variables)
        stream = browser.events()
        self.assertEqual(next(stream)[1]["user"], "eve")
        path = os.path.join(self.cluster.coordinator.state_dir, "tokens")
        with open(path, encoding="ascii") as file:
            kept = [line for line in file if " eve " not in line]
        with open(path, "w", encoding="ascii") as file:
            file.writelines(kept)
        wait_until(lambda: browser.status("/") == 401, "the session is over")
        for _ in stream:  # And so does what was open.
            pass

    # ---- Who sees what -----------------------------------------------------------------------

    def test_only_the_owner_sees_arguments_and_output(self):
        job = self.cluster.submit("-n", 1, LINES, 1, SECRET, variables=self.anna)
        self.cluster.bsp("wait", job, variables=self.anna, check=False)
        path = f"/events?job={job}"
        owner = opened(self.cluster, variables=self.anna)
        administrator = opened(self.cluster)
        for browser in (owner, administrator):
            shown = browser.first("job", path)
            self.assertIn(SECRET, [text_of(word) for word in shown["spec"]["arguments"]])
            self.assertNotIn("error", browser.first("output", path))
        guest = opened(self.cluster, variables=self.guest)
        shown = guest.first("job", path)
        self.assertEqual(text_of(shown["spec"]["user"]), "anna")
        self.assertNotIn("arguments", shown["spec"])
        self.assertIn("may not read output", guest.first("output", path)["error"])
        other = {"BSP_TOKEN_FILE": self.cluster.token_file("otto", "read,submit")}
        stranger = opened(self.cluster, variables=other)
        self.assertIn("is of user anna", stranger.first("output", path)["error"])
        listed = json.dumps([stranger.first("jobs"), stranger.first("job", path)])
        self.assertNotIn(base64.b64encode(SECRET.encode()).decode(), listed)
        self.assertEqual(owner.first("about")["user"], "anna")
        self.assertFalse(owner.first("about")["administrator"])
        self.assertTrue(administrator.first("about")["administrator"])

    def test_unknown_job_is_named(self):
        error = opened(self.cluster).first("job", "/events?job=1000000")["error"]
        self.assertIn("1000000", error)

    # ---- A job that is watched ---------------------------------------------------------------

    def test_job_is_watched_while_its_worker_is_killed(self):
        enduring = Enduring(nprocs=4, supersteps=100, program="mixed")
        job = enduring.submit(self.cluster, "--checkpoint=every=10", "--per-node", 2)
        browser = opened(self.cluster)
        marks, output, resumed, killed, supersteps = set(), "", False, False, 0
        for name, value in browser.events(f"/events?job={job}"):
            if name == "series":
                marks |= {mark[0] for mark in value["marks"]}
                supersteps += sum(stretch[2] for stretch in value["stretches"])
                if "checkpoint" in marks and not killed:
                    self.cluster.workers["w2"].kill()
                    killed = True
            elif name == "output":
                output += "".join(text_of(line["text"]) for line in value["lines"]
                                  if line["stream"] == "STDOUT")
            elif name == "job" and killed:
                resumed |= any(loss.get("resumed") for loss in value.get("losses", []))
                if self.cluster.workers["w2"].was_killed:
                    self.start_again()
                if value["state"] == "SUCCEEDED" and marks == {"checkpoint", "recovery"}:
                    break
        self.assertTrue(resumed)
        self.assertGreater(supersteps, 0)
        enduring.check_end(self.cluster, job)
        lines = Counter(output.splitlines())
        self.assertGreater(len(lines), 0)
        self.assertLessEqual(lines, Counter(self.cluster.bsp("logs", job).stdout.splitlines()))

    def start_again(self):
        self.cluster.workers["w2"].start()
        self.cluster.await_workers(2)

    # ---- Who keeps it busy -------------------------------------------------------------------

    def silent(self, first=b""):
        """A connection that sends no more than that."""
        connection = self.enterContext(socket.create_connection(
            tuple(self.address.rsplit(":", 1)), timeout=COMMAND_S))
        connection.sendall(first)
        return connection

    def test_who_is_slow_is_given_up(self):
        for connection in [self.silent(b"GET / HTTP/1.1\r\nX: ") for _ in range(30)]:
            self.assertEqual(connection.recv(1), b"")
        self.assertEqual(opened(self.cluster).status("/"), 200)

    def test_long_request_is_refused(self):
        browser = opened(self.cluster)
        browser.cookie = "x=" + 9000 * "x"
        self.assertEqual(browser.status("/"), 431)

    def test_one_user_leaves_streams_for_others(self):
        browser = opened(self.cluster, variables=self.anna)
        streams = [browser.events() for _ in range(8)]
        for stream in streams:
            next(stream)
        self.assertEqual(browser.status("/events"), 429)
        self.assertEqual(opened(self.cluster).first("about")["administrator"], True)
        self.assertEqual(browser.status("/"), 200)
        for stream in streams:
            stream.close()
        wait_until(lambda: browser.status("/events") == 200, "streams that were left are free")


class TlsPageTest(unittest.TestCase):
    def certs(self, *arguments):
        subprocess.run([self.path("bsp"), "certs", *arguments], check=True,
                       stdout=subprocess.DEVNULL, timeout=COMMAND_S)

    def path(self, name):
        return os.path.join(self.directory, name)

    def test_page_is_encrypted_with_the_coordinators_certificate_as_it_is_now(self):
        self.directory = self.enterContext(scratch_directory())
        os.symlink(os.path.abspath(path_of("bsprun")), self.path("bsp"))
        self.certs("init", self.path("ca"))
        for role, *host in (("coordinator", "--host", "127.0.0.1"), ("client",)):
            self.certs("issue", self.path("ca"), "--role", role, "--name", "anna", *host,
                       "--out", self.path(role))
        os.environ["BSP_TLS"] = self.path("client")
        self.addCleanup(os.environ.pop, "BSP_TLS")
        cluster = self.enterContext(Cluster(workers=0, coordinator_options=[
            "--tls", self.path("coordinator"), "--web", "127.0.0.1:0"]))
        url = json.loads(cluster.bsp("web", "--json").stdout)["url"]
        browser = Browser(url.partition("/open")[0], ca_file=self.path("ca/ca.crt"))
        self.assertIn("Secure", browser.open(url))
        self.assertIn("version", browser.first("about"))
        before = self.certificate(url)
        self.certs("rotate", self.path("coordinator"), "--ca", self.path("ca"))
        self.assertNotEqual(self.certificate(url), before)
        self.assertEqual(browser.status("/"), 200)
        with socket.create_connection(self.host_port(url), timeout=COMMAND_S) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            try:
                self.assertNotIn(b"HTTP/1.1", plain.recv(100))
            except ConnectionResetError:
                pass

    @staticmethod
    def host_port(url):
        parts = urlsplit(url)
        return parts.hostname, parts.port

    def certificate(self, url):
        return ssl.get_server_certificate(self.host_port(url))


class NoPageTest(unittest.TestCase):
    def test_without_web_there_is_none_and_bsp_says_how_to_get_it(self):
        with Cluster(workers=0) as cluster:
            done = cluster.bsp("web", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--web", done.stderr)


if __name__ == "__main__":
    unittest.main()
