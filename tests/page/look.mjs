// What tests/page/run does in a browser: node look.mjs URL JOB WAITING_JOB DIRECTORY WORKER
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const page_modules = new URL("../../coordinator/web/page/package.json", import.meta.url);
const { chromium } = createRequire(page_modules)("playwright-core");

const [url, job, waiting, out, victim] = process.argv.slice(2);
const base = new URL(url).origin;
const WAIT = { timeout: 300_000 };
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const FRAME_MS = 50;

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage({ viewport: DESKTOP, colorScheme: "light" });
const complaints = [];
page.on("console", (message) => {
  if (["error", "warning"].includes(message.type())) complaints.push(message.text());
});
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("request", (request) => {
  if (!request.url().startsWith(base) && !request.url().startsWith("data:"))
    complaints.push(`asks elsewhere: ${request.url()}`);
});
await page.addInitScript(() => {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries())
      window.longTasks.push([Math.round(task.startTime), task.duration]);
  }).observe({ type: "longtask", buffered: true });
});

async function shows(text) {
  await page.getByText(text).first().waitFor(WAIT);
  console.log(`shows: ${text}`);
}

async function picture(name) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels wider than the screen`);
  await page.screenshot({ path: `${out}/${name}.png`, fullPage: true });
}

/** Where the focus is, in words. */
const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

// ---- A session, and the list by keyboard ---------------------------------------------------------

// Before it knows anything it does not say that there is nothing.
let pass_events;
const may_pass = new Promise((resolve) => { pass_events = resolve; });
await page.route("**/events*", async (route) => {
  await may_pass;
  await route.continue();
});
await page.goto(url);
assert.equal(page.url(), `${base}/`);
await shows("◌ waiting for the coordinator");
assert.deepEqual(await page.getByText(/Nothing|No worker/).filter({ visible: true }).all(), []);
await picture("begin-desktop-light");
pass_events();
await shows("● live");
await shows("3 of 3 nodes up");
await shows(/too-large/);
await shows(/needs 60 slots/);
await picture("list-desktop-light");
await page.keyboard.press("Tab");
assert.match(await focused(), /mixed/);
await page.keyboard.press("ArrowDown");
assert.match(await focused(), /too-large/);
await page.keyboard.press("Enter");
await shows(`Job ${waiting}: too-large`);
await page.keyboard.press("Escape");
await page.waitForFunction(() => location.hash === "");
assert.match(await focused(), /too-large/);
await page.keyboard.press("ArrowUp");
await page.keyboard.press("Enter");

// ---- A job that loses a worker -------------------------------------------------------------------

await shows(`Job ${job}: mixed`);
await shows("▶ running");
await shows("Where the time goes");
await shows(/The last is of superstep/);
await shows(/0: superstep/);
console.log("kill a worker");
await shows(new RegExp(`worker ${victim} lost`));
await page.locator(".losses li").first().waitFor(WAIT);
await shows("✕ lost");
await picture("lost-desktop-light");
console.log("start it again");
await shows(/resumed from superstep \d+ after/);
await shows("3 of 3 nodes up");
await page.waitForTimeout(4000);

// ---- How it looks, and how it is read -------------------------------------------------------------

await page.locator(".charts").focus();
await page.keyboard.press("Home");
const first = await page.locator(".readout").textContent();
await page.keyboard.press("ArrowRight");
assert.notEqual(await page.locator(".readout").textContent(), first);
assert.match(first, /\d+ supersteps; computing \d/);

for (const [device, size] of [["desktop", DESKTOP], ["phone", PHONE]])
  for (const colorScheme of ["light", "dark"]) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(1500);
    await picture(`job-${device}-${colorScheme}`);
  }
await page.goto(`${base}/#`);
await page.waitForTimeout(1500);
await picture("list-phone-dark");
await page.setViewportSize(DESKTOP);
await picture("list-desktop-dark");

// ---- Frames --------------------------------------------------------------------------------------

await page.emulateMedia({ colorScheme: "light" });
await page.goto(`${base}/#job=${job}`);
await shows("Where the time goes");
await page.waitForTimeout(3000);
const from = await page.evaluate(() => performance.now());
await page.waitForTimeout(15_000);
const tasks = await page.evaluate(() => window.longTasks);
const slow = tasks.filter(([start, took]) => start > from && took > FRAME_MS).map(([, ms]) => ms);
console.log(`tasks of more than ${FRAME_MS} ms in 15 s: ${slow.length} ${slow.join(" ")}`);
await browser.close();
assert.deepEqual(slow, []);
assert.deepEqual(complaints, []);
