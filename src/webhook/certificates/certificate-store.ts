/** Where a self-managed certificate is kept. */
import type { StoredCertificates } from "./stored-certificates.ts";

/** What was read, and what a write replaces. */
export interface StoredVersion {
  /** `undefined` when nothing is stored. Parts that cannot be read are empty. */
  readonly certificates: StoredCertificates | undefined;
  /** Tells this version from every other one; `undefined` when nothing is stored. */
  readonly version: string | undefined;
}

export interface CertificateStore {
  /** For messages, such as `Secret shop/hook-tls`. */
  readonly name: string;
  /** @throws ApiError, UnreachableError, the signal's reason. */
  read(signal: AbortSignal): Promise<StoredVersion>;
  /**
   * Replaces exactly the version that was read.
   *
   * @returns false when it is not there any more: somebody else was faster.
   * @throws ApiError, UnreachableError, the signal's reason.
   */
  write(next: StoredCertificates, replaced: string | undefined, signal: AbortSignal): Promise<boolean>;
  /** Calls back when there may be something new, for as long as it lasts. Never rejects; resolves when the signal fires. */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}

/** Keeps it in this process, whose certificate is nobody else's. */
export class MemoryStore implements CertificateStore {
  readonly name = "the memory of this process";
  #stored: StoredVersion = { certificates: undefined, version: undefined };

  read(): Promise<StoredVersion> {
    return Promise.resolve(this.#stored);
  }

  write(certificates: StoredCertificates, replaced: string | undefined): Promise<boolean> {
    if (replaced !== this.#stored.version) return Promise.resolve(false);
    this.#stored = { certificates, version: String(Number(replaced ?? 0) + 1) };
    return Promise.resolve(true);
  }

  watch(_onChange: () => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
