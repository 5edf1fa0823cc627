/** Which C library an image holds, and so which binary runs on it. */
import { createReadStream } from "node:fs";
import { BuildError } from "../build-error.ts";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { messageOf } from "../../platform/error-message.ts";
import type { BaseImage } from "./image.ts";
import { tarEntries } from "./tar-reader.ts";

/** @returns the C library of a base; `undefined` for an image without one, which runs no dynamically linked program. */
export async function libcOf({ layers }: BaseImage): Promise<"glibc" | "musl" | undefined> {
  let libc: "glibc" | "musl" | undefined;
  for (const { content, descriptor } of layers) {
    if (typeof content !== "string") continue;
    const stream = createReadStream(content);
    const unpacked = descriptor.mediaType.endsWith("gzip")
      ? stream.pipe(createGunzip())
      : descriptor.mediaType.endsWith("zstd")
        ? stream.pipe(createZstdDecompress())
        : stream;
    stream.once("error", (error) => unpacked.destroy(error));
    try {
      for await (const { path } of tarEntries(unpacked as AsyncIterable<Uint8Array>)) {
        if (/(^|\/)ld-linux-[^/]+\.so\.\d+$/.test(path)) return "glibc";
        if (/(^|\/)ld-musl-[^/]+\.so\.\d+$/.test(path)) libc = "musl";
      }
    } catch (error) {
      const why = messageOf(error);
      throw new BuildError(`Cannot read the layer ${descriptor.digest} of the base image: ${why}`, { cause: error });
    } finally {
      stream.destroy();
    }
  }
  return libc;
}
