/** Images without a container engine: a folder becomes the one layer of an OCI archive. */

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./programs.ts";

export interface ArchiveOptions {
  /** Such as `localhost/busybox:1`. */
  readonly name: string;
  /** What the image holds. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  /** @default root */
  readonly user?: string | undefined;
}

const TYPE = "application/vnd.oci.image";

/** Writes the archive, for `ctr images import`. @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md */
export async function writeArchive(file: string, { name, root, entrypoint, user = "" }: ArchiveOptions): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "image-"));
  try {
    const blobs = join(work, "blobs", "sha256");
    await mkdir(blobs, { recursive: true });
    const blob = async (kind: string, content: Uint8Array | object) => {
      const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
      const hash = createHash("sha256").update(bytes).digest("hex");
      await writeFile(join(blobs, hash), bytes);
      return { mediaType: `${TYPE}.${kind}`, digest: `sha256:${hash}`, size: bytes.length };
    };
    const layerFile = join(work, "layer");
    const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
    await run("tar", ["-C", root, ...same, "-cf", layerFile, "."]);
    const layer = await blob("layer.v1.tar", await readFile(layerFile));
    const platform = { architecture: process.arch === "x64" ? "amd64" : process.arch, os: "linux" };
    const PATH = "/bin:/usr/bin:/sbin:/usr/sbin:/usr/local/bin";
    const config = await blob("config.v1+json", {
      ...platform,
      config: { User: user, Entrypoint: entrypoint, Env: [`PATH=${PATH}`] },
      rootfs: { type: "layers", diff_ids: [layer.digest] },
    });
    const manifest = await blob("manifest.v1+json", {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config,
      layers: [layer],
    });
    const annotations = { "io.containerd.image.name": name };
    const index = { schemaVersion: 2, manifests: [{ ...manifest, platform, annotations }] };
    await writeFile(join(work, "index.json"), JSON.stringify(index));
    await writeFile(join(work, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await run("tar", ["-C", work, "-cf", file, "oci-layout", "index.json", "blobs"]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
