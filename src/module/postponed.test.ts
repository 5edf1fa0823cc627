import { expect, test } from "bun:test";
import type { LoadedModule } from "./loaded-module.ts";
import { PostponedModules } from "./postponed.ts";

test("a version whose start is due is not started once a newer one waits in its place", () => {
  const disposed: string[] = [];
  const version = (file: string): LoadedModule => ({
    name: "a.ts",
    file,
    definitions: { controllers: [], resources: [], webhooks: [], plugins: [] },
    invoke: (call) => call(),
    dispose: () => void disposed.push(file),
  });
  const [one, two] = [version("one"), version("two")];
  const postponed = new PostponedModules();
  const left = postponed.put(one, "refused");
  const waits = postponed.put(two, "refused");
  expect(() => postponed.take(one)).toThrow("Cannot start the module a.ts: it has left meanwhile");
  expect([left.aborted, waits.aborted, ...disposed]).toEqual([true, false, "one"]);
  postponed.take(two);
  expect([waits.aborted, ...disposed]).toEqual([false, "one"]);
});
