// The page in a browser, opened from disk: digits drawn with the mouse are read.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

// The packages of the report page serve here, too.
const require = createRequire(new URL("../../report/page/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;
const address = new URL("index.html", import.meta.url).href;

/** Strokes in a square of 100: written otherwise than the samples of the page. */
const drawn = {
  0: [[[54, 20], [38, 28], [32, 50], [38, 72], [54, 80], [68, 68], [72, 46], [66, 28], [52, 20]]],
  2: [[[30, 36], [40, 20], [60, 20], [68, 36], [56, 56], [32, 80], [72, 80]]],
  3: [[[30, 22], [66, 22], [46, 44], [66, 54], [66, 72], [48, 82], [30, 76]]],
  4: [[[62, 84], [62, 16], [26, 60], [78, 60]]],
  7: [[[26, 20], [74, 20], [44, 84]]],
};

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => request.url().startsWith("file://") || said.push(`request ${request.url()}`));
  await page.goto(address);
  return { page, said, close: () => context.close() };
}

async function draw(page, strokes) {
  const { x, y, width, height } = await page.locator("#pad").boundingBox();
  for (const [first, ...rest] of strokes) {
    await page.mouse.move(x + (first[0] * width) / 100, y + (first[1] * height) / 100);
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(x + (point[0] * width) / 100, y + (point[1] * height) / 100, { steps: 4 });
    await page.mouse.up();
  }
  await page.waitForFunction(() => document.getElementById("answer").textContent !== "–");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

test("digits drawn with the mouse are read, from disk, without network and without a word on the console", async () => {
  const { page, said, close } = await open();
  for (const [digit, strokes] of Object.entries(drawn)) {
    await draw(page, strokes);
    assert.equal(await page.textContent("#answer"), digit);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/web-${digit}.png`, fullPage: true });
    const shown = await page.$$eval("#templates li", (all) => all.length);
    const stop = Number(await page.textContent("#checkpoints .final").then((text) => text.split(":")[0]));
    assert.equal(shown, stop);
    await page.click("#clear");
    await page.waitForFunction(() => document.getElementById("answer").textContent === "–");
  }
  assert.deepEqual(said, []);
  await close();
});

test("easy digits stop early, and the page shows what the exported functions give", async () => {
  const { page, close } = await open();
  await page.selectOption("#sample", "7");
  await page.waitForFunction(() => document.getElementById("answer").textContent === "7");
  const [computed, full, sum, agrees] = await page.evaluate(() => {
    const image = imageOf(strokes);
    const result = digits.predictEarly(image);
    const same = document.getElementById("templates").children.length === result.features.length;
    return [result.features.length, digits.model.features.length, digits.proba(image).reduce((a, b) => a + b, 0), same && digits.predict(image) === result.answer];
  });
  assert.ok(computed < full, `${computed} of ${full}`);
  assert.ok(Math.abs(sum - 1) < 1e-12);
  assert.ok(agrees);
  await close();
});

test("every sample is read as itself", async () => {
  const { page, close } = await open();
  const answers = await page.evaluate(() => Object.entries(samples).map(([name, lines]) => `${name} ${digits.predictEarly(imageOf(lines)).answer}`));
  for (const pair of answers) assert.equal(pair.split(" ")[0], pair.split(" ")[1], pair);
  await close();
});

test("a drawing is prepared as MNIST's images are", async () => {
  const { page, close } = await open();
  const places = await page.evaluate(() =>
    [[[[10, 10], [60, 200]]], [[[200, 90], [210, 120], [190, 150]]], [[[5, 140], [275, 150]]]].map((lines) => {
      const image = imageOf(lines);
      const ink = [...image.keys()].filter((p) => image[p] > 0);
      const [xs, ys] = [ink.map((p) => p % 28), ink.map((p) => Math.floor(p / 28))];
      const mass = image.reduce((a, b) => a + b, 0);
      const mean = (at) => ink.reduce((sum, p, i) => sum + image[p] * at[i], 0) / mass;
      return { side: Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) + 1, x: mean(xs), y: mean(ys) };
    }),
  );
  for (const { side, x, y } of places) {
    assert.ok(side >= 19 && side <= 21, `${side}`);
    assert.ok(Math.abs(x - 14) < 0.15 && Math.abs(y - 14) < 0.15, `${x} ${y}`);
  }
  await close();
});

test("axe-core finds no serious fault, and nothing is wider than a phone", async () => {
  for (const options of [{}, { colorScheme: "dark" }, { viewport: { width: 390, height: 800 } }]) {
    const { page, close } = await open({ bypassCSP: true, ...options });
    await draw(page, drawn[7]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/web-${options.colorScheme ?? options.viewport?.width ?? "light"}.png`, fullPage: true });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
    assert.deepEqual(violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id), []);
    const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(content <= screen, `${content} > ${screen}`);
    await close();
  }
});
