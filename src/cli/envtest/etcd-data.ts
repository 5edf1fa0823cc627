/** Asks the etcd of `binnacle envtest` in which folder the API server keeps its data. */
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DATA_PATH } from "./etcd.ts";

/** Milliseconds to wait for etcd, as long as kube-apiserver does. */
const patience = 20_000;
const interval = 100;

interface EtcdOptions {
  readonly servers: readonly string[];
  /** The name of the data within etcd. */
  readonly prefix: string;
}

/**
 * Returns the folder of the data; `undefined` when the server at this address is not the etcd of this program, so that
 * the objects can only be in memory.
 *
 * @throws Error when none of the servers answers within 20 seconds.
 */
export async function etcdData({ servers, prefix }: EtcdOptions): Promise<string | undefined> {
  // A server that wants TLS is another etcd.
  const plain = servers.filter((server) => server.startsWith("http://"));
  if (plain.length < servers.length) return undefined;
  const until = performance.now() + patience;
  for (;;) {
    for (const server of plain) {
      const answer = await ask(new URL(DATA_PATH, server)).catch((error: unknown) => {
        if (performance.now() > until) throw error;
      });
      if (answer?.status === 200) return join(answer.text, encodeURIComponent(prefix));
      if (answer !== undefined) return undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

async function ask(url: URL): Promise<{ readonly status: number; readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = get(url, { agent: false, timeout: 2000 }, resolve);
  request.on("error", reject);
  request.on("timeout", () => request.destroy(new Error("it does not answer")));
  const response = await promise;
  return { status: response.statusCode ?? 0, text: await text(response) };
}
