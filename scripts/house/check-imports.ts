/** Checks that imports of src point one way, and that no files import each other in a circle. */

import type { Check, Finding } from "./finding.ts";
import { apiServer, houseModules, isTest, resolveImport, serverEntries } from "./files.ts";
import type { Module } from "./module.ts";

/** The levels from the bottom up: a folder imports those of any level below its own, never one beside it. */
const levels: readonly (readonly string[])[] = [
  ["platform", "observe"],
  ["resource"],
  ["settings", "history"],
  ["kube", "queue", "tracing", "packages/apiserver"],
  ["cache"],
  ["client"],
  ["events"],
  ["reconcile"],
  ["controller", "election", "server"],
  ["webhook"],
  ["module"],
  ["manager", "loader"],
  ["build"],
  ["index.ts"],
  ["cluster"],
  ["testing"],
  ["main.ts", "main.deno.ts", "program.ts", "cli"],
];

/** A stricter rule than the levels: what a module imports as "binnacle" is for authors of modules. */
const onlyFrom: Readonly<Record<string, readonly string[]>> = {
  "index.ts": ["cluster", "testing", "program.ts"],
};
/** Folders that the rest of the program, including tests, enters through their `index.ts`; `binnacle run` loads none of them. */
const doors: readonly string[] = [apiServer, "src/cluster", "src/build"];
/** Files that few modules use, and that are large. */
const late: readonly string[] = ["src/resource/builtin/schemas.ts"];
/** The program's entry and the command. */
const runEntries: readonly string[] = ["src/main.ts", "src/main.deno.ts", "src/cli/run.ts"];
/** Folders with an inner order of their rooms, from the bottom up. */
const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  kube: [["limits.ts", "errors"], ["encoding", "config"], ["http"], ["http2"], ["transport"], ["api"]],
};
/** The entries start the program, which calls the commands, and is the only file that knows what is embedded. */
const above: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "program.ts"],
  "main.deno.ts": ["cli", "program.ts"],
  "program.ts": ["cli"],
};
const fromBuild = /^(dist\/|package\.json$)/;

const rule = `Imports point one way: ${levels
  .toReversed()
  .map((level) => level.join(", "))
  .join(" → ")}`;

export const checkImports: Check = async (root) => {
  const all = houseModules(root);
  const modules = new Map([...all].filter(([file]) => !isTest(file)));
  return [
    ...wrongDirections(modules),
    ...circles(modules),
    ...pastDoors(all),
    ...loadedToRun(modules),
    ...fromScripts(all),
  ];
};

/** Finds tests that import from scripts, where the suites and tools are; what tests share is in tests/support. */
function fromScripts(modules: ReadonlyMap<string, Module>): Finding[] {
  const rule = "A test in src imports nothing from scripts: what tests share is in tests/support";
  const findings: Finding[] = [];
  for (const [file, { imports }] of modules) {
    if (!isTest(file)) continue;
    for (const { from, line } of imports) {
      const target = resolveImport(file, from);
      if (target?.startsWith("scripts/")) findings.push({ file, line, what: `imports ${target}`, rule });
    }
  }
  return findings;
}

/** Modules of Node that load streams and their like when they are evaluated, which takes 2 to 3 MiB and up to 5 ms of each start. */
const costly: ReadonlySet<string> = new Set([
  "node:child_process",
  "node:crypto",
  "node:http",
  "node:http2",
  "node:https",
  "node:net",
  "node:stream",
  "node:tls",
  "node:tty",
  "node:util",
  "node:zlib",
]);

/** Finds what the start of `binnacle run` loads of a folder with a door, and of what is costly to load. */
function loadedToRun(modules: ReadonlyMap<string, Module>): Finding[] {
  const findings: Finding[] = [];
  const loaded = new Map<string, readonly string[]>();
  const open = runEntries.filter((file) => modules.has(file)).map((file) => [file]);
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = path.at(-1)!;
    if (loaded.has(file)) continue;
    loaded.set(file, path);
    for (const { from, isLazy, line } of modules.get(file)?.imports ?? []) {
      if (isLazy === true) continue;
      const target = resolveImport(file, from);
      if (target !== undefined) open.push([...path, target]);
      if (!costly.has(from)) continue;
      const rule = `\`binnacle run\` loads nothing that is costly to load: import ${from} where it is used`;
      findings.push({ file, line, what: `loads ${from} to run: ${path.join(" → ")}`, rule });
    }
  }
  const rule = `\`binnacle run\` loads nothing of ${doors.join(", ")}, and no ${late.join(", ")} before a module asks for it`;
  for (const path of loaded.values()) {
    const file = path.at(-1)!;
    if (!doors.some((folder) => file === `${folder}/index.ts`) && !late.includes(file)) continue;
    findings.push({ file: path.at(-2)!, line: 1, what: `is loaded to run: ${path.join(" → ")}`, rule });
  }
  return findings;
}

function pastDoors(modules: ReadonlyMap<string, Module>): Finding[] {
  const findings: Finding[] = [];
  for (const [file, { imports }] of modules) {
    for (const { from, line } of imports) {
      const target = resolveImport(file, from);
      const folder = doors.find((name) => target?.startsWith(`${name}/`));
      if (folder === undefined || file.startsWith(`${folder}/`) || target === `${folder}/index.ts`) continue;
      if (Object.hasOwn(serverEntries, from)) continue;
      const door = `A folder with a door is entered by its index.ts: ${doors.join(", ")}`;
      findings.push({ file, line, what: `imports ${target}, past the door ${folder}/index.ts`, rule: door });
    }
  }
  return findings;
}

function wrongDirections(modules: ReadonlyMap<string, Module>): Finding[] {
  const findings: Finding[] = [];
  for (const [file, module] of modules) {
    const from = part(file);
    if (level(from) < 0) findings.push({ file, line: 1, what: `${from} has no level`, rule });
    for (const { from: specifier, line } of module.imports) {
      const target = resolveImport(file, specifier);
      if (target === undefined) continue;
      if ((from === "main.ts" || from === "program.ts") && fromBuild.test(target)) continue;
      const what = outside(file, target) ?? wrong(from, part(target)) ?? wrongRoom(file, target);
      if (what) findings.push({ file, line, what, rule });
    }
  }
  return findings;
}

/** The API server is used without binnacle, and knows nothing of it. */
function outside(file: string, target: string): string | undefined {
  if (file.startsWith(`${apiServer}/`)) {
    return target.startsWith(`${apiServer}/`) ? undefined : `imports ${target}, outside its package`;
  }
  return target.startsWith("src/") || target.startsWith(`${apiServer}/`) ? undefined : `imports ${target}, outside src`;
}

function wrong(from: string, to: string): string | undefined {
  if (from === to || above[from]?.includes(to)) return undefined;
  if (level(to) < 0) return `imports ${to}, which has no level`;
  if (level(from) === level(to)) return `${from} imports ${to}, which stands beside it`;
  if (level(from) < level(to)) return `${from} imports ${to}, which stands above it`;
  if (onlyFrom[to] && !onlyFrom[to].includes(from)) return `${from} imports ${to}: only ${onlyFrom[to].join(", ")} may`;
  return undefined;
}

/**
 * Finds files that import each other, each circle once and including types, because neither can be understood without
 * the other.
 */
function circles(modules: ReadonlyMap<string, Module>): Finding[] {
  const findings: Finding[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) {
      const what = `imports itself in a circle: ${[...path.slice(start), file].join(" → ")}`;
      findings.push({ file, line: 1, what, rule: "No files import each other in a circle" });
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const { from } of modules.get(file)?.imports ?? []) {
      const target = resolveImport(file, from);
      if (target && modules.has(target)) visit(target);
    }
    path.pop();
    done.add(file);
  };
  for (const file of modules.keys()) visit(file);
  return findings;
}

/** Whether one room of a folder imports a room beside or above it. */
function wrongRoom(file: string, target: string): string | undefined {
  const [folder, from, to] = [part(file), room(file), room(target)];
  const order = rooms[folder];
  if (order === undefined || folder !== part(target) || from === to) return undefined;
  const [below, above] = [to, from].map((name) => order.findIndex((names) => names.includes(name)));
  if (below! < 0 || above! < 0) return `${folder}/${below! < 0 ? to : from} has no level in ${folder}`;
  return below! < above! ? undefined : `${folder}/${from} imports ${folder}/${to}, which does not stand below it`;
}

/** Returns the folder or file directly in `src`, or the package, to which a path belongs. */
function part(file: string): string {
  const [top = "", first = ""] = file.split("/");
  return top === "src" ? first : `${top}/${first}`;
}

function room(file: string): string {
  return file.split("/")[2] ?? "";
}

function level(name: string): number {
  return levels.findIndex((names) => names.includes(name));
}
