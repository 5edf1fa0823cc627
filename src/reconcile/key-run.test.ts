import { expect, test } from "bun:test";
import { FakeClock } from "../testing/fake-clock.ts";
import { KeyRun } from "./key-run.ts";
import type { ControllerEnvironment } from "./run.ts";

test("KeyRun does not go on after a sleep in which its process lost the right to write", async () => {
  const clock = new FakeClock();
  let refused: string | undefined;
  const gate = {
    get refused() {
      return refused;
    },
  };
  const environment = { controller: "keys", clock, gate } as unknown as ControllerEnvironment;
  const run = new KeyRun(environment, { key: "ns/a", attempt: 1, causes: [] });
  const first = run.sleep("1s");
  clock.advance(1_000);
  await first;
  const second = run.sleep("1s");
  refused = "leadership was lost";
  clock.advance(1_000);
  await expect(second).rejects.toThrow("leadership was lost");
});
