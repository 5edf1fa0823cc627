/** Reloads credentials once for all requests that were refused at the same time. */
import type { ClusterConfig } from "./cluster-config.ts";

export class CredentialReloader {
  readonly #config: Pick<ClusterConfig, "reload">;
  #generation = 0;
  #reloading: Promise<boolean> | undefined;

  constructor(config: Pick<ClusterConfig, "reload">) {
    this.#config = config;
  }

  /**
   * The generation of the credentials; a caller notes it before a request and passes it to {@link reload} after a
   * refusal.
   */
  get generation(): number {
    return this.#generation;
  }

  /**
   * @param seen the generation with which the refused request was sent.
   * @returns whether there are newer credentials than the request had.
   */
  async reload(seen: number): Promise<boolean> {
    if (seen !== this.#generation) return true;
    this.#reloading ??= this.#config
      .reload()
      // Credentials that cannot be read now may be readable next time; the server's refusal is the better error.
      .catch(() => false)
      .then((changed) => {
        if (changed) this.#generation++;
        this.#reloading = undefined;
        return changed;
      });
    return this.#reloading;
  }
}
