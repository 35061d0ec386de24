// The page in a browser, opened from disk.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import * as models from "./models.mjs";

const { digits } = models;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(async () => {
  await browser?.close();
  rmSync(models.folder, { recursive: true, force: true });
});

/** Opens a page; the test fails if it asks for anything but itself, or says anything on the console. */
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: options.axe === true, ...options.context });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("dialog", (dialog) => said.push(`dialog ${dialog.message()}`));
  page.on("request", (request) => request.url().startsWith("file://") && request.url().endsWith(".html") ? undefined : said.push(`request ${request.url()}`));
  await page.goto(`file://${path}`);
  await page.waitForSelector("html[data-ready]");
  return { page, said, close: () => context.close() };
}

async function setStage(page, stage) {
  await page.$eval("#stage", (slider, s) => {
    slider.value = String(s);
    slider.dispatchEvent(new Event("input"));
  }, stage);
  await page.waitForSelector(`html[data-stage="${stage}"]`);
}

/** What a panel shows: its text, its drawings and its canvases. */
const contents = (page, id) =>
  page.$eval(`#${id}`, (panel) => panel.innerHTML + [...panel.querySelectorAll("canvas")].map((c) => c.toDataURL()).join());

const pages = {};
before(() => {
  for (const kind of ["digits", "bareDigits", "hostile", "tasks", "stream", "regression"]) pages[kind] = models[`${kind}Page`]();
});

test("every kind of model opens from disk without network and without a word on the console", async () => {
  for (const path of Object.values(pages)) {
    const { page, said, close } = await open(path);
    if (await page.$("#stage:visible")) await setStage(page, 1);
    assert.deepEqual(said, [], path);
    assert.ok((await page.$$("main section")).length >= 4);
    await close();
  }
});

test("the slider changes every panel", async () => {
  const { page, close } = await open(pages.digits);
  const ids = await page.$$eval("main section", (sections) => sections.map((s) => s.id));
  assert.deepEqual(ids, ["path", "sharing", "mistakes", "optimality"]);
  const [before, headline] = [await Promise.all(ids.map((id) => contents(page, id))), await page.textContent(".headline")];
  await setStage(page, 2);
  for (const [i, id] of ids.entries()) assert.notEqual(await contents(page, id), before[i], id);
  assert.notEqual(await page.textContent(".headline"), headline);
  assert.match(await page.textContent(".stage-text"), /^2 features, error \d/);
  await page.click("text=Model's own");
  await page.waitForFunction((text) => document.querySelector(".headline").textContent === text, headline);
  await close();
});

test("the errors of the page are those of evaluate", async () => {
  const { page, close } = await open(pages.digits);
  const evaluated = JSON.parse(execFileSync(process.env.SHARELEARN, ["evaluate", `${models.folder}/digits.shl`, digits, "--features", "3", "--report", "-"], { encoding: "utf8" }));
  const stage = await page.evaluate(() => {
    const all = JSON.parse(document.getElementById("data").textContent);
    const at = all.stages.findIndex((s) => s.features === 3);
    return all.data.stages[at];
  });
  assert.ok(Math.abs(stage.error - evaluated.error) < 1e-12);
  assert.ok(Math.abs(stage.loss - evaluated.log_loss) < 1e-9);
  const numbers = (text, Type) => new Type(Uint8Array.from(Buffer.from(text, "base64")).buffer);
  const [truth, predicted, weight] = [numbers(stage.cells.truth, Uint16Array), numbers(stage.cells.predicted, Uint16Array), numbers(stage.cells.weight, Float32Array)];
  const confusion = evaluated.confusion.map((row) => row.map(() => 0));
  truth.forEach((t, i) => (confusion[t][predicted[i]] = weight[i]));
  assert.deepEqual(confusion, evaluated.confusion);
  await close();
});

test("a click on a cell of the confusion matrix shows its rows", async () => {
  const { page, close } = await open(pages.digits);
  await setStage(page, 0);
  assert.equal(await page.$$eval("#mistakes .behind .card", (cards) => cards.length), 0);
  const canvas = page.locator("#mistakes .matrix canvas");
  const box = await canvas.boundingBox();
  await canvas.click({ position: { x: box.width - 8, y: box.height - 8 } });
  assert.match(await page.textContent("#mistakes .behind h3"), /^\d read as \d: [\d,]+ of \d+ rows$/);
  await page.click("#mistakes .confusions button");
  const chosen = await page.textContent("#mistakes .confusions button");
  assert.equal(await page.textContent("#mistakes .behind h3"), chosen);
  assert.ok((await page.$$("#mistakes .behind .card canvas")).length > 0);
  const [, truth, answer] = chosen.match(/^(\d) read as (\d)/);
  for (const text of await page.$$eval("#mistakes .behind .card p", (all) => all.map((p) => p.textContent))) {
    assert.match(text, new RegExp(`^${truth} read as ${answer} `));
  }
  await close();
});

test("names from the data stay text", async () => {
  const { page, said, close } = await open(pages.hostile);
  assert.deepEqual(said, []);
  assert.ok(!(await page.title()).includes("taken"));
  assert.equal((await page.$$("main img, main script, main b b, header img")).length, 0);
  assert.ok((await page.textContent("#sharing")).includes(models.hostile));
  assert.ok((await page.textContent("#mistakes")).includes(models.hostile));
  await close();
});

test("the command of the page repeats the run", async () => {
  for (const [name, train] of [["digits", digits], ["tasks", `${models.folder}/tasks.csv`]]) {
    const { page, close } = await open(pages[name]);
    const words = (await page.textContent("#optimality pre")).split(" ").slice(1);
    words.splice(words.indexOf("TRAIN"), 1, train, ...(name === "tasks" ? ["--task-column", "task"] : []));
    execFileSync(process.env.SHARELEARN, [...words, "--quiet", "-o", "again.shl"], { cwd: models.folder });
    assert.ok(readFileSync(`${models.folder}/again.shl`).equals(readFileSync(`${models.folder}/${name}.shl`)), name);
    await close();
  }
});

test("panels say which file they miss", async () => {
  const { page, close } = await open(pages.bareDigits);
  for (const [id, option] of [["path", "--data"], ["path", "--fit"], ["sharing", "--data"], ["mistakes", "--data"], ["optimality", "--fit"]]) {
    const notes = await page.$$eval(`#${id} .missing`, (all) => all.map((note) => note.textContent).join());
    assert.ok(notes.includes(option), `${id} ${option}`);
  }
  await close();
});

test("the keyboard reaches and moves everything", async () => {
  const { page, close } = await open(pages.digits);
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.textContent));
  }
  for (const name of ["Skip to the figures", "Path", "stage", "blocks", "Command"]) assert.ok(reached.has(name), name);
  await page.focus("#stage");
  const words = await page.getAttribute("#stage", "aria-valuetext");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((text) => document.getElementById("stage").getAttribute("aria-valuetext") !== text, words);
  await page.focus("#mistakes .matrix canvas");
  const first = await page.textContent("#mistakes .readout");
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.textContent("#mistakes .readout"), first);
  await page.keyboard.press("Enter");
  assert.equal(await page.textContent("#mistakes .behind h3"), await page.textContent("#mistakes .readout"));
  await close();
});

test("tasks, streams and regressions have their panels", async () => {
  const seen = async (path, id) => {
    const { page, close } = await open(path);
    const text = await page.textContent(`#${id}`);
    await close();
    return text;
  };
  assert.match(await seen(pages.tasks, "levels"), /level 1.*level 3|Levels, from shared to single/s);
  assert.match(await seen(pages.stream, "stream"), /Cumulative mistakes/);
  assert.match(await seen(pages.regression, "mistakes"), /Largest errors/);
});

test("1,000 classes and 300 features: below 5 MB, open within 2 seconds", async () => {
  const path = models.largePage();
  assert.ok(statSync(path).size < 5e6, `${statSync(path).size} bytes`);
  let least = Infinity; // of three, as other programs may be running
  for (let i = 0; i < 3; ++i) {
    const begun = performance.now();
    const { page, said, close } = await open(path);
    least = Math.min(least, (performance.now() - begun) / 1000);
    await setStage(page, 0);
    assert.deepEqual(said, []);
    await close();
  }
  console.log(`# ${statSync(path).size} bytes, open after ${least.toFixed(2)} s`);
  assert.ok(least < 2, `${least} s`);
});

test("no fault that axe-core calls serious, in light and in dark, on a screen and on a phone", async () => {
  const phone = { viewport: { width: 390, height: 800 } };
  const dark = { colorScheme: "dark" };
  const cases = [[pages.digits, {}], [pages.digits, phone], [pages.tasks, dark], [pages.stream, {}], [pages.regression, dark], [pages.bareDigits, phone]];
  for (const [path, context] of cases) {
    const { page, close } = await open(path, { axe: true, context });
    await page.evaluate(axe);
    const result = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
    const serious = result.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`), [], path);
    await close();
  }
});

test("nothing is wider than a phone", async () => {
  for (const path of Object.values(pages)) {
    const { page, close } = await open(path, { context: { viewport: { width: 390, height: 800 } } });
    const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(content <= screen, `${path}: ${content} > ${screen}`);
    await close();
  }
});
