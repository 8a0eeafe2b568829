// Writes dashboards/*.json.
import { writeFileSync } from "node:fs";
import { cluster } from "./cluster.js";
import { controlPlane } from "./control_plane.js";
import { job } from "./job.js";

for (const builder of [cluster(), controlPlane(), job()]) {
  const dashboard = builder.build();
  const path = `dashboards/${dashboard.uid}.json`;
  writeFileSync(path, JSON.stringify(dashboard, null, 1) + "\n");
  console.log(path);
}
