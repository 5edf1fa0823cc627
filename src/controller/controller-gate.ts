/** The write gate of one controller; it is also closed while the process's gate is. */
import type { WriteGate } from "../client/write-gate.ts";

export class ControllerGate implements WriteGate {
  readonly #outer: WriteGate;
  #closed: string | undefined;

  constructor(outer: WriteGate) {
    this.#outer = outer;
  }

  get refused(): string | undefined {
    return this.#closed ?? this.#outer.refused;
  }

  close(reason: string): void {
    this.#closed ??= reason;
  }
}
