/** A Kubernetes API server for tests and development, with everything that a program which uses it needs. */
import { readFileSync, rmSync } from "node:fs";
import type { UserInfo } from "../hooks.ts";
import type { KubeObject } from "../kube-object.ts";
import { listenApiServer } from "../listen.ts";
import type { ListenOptions } from "../listen-options.ts";
import { writePrivate } from "../storage/private-files.ts";
import { applyObjects } from "./apply-objects.ts";
import { ledTo, type LocalWebhooks, webhookAddress, type WebhookOptions } from "./local-webhooks.ts";
import { type Manifests, readManifests } from "./manifests.ts";

export interface StartOptions extends ListenOptions {
  /**
   * The CustomResourceDefinitions; other objects of the same files are passed over. Their kinds are served when the server is
   * ready. @default none
   */
  readonly crds?: Manifests | undefined;
  /** Objects of any kind, which are there when the server is ready. @default none */
  readonly objects?: Manifests | undefined;
  /** Leads webhooks, also those that convert the kinds of `crds`, to this machine. @default their Services are asked */
  readonly webhooks?: WebhookOptions | undefined;
  /** A file for the administrator's kubeconfig, readable by this user alone. It is removed when the server stops. @default none */
  readonly kubeconfigFile?: string | undefined;
  /** Stops the server. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** A user of the server. */
export interface ServerUser {
  readonly name: string;
  /** The bearer token. */
  readonly token: string;
  /** A kubeconfig (YAML) with the token. */
  readonly kubeconfig: string;
}

export interface RunningApiServer extends AsyncDisposable {
  /** The address, `https://host:port`. */
  readonly url: string;
  /** The authority of the server's certificate (PEM). */
  readonly authority: string;
  /** The bearer token of the administrator, who may do everything. */
  readonly token: string;
  /** A kubeconfig (YAML) of the administrator. */
  readonly kubeconfig: string;
  /** Where to serve webhooks; `undefined` without the option `webhooks`. */
  readonly webhooks: LocalWebhooks | undefined;
  /** Answers a request of the administrator in this process, without a connection. */
  fetch(request: Request): Promise<Response>;
  /**
   * Applies objects by server-side apply, CustomResourceDefinitions and Namespaces first. Kinds are served when it is over.
   *
   * @returns the objects as they are stored. @throws Error that names the file or the object, and says what is wrong with it.
   */
  apply(manifests: Manifests): Promise<readonly KubeObject[]>;
  /**
   * Adds a user, who may do what roles are bound to the name and the groups; a group of `system:masters` may do everything.
   *
   * @param groups @default []
   */
  addUser(name: string, groups?: readonly string[]): ServerUser;
  /** Ends all watches and connections. Without the option `data` the objects are gone. */
  stop(): Promise<void>;
}

/**
 * Starts a Kubernetes API server: kube-apiserver's API, without etcd and without controllers.
 *
 * @example
 * ```ts
 * await using server = await startApiServer({ crds: "config/crd/bases" });
 * const config = new KubeConfig();
 * config.loadFromString(server.kubeconfig);
 * ```
 *
 * @throws Error when the address is taken, a manifest cannot be read, or an object is refused. No server runs then.
 */
export async function startApiServer(options: StartOptions = {}): Promise<RunningApiServer> {
  const { crds = [], objects = [], webhooks, kubeconfigFile, signal, ...listening } = options;
  signal?.throwIfAborted();
  const definitions = readManifests(crds).filter(({ object }) => object.kind === "CustomResourceDefinition");
  const others = readManifests(objects);
  const configurations = readManifests(webhooks?.manifests ?? []);
  const address = webhooks === undefined ? undefined : await webhookAddress(webhooks);
  const led = address === undefined ? definitions : definitions.map((one) => ledTo(address, one));
  const listener = await listenApiServer(listening);
  const { server, url, authority, token, kubeconfig } = listener;
  const stop = async (): Promise<void> => {
    signal?.removeEventListener("abort", abort);
    if (kubeconfigFile !== undefined) removeOwn(kubeconfigFile, kubeconfig);
    await listener.stop();
  };
  const abort = (): void => void stop();
  try {
    await applyObjects(server, led);
    await applyObjects(server, others);
    if (address !== undefined) {
      await applyObjects(
        server,
        configurations.map((one) => ledTo(address, one)),
      );
    }
    if (kubeconfigFile !== undefined) writePrivate(kubeconfigFile, kubeconfig);
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    authority,
    token,
    kubeconfig,
    webhooks: address,
    fetch: (request) => server.fetch(request),
    apply: (manifests) => {
      const named = readManifests(manifests);
      return applyObjects(server, address === undefined ? named : named.map((one) => ledTo(address, one)));
    },
    addUser: (name, groups = []) => {
      const user: UserInfo = { username: name, groups: [...groups, "system:authenticated"] };
      return { name, ...listener.addUser(user) };
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Another server may have written the file since. */
function removeOwn(file: string, text: string): void {
  try {
    if (readFileSync(file, "utf8") === text) rmSync(file);
  } catch {
    // It has been removed already.
  }
}
