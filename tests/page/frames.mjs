// What tests/page/run --long does in a browser: node frames.mjs URL JOB PROFILE DIRECTORY. Looks at a
// job while it runs, then asks on standard output for its profile, a page, and looks at that.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";

const page_modules = new URL("../../coordinator/web/page/package.json", import.meta.url);
const { chromium } = createRequire(page_modules)("playwright-core");

const [url, job, profile, out] = process.argv.slice(2);
const WAIT = { timeout: 300_000 };
const FRAME_MS = 50;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
await page.addInitScript(() => {
  window.tasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.tasks.push(task.duration);
  }).observe({ type: "longtask", buffered: true });
});

/** Since the page was opened; a browser calls a task long that takes more than 50 ms. */
async function check(what) {
  const slow = (await page.evaluate(() => window.tasks)).filter((took) => took > FRAME_MS);
  console.log(`${what}: ${slow.length} tasks of more than ${FRAME_MS} ms ${slow.join(" ")}`);
  assert.deepEqual(slow, []);
}

await page.goto(url);
await page.goto(`${new URL(url).origin}/#job=${job}`);
await page.getByText("Where the time goes").first().waitFor(WAIT);
await page.waitForTimeout(10_000);
for (let x = 500; x < 1200; x += 10) await page.mouse.move(x, 300);
await check("the job while it runs");

console.log("write the profile");
await once(process.stdin, "data");
await page.goto(`file://${profile}`);
for (let step = 0; step < 20; ++step) {
  await page.mouse.wheel(0, 100);
  await page.waitForTimeout(50);
}
await page.screenshot({ path: `${out}/profile-long.png`, fullPage: true });
await check("its profile");
await browser.close();
process.exit(0);
