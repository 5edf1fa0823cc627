/** A certificate in files that somebody else keeps, such as a Secret of cert-manager that is mounted. */
import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { belongTogether } from "../../kube/config/key-pair.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { type TrustedSource, CurrentCertificate, type TrustedCertificate } from "./trusted-source.ts";
import { certificatesOf } from "./stored-certificates.ts";

/** As kubelet mounts a Secret of `kubernetes.io/tls`. */
const CERT = "tls.crt";
const KEY = "tls.key";
/** cert-manager adds it; without it somebody else injects the authorities. */
const AUTHORITIES = "ca.crt";

/** Milliseconds between two looks: events do not come from every file system, nor for files behind a link. */
const LOOK_EVERY = 10_000;
/** Milliseconds after an event: the two files may be replaced one after the other. */
const SETTLE = 20;

export interface CertificateFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of each attempt to read the files. */
  readonly onRead?: ((isGood: boolean) => void) | undefined;
}

/**
 * Follows the files of a folder, however they are replaced: by writing, by renaming, or by a link that points elsewhere.
 *
 * **Guarantee.** A certificate is handed out only with its own key. Files that cannot be used leave the certificate
 * before them in use, and are looked at again.
 */
export class CertificateFiles implements TrustedSource, AsyncDisposable {
  readonly #options: CertificateFilesOptions;
  readonly #current = new CurrentCertificate();
  #watcher: FSWatcher | undefined;
  /** The folder that is watched: one that was deleted and made again sends no events. */
  #watched = -1;
  #timer: Disposable | undefined;
  #settling: Disposable | undefined;
  #problem: string | undefined;
  #closed = false;

  /** @throws Error when the files cannot be used: without a certificate nothing can be served. */
  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#read();
    if (this.#problem !== undefined) throw new Error(this.#problem);
    this.#watch();
    this.#again();
  }

  current(): TrustedCertificate | undefined {
    return this.#current.current();
  }

  subscribe(listener: () => void): Disposable {
    return this.#current.subscribe(listener);
  }

  /** Why the files as they are now cannot be used; `undefined` while they can. */
  get failure(): string | undefined {
    return this.#problem;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#watcher?.close();
    this.#timer?.[Symbol.dispose]();
    this.#settling?.[Symbol.dispose]();
    return Promise.resolve();
  }

  #again(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#watch();
      this.#look();
      this.#again();
    }, LOOK_EVERY);
  }

  #watch(): void {
    const { folder } = this.#options;
    const inode = statSync(folder, { throwIfNoEntry: false })?.ino ?? -1;
    if (inode === this.#watched) return;
    this.#watcher?.close();
    this.#watched = inode;
    try {
      this.#watcher = watch(folder, () => this.#soon());
      this.#watcher.on("error", () => this.#soon());
    } catch {
      this.#watched = -1; // the next look tries again
    }
  }

  #soon(): void {
    if (this.#closed) return;
    this.#settling?.[Symbol.dispose]();
    this.#settling = this.#options.clock.setTimeout(() => this.#look(), SETTLE);
  }

  #look(): void {
    const before = this.#problem;
    this.#read();
    if (this.#problem !== undefined && this.#problem !== before) {
      this.#options.log.error("Cannot take the new certificate: the one before stays in use", {
        reason: this.#problem,
      });
    }
  }

  #read(): void {
    try {
      const isOther = this.#current.set(readCertificate(this.#options.folder));
      this.#problem = undefined;
      this.#options.onRead?.(true);
      if (isOther) this.#options.log.info("Certificate read", { folder: this.#options.folder });
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#options.onRead?.(false);
    }
  }
}

/**
 * Reads a certificate, its key and, where they are, its authorities.
 *
 * @throws Error that names the file that is missing or cannot be used.
 */
export function readCertificate(folder: string): TrustedCertificate {
  const cert = textOf(folder, CERT);
  const key = textOf(folder, KEY);
  if (certificatesOf(cert).length === 0) throw new Error(`Cannot use ${join(folder, CERT)}: it holds no certificate`);
  if (!belongTogether(cert, key)) {
    throw new Error(`Cannot use ${join(folder, KEY)}: it is not the private key of the certificate in ${CERT}`);
  }
  const authorities = certificatesOf(optionalText(folder, AUTHORITIES)).join("");
  return { cert, key, authorities: authorities === "" ? undefined : authorities };
}

function textOf(folder: string, file: string): string {
  const path = join(folder, file);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const why = code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "no permission" : String(error);
    throw new Error(`Cannot read ${path}: ${why}`, { cause: error });
  }
}

function optionalText(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch {
    return "";
  }
}
