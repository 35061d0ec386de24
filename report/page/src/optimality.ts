// How well each solution was solved, what it took, and how to repeat the run.
import { lineChart, type Point } from "./charts";
import { asNumber, isObject, type Json, type JsonObject, type Page } from "./data";
import { bar, columnWidth, h, missing, panel, percent, shortened, short, size, table, tile } from "./dom";

const charts: [key: string, title: string, log: boolean][] = [
  ["gap", "Gap: bound on the distance to the optimum", true],
  ["gradient_norm", "Norm of the gradient (KKT residual)", true],
  ["expected_decrease", "What a further Newton step would gain", true],
  ["iterations", "Iterations of the solver", false],
  ["steps", "Steps of the solver", false],
];

function points(rounds: JsonObject[], key: string, log: boolean): Point[] {
  return rounds.flatMap((round, i) => {
    const y = asNumber(round[key]);
    return y === null || (log && y <= 0) ? [] : [{ x: asNumber(round.round) ?? i + 1, y }];
  });
}

/** Seconds of each round: the report counts from the start. Where rounds are not learned one by one, the first has all of them. */
function secondsPerRound(rounds: JsonObject[]): Point[] {
  let before = 0;
  return points(rounds, "seconds", false).map(({ x, y }) => {
    const own = Math.max(0, y - before);
    before = y;
    return { x, y: own };
  });
}

const text = (value: Json): string => (Array.isArray(value) ? value.map(text).join(",") : typeof value === "object" ? JSON.stringify(value) : String(value));
const quoted = (value: string) => (/^[\w.,:+/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);

function command(page: Page, method: string, options: JsonObject): string {
  const chosenByFolds = Boolean(options.phi);
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === null) return [];
    // Values that cross-validation chose stand in the report; given themselves, they leave nothing to choose.
    if (chosenByFolds && ["folds", "phi-scales", "anneal"].includes(name)) return [];
    if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
    return [`--${name} ${quoted(text(value))}`];
  });
  if (method === "transfer") return ["sharelearn", "transfer", "MODEL", "TRAIN", ...(page.online ? [] : words)].join(" "); // an online cascade keeps its options
  return ["sharelearn", "fit", quoted(method), "TRAIN", ...(page.online ? ["--online"] : []), ...words].join(" ");
}

/** What cross-validation tried, where it was not a path. */
function trials(page: Page): HTMLElement | null {
  const tried = Array.isArray(page.fit?.cross_validation) ? page.fit.cross_validation.filter(isObject) : [];
  if (!tried.length) return null;
  const error = (trial: JsonObject) => asNumber(trial.error) ?? NaN;
  const largest = Math.max(...tried.map(error), 1e-12);
  const named = (trial: JsonObject) => Object.entries(trial).filter(([name]) => name !== "error").map(([name, value]) => `${name} ${numbers(value)}`).join(", ");
  const sorted = [...tried].sort((a, b) => error(a) - error(b));
  return shortened(sorted, 8, (some) => table("Tried by cross-validation, the best first", ["Value", "Error of the folds"], some.map((trial) => [named(trial), bar(error(trial) / largest, percent(error(trial), 2))])));
}

const numbers = (value: Json): string => (Array.isArray(value) ? value.map(numbers).join(", ") : typeof value === "number" ? short(value) : text(value));

export function optimalityPanel(page: Page): { element: HTMLElement; show: (s: number) => void } {
  const box = h("div", { class: "charts" });
  const element = panel("Optimality", "Was it solved well, and how can the run be repeated?", box);
  const rounds = page.fit?.rounds ?? [];
  if (!page.fit) element.append(missing("Gaps, KKT residuals, iterations, times and memory are missing: give --fit REPORT.json, the file of fit --report."));
  else {
    const data = isObject(page.fit.data) ? page.fit.data : {};
    const facts = [
      ["Training rows", asNumber(data.m), short],
      ["Columns", asNumber(data.d), short],
      ["Candidates", asNumber(page.fit.candidates), short],
      ["Seconds", asNumber(page.fit.seconds), short],
      ["Peak memory", asNumber(page.fit.peak_bytes), size],
      ["Largest lambda", asNumber(page.fit.lambda_max), short],
    ] as const;
    const shown = facts.flatMap(([name, value, show]) => (value === null ? [] : [tile(show(value), name)]));
    element.insertBefore(h("dl", { class: "tiles" }, ...shown), box);
    if (typeof page.fit.stop === "string") element.insertBefore(h("p", {}, `It ended because: ${page.fit.stop}.`), box);
    const choices = Array.isArray(page.fit.choices) ? page.fit.choices : [];
    if (choices.length) element.append(h("h3", {}, "Chosen from the data"), h("ul", {}, ...choices.map((choice) => h("li", {}, text(choice)))));
    element.append(trials(page) ?? "");
  }
  const options = page.fit && isObject(page.fit.options) ? page.fit.options : isObject(page.metadata.options) ? page.metadata.options : {};
  const method = typeof page.metadata.method === "string" ? page.metadata.method : "METHOD";
  const rows = Object.entries(options).filter(([, value]) => value !== null).map(([name, value]) => [name, text(value)]);
  const model = method === "transfer" ? ", MODEL for the model it came from" : "";
  if (rows.length) {
    element.append(
      h("h3", {}, "The command that repeats the run"),
      h("p", {}, `TRAIN stands for the training data, with the options on how it is read (such as --label-column)${model}.`),
      h("pre", { tabindex: 0, "aria-label": "Command" }, command(page, method, options)),
      h("details", {}, h("summary", {}, `Options in effect (${rows.length})`), table(`sharelearn ${page.version}`, ["Option", "Value"], rows)),
    );
  }
  const show = (s: number) => {
    const wide = Math.max(300, box.clientWidth || 640);
    const width = columnWidth(wide, 310);
    // A round makes a stage; a path that begins without features has one stage more than rounds.
    const at = page.stages[s].number + 1 - Math.max(0, page.stageCount - rounds.length);
    const add = (title: string, y: string, found: Point[], logY: boolean) =>
      lineChart({ label: title, x: "round", y, series: [{ name: title, colour: "series-5", points: found }], logY, wholeX: rounds.length <= 10, at, width, height: 200 });
    const all = charts.flatMap(([key, title, log]) => {
      const found = points(rounds, key, log);
      return found.length > 1 ? [add(title, key.replaceAll("_", " "), found, log)] : [];
    });
    const seconds = secondsPerRound(rounds);
    if (seconds.slice(1).some((p) => p.y > 0.01 * seconds[0].y)) all.push(add("Seconds per round", "seconds", seconds, false));
    const memory = points(rounds, "peak_bytes", false).map(({ x, y }) => ({ x, y: y / 1e6 }));
    if (memory.length > 1) all.push(add("Largest memory so far", "MB", memory, false));
    box.replaceChildren(...all);
  };
  return { element, show };
}
