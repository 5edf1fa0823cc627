/**
 * Control planes that test files of one process use one after the other, because each start takes seconds of a processor.
 * Where the runner of the tests says nothing, each file has one of its own.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "../../scripts/controlplane/controlplane.ts";
import { emptied } from "../../src/testing/control-plane/emptied.ts";

/** Names the folder for control planes that are lent; the runner removes it when the process has ended, and with it the programs. */
const FOLDER = "BINNACLE_TEST_PLANES";

interface Kept {
  readonly plane: ControlPlane;
  readonly controllers: boolean;
  isLent: boolean;
}

/** What a process keeps, for whichever copy of this module a test file has. */
const state: { planes: Kept[]; started: number } = ((
  globalThis as { [key: symbol]: { planes: Kept[]; started: number } | undefined }
)[Symbol.for("binnacle.lent-planes")] ??= { planes: [], started: 0 });

/** Lends a control plane that has nothing but what every one begins with; `stop` gives it back. */
export async function lendPlane(controllers: boolean): Promise<ControlPlane> {
  const folder = process.env[FOLDER];
  if (!folder) return startControlPlane({ controllers });
  const free = state.planes.find((one) => !one.isLent && one.controllers === controllers);
  if (free !== undefined) return lent(free);
  const dir = join(folder, `${process.pid}-${state.started++}`);
  await mkdir(dir, { recursive: true });
  const one = { plane: await startControlPlane({ controllers, dir }), controllers, isLent: true };
  state.planes.push(one);
  return lent(one);
}

function lent(one: Kept): ControlPlane {
  one.isLent = true;
  let back: Promise<void> | undefined;
  return new Proxy(one.plane, {
    get(plane, name) {
      if (name === "stop" || name === Symbol.asyncDispose) return () => (back ??= giveBack(one));
      const value: unknown = Reflect.get(plane, name, plane);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(plane) : value;
    },
  });
}

/** Empties it for the next file; one that cannot be emptied is stopped. */
async function giveBack(one: Kept): Promise<void> {
  try {
    await emptied(one.plane);
    one.isLent = false;
  } catch (error) {
    console.log(`A control plane is not lent again: ${error instanceof Error ? error.message : String(error)}`);
    state.planes.splice(state.planes.indexOf(one), 1);
    await one.plane.stop();
  }
}
