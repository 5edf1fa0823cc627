/** PEM material of a kubeconfig: from the file itself or a file it names, checked before it is used. */
import { readFileSync, statSync } from "node:fs";
import { type Validity, validityOf } from "./certificate-validity.ts";
import { ConfigError } from "./config-error.ts";
import { MOST_CREDENTIAL_BYTES, readConfigFile } from "./config-file.ts";

export interface PemSource {
  /** Base64 of the PEM text. */
  readonly data: string | undefined;
  readonly file: string | undefined;
  /** The field's name and place, such as `client-certificate of user "kind"`. */
  readonly what: string;
}

/** @returns the PEM text; undefined when there is neither data nor a file. */
export async function readPem(source: PemSource): Promise<string | undefined> {
  if (source.data) {
    const text = Buffer.from(source.data, "base64").toString("utf8");
    if (!isPem(text)) throw new ConfigError(`Cannot use the ${source.what}: its data is not PEM in base64`);
    return text;
  }
  if (!source.file) return undefined;
  let text: string;
  try {
    text = await readConfigFile(source.file, MOST_CREDENTIAL_BYTES);
  } catch (error) {
    throw new ConfigError(`Cannot read the ${source.what} from ${source.file}: ${(error as Error).message}`);
  }
  if (!isPem(text)) throw new ConfigError(`Cannot use the ${source.what}: ${source.file} is not PEM`);
  return text;
}

function isPem(text: string): boolean {
  return text.includes("-----BEGIN ");
}

/** Changes whenever the file is replaced or written to. */
export function stampOf(file: string | undefined): string {
  if (!file) return "";
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file);
    return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return ""; // reading it says why
  }
}

/**
 * Reads a replaced file, synchronously: a connection is about to be opened with it.
 *
 * @throws Error when its present content cannot be used; the replacement may be under way.
 */
export function readPemNow(file: string): string {
  const stats = statSync(file);
  if (!stats.isFile() || stats.size > MOST_CREDENTIAL_BYTES) throw new Error("not a file of a credential");
  const text = readFileSync(file, "utf8");
  if (!isPem(text)) throw new Error("not PEM");
  return text;
}

/** @throws ConfigError when the text is not a certificate, or when the certificate has expired or is not valid yet. */
export function checkValidity(pem: string, options: { what: string; now: number; advice: string }): void {
  let validity: Validity;
  try {
    validity = validityOf(pem);
  } catch {
    throw new ConfigError(`Cannot use the ${options.what}: it is not an X.509 certificate`);
  }
  const { from, until } = validity;
  if (until < options.now) {
    throw new ConfigError(`Cannot use the ${options.what}: it expired on ${day(until)}. ${options.advice}`);
  }
  if (from > options.now) {
    throw new ConfigError(
      `Cannot use the ${options.what}: it is not valid before ${day(from)}. Check this machine's clock`,
    );
  }
}

function day(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
}
