// Pages made by the program, for the tests.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const folder = mkdtempSync(join(tmpdir(), "sharelearn-page-"));
export const digits = fileURLToPath(new URL("../../../examples/data/digits.csv.gz", import.meta.url));
const file = (name) => join(folder, name);
const sharelearn = (...words) => execFileSync(process.env.SHARELEARN, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });

/** A page; `rest` are further words of the command `report`. */
function report(name, ...rest) {
  sharelearn("report", `${name}.shl`, "-o", `${name}.html`, ...rest);
  return file(`${name}.html`);
}

export function digitsPage() {
  sharelearn("fit", "shareboost", digits, "--features", "12", "--ridge", "0.001", "--holdout", "0.3", "--folds", "2", "--quiet", "-o", "digits.shl", "--report", "digits.json");
  return report("digits", "--fit", "digits.json", "--data", digits, "--image-width", "8");
}

export const bareDigitsPage = () => {
  sharelearn("report", "digits.shl", "-o", "bare.html");
  return file("bare.html");
};

export const hostile = `</script><img src=x onerror="document.title='taken'"><!--`;

/** Numbers in [0, 1) that are the same in every run. */
export function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Names of columns and classes that would be markup, were they not text. */
export function hostilePage() {
  const next = random(1);
  const quoted = `"${hostile.replaceAll('"', '""')}"`;
  const rows = Array.from({ length: 200 }, (_, i) => {
    const x = [next(), next()];
    return `${x[0]},${x[1]},${x[0] > 0.5 !== (i % 9 === 0) ? quoted : "<b>other</b>"}`;
  });
  writeFileSync(file("hostile.csv"), `${quoted},<script>alert(1)</script>,label\n${rows.join("\n")}\n`);
  sharelearn("fit", "shareboost", "hostile.csv", "--features", "2", "--quiet", "-o", "hostile.shl", "--report", "hostile.json");
  return report("hostile", "--fit", "hostile.json", "--data", "hostile.csv");
}

/** 1,000 classes x 300 features, every weight other than 0. */
export function largePage() {
  const next = random(2);
  const lines = Array.from({ length: 2000 }, (_, i) => {
    const cls = i % 1000;
    return `class_${cls} ${Array.from({ length: 300 }, (_, j) => `${j + 1}:${(next() + ((cls * (j + 7)) % 13 === 0 ? 1 : 0)).toFixed(2)}`).join(" ")}`;
  });
  writeFileSync(file("large.svm"), `${lines.join("\n")}\n`);
  sharelearn("fit", "cascade", "large.svm", "--online", "--phi", "1e-9,1e-9", "--mix", "0,1", "--quiet", "-o", "large.shl", "--report", "large.json");
  return report("large", "--fit", "large.json", "--data", "large.svm");
}

/** Tasks, each with rows of its own. */
export function tasksPage() {
  const next = random(3);
  const rows = Array.from({ length: 900 }, (_, i) => {
    const x = [next(), next(), next()];
    return `task ${i % 6},${x.join(",")},${x[i % 2] + 0.2 * next() > 0.6 ? 1 : 0}`;
  });
  writeFileSync(file("tasks.csv"), `task,a,b,c,label\n${rows.join("\n")}\n`);
  sharelearn("fit", "cascade", "tasks.csv", "--task-column", "task", "--loss", "multitask-logistic", "--phi", "0.02,0.01,0.005", "--quiet", "-o", "tasks.shl", "--report", "tasks.json");
  return report("tasks", "--fit", "tasks.json", "--data", "tasks.csv", "--task-column", "task");
}

/** A model with thresholds for stopping early. */
export function earlyPage() {
  sharelearn("fit", "shareboost", digits, "--features", "30", "--ridge", "0.001", "--per-round", "2", "--holdout", "0.6", "--folds", "2", "--quiet", "-o", "full.shl", "--report", "early.json");
  sharelearn("early", "full.shl", digits, "--disagreement", "0.05", "-o", "early.shl");
  return report("early", "--fit", "early.json", "--data", digits, "--image-width", "8");
}

/** Tasks learned one example at a time, and new tasks with their help. */
export function onlinePages() {
  const next = random(6);
  const line = (i, tasks) => {
    const x = [next(), next(), next()];
    return `${x[i % 2] > 0.5 ? 1 : -1} qid:${1 + (i % tasks)} 1:${x[0].toFixed(3)} 2:${x[1].toFixed(3)} 3:${x[2].toFixed(3)}`;
  };
  writeFileSync(file("known.svm"), Array.from({ length: 600 }, (_, i) => `${line(i, 4)}\n`).join(""));
  writeFileSync(file("new.svm"), Array.from({ length: 120 }, (_, i) => `${line(i, 2)}\n`).join(""));
  sharelearn("fit", "cascade", "known.svm", "--online", "--loss", "multitask-hinge", "--phi", "0.01,0.005", "--quiet", "-o", "online.shl", "--report", "online.json");
  sharelearn("transfer", "online.shl", "new.svm", "--quiet", "-o", "transfer.shl", "--report", "transfer.json");
  return [report("online", "--fit", "online.json", "--data", "known.svm"), report("transfer", "--fit", "transfer.json", "--data", "new.svm")];
}

/** A stream of words. */
export function streamPage() {
  const next = random(4);
  const lines = Array.from({ length: 500 }, (_, i) => {
    const topic = Math.floor(next() * Math.min(6, 1 + i / 60));
    return `topic${topic} word${topic} more${Math.floor(next() * 12)} other${Math.floor(next() * 30)}`;
  });
  writeFileSync(file("stream.txt"), `${lines.join("\n")}\n`);
  sharelearn("fit", "sharing", "stream.txt", "--names", "--hypotheses", "hybrid", "--quiet", "-o", "stream.shl", "--report", "stream.json");
  return report("stream", "--fit", "stream.json", "--data", "stream.txt");
}

/** A regression path. */
export function regressionPage() {
  const next = random(5);
  const rows = Array.from({ length: 200 }, () => {
    const x = [next(), next(), next()];
    return `${x.join(",")},${(2 * x[0] - x[1] + 0.1 * next()).toFixed(4)}`;
  });
  writeFileSync(file("regression.csv"), `a,b,c,label\n${rows.join("\n")}\n`);
  sharelearn("fit", "gradboost", "regression.csv", "--loss", "regression", "--penalty", "l1", "--path", "8", "--quiet", "-o", "regression.shl", "--report", "regression.json");
  return report("regression", "--fit", "regression.json", "--data", "regression.csv");
}
