/** The OpenTelemetry Collector, built once with Go from its modules, and the spans that it has received. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goProgram } from "../../scripts/controlplane/go-program.ts";
import { freePort } from "../support/binary.ts";
import { until } from "../support/until.ts";

/**
 * The program of main.go; `undefined` where there is no Go to build it.
 *
 * @throws Error in CI, which never goes without.
 */
export async function collectorProgram(): Promise<string | undefined> {
  const program = await goProgram("collector", join(import.meta.dirname, "collector"));
  if (program !== undefined) return program;
  if (/^(1|true)$/i.test(process.env["CI"] ?? "")) throw new Error("The collector cannot be built: there is no Go");
  console.log("Skipped: tests that need the OpenTelemetry Collector (there is no Go to build it)");
  return undefined;
}

/** Milliseconds between two writes to the file. */
const FLUSH_MS = 50;

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly Value[] };
}
type KeyValues = readonly { readonly key: string; readonly value: Value }[];
type Attributes = Readonly<Record<string, unknown>>;

/** A span as the collector writes it. */
interface WrittenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: KeyValues;
  readonly events?: readonly { readonly name: string; readonly attributes?: KeyValues }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string; readonly attributes?: KeyValues }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Written {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: KeyValues };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly WrittenSpan[];
    }[];
  }[];
}

export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly links: readonly { readonly trace: string; readonly id: string; readonly attributes: Attributes }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly resource: Attributes;
  readonly scope: string;
}

export interface CollectorOptions {
  /** Receives by https, with this certificate. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The token without which it refuses spans. */
  readonly token?: string;
}

export class Collector implements AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #last = "";

  private constructor(endpoint: string, { folder, child }: { readonly folder: string; readonly child: ChildProcess }) {
    this.endpoint = endpoint;
    this.#folder = folder;
    this.#child = child;
  }

  static async start(program: string, { tls, token }: CollectorOptions = {}): Promise<Collector> {
    const folder = await mkdtemp(join(tmpdir(), "binnacle-collector-"));
    const port = await freePort();
    const files = { cert_file: join(folder, "tls.crt"), key_file: join(folder, "tls.key") };
    if (tls !== undefined) {
      await writeFile(files.cert_file, tls.cert);
      await writeFile(files.key_file, tls.key);
    }
    const authenticator = "bearertokenauth";
    const config = {
      extensions: token === undefined ? {} : { [authenticator]: { token } },
      receivers: {
        otlp: {
          protocols: {
            http: {
              endpoint: `127.0.0.1:${port}`,
              ...(tls !== undefined && { tls: files }),
              ...(token !== undefined && { auth: { authenticator } }),
            },
          },
        },
      },
      exporters: { file: { path: join(folder, "spans.jsonl"), flush_interval: `${FLUSH_MS}ms` } },
      service: {
        extensions: token === undefined ? [] : [authenticator],
        pipelines: { traces: { receivers: ["otlp"], exporters: ["file"] } },
      },
    };
    await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
    const child = spawn(program, ["--config", join(folder, "config.yaml")], { stdio: ["ignore", 2, 2] });
    await until(() => child.exitCode !== null || isListening(port), { what: "the collector listens" });
    if (child.exitCode !== null) throw new Error(`The collector ended with ${child.exitCode}`);
    return new Collector(`${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`, { folder, child });
  }

  /** What it has written so far, as it is. */
  async text(): Promise<string> {
    return await readFile(join(this.#folder, "spans.jsonl"), "utf8");
  }

  /** The spans that it has received; `undefined` while some may not be in the file yet. */
  async written(): Promise<readonly ReceivedSpan[] | undefined> {
    const text = await this.text();
    if (text === "" || text !== this.#last) {
      this.#last = text;
      await sleep(2 * FLUSH_MS);
      return undefined;
    }
    const lines = text.trimEnd().split("\n");
    return lines.flatMap((line) => (JSON.parse(line) as Written).resourceSpans).flatMap(received);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
    await rm(this.#folder, { recursive: true });
  }
}

const KINDS = ["internal", "internal", "server", "client"] as const;

function received({ resource, scopeSpans }: Written["resourceSpans"][number]): ReceivedSpan[] {
  const of = attributesOf(resource.attributes);
  return scopeSpans.flatMap(({ scope, spans }) =>
    spans.map((span) => ({
      trace: span.traceId,
      id: span.spanId,
      parent: span.parentSpanId ?? "",
      name: span.name,
      kind: KINDS[span.kind]!,
      start: BigInt(span.startTimeUnixNano),
      end: BigInt(span.endTimeUnixNano),
      attributes: attributesOf(span.attributes),
      events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
      links: (span.links ?? []).map(({ traceId, spanId, attributes }) => {
        return { trace: traceId, id: spanId, attributes: attributesOf(attributes) };
      }),
      status: span.status,
      resource: of,
      scope: scope.name,
    })),
  );
}

function attributesOf(attributes: KeyValues = []): Attributes {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf);
  return stringValue ?? boolValue ?? (intValue === undefined ? "" : Number(intValue));
}

async function isListening(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
