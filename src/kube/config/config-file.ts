/** Reads the files of a kubeconfig, up to a limit. */
import { open } from "node:fs/promises";
import { whyUnreadable } from "./config-error.ts";

/** The maximum size of a kubeconfig in bytes: a file with thousands of clusters stays far below. */
export const MOST_KUBECONFIG_BYTES: number = 16 * 1024 * 1024;
/**
 * The maximum size of a token, a certificate or a key in bytes; a bundle of all public authorities has a fifth of it.
 */
export const MOST_CREDENTIAL_BYTES: number = 1024 * 1024;

const PIECE_BYTES = 64 * 1024;

/** A file that cannot be read, with the reason as its message. */
export class UnreadableFile extends Error {
  /** Whether the file does not exist. */
  readonly isMissing: boolean;

  constructor(error: unknown) {
    super(whyUnreadable(error), { cause: error });
    this.isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

/**
 * Reads a file as UTF-8, whatever its type: pipes are allowed, endless devices are not.
 *
 * @throws UnreadableFile
 */
export async function readConfigFile(path: string, most: number): Promise<string> {
  try {
    await using file = await open(path);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES);
      if (bytesRead === 0) return Buffer.concat(pieces).toString("utf8");
      bytes += bytesRead;
      if (bytes > most) throw new Error(`it is larger than ${most / 1024 / 1024} MiB`);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    throw new UnreadableFile(error);
  }
}
