/** Addresses for pods: each its own, none of them leads anywhere. */

/** Of 10.244.0.0/16, one after the other. */
export class PodAddresses {
  #last = 0;

  /** A pod has this address, perhaps from before this process. */
  saw(address: string | undefined): void {
    const parts = /^10\.244\.(\d+)\.(\d+)$/.exec(address ?? "");
    if (parts !== null) this.#last = Math.max(this.#last, Number(parts[1]) * 256 + Number(parts[2]));
  }

  next(): string {
    this.#last = (this.#last % 0xfffe) + 1;
    return `10.244.${this.#last >> 8}.${this.#last & 0xff}`;
  }
}
