// Panels that only some methods have: levels of a cascade, a stream of examples, templates, transfer.
import { lineChart, type Point } from "./charts";
import { float32, isObject, type Json, type Page, type Sharing } from "./data";
import { bar, columnWidth, h, missing, panel, percent, shortened, short, table, tile } from "./dom";
import { earlyPanel } from "./early";
import { Matrix } from "./matrix";
import { templatePicture } from "./pictures";
import { weightsAt } from "./sharing";

type Shown = { element: HTMLElement; show: (s: number) => void };

function levelsPanel(page: Page): Shown {
  const levels = page.levels!;
  const k = page.outputs.length;
  const what = page.outputsAre === "tasks" ? "tasks" : "classes";
  const norms = levels.map((level) => float32(level.norms));
  const totals = page.outputs.map((_, c) => norms.reduce((sum, n) => sum + n[c], 0));
  const rows = h("div", {});
  const matrix = new Matrix("Share of each level", 520);
  const element = panel(
    "Levels",
    `How much does each level of the cascade share, and which ${what} need levels of their own?`,
    rows,
    h("p", {}, `Share of each level in the weights of a ${what.slice(0, -1)}: strong cells on the left are shared with others, strong cells on the right are its own.`),
    matrix.element,
  );
  const show = (s: number) => {
    const used = page.stages[s].number;
    rows.replaceChildren(
      table(
        "Levels, from shared to single",
        ["Level", "Features", `${what[0].toUpperCase()}${what.slice(1)} per feature`, `Shared by all ${k}`],
        levels.map((level, l) => {
          const mean = level.users.reduce((sum, u) => sum + u, 0) / Math.max(1, level.users.length);
          const all = level.users.filter((u) => u === k).length / Math.max(1, level.users.length);
          return [`${l + 1}${l > used ? " (not used)" : ""}`, short(level.features), bar(mean / k, short(mean)), percent(all, 0)];
        }),
        [1, 3],
      ),
    );
    const share = (c: number, l: number) => (totals[c] > 0 ? norms[l][c] / totals[c] : 0);
    matrix.show({
      rows: page.outputs,
      columns: levels.slice(0, used + 1).map((_, l) => String(l + 1)),
      tint: (c, l) => -share(c, l),
      mark: (c, l) => (share(c, l) >= 0.005 ? percent(share(c, l), 0) : ""),
      words: (c, l) => `${page.outputs[c]}, level ${l + 1}: ${percent(share(c, l))} of its weights`,
    });
  };
  return { element, show };
}

/** Mistakes and outputs along the stream. `perExample`: answers that one example asks for. */
function curves(page: Page, perExample: number, width: number): HTMLElement[] {
  const points = page.fit?.curve;
  if (!Array.isArray(points)) return [];
  const rows = points.filter((p): p is number[] => Array.isArray(p) && p.every((x: Json) => typeof x === "number"));
  const rate = rows.map((p) => ({ x: p[0], y: p[1] / (p[0] * perExample) }));
  const chart = (label: string, y: string, colour: string, found: Point[], percentY = false) =>
    lineChart({ label, x: "examples", y, percentY, series: [{ name: y, colour, points: found }], width });
  return [
    chart("Cumulative mistakes", "mistakes", "series-3", rows.map((p) => ({ x: p[0], y: p[1] }))),
    chart(perExample === 1 ? "Mistakes per example so far" : "Mistakes per answer so far", "rate", "series-3", rate, true),
    chart(page.outputsAre === "tasks" ? "Tasks as they appear" : "Classes as they appear", page.outputsAre, "series-1", rows.map((p) => ({ x: p[0], y: p[2] }))),
  ];
}

function sets(page: Page, sharing: Sharing): HTMLElement {
  const rows = sharing.sets.map((set) => [set.name || "all", String(set.members.length), set.members.slice(0, 12).map((m) => page.outputs[m]).join(", ") + (set.members.length > 12 ? ", …" : "")]);
  if (sharing.common) rows.unshift(["all classes", String(page.outputs.length), "one hypothesis for all of them"]);
  if (!rows.length) return h("p", {}, "Every class has a hypothesis of its own; nothing is shared.");
  return shortened(rows, 10, (some) => table("Sets of classes that share a hypothesis", ["Set", "Classes", "Members"], some, [1]));
}

function votes(page: Page, sharing: Sharing): HTMLElement | null {
  const rows = sharing.votes
    .map(([helped, harmed, trials], c) => ({ c, helped, harmed, trials }))
    .filter((v) => v.trials > 0)
    .sort((a, b) => b.helped - b.harmed - (a.helped - a.harmed));
  if (!rows.length) return null;
  return shortened(rows, 10, (some) =>
    table("What sharing did for each class: answers that the class's own hypothesis would have got wrong (helped) or right (harmed)", ["Class", "Helped", "Harmed", "Examples"], some.map((v) => [page.outputs[v.c], short(v.helped), short(v.harmed), short(v.trials)]), [1, 2, 3]),
  );
}

function streamPanel(page: Page): Shown {
  const { sharing, online } = page;
  const { examples, mistakes } = (sharing ?? online)!;
  const perExample = online ? online.predictions / Math.max(1, online.examples) : 1;
  const box = h("div", { class: "charts" });
  const element = panel(
    "Stream",
    "How did it learn while examples came in?",
    h(
      "dl",
      { class: "tiles" },
      tile(short(examples), "examples"),
      tile(short(mistakes), "mistakes"),
      tile(percent(mistakes / Math.max(1, examples * perExample)), perExample === 1 ? "mistakes per example" : "mistakes per answer"),
      sharing ? tile(short(sharing.firstOccurrences), "classes, each new once") : tile(short(page.outputs.length), `${page.outputsAre}, known from the start`),
    ),
    box,
    sharing ? sets(page, sharing) : null,
    sharing ? votes(page, sharing) : null,
  );
  if (!page.fit?.curve) element.append(missing("Cumulative mistakes and the appearance of classes are missing: give --fit REPORT.json, the file of fit --report."));
  const show = () => {
    const wide = Math.max(300, box.clientWidth || 640);
    box.replaceChildren(...curves(page, perExample, columnWidth(wide, 310)));
  };
  return { element, show };
}

/** The templates in order of choice, with where they look: Fig. 5 of [ShareBoost11]. */
function templatesPanel(page: Page): Shown {
  const box = h("div", {});
  const element = panel("Templates", "What do the image features look like, and where do they look?", h("p", {}, "Shade: where the template may lie. Blue and orange: its negative and positive weights, drawn at the middle of that place. Below: the classes it speaks for (+) and against (−) most."), box);
  const show = (s: number) => {
    const weights = weightsAt(page, s);
    const drawn = weights.features.flatMap((f, row) => (page.features[f].template ? [{ f, row }] : []));
    const best = (row: number, sign: number) => page.outputs.map((name, c) => ({ name, w: sign * weights.value(row, c) })).sort((a, b) => b.w - a.w)[0].name;
    box.replaceChildren(
      shortened(drawn, 24, (some) =>
        h(
          "ul",
          { class: "cards templates" },
          ...some.map(({ f, row }) => h("li", { class: "card" }, templatePicture(page.features[f].template!, page.features[f].text), h("small", {}, `${f + 1}: + ${best(row, 1)}  − ${best(row, -1)}`))),
        ),
      ),
    );
  };
  return { element, show };
}

/** The model that a transfer began from: its method and options. */
function transferPanel(page: Page): Shown {
  const from = isObject(page.metadata.from) ? page.metadata.from : {};
  const options = isObject(from.options) ? from.options : {};
  const text = (value: Json) => (Array.isArray(value) ? value.join(", ") : String(value));
  const rows = Object.entries({ method: from.method ?? null, ...options }).filter(([, value]) => value !== null && !isObject(value)).map(([name, value]) => [name, text(value)]);
  const how = page.online
    ? "A feature that those use is hardly shrunk for the new ones; any other feature is shrunk as before."
    : "Each level learned along the directions in which the weights of that model are strongest (option components).";
  const element = panel(
    "Transfer",
    "What was carried over from earlier tasks?",
    h("p", {}, `The ${page.outputs.length} new ${page.outputsAre} were learned with the help of a model of other ${page.outputsAre}. ${how} The panel Levels says what each level contributed.`),
    shortened(rows, 10, (some) => table("The model it came from", ["Option", "Value"], some)),
  );
  return { element, show: () => {} };
}

export function methodPanels(page: Page): Shown[] {
  const panels: Shown[] = [];
  if (page.levels) panels.push(levelsPanel(page));
  if (page.sharing || page.online) panels.push(streamPanel(page));
  if (page.features.some((f) => f.template)) panels.push(templatesPanel(page));
  if (page.early) panels.push(earlyPanel(page));
  if (page.metadata.method === "transfer") panels.push(transferPanel(page));
  return panels;
}
