/** Content that an image consists of, named by its digest. */
import { createHash } from "node:crypto";
import type { Architecture } from "./elf.ts";

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  gzipLayer: "application/vnd.oci.image.layer.v1.tar+gzip",
  zstdLayer: "application/vnd.oci.image.layer.v1.tar+zstd",
} as const;

/** A processor and a system, as images name them. */
export interface Platform {
  readonly os: "linux";
  readonly architecture: Architecture;
  readonly variant?: string;
}

/** @see https://github.com/opencontainers/image-spec/blob/main/descriptor.md */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Blob {
  readonly descriptor: Descriptor;
  /** Bytes in memory, or the path of a file with the same content. */
  readonly content: Uint8Array | string;
  /** A repository of the same registry that has the blob already, such as the one of the base image. */
  readonly from?: string | undefined;
}

/** A document as a blob: manifests, indexes and configurations. */
export function jsonBlob(mediaType: string, document: object): Blob {
  const content = Buffer.from(JSON.stringify(document));
  return { descriptor: { mediaType, digest: digestOf(content), size: content.length }, content };
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
