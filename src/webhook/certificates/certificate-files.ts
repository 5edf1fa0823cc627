/** A certificate in files that somebody else maintains, such as a mounted Secret of cert-manager. */
import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { belongTogether } from "../../kube/config/key-pair.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";
import { CurrentCertificate, type TrustedCertificate } from "./trusted-source.ts";
import { certificatesOf } from "./stored-certificates.ts";

/** The name in a mounted Secret of type `kubernetes.io/tls`. */
const CERT = "tls.crt";
const KEY = "tls.key";
/** The file that cert-manager adds; without it somebody else injects the authorities. */
const AUTHORITIES = "ca.crt";

/** Milliseconds between two checks, because not every file system sends events, nor do files behind a link. */
const LOOK_EVERY = 10_000;
/** Milliseconds between an event and the reading, because the two files may be replaced one after the other. */
const SETTLE = 20;

export interface CertificateFilesOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each attempt to read the files. */
  readonly onRead?: ((isGood: boolean) => void) | undefined;
}

/**
 * Follows the files of a folder, however they are replaced: by writing, by renaming, or by a link to another place.
 *
 * **Guarantee.** A certificate is only used together with its own key. While the files are invalid, the previous
 * certificate stays in use, and the files are checked again.
 */
export class CertificateFiles extends CurrentCertificate implements AsyncDisposable {
  readonly #options: CertificateFilesOptions;
  #watcher: FSWatcher | undefined;
  /** The inode of the watched folder, because a folder that was deleted and created again sends no events. */
  #watched = -1;
  #timer: Disposable | undefined;
  #settling: Disposable | undefined;
  #problem: string | undefined;
  #closed = false;

  /** Reads the files. @throws Error when they are invalid, because nothing can be served without a certificate. */
  constructor(options: CertificateFilesOptions) {
    super();
    this.#options = options;
    this.#read();
    if (this.#problem !== undefined) throw new Error(this.#problem);
    this.#watch();
    this.#again();
  }

  /** Why the present files cannot be used; `undefined` while they can. */
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
      this.#watched = -1; // the next check tries again
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
      this.#options.log.error("Cannot use the new certificate: the previous one stays in use", {
        reason: this.#problem,
      });
    }
  }

  #read(): void {
    try {
      const isOther = this.set(readCertificate(this.#options.folder));
      this.#problem = undefined;
      this.#options.onRead?.(true);
      if (isOther) this.#options.log.info("Certificate read", { folder: this.#options.folder });
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#options.onRead?.(false);
    }
  }
}

/** Reads a certificate, its key and any authorities. @throws Error naming the invalid file. */
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
