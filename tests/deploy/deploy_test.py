#!/usr/bin/env python3
"""What deploy/ says to Docker and Kubernetes fits the programs: each command line is one that the
daemon takes, ports are those of docs/containers.md, and what options point to is mounted. The
schemas are checked by check_schemas.mjs."""

import configparser
import glob
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import unittest

import yaml

sys.dont_write_bytecode = True

from harness.processes import as_ordinary_user
from harness.programs import path_of
from harness.scratch import scratch_directory

DEPLOY = "deploy"
DAEMONS = ("bsp-coordinator", "bsp-worker")
SECONDS = {"s": 1, "m": 60, "h": 3600}
ISSUED = {"ca.crt", "tls.crt", "tls.key", "revoked"}
AUTHORITY = {"ca.crt", "ca.key", "revoked"}
AUTHORITY = {"ca.crt", "ca.key", "revoked"}
# In place of bsp: makes what `bsp certs init` does, which wants no directory there, and `issue`.
CERTS = f"""#!/bin/sh
files="{" ".join(sorted(ISSUED))}"
place=$3
if [ "$2" = init ]; then
  [ ! -e "$place" ] || exit 1
  files="{" ".join(sorted(AUTHORITY))}"
else
  while [ "$1" != --out ]; do shift; done
  place=$2
fi
mkdir -p "$place"
cd "$place"
for file in $files; do echo "$$" > "$file"; done
"""
FORBIDDEN = {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount"}


def documents(path):
    with open(os.path.join(DEPLOY, path), encoding="utf-8") as file:
        return [each for each in yaml.safe_load_all(file) if each]


def compose():
    return documents("compose/compose.yaml")[0]


def base():
    return [each for name in ("coordinator", "worker", "network-policy")
            for each in documents(f"kubernetes/base/{name}.yaml")]


def stateful_sets():
    return [each for each in base() if each["kind"] == "StatefulSet"]


def pods():
    job = documents("kubernetes/examples/job.yaml")[0]
    return [each["spec"]["template"]["spec"] for each in [*stateful_sets(), job]]


def unit(daemon):
    """What systemd is told of it; of a line that comes again, the last."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read(f"{DEPLOY}/debian/bspnow-{daemon}.service")
    return parser


def options(command):
    return dict(word.lstrip("-").split("=", 1) for word in command[1:])


def port_of(address):
    return int(address.rpartition(":")[2])


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)([smh])", text).groups()
    return int(number) * SECONDS[unit]


def documented_ports(page):
    """By role: the ports of a page in docs/."""
    with open(f"docs/{page}", encoding="utf-8") as file:
        rows = re.findall(r"^\| (\d+) \| (\w+) \|", file.read(), re.M)
    return {role: {int(port) for port, of in rows if of == role} for role in
            ("coordinator", "worker")}


def lay_out(root):
    """What the containers that issue certificates see, below `root`."""
    for directory in ("bin", "ca", "grafana", "secrets", "tls", "tmp"):
        os.mkdir(f"{root}/{directory}")
    os.symlink("/bin/true", f"{root}/bin/chown")  # Only root may.
    with open(f"{root}/bin/bsp", "w", encoding="utf-8") as file:
        file.write(CERTS)
        os.fchmod(file.fileno(), 0o755)
    with open(f"{root}/ca/ca.crt", "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o440)  # As in a Secret.


def run_in(root, command):
    """A shell and its script, with the directories of lay_out for those of the container."""
    *shell, script = command
    script = re.sub(r'(?<=[ "])/(ca|grafana|secrets|tls|tmp)\b', rf"{root}/\1", script)
    subprocess.run(as_ordinary_user([*shell, script]), check=True, timeout=60,
                   env={"PATH": f"{root}/bin:{os.environ['PATH']}", "USER": "anna"})


def run_certs(root):
    """What the service `certs` of compose does."""
    run_in(root, [word.replace("$$", "$") for word in compose()["services"]["certs"]["command"]])


def contents(root):
    """Of each file below `root` what is in it."""
    found = {}
    for directory, _, files in os.walk(root):
        for name in files:
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                found[os.path.relpath(file.name, root)] = file.read()
    return found


class DeployTest(unittest.TestCase):
    def daemons(self):
        """Name and command of each that is started anywhere."""
        commands = [(f"compose {name}", service.get("command", [""]))
                    for name, service in compose()["services"].items()]
        commands += [(f"kubernetes {each['name']}", each["command"])
                     for pod in pods() for each in pod["containers"]]
        found = [(name, command) for name, command in commands if command[0] in DAEMONS]
        self.assertEqual(len(found), 4)
        return found

    def test_daemons_take_their_command_lines(self):
        """They fail since they find no certificates, which is after all options were read. Without
        --tls it is the command line that is wrong, for good."""
        with scratch_directory() as directory:
            for name, command in self.daemons():
                words = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in command]
                words = [word.replace("$(SLOTS)", "2").replace("$(NAME)", "w1")
                         .replace("$(POD_IP)", "10.1.2.3") for word in words]
                words = [re.sub(r"=/.*", f"={directory}/nothing", word) for word in words]
                words[0] = os.path.abspath(path_of(words[0]))
                without = [word for word in words if not word.startswith("--tls=")]
                for command, status, said in ((words, 1, "nothing"),
                                              ([*words, "--fault=1"], 2, "fault"),
                                              (without, 2, "0.0.0.0:")):
                    done = subprocess.run(as_ordinary_user(command), capture_output=True,
                                          text=True, check=False, timeout=60)
                    self.assertEqual(done.returncode, status, f"{name}: {command}\n{done.stderr}")
                    self.assertIn(said, done.stderr, name)

    def test_ports_are_those_of_the_documentation(self):
        wanted = documented_ports("containers.md")
        self.assertEqual(documented_ports("operations.md"), wanted)
        listening = ("listen", "metrics", "barrier-listen", "images-port")
        for name, command in self.daemons():
            given = options(command)
            ports = {port_of(given[each]) for each in listening if each in given}
            self.assertEqual(ports, wanted[command[0].removeprefix("bsp-")], name)
        for each in stateful_sets():
            container = each["spec"]["template"]["spec"]["containers"][0]
            role = each["metadata"]["name"].removeprefix("bsp-")
            self.assertEqual({port["containerPort"] for port in container["ports"]}, wanted[role])
        for each in base():
            if each["kind"] == "Service":
                role = each["metadata"]["name"].removeprefix("bsp-")
                self.assertEqual({port["port"] for port in each["spec"]["ports"]}, wanted[role])
        everything = {port["name"] for each in stateful_sets() for port in
                      each["spec"]["template"]["spec"]["containers"][0]["ports"]} | {53}
        for each in [*base(), *documents("kubernetes/overlays/monitoring/service-monitor.yaml")]:
            if each["kind"] == "NetworkPolicy":
                rules = each["spec"].get("ingress", []) + each["spec"].get("egress", [])
                allowed = {port["port"] for rule in rules for port in rule.get("ports", [])}
                self.assertLessEqual(allowed, everything)

    def test_workers_find_a_coordinator_that_is_back_at_once(self):
        """Name servers keep for a while that a headless Service has no record. And a probe finds a
        coordinator ready seconds after it listens."""
        spec, = (each["spec"] for each in base()
                 if (each["kind"], each["metadata"]["name"]) == ("Service", "bsp-coordinator"))
        self.assertNotIn("clusterIP", spec)
        self.assertIs(spec["publishNotReadyAddresses"], True)

    def test_an_update_leaves_the_coordinator_for_the_end(self):
        """Workers let their jobs move only while there is one, and new ones know an older one."""
        strategies = {each["metadata"]["name"]: each["spec"].get("updateStrategy")
                      for each in stateful_sets()}
        self.assertEqual(strategies, {"bsp-coordinator": {"type": "OnDelete"}, "bsp-worker": None})

    def test_prometheus_scrapes_the_ports_of_the_metrics(self):
        scraped = {job["dns_sd_configs"][0]["names"][0]: job["dns_sd_configs"][0]["port"]
                   for job in documents("compose/prometheus.yml")[0]["scrape_configs"]}
        for name, port in scraped.items():
            command = compose()["services"][name]["command"]
            self.assertEqual(port_of(options(command)["metrics"]), port)
        self.assertEqual(set(scraped), {"coordinator", "worker"})

    def test_kubernetes_has_the_alerts_and_dashboards_that_compose_has(self):
        rule = documents("kubernetes/overlays/monitoring/prometheus-rule.yaml")[0]
        self.assertEqual(rule["spec"], documents("prometheus/bspnow.rules.yml")[0],
                         "make it again: its first line says how")
        listed = documents("grafana/kustomization.yaml")[0]["configMapGenerator"][0]["files"]
        self.assertEqual(sorted(listed), [f"dashboards/{name}" for name in
                                          sorted(os.listdir(f"{DEPLOY}/grafana/dashboards"))])

    def test_dashboards_were_made_of_their_sources(self):
        directory = f"{DEPLOY}/grafana"
        with open(f"{directory}/made.sha256", encoding="ascii") as file:
            made = {path: digest for digest, path in map(str.split, file)}
        found = {}
        for name in [*glob.glob("*.json", root_dir=directory),
                     *glob.glob("dashboards/*", root_dir=directory),
                     *glob.glob("src/*", root_dir=directory)]:
            with open(f"{directory}/{name}", "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(made, found, "make them again: `npm run build` in deploy/grafana")

    def assert_mounted(self, command, mounts, what):
        """`mounts`: of each directory whether it can be written."""
        for option, writes in (("state-dir", True), ("login-socket", True),
                               ("checkpoint-share", True), ("tls", False)):
            path = options(command).get(option)
            if path is None:
                continue
            inside = [mount for mount in mounts if (path + "/").startswith(mount + "/")]
            self.assertTrue(inside, f"{what}: --{option} {path} is not mounted")
            self.assertEqual(mounts[max(inside, key=len)], writes, f"{what}: --{option}")

    def test_what_options_point_to_is_mounted(self):
        for name, service in compose()["services"].items():
            if service.get("command", [""])[0] in DAEMONS:
                mounts = {directory: True for directory in service["tmpfs"]}
                for volume in service["volumes"]:
                    words = volume.split(":")
                    mounts[words[min(1, len(words) - 1)]] = words[-1] != "ro"
                self.assert_mounted(service["command"], mounts, name)
        for pod in pods():
            volumes = {volume["name"] for volume in pod["volumes"]} | {"state"}
            for container in [*pod["containers"], *pod.get("initContainers", [])]:
                mounts = {mount["mountPath"]: not mount.get("readOnly", False)
                          for mount in container["volumeMounts"]}
                self.assertLessEqual({each["name"] for each in container["volumeMounts"]}, volumes)
                if container["command"][0] in DAEMONS:
                    self.assert_mounted(container["command"], mounts, container["name"])

    def test_a_worker_may_drain_before_it_is_killed(self):
        with open(f"{DEPLOY}/debian/worker.toml", "rb") as file:
            drain_s = seconds(tomllib.load(file)["drain-timeout"])
        self.assertGreater(int(unit("worker")["Service"]["TimeoutStopSec"]), drain_s + 5)
        worker = compose()["services"]["worker"]
        self.assertGreater(seconds(worker["stop_grace_period"]),
                           seconds(options(worker["command"])["drain-timeout"]) + 5)
        for pod in pods():
            for container in pod["containers"]:
                if container["command"][0] == "bsp-worker":
                    drain_s = seconds(options(container["command"])["drain-timeout"])
                    self.assertGreater(pod["terminationGracePeriodSeconds"], drain_s + 5)

    def test_a_coordinator_may_read_for_hours_before_it_listens(self):
        """To end it meanwhile, or not to start the workers, would have it begin again."""
        self.assertEqual(unit("coordinator")["Service"]["TimeoutStartSec"], "infinity")
        check = compose()["services"]["coordinator"]["healthcheck"]
        probe, = (each["spec"]["template"]["spec"]["containers"][0]["startupProbe"]
                  for each in stateful_sets() if each["metadata"]["name"] == "bsp-coordinator")
        for patience_s in (seconds(check["start_period"]),
                           probe["periodSeconds"] * probe["failureThreshold"]):
            self.assertGreaterEqual(patience_s, 12 * SECONDS["h"])

    def test_workers_of_a_daemon_set_have_no_disruption_budget(self):
        """Kubernetes cannot count what may be away of them, and would refuse each eviction."""
        budgets = {each["metadata"]["name"] for each in base()
                   if each["kind"] == "PodDisruptionBudget"}
        overlay = documents("kubernetes/overlays/daemonset/kustomization.yaml")[0]
        patches = [yaml.safe_load(each["patch"]) for each in overlay["patches"]]
        deleted = {each["metadata"]["name"] for each in patches if isinstance(each, dict)
                   and (each["$patch"], each["kind"]) == ("delete", "PodDisruptionBudget")}
        self.assertEqual(deleted, budgets)
        self.assertTrue(budgets)

    def test_systemd_never_gives_a_daemon_up(self):
        """But for wrong settings, and a damaged journal: a network or a name server may be away for
        hours."""
        for daemon, final in (("coordinator", "2 3"), ("worker", "2")):
            self.assertEqual(unit(daemon)["Unit"]["StartLimitIntervalSec"], "0")
            self.assertEqual(unit(daemon)["Service"]["Restart"], "on-failure")
            self.assertEqual(unit(daemon)["Service"]["RestartPreventExitStatus"], final)

    def test_containers_have_no_rights(self):
        for pod in pods():
            self.assertIs(pod["automountServiceAccountToken"], False)
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            for container in [*pod["containers"], *pod.get("initContainers", [])]:
                context = container["securityContext"]
                self.assertIs(context["allowPrivilegeEscalation"], False)
                self.assertIs(context["readOnlyRootFilesystem"], True)
                self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
                self.assertEqual(set(container["resources"]["limits"]), {"cpu", "memory"})
        self.assertFalse(FORBIDDEN & {each["kind"] for each in base()})
        for name in ("coordinator", "worker"):
            service = compose()["services"][name]
            self.assertEqual((service["cap_drop"], service.get("cap_add"), service["read_only"]),
                             (["ALL"], None, True))
            self.assertNotIn("user", service)  # The image's, which is not root.
        for name, service in compose()["services"].items():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name} listens everywhere")

    def test_init_containers_may_run_again(self):
        """In the volumes as they have left them, if they fail or the pod gets another sandbox."""
        for pod in pods():
            for container in pod.get("initContainers", []):
                with scratch_directory() as root:
                    lay_out(root)
                    for _ in range(2):
                        run_in(root, container["command"])

    def test_compose_makes_what_is_secret_once(self):
        """`docker compose up` is all that there is to do; what it made before stays good."""
        made = {*(f"ca/{name}" for name in AUTHORITY), *(f"client/{name}" for name in ISSUED),
                "grafana-password"}
        with scratch_directory() as root:
            lay_out(root)
            os.mkdir(f"{root}/secrets/.ca")  # Of one that was interrupted.
            run_certs(root)
            secrets = contents(f"{root}/secrets")
            self.assertEqual(set(secrets), made)
            self.assertEqual(contents(f"{root}/grafana"),
                             {"grafana-password": secrets["grafana-password"]})
            for path in ("secrets", "secrets/grafana-password", "grafana/grafana-password"):
                self.assertFalse(os.stat(f"{root}/{path}").st_mode & 0o077, path)
            os.remove(f"{root}/secrets/client/revoked")
            run_certs(root)
            self.assertEqual(contents(f"{root}/secrets"),
                             secrets | {"client/revoked": secrets["ca/revoked"]})

    def test_compose_tells_the_daemons_what_was_revoked(self):
        with scratch_directory() as root:
            lay_out(root)
            run_certs(root)
            for role in ("coordinator", "worker"):
                self.assertEqual(set(os.listdir(f"{root}/tls/{role}/own")), ISSUED)

    def test_what_daemons_keep_stays_theirs_alone(self):
        """By default the kubelet opens each file of a volume to fsGroup whenever it mounts that. Of
        the volume's root it does so in any case: state lies below."""
        for each in stateful_sets():
            pod = each["spec"]["template"]["spec"]
            self.assertTrue(each["spec"]["volumeClaimTemplates"])
            self.assertEqual(pod["securityContext"]["fsGroupChangePolicy"], "OnRootMismatch")
            container = pod["containers"][0]
            root = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            self.assertTrue(options(container["command"])["state-dir"]
                            .startswith(root["state"] + "/"))

    def test_only_what_issues_certificates_sees_the_key_of_the_authority(self):
        seen = {name for name, service in compose()["services"].items()
                if "./secrets" in str(service.get("volumes", []))}
        self.assertEqual(seen, {"certs"})
        for pod in pods():
            for container in pod["containers"]:
                self.assertNotIn("ca", {mount["name"] for mount in container["volumeMounts"]})

    def test_all_files_are_yaml(self):
        for directory, _, files in os.walk(DEPLOY):
            for name in files:
                if name.endswith((".yaml", ".yml")):
                    path = os.path.relpath(os.path.join(directory, name), DEPLOY)
                    self.assertTrue(documents(path), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
