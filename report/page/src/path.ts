// The path of the model: error and loss against its size, and the slider that chooses a stage.
import { lineChart, type Point, type Series } from "./charts";
import { asNumber, type Json, type JsonObject, type Page } from "./data";
import { columnWidth, h, missing, panel, percent, short, size, tile } from "./dom";

/** Position of a stage or of a round of the fit report on the x axis. */
const stageX = (page: Page, s: number) =>
  page.axis === "lambda" ? page.stages[s].parameter : page.axis === "level" ? page.stages[s].number + 1 : page.stages[s].features;
const roundX = (page: Page, round: JsonObject) =>
  asNumber(round[page.axis === "lambda" ? "lambda" : page.axis === "level" ? "round" : "features_used"]);

const axisName: Record<Page["axis"], string> = { features: "features", lambda: "lambda", level: "level", none: "" };

export const isRegression = (page: Page) => page.outputsAre === "value";
export const errorText = (page: Page, error: number) => (isRegression(page) ? short(error) : percent(error));
export const errorName = (page: Page) => (isRegression(page) ? "root mean square error" : "error");

/** The 95% interval of Wilson for a fraction of n. */
export function interval(fraction: number, n: number): [number, number] {
  const z = 1.96;
  const centre = (fraction + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((fraction * (1 - fraction)) / n + (z * z) / (4 * n * n));
  return [centre - half, centre + half];
}

function roundSeries(page: Page, key: string): Point[] {
  return (page.fit?.rounds ?? []).flatMap((round) => {
    const [x, y] = [roundX(page, round), asNumber(round[key])];
    return x === null || y === null ? [] : [{ x, y }];
  });
}

function crossValidation(page: Page): Point[] {
  const cv = page.fit?.cross_validation;
  const band = (means: Json[], errors: Json | undefined, xOf: (i: number) => number | null): Point[] =>
    means.flatMap((mean, i) => {
      const [x, y, error] = [xOf(i), asNumber(mean), asNumber(Array.isArray(errors) ? errors[i] : undefined)];
      if (x === null || y === null) return [];
      return [error === null ? { x, y } : { x, y, low: Math.max(0, y - error), high: y + error }];
    });
  if (Array.isArray(cv)) {
    // One point per number of features; onevsrest counts them per class, and begins with none.
    const rounds = page.fit!.rounds;
    const perClass = (i: number) => (i === 0 ? 0 : rounds[i - 1] ? asNumber(rounds[i - 1].features_used) : null);
    return band(cv, page.fit!.cross_validation_standard_error, page.fit!.method === "onevsrest" ? perClass : (i) => i + 1);
  }
  if (!cv || typeof cv !== "object" || !Array.isArray(cv.mean)) return [];
  const xs = Array.isArray(cv.lambda) ? cv.lambda : [];
  return band(cv.mean, cv.standard_error, (i) => asNumber(xs[i]));
}

function errorSeries(page: Page): Series[] {
  const onData: Point[] = (page.data?.stages ?? []).map((stage, s) => {
    const [low, high] = isRegression(page) ? [undefined, undefined] : interval(stage.error, stage.weight);
    return { x: stageX(page, s), y: stage.error, low, high };
  });
  return [
    { name: "training", colour: "series-1", dash: "2,3", points: roundSeries(page, "train_error") },
    { name: "validation", colour: "series-2", dash: "8,3", points: roundSeries(page, "validation_error") },
    { name: "test of the fit", colour: "series-3", dash: "8,3,2,3", points: roundSeries(page, "test_error") },
    { name: crossValidation(page).some((p) => p.low !== undefined) ? "cross-validation, ± 1 standard error" : "cross-validation", colour: "series-4", dash: "5,3", points: crossValidation(page) },
    { name: page.data ? `data of this page, 95% interval` : "", colour: "series-5", points: onData },
  ];
}

function lossSeries(page: Page): Series[] {
  const onData = (page.data?.stages ?? []).flatMap((stage, s) => (stage.loss === null ? [] : [{ x: stageX(page, s), y: stage.loss }]));
  return [
    { name: "training loss", colour: "series-1", dash: "2,3", points: roundSeries(page, "loss") },
    { name: "log loss, data of this page", colour: "series-5", points: onData },
  ];
}

/** The bar that stays in view, with the slider. */
export function stageBar(page: Page, change: (stage: number) => void): { element: HTMLElement; show: (s: number) => void } {
  const slider = h("input", { type: "range", id: "stage", min: 0, max: page.stages.length - 1, step: 1, value: page.chosen });
  const text = h("output", { for: "stage", class: "stage-text" });
  slider.addEventListener("input", () => change(Number(slider.value)));
  const reset = h("button", { type: "button" }, "Model's own");
  reset.addEventListener("click", () => {
    slider.value = String(page.chosen);
    change(page.chosen);
  });
  const label = page.axis === "level" ? "Levels used" : page.axis === "lambda" ? "Point of the path" : "Features used";
  const element = h("div", { class: "stage-bar", role: "group", "aria-label": "Stage of the model" }, h("label", { for: "stage" }, label), slider, reset, text);
  element.hidden = page.stages.length < 2;
  const show = (s: number) => {
    slider.setAttribute("aria-valuetext", stageWords(page, s));
    text.textContent = stageWords(page, s);
    reset.disabled = s === page.chosen;
  };
  return { element, show };
}

export function stageWords(page: Page, s: number): string {
  const stage = page.stages[s];
  const features = `${stage.features} feature${stage.features === 1 ? "" : "s"}`;
  const place = page.axis === "level" ? `${stage.number + 1} of ${page.stageCount} levels, ${features}` : page.axis === "lambda" ? `lambda ${short(stage.parameter)}, ${features}` : features;
  const error = page.data ? `, ${errorName(page)} ${errorText(page, page.data.stages[s].error)}` : "";
  return place + error;
}

/** Figures of the stage: how good, how large, how costly. */
function tiles(page: Page, s: number): HTMLElement {
  const stage = page.stages[s];
  const shown: HTMLElement[] = [];
  if (page.data) {
    const { error, loss, weight } = page.data.stages[s];
    const [low, high] = interval(error, weight);
    shown.push(tile(errorText(page, error), `${errorName(page)} on the data`, isRegression(page) ? "" : `95%: ${percent(low)} to ${percent(high)}`));
    if (loss !== null) shown.push(tile(short(loss), "log loss", "0 is best"));
  }
  shown.push(tile(short(stage.features), "features", `${short(stage.columnsRead)} columns read${page.columns ? ` of ${short(page.columns)}` : ""}`));
  if (stage.multiplyAdds !== undefined) shown.push(tile(short(stage.multiplyAdds), "multiply-adds", "per prediction"));
  shown.push(tile(size(stage.bytes), "size", stage.weights === undefined ? "with all that learning needs" : `${short(stage.weights)} weights`));
  return h("dl", { class: "tiles" }, ...shown);
}

export function pathPanel(page: Page): { element: HTMLElement; show: (s: number) => void } {
  const box = h("div", {});
  const notes = h("div", {});
  if (!page.data) notes.append(missing("Errors on data of your own are missing: give --data FILE with labelled rows that were not trained on."));
  if (!page.fit) notes.append(missing("Training, validation and cross-validation curves are missing: give --fit REPORT.json, the file of fit --report."));
  const element = panel("Path", "How good is it, and how many features are needed?", box, notes);
  const show = (s: number) => {
    const wide = Math.max(300, box.clientWidth || 640);
    const width = columnWidth(wide, Math.max(380, wide / 3));
    const common = { x: axisName[page.axis], logX: page.axis === "lambda", reverseX: page.axis === "lambda", wholeX: page.axis === "level", at: stageX(page, s), width };
    const charts: HTMLElement[] = [];
    const errors = errorSeries(page);
    const losses = lossSeries(page);
    if (page.axis !== "none" && errors.some((e) => e.points.length)) {
      charts.push(lineChart({ ...common, label: `${isRegression(page) ? "Root mean square error" : "Error"} against ${axisName[page.axis]}`, y: errorName(page), percentY: !isRegression(page), error: !isRegression(page), series: errors }));
    }
    if (page.axis !== "none" && losses.some((e) => e.points.length)) {
      charts.push(lineChart({ ...common, label: `Loss against ${axisName[page.axis]}`, y: "loss", series: losses }));
    }
    box.replaceChildren(tiles(page, s), h("div", { class: "charts" }, ...charts));
  };
  return { element, show };
}
