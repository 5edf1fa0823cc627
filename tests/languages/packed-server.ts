/** The package of the API server, as `npm pack` makes it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Builds the package once for this process. @returns the path of the archive. */
export function packedServer(): Promise<string> {
  packed ??= pack();
  return packed;
}

let packed: Promise<string> | undefined;

async function pack(): Promise<string> {
  mkdirSync(join(root, "dist"), { recursive: true });
  const child = Bun.spawn([process.execPath, join(root, "packages/apiserver/scripts/build.ts")], {
    cwd: root,
    stdout: "pipe",
    stderr: "inherit",
  });
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`The package of the API server cannot be built: ${out}`);
  console.log(out.trim());
  return join(root, out.split(":")[0]!);
}
