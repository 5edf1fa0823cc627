/**
 * Remembers the sensitive values that a plugin has lately read and written, so that none of its messages repeats one.
 */
import { KeptSecrets } from "../reconcile/kept-secrets.ts";
import type { Resource } from "../resource/handle.ts";
import { sensitiveTexts } from "../resource/sensitive.ts";

/**
 * The maximum number of remembered objects: a plugin runs as long as its module, and must not keep everything that it
 * ever read.
 */
const MOST = 100;

export class PluginSecrets {
  readonly #secrets = new KeptSecrets({ most: MOST });

  readonly keep = (resource: Resource, object: unknown): void => {
    const texts = sensitiveTexts(resource);
    if (texts !== undefined && object !== undefined) this.#secrets.add(object, texts);
  };

  readonly clean = (text: string): string => this.#secrets.clean(text);

  /** Runs the plugin's code; its errors contain no sensitive value. */
  async guarded<T>(call: () => T | Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.cleaned(error);
    }
  }

  /** Returns the error, or a copy without secrets if its message has some; the text of a value that is not an error. */
  cleaned(error: unknown): unknown {
    if (!(error instanceof Error)) return this.#secrets.clean(textOf(error));
    const clean = this.#secrets.clean(error.message);
    if (clean === error.message) return error;
    const cleaned = new Error(clean);
    cleaned.name = error.name;
    return cleaned;
  }
}

/** Returns the text of a thrown value that is not an error and may be anything. */
function textOf(thrown: unknown): string {
  try {
    return typeof thrown === "object" ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return "something that has no text";
  }
}
