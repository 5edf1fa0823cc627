/** Holds the events of a key in the informers while an attempt to write its object is in flight. */
import type { WriteResult } from "../cache/pending-writes.ts";
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { AttemptListener } from "../kube/transport/kube-request.ts";
import type { Resource } from "../resource/handle.ts";

/**
 * **Guarantees.** Events are held from when an attempt is sent until it is answered. Between two attempts, which may be
 * minutes apart, they reach the stores and the handlers.
 */
export class WriteHold implements AttemptListener {
  readonly #informers: InformerRegistry;
  readonly #resource: Resource;
  readonly #key: string;
  #isOn = false;

  constructor(informers: InformerRegistry, resource: Resource, key: string) {
    this.#informers = informers;
    this.#resource = resource;
    this.#key = key;
  }

  onSend(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#informers.beginWrite(this.#resource, this.#key);
  }

  onRetry(): void {
    this.end(undefined);
  }

  /** Ends the hold. @param result of the last attempt; `undefined` when it failed or none was sent. */
  end(result: WriteResult | undefined): void {
    if (result !== undefined) this.onSend();
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#informers.endWrite(this.#resource, this.#key, result);
  }
}
