// Writes src/report/page.html: the page without data, everything inlined. `--check`: fails if it would change.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = here("../../src/report/page.html");

const bundled = async (entry) => {
  const result = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none", // the page carries whole licences instead
    absWorkingDir: here("."),
    metafile: true,
  });
  return { text: result.outputFiles[0].text, inputs: Object.keys(result.metafile.inputs) };
};

const isOwner = (line) => /^\s*copyright\b.*\d{4}/i.test(line);

/** The licences of the bundled packages; packages with the same words share them. */
function licences(inputs) {
  const names = new Set(inputs.flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []));
  const byWords = new Map();
  for (const name of [...names].sort()) {
    const folder = here(`node_modules/${name}/`);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const lines = readFileSync(folder + file, "utf8").trim().split(/\r?\n/);
    const words = lines.filter((line) => !isOwner(line)).join("\n").replace(/-->/g, "").trim();
    const owners = lines.filter((line) => isOwner(line)).map((line) => line.trim());
    byWords.set(words, [...(byWords.get(words) ?? []), `${name}: ${owners.join("; ")}`]);
  }
  return [...byWords].map(([words, owners]) => `${owners.join("\n")}\n\n${words}`).join("\n\n");
}

const { text: script, inputs } = await bundled("src/main.ts");
const { text: style } = await bundled("src/style.css");
// Only this very script may run, and nothing may be loaded from anywhere.
const hash = createHash("sha256").update(script).digest("base64");
const page = readFileSync(here("src/page.html"), "utf8")
  .replace("{{policy}}", () => `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`)
  .replace("{{style}}", () => style.trim())
  .replace("{{licences}}", () => licences(inputs))
  .replace("{{script}}", () => script);

if (!process.argv.includes("--check")) {
  writeFileSync(target, page);
  console.log(`${target}: ${page.length} characters`);
} else if (readFileSync(target, "utf8") !== page) {
  console.error("src/report/page.html is not what report/page gives; run: npm run bundle");
  process.exit(1);
}
