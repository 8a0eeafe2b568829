// Writes dashboards/*.json, and made.sha256: digests of these and of all that they are made of, by
// which tests/deploy finds that one was changed without the other.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cluster } from "./cluster.js";
import { controlPlane } from "./control_plane.js";
import { job } from "./job.js";

for (const builder of [cluster(), controlPlane(), job()]) {
  const dashboard = builder.build();
  const path = `dashboards/${dashboard.uid}.json`;
  writeFileSync(path, JSON.stringify(dashboard, null, 1) + "\n");
  console.log(path);
}

const inputs = ["package-lock.json", "package.json", "tsconfig.json"];
const files = [
  ...inputs, ...["dashboards", "src"].flatMap((at) => readdirSync(at).map((name) => `${at}/${name}`)),
].sort();
const digest = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
writeFileSync("made.sha256", files.map((path) => `${digest(path)}  ${path}\n`).join(""));
