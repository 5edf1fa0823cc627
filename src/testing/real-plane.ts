/** Real control planes, which tests use one after the other, because each start takes seconds of CPU. */
import { crdOf } from "../resource/crd.ts";
import { definitionOf } from "../resource/definition.ts";
import type { Resource } from "../resource/handle.ts";
import { sleep } from "../platform/clock.ts";
import { emptied } from "./control-plane/emptied.ts";
import type { ControlPlane } from "./control-plane/running.ts";
import { startPrograms } from "./control-plane/start.ts";

interface Programs {
  readonly bin: string;
  readonly controllers: boolean;
}

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/** Milliseconds for the deletion of a removed kind's objects. */
const GONE_WITHIN = 20_000;

/** The idle control planes, for all copies of this module. They end with this process. */
const free: RealPlane[] = ((globalThis as { [key: symbol]: RealPlane[] | undefined })[
  Symbol.for("binnacle.real-planes")
] ??= []);

export class RealPlane {
  readonly plane: ControlPlane;
  readonly #programs: Programs;
  /** The definitions of the kinds that modules have installed, which stay between tests, as text by name. */
  readonly #kinds = new Map<string, string>();

  private constructor(plane: ControlPlane, programs: Programs) {
    this.plane = plane;
    this.#programs = programs;
  }

  /** Returns an empty control plane, from an earlier test or started now. */
  static async lend(programs: Programs): Promise<RealPlane> {
    const { bin, controllers } = programs;
    const at = free.findIndex((one) => one.#programs.bin === bin && one.#programs.controllers === controllers);
    if (at >= 0) return free.splice(at, 1)[0]!;
    return new RealPlane(await startPrograms(programs), programs);
  }

  /**
   * Removes kinds of earlier tests that have other definitions than these. Kinds with several versions never stay,
   * because their definitions name a webhook that ends with its test.
   */
  async prepare(kinds: readonly Resource[]): Promise<void> {
    for (const kind of kinds) {
      const crd = crdOf(kind);
      const { name } = crd.metadata;
      const text = JSON.stringify(crd);
      const known = this.#kinds.get(name);
      if (known !== undefined && known !== text) await this.#remove(name);
      if (definitionOf(kind)!.versions.length === 1) this.#kinds.set(name, text);
      else this.#kinds.delete(name);
    }
  }

  /** Empties the control plane for the next test. One that cannot be emptied is stopped. */
  async giveBack(): Promise<void> {
    try {
      await emptied(this.plane, [...this.#kinds.keys()]);
      free.push(this);
    } catch {
      await this.plane.stop();
    }
  }

  async #remove(name: string): Promise<void> {
    const path = `${DEFINITIONS}/${name}`;
    await this.plane.request(path, { method: "DELETE" });
    const began = performance.now();
    while ((await this.plane.request(path)).status !== 404) {
      if (performance.now() - began > GONE_WITHIN) throw new Error(`Cannot remove the kind ${name} of an earlier test`);
      await sleep(20);
    }
  }
}
