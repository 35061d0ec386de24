// Panels that only some methods have: levels of a cascade, a stream of examples, templates, transfer.
import { lineChart } from "./charts";
import { float32, type Json, type Page, type Sharing } from "./data";
import { bar, columnWidth, h, missing, panel, percent, shortened, short, table } from "./dom";
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

function curve(page: Page, width: number): HTMLElement[] {
  const points = page.fit?.curve;
  if (!Array.isArray(points)) return [];
  const rows = points.filter((p): p is number[] => Array.isArray(p) && p.every((x: Json) => typeof x === "number"));
  const series = (at: number) => rows.map((p) => ({ x: p[0], y: p[at] }));
  return [
    lineChart({ label: "Cumulative mistakes", x: "examples", y: "mistakes", series: [{ name: "mistakes", colour: "series-3", points: series(1) }], width }),
    lineChart({ label: "Mistakes per example so far", x: "examples", y: "rate", percentY: true, series: [{ name: "rate", colour: "series-3", points: rows.map((p) => ({ x: p[0], y: p[1] / p[0] })) }], width }),
    lineChart({ label: "Classes as they appear", x: "examples", y: "classes", series: [{ name: "classes", colour: "series-1", points: series(2) }], width }),
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
  const sharing = page.sharing!;
  const box = h("div", { class: "charts" });
  const tile = (value: string, name: string) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, h("strong", {}, value)));
  const element = panel(
    "Stream",
    "How did it learn while examples came in?",
    h(
      "dl",
      { class: "tiles" },
      tile(short(sharing.examples), "examples"),
      tile(short(sharing.mistakes), "mistakes"),
      tile(percent(sharing.mistakes / Math.max(1, sharing.examples)), "mistakes per example"),
      tile(short(sharing.firstOccurrences), "classes, each new once"),
    ),
    box,
    sets(page, sharing),
    votes(page, sharing),
  );
  if (!page.fit?.curve) element.append(missing("Cumulative mistakes and the appearance of classes are missing: give --fit REPORT.json, the file of fit --report."));
  const show = () => {
    const wide = Math.max(300, box.clientWidth || 640);
    box.replaceChildren(...curve(page, columnWidth(wide, 310)));
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

function transferPanel(page: Page): Shown {
  const from = page.metadata.from;
  const source = typeof from === "object" && from !== null && !Array.isArray(from) ? from : {};
  const rows = Object.entries(source).map(([name, value]) => [name, JSON.stringify(value)]);
  const element = panel("Transfer", "What was carried over from earlier tasks?", h("p", {}, `The ${page.outputs.length} new ${page.outputsAre} were learned together with what a model of other tasks had learned: a feature that served those is cheaper here.`), shortened(rows, 8, (some) => table("The model it came from", ["Member", "Value"], some)));
  return { element, show: () => {} };
}

export function methodPanels(page: Page): Shown[] {
  const panels: Shown[] = [];
  if (page.levels) panels.push(levelsPanel(page));
  if (page.sharing) panels.push(streamPanel(page));
  if (page.features.some((f) => f.template)) panels.push(templatesPanel(page));
  if (page.metadata.method === "transfer") panels.push(transferPanel(page));
  return panels;
}
