/** A registry of npm on this machine, for packages that a test gives it. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Published {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

export class LoopbackNpm implements AsyncDisposable {
  /** `METHOD /path` of each request, in order. */
  readonly requests: string[] = [];
  readonly #manifests = new Map<string, Published>();
  readonly #archives = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #server: ReturnType<typeof Bun.serve>;

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  }

  get address(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Publishes an archive as `npm publish` would. */
  publish(archive: string): void {
    const manifest = spawnSync("tar", ["-xOzf", archive, "package/package.json"], { encoding: "utf8" });
    if (manifest.status !== 0) throw new Error(manifest.stderr);
    this.#add(JSON.parse(manifest.stdout) as Published, new Uint8Array(readFileSync(archive)));
  }

  /** Publishes a package that is installed in a project, and the packages that it depends on. */
  publishInstalled(root: string, name: string): void {
    if (this.#manifests.has(name)) return;
    const folder = join(root, "node_modules", name);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Published;
    const args = ["-C", folder, "--use-compress-program=gzip -1", "--transform=s,^[.],package,", "-cf", "-", "."];
    const { status, stdout, stderr } = spawnSync("tar", args, { maxBuffer: 2 ** 28 });
    if (status !== 0) throw new Error(stderr.toString());
    this.#add(manifest, new Uint8Array(stdout));
    for (const dependency of Object.keys((manifest["dependencies"] as object | undefined) ?? {})) {
      this.publishInstalled(root, dependency);
    }
  }

  #add(manifest: Published, archive: Uint8Array<ArrayBuffer>): void {
    const path = `/-/${manifest.name.replace("/", "-")}-${manifest.version}.tgz`;
    const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    this.#manifests.set(manifest.name, { ...manifest, dist: { tarball: `${this.address}${path}`, integrity } });
    this.#archives.set(path, archive);
  }

  #answer(request: Request): Response {
    const path = decodeURIComponent(new URL(request.url).pathname);
    this.requests.push(`${request.method} ${path}`);
    const archive = this.#archives.get(path);
    if (archive !== undefined) return new Response(archive);
    const manifest = this.#manifests.get(path.slice(1));
    if (manifest === undefined) return Response.json({ error: "not found" }, { status: 404 });
    const { name, version } = manifest;
    return Response.json({ name, "dist-tags": { latest: version }, versions: { [version]: manifest } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}
