/** An image of the binary with modules, without a container engine. */

import { copyFile, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { binary } from "../build.ts";
import { writeArchive } from "./archive.ts";
import type { KubernetesNode } from "./node.ts";
import { run } from "./programs.ts";

/** Loads an image of this name into the node: the binary, the libraries that it needs, and modules in /controllers. */
export async function loadOperator(node: KubernetesNode, name: string, controllers?: string): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), "operator-"));
  try {
    const root = join(work, "root");
    for (const folder of ["bin", "controllers", "tmp"]) await mkdir(join(root, folder), { recursive: true });
    await copyFile(binary, join(root, "bin", "binnacle"));
    const libraries = await run("ldd", [binary]);
    for (const [path] of libraries.matchAll(/\/\S+\.so\S*/g)) {
      await mkdir(join(root, dirname(path)), { recursive: true });
      await copyFile(path, join(root, path));
    }
    if (controllers !== undefined) await cp(controllers, join(root, "controllers"), { recursive: true });
    const archive = join(work, "image.tar");
    await writeArchive(archive, { name, root, entrypoint: ["/bin/binnacle"], user: "65532" });
    await node.load(archive);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
