/** A registry of images on this machine, as the distribution specification of OCI says, with faults to order. */
import { createHash, randomUUID } from "node:crypto";

export interface LoopbackRegistryOptions {
  /** Who may do something, and how they have to say so. @default everybody */
  readonly auth?: { readonly scheme: "basic" | "bearer"; readonly username: string; readonly password: string };
  /** Asked first; an answer takes the place of the registry's own. */
  readonly fault?: (request: Request) => Response | undefined | Promise<Response | undefined>;
  /** The registry takes this many bytes of a chunk that `fault` lets through, and then answers 500. @default all */
  readonly keepOf?: (chunk: number) => number;
}

export interface Manifest {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export class LoopbackRegistry implements AsyncDisposable {
  /** By `repository@digest`. */
  readonly blobs = new Map<string, Uint8Array>();
  /** By `repository:tag` and `repository@digest`. */
  readonly manifests = new Map<string, Manifest>();
  /** `METHOD /path?query` of each request, in order. */
  readonly requests: string[] = [];
  readonly #uploads = new Map<string, Uint8Array>();
  readonly #tokens = new Set<string>();
  readonly #options: LoopbackRegistryOptions;
  readonly #server: ReturnType<typeof Bun.serve>;
  #chunks = 0;

  constructor(options: LoopbackRegistryOptions = {}) {
    this.#options = options;
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  }

  /** Such as `127.0.0.1:12345`. */
  get host(): string {
    return `127.0.0.1:${this.#server.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  /** Makes every token that has been given out invalid. */
  forgetTokens(): void {
    this.#tokens.clear();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}${search}`);
    const fault = await this.#options.fault?.(request);
    if (fault !== undefined) return fault;
    if (pathname === "/token") return this.#token(request);
    const refused = this.#refusal(request);
    if (refused !== undefined) return refused;
    if (pathname === "/v2/") return new Response("{}");
    const [, repository = "", kind = "", rest = ""] = /^\/v2\/(.+?)\/(blobs|manifests)\/(.*)$/.exec(pathname) ?? [];
    if (kind === "manifests") return this.#manifest(request, { repository, name: rest });
    if (rest.startsWith("uploads/")) return this.#upload(request, { repository, id: rest.slice("uploads/".length) });
    return this.#blob(request, this.blobs.get(`${repository}@${rest}`));
  }

  #refusal(request: Request): Response | undefined {
    const { auth } = this.#options;
    if (auth === undefined) return undefined;
    const credentials = request.headers.get("authorization") ?? "";
    if (auth.scheme === "basic") {
      if (credentials === `Basic ${btoa(`${auth.username}:${auth.password}`)}`) return undefined;
      return new Response(errors("UNAUTHORIZED", "who are you?"), {
        status: 401,
        headers: { "www-authenticate": 'Basic realm="here"' },
      });
    }
    if (this.#tokens.has(credentials.replace(/^Bearer /, ""))) return undefined;
    const challenge = `Bearer realm="http://${this.host}/token",service="loopback",scope="repository:x:pull"`;
    return new Response(errors("UNAUTHORIZED", "a token is needed"), {
      status: 401,
      headers: { "www-authenticate": challenge },
    });
  }

  #token(request: Request): Response {
    const { auth } = this.#options;
    const expected = `Basic ${btoa(`${auth?.username}:${auth?.password}`)}`;
    if (request.headers.get("authorization") !== expected) {
      return new Response(errors("DENIED", "wrong password"), { status: 401 });
    }
    const token = randomUUID();
    this.#tokens.add(token);
    return Response.json({ token });
  }

  async #manifest(request: Request, { repository, name }: { repository: string; name: string }): Promise<Response> {
    const separator = name.startsWith("sha256:") ? "@" : ":";
    if (request.method === "PUT") {
      const bytes = new Uint8Array(await request.arrayBuffer());
      const manifest = { bytes, mediaType: request.headers.get("content-type") ?? "" };
      this.manifests
        .set(`${repository}${separator}${name}`, manifest)
        .set(`${repository}@${digestOf(bytes)}`, manifest);
      return new Response(null, { status: 201 });
    }
    const manifest = this.manifests.get(`${repository}${separator}${name}`);
    if (manifest === undefined) return new Response(errors("MANIFEST_UNKNOWN", "no such manifest"), { status: 404 });
    return new Response(manifest.bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": manifest.mediaType } });
  }

  #blob(request: Request, bytes: Uint8Array | undefined): Response {
    if (bytes === undefined) return new Response(errors("BLOB_UNKNOWN", "no such blob"), { status: 404 });
    if (request.method === "HEAD") return new Response(null, { headers: { "content-length": String(bytes.length) } });
    const from = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "");
    if (from === null) return new Response(bytes as Uint8Array<ArrayBuffer>);
    return new Response(bytes.subarray(Number(from[1])) as Uint8Array<ArrayBuffer>, { status: 206 });
  }

  async #upload(request: Request, { repository, id }: { repository: string; id: string }): Promise<Response> {
    const { searchParams } = new URL(request.url);
    if (request.method === "POST") {
      const [mount, from] = [searchParams.get("mount"), searchParams.get("from")];
      const mounted = this.blobs.get(`${from}@${mount}`);
      if (mounted !== undefined) {
        this.blobs.set(`${repository}@${mount}`, mounted);
        return new Response(null, { status: 201 });
      }
      const begun = randomUUID();
      this.#uploads.set(begun, new Uint8Array(0));
      return this.#accepted(repository, { id: begun, status: 202 });
    }
    const so = this.#uploads.get(id);
    if (so === undefined) return new Response(errors("BLOB_UPLOAD_UNKNOWN", "no such upload"), { status: 404 });
    if (request.method === "GET") return this.#accepted(repository, { id, status: 204 });
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (request.method === "PATCH") {
      const start = /^(\d+)-\d+$/.exec(request.headers.get("content-range") ?? "")?.[1];
      if (Number(start) !== so.length) return this.#accepted(repository, { id, status: 416 });
      const length = this.#options.keepOf?.(this.#chunks++) ?? bytes.length;
      this.#uploads.set(id, Buffer.concat([so, bytes.subarray(0, length)]));
      return length < bytes.length
        ? new Response(null, { status: 500 })
        : this.#accepted(repository, { id, status: 202 });
    }
    const whole = Buffer.concat([so, bytes]);
    const digest = searchParams.get("digest") ?? "";
    if (digestOf(whole) !== digest) return new Response(errors("DIGEST_INVALID", "wrong digest"), { status: 400 });
    this.#uploads.delete(id);
    this.blobs.set(`${repository}@${digest}`, whole);
    return new Response(null, { status: 201 });
  }

  #accepted(repository: string, { id, status }: { id: string; status: number }): Response {
    const length = this.#uploads.get(id)?.length ?? 0;
    const location = `/v2/${repository}/blobs/uploads/${id}`;
    return new Response(null, { status, headers: { location, range: `0-${Math.max(length - 1, 0)}` } });
  }
}

function errors(code: string, message: string): string {
  return JSON.stringify({ errors: [{ code, message }] });
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
