/** Stores a self-managed certificate. */
import type { StoredCertificates } from "./stored-certificates.ts";

/** The result of a read, which a write replaces. */
export interface StoredVersion {
  /** The certificates; `undefined` when nothing is stored. Parts that cannot be read are empty. */
  readonly certificates: StoredCertificates | undefined;
  /** Identifies this version; `undefined` when nothing is stored. */
  readonly version: string | undefined;
}

export interface CertificateStore {
  /** The name in messages, such as `Secret shop/hook-tls`. */
  readonly name: string;
  /** Reads the certificate. @throws ApiError, UnreachableError, the signal's reason. */
  read(signal: AbortSignal): Promise<StoredVersion>;
  /**
   * Replaces exactly the version that was read.
   *
   * @returns false when it does not exist any more, because somebody else was faster.
   * @throws ApiError, UnreachableError, the signal's reason.
   */
  write(next: StoredCertificates, replaced: string | undefined, signal: AbortSignal): Promise<boolean>;
  /** Calls back when there may be a new version, until the signal fires. Never rejects. */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}

/** Stores the certificate in this process, which shares it with nobody. */
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
