/** Reloads credentials once for all requests that were refused at the same time. */
import type { ClusterConfig } from "./cluster-config.ts";

export class ReloadOnce {
  readonly #config: Pick<ClusterConfig, "reload">;
  #generation = 0;
  #reloading: Promise<boolean> | undefined;

  constructor(config: Pick<ClusterConfig, "reload">) {
    this.#config = config;
  }

  /** Note it before a request, for {@link reload} after it. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * @param seen the generation the refused request was sent with.
   * @returns whether there are other credentials than that request had.
   */
  async reload(seen: number): Promise<boolean> {
    if (seen !== this.#generation) return true;
    this.#reloading ??= this.#config
      .reload()
      // What cannot be read now may be readable next time; the server's refusal says more than that.
      .catch(() => false)
      .then((changed) => {
        if (changed) this.#generation++;
        this.#reloading = undefined;
        return changed;
      });
    return this.#reloading;
  }
}
