/**
 * Brings one blob into a repository: by mounting it, or in chunks that are resumed where they broke off. An existing
 * blob is not sent.
 */
import { open } from "node:fs/promises";
import type { Blob } from "../image/blob.ts";
import { RegistryError } from "./registry-error.ts";
import type { RegistrySession } from "./session.ts";

/** Bytes of a chunk, unless the registry asks for more. */
const CHUNK = 16 * 1024 * 1024;
/** Failures of a chunk in a row until the upload is given up. */
const ATTEMPTS = 6;
/** The number of times that an upload is begun anew, because the registry has forgotten it. */
const MOST_UPLOADS = 3;

export interface UploadOptions {
  /** Called with the number of bytes that the registry has more; negative after a chunk was lost. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** A repository of the same registry that blobs may be mounted from. */
  readonly mountFrom?: string | undefined;
}

/** The result for a blob. */
export type UploadResult = "exists" | "mounted" | "uploaded";

/** @throws RegistryError */
export async function uploadBlob(
  session: RegistrySession,
  blob: Blob,
  options: UploadOptions = {},
): Promise<UploadResult> {
  const { digest, size } = blob.descriptor;
  const there = await session.send({ method: "HEAD", path: `blobs/${digest}`, expected: [404] });
  if (there.ok) {
    options.onBytes?.(size);
    return "exists";
  }
  for (let begun = 1; ; begun++) {
    const upload = await begin(session, blob, options);
    if (upload === "mounted") {
      options.onBytes?.(size);
      return upload;
    }
    if (await new Upload(session, { blob, upload, ...options }).run(begun === MOST_UPLOADS)) return "uploaded";
  }
}

/** An upload that the registry has begun. */
interface Begun {
  readonly location: URL;
  /** The smallest size of a chunk, in bytes. */
  readonly leastChunk: number;
}

async function begin(session: RegistrySession, blob: Blob, { mountFrom }: UploadOptions): Promise<Begun | "mounted"> {
  const { descriptor } = blob;
  const from = blob.from === mountFrom ? mountFrom : undefined;
  const query = new URLSearchParams(
    from === undefined
      ? []
      : [
          ["mount", descriptor.digest],
          ["from", from],
        ],
  );
  const path = from === undefined ? "blobs/uploads/" : `blobs/uploads/?${query.toString()}`;
  // If the registry refuses to mount a blob that we may not read elsewhere, the blob itself is sent.
  const expected = from === undefined ? [] : [400, 401, 403, 404, 405];
  let response = await session.send({ method: "POST", path, expected });
  await response.body?.cancel().catch(() => {});
  if (response.status === 201) return "mounted";
  if (!response.ok) {
    response = await session.send({ method: "POST", path: "blobs/uploads/" });
    await response.body?.cancel().catch(() => {});
  }
  return {
    location: await locationOf(response, session),
    leastChunk: Number(response.headers.get("oci-chunk-min-length")) || 0,
  };
}

async function locationOf(response: Response, session: RegistrySession): Promise<URL> {
  const location = response.headers.get("location");
  if (location === null) {
    const { registry } = session.reference;
    throw new RegistryError(`Cannot push to ${registry}: it begins an upload and does not say where`, {
      status: response.status,
    });
  }
  return session.locate(location);
}

class Upload {
  readonly #session: RegistrySession;
  readonly #blob: Blob;
  readonly #chunk: number;
  readonly #onBytes: (bytes: number) => void;
  #location: URL;
  /** Bytes that the registry has. */
  #offset = 0;

  constructor(
    session: RegistrySession,
    { blob, upload, onBytes }: UploadOptions & { readonly blob: Blob; readonly upload: Begun },
  ) {
    this.#session = session;
    this.#blob = blob;
    this.#location = upload.location;
    this.#chunk = Math.max(CHUNK, upload.leastChunk);
    this.#onBytes = onBytes ?? (() => {});
  }

  /** @returns false when the registry no longer knows of the upload. */
  async run(isLast: boolean): Promise<boolean> {
    const { size, digest } = this.#blob.descriptor;
    let failures = 0;
    let furthest = 0;
    while (this.#offset < size) {
      try {
        await this.#sendChunk();
        // A registry that accepts chunks and stores nothing would get the same one for ever.
        if (this.#offset <= furthest) throw this.#stuck();
        furthest = this.#offset;
        failures = 0;
      } catch (error) {
        if (!(error instanceof RegistryError) || !mayResume(error)) throw error;
        if (++failures === ATTEMPTS) throw error;
        if (error.status === 404) {
          if (isLast) throw error;
          this.#moveTo(0);
          return false;
        }
        if (error.status !== 416) await this.#session.pause(failures);
        if (!(await this.#askOffset())) {
          if (isLast) throw error;
          this.#moveTo(0);
          return false;
        }
        if (this.#offset > furthest) {
          furthest = this.#offset;
          failures = 0;
        }
      }
    }
    const end = new URL(this.#location);
    end.searchParams.append("digest", digest);
    const response = await this.#session.send({
      method: "PUT",
      path: end,
      headers: { "content-length": "0", "content-type": "application/octet-stream" },
      expected: [404],
    });
    await response.body?.cancel().catch(() => {});
    if (response.ok) return true;
    // The response to an earlier attempt may have been lost: then the blob exists, and the upload does not.
    const there = await this.#session.send({ method: "HEAD", path: `blobs/${digest}`, expected: [404] });
    if (there.ok) return true;
    this.#moveTo(0);
    if (!isLast) return false;
    throw new RegistryError(`Cannot push to ${this.#session.reference.registry}: it forgets uploads before they end`);
  }

  #stuck(): RegistryError {
    const { registry } = this.#session.reference;
    return new RegistryError(`Cannot push to ${registry}: it takes chunks of an upload and keeps nothing of them`);
  }

  async #sendChunk(): Promise<void> {
    const { size } = this.#blob.descriptor;
    const bytes = await piece(this.#blob, { at: this.#offset, length: Math.min(this.#chunk, size - this.#offset) });
    const response = await this.#session.send({
      method: "PATCH",
      path: this.#location,
      headers: {
        "content-type": "application/octet-stream",
        "content-range": `${this.#offset}-${this.#offset + bytes.length - 1}`,
      },
      body: bytes,
      retries: false,
    });
    await response.body?.cancel().catch(() => {});
    this.#location = await locationOf(response, this.#session);
    this.#moveTo(endOf(response) ?? this.#offset + bytes.length);
  }

  /** Asks for the progress of the upload. @returns false when the registry does not know the upload. */
  async #askOffset(): Promise<boolean> {
    const response = await this.#session.send({ method: "GET", path: this.#location, expected: [404, 405] });
    await response.body?.cancel().catch(() => {});
    if (!response.ok) return false;
    const location = response.headers.get("location");
    if (location !== null) this.#location = await this.#session.locate(location);
    this.#moveTo(endOf(response) ?? 0);
    return true;
  }

  #moveTo(offset: number): void {
    const bounded = Math.min(Math.max(offset, 0), this.#blob.descriptor.size);
    this.#onBytes(bounded - this.#offset);
    this.#offset = bounded;
  }
}

/** Returns the number of bytes that have arrived, from the `Range` of a response, such as `0-1023`. */
function endOf(response: Response): number | undefined {
  const range = /^(?:bytes=)?0-(-?\d+)$/.exec(response.headers.get("range") ?? "");
  if (range === null) return undefined;
  const end = Number(range[1]);
  // An upload without a byte has the range 0-0, like one with a single byte; sending that byte again does no harm.
  return end <= 0 ? 0 : end + 1;
}

/** Whether an upload may be resumed: after no response, a different offset, or an error of the server. */
function mayResume({ status }: RegistryError): boolean {
  return status === undefined || status === 404 || status === 408 || status === 416 || status === 429 || status >= 500;
}

async function piece(
  { content }: Blob,
  { at, length }: { readonly at: number; readonly length: number },
): Promise<Uint8Array> {
  if (typeof content !== "string") return content.subarray(at, at + length);
  await using file = await open(content, "r");
  const buffer = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, at + filled);
    if (bytesRead === 0) throw new Error(`Cannot read '${content}': it is shorter than it was; build again`);
    filled += bytesRead;
  }
  return buffer;
}
