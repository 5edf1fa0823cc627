import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
/** The most files of the rooms above the wire between the event and the author's `reconcile`. */
const MOST_IN = 30;
const WIRE = "kube/";
const BELOW = /^(platform|observe|resource|settings)\//;

/** The files that each section of the page names in its lists. */
async function sections(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(join(root, "docs/event-path.md"), "utf8");
  const files = new Map<string, readonly string[]>();
  for (const section of page.split(/^## /m).slice(1)) {
    const title = section.slice(0, section.indexOf("\n"));
    const items = section.split("\n").filter((line) => line.startsWith("- "));
    files.set(
      title,
      items.flatMap((item) => item.match(/(?<=`)[\w/-]+\.ts(?=`)/g) ?? []),
    );
  }
  return files;
}

/** What a process calls that follows one event. */
async function called(): Promise<{ readonly before: readonly string[]; readonly after: readonly string[] }> {
  const here = import.meta.dirname;
  const command = [process.execPath, "--preload", join(here, "recorded-calls.ts"), join(here, "one-event.ts")];
  const child = Bun.spawn(command, { cwd: root, stderr: "pipe" });
  const [printed, errors] = await Promise.all([child.stdout, child.stderr].map((out) => new Response(out).text()));
  if ((await child.exited) !== 0) throw new Error(`Cannot follow an event: ${errors}`);
  const files = JSON.parse(printed!) as { readonly before: readonly string[]; readonly after: readonly string[] };
  const relative = (file: string): string => file.slice("src/".length);
  return { before: files.before.map(relative), after: files.after.map(relative) };
}

test("the page of an event's path names every file that is called for one, and no other", async () => {
  const page = await sections();
  const { before, after } = await called();
  const back = after.filter((file) => !before.includes(file));
  const isWire = (file: string): boolean => file.startsWith(WIRE);
  const isHouse = (file: string): boolean => !isWire(file) && !BELOW.test(file);
  const actual: readonly (readonly [string, readonly string[]])[] = [
    ["The wire, in", before.filter(isWire)],
    ["Through the house, in", before.filter(isHouse)],
    ["Through the house, back", back.filter(isHouse)],
    ["The wire, back", back.filter(isWire)],
    ["Beside the way", [...before, ...back].filter((file) => BELOW.test(file))],
  ];
  for (const [title, files] of actual) {
    expect({ title, files: files.toSorted() }).toEqual({ title, files: (page.get(title) ?? []).toSorted() });
  }
  expect(actual[1]![1].length).toBeLessThanOrEqual(MOST_IN);
}, 60_000);
