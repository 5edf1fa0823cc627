/** Requests to one repository of a registry: authentication, retries, and the meaning of responses. */
import { printable } from "../../observe/printable.ts";
import { BodyTooLarge, boundedBytes } from "../../platform/bounded-body.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import type { Reference } from "../image/reference.ts";
import { messageOf } from "../../platform/error-message.ts";
import type { Credentials } from "./docker-config.ts";
import { oneLine, reasonIn, RegistryError } from "./registry-error.ts";

export interface SessionOptions {
  /** The action, for messages: `push` or `pull`. */
  readonly action: "push" | "pull";
  readonly reference: Reference;
  /** Called when the registry requires credentials. */
  readonly credentials: () => Promise<Credentials | undefined>;
  /** Another repository of the registry that blobs may be mounted from. */
  readonly mountFrom?: string | undefined;
  /** Whether to use HTTP without TLS; registries on this machine do not need the option. @default false */
  readonly plainHttp?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** A source of random numbers from 0 to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

export interface RegistryRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below `/v2/REPOSITORY/`, or a whole address that the registry gave. */
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Statuses that count as responses and not as errors, besides those of success. */
  readonly expected?: readonly number[];
  /** Whether failures are tried again here. @default true */
  readonly retries?: boolean;
}

const ATTEMPTS = 6;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
const LONGEST_RETRY_AFTER = 60_000;
const MOST_REDIRECTS = 5;
/** The maximum number of bytes that are read of a refusal's explanation: more would not be shown. */
const MOST_REASON = 64 * 1024;
/** The most that is read of a token service's answer. */
const MOST_TOKEN = 1024 * 1024;
const HUB_HOST = "registry-1.docker.io";
const CLIENT = "binnacle";

export class RegistrySession {
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  #base: Promise<URL> | undefined;
  #credentials: Promise<Credentials | undefined> | undefined;
  /** The `Authorization` that the registry accepted last. */
  #authorization: string | undefined;
  #authorizing: Promise<string | undefined> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get reference(): Reference {
    return this.#options.reference;
  }

  /**
   * Sends a request. Failures of the connection, 408, 429 and 5xx are retried with growing delays.
   *
   * @throws RegistryError for any unexpected status.
   */
  async send(request: RegistryRequest): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const last = request.retries === false || attempt === ATTEMPTS;
      let response: Response;
      try {
        response = await this.#authorized(request);
      } catch (error) {
        const isFinal = error instanceof RegistryError ? !isTransient(error.status ?? 0) : isUserError(error);
        if (last || isFinal || this.#options.signal?.aborted === true) throw this.unreachable(error);
        await this.pause(attempt);
        continue;
      }
      if (response.ok || request.expected?.includes(response.status) === true) return response;
      if (last || !isTransient(response.status)) throw await this.#refusal(response);
      await response.body?.cancel().catch(() => {});
      await this.pause(attempt, response.headers.get("retry-after"));
    }
  }

  /**
   * Sends a request and reads its response, at most `most` bytes. A request whose connection breaks off is retried.
   *
   * @throws RegistryError like `send`, and for a larger response.
   */
  async read(request: RegistryRequest, most: number): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.send(request);
      try {
        return await boundedBytes(response, most);
      } catch (error) {
        if (error instanceof BodyTooLarge)
          throw new RegistryError(this.#cannot(`what it answers is refused: ${error.message}`));
        if (attempt === ATTEMPTS || this.#options.signal?.aborted === true) throw this.unreachable(error);
        await this.pause(attempt);
      }
    }
  }

  /** Waits before the next attempt, as long as the registry asks for. */
  async pause(attempt: number, retryAfter?: string | null): Promise<void> {
    const { signal, random = Math.random } = this.#options;
    const backOff = Math.min(FIRST_DELAY * 2 ** (attempt - 1), LONGEST_DELAY);
    const delay = retryAfter === undefined || retryAfter === null ? undefined : this.#millisecondsUntil(retryAfter);
    const ms = delay === undefined ? backOff * (0.5 + random() / 2) : Math.min(delay, LONGEST_RETRY_AFTER);
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    using _timer = this.#clock.setTimeout(resolve, ms);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /**
   * Returns the address of a location that the registry named, which may be relative.
   *
   * @throws RegistryError for a location that must not be followed.
   */
  async locate(location: string): Promise<URL> {
    return this.#next(location, await this.#root());
  }

  /** Returns the address of a redirect: only HTTP is allowed, and never from TLS to plain HTTP. */
  #next(location: string, from: URL): URL {
    const next = URL.parse(location, from);
    if (next === null || (next.protocol !== "https:" && next.protocol !== "http:")) {
      throw new RegistryError(this.#cannot(`it leads to '${oneLine(location)}', which is no address of http or https`));
    }
    if (from.protocol === "https:" && next.protocol !== "https:") {
      throw new RegistryError(this.#cannot(`it redirects from TLS to ${next.protocol}//${next.host}`));
    }
    return next;
  }

  #millisecondsUntil(retryAfter: string): number | undefined {
    if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
    const at = Date.parse(retryAfter);
    return Number.isNaN(at) ? undefined : Math.max(at - this.#clock.now(), 0);
  }

  async #authorized(request: RegistryRequest): Promise<Response> {
    const used = this.#authorization;
    const response = await this.#fetch(request, used);
    if (response.status !== 401 || !(await this.#isOwn(response))) return response;
    const challenges = parseChallenges(response.headers.get("www-authenticate") ?? "");
    await response.body?.cancel().catch(() => {});
    // Requests that were refused at the same time share one request for a token; an earlier token may have expired.
    if (this.#authorization === used) {
      this.#authorizing ??= this.#authorize(challenges).finally(() => (this.#authorizing = undefined));
      this.#authorization = await this.#authorizing;
    }
    if (this.#authorization === undefined || this.#authorization === used) throw this.#unauthorized();
    const again = await this.#fetch(request, this.#authorization);
    if (again.status === 401 && (await this.#isOwn(again))) throw this.#unauthorized(await reasonOf(again));
    return again;
  }

  /**
   * Only the registry itself may ask for credentials: storage to which it redirects could name a token service of its
   * own.
   */
  async #isOwn(response: Response): Promise<boolean> {
    return URL.parse(response.url)?.origin === (await this.#root()).origin;
  }

  async #fetch({ method, path, headers, body }: RegistryRequest, authorization: string | undefined): Promise<Response> {
    const root = await this.#root();
    const { repository } = this.#options.reference;
    let address = typeof path === "string" ? new URL(`/v2/${repository}/${path}`, root) : path;
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(address, {
        method,
        headers: {
          "user-agent": CLIENT,
          ...headers,
          // Storage to which a registry redirects gets none of our credentials.
          ...(authorization !== undefined && address.origin === root.origin && { authorization }),
        },
        redirect: "manual",
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
        ...(this.#options.signal && { signal: this.#options.signal }),
      });
      const location = response.headers.get("location");
      if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
      await response.body?.cancel().catch(() => {});
      if (redirects === MOST_REDIRECTS) throw new RegistryError(this.#cannot("it redirects in a circle"));
      address = this.#next(location, address);
    }
  }

  async #authorize(challenges: readonly Challenge[]): Promise<string | undefined> {
    this.#credentials ??= this.#options.credentials();
    const credentials = await this.#credentials;
    const bearer = challenges.find(({ scheme }) => scheme === "bearer");
    if (bearer !== undefined) return `Bearer ${await this.#token(bearer, credentials)}`;
    if (!challenges.some(({ scheme }) => scheme === "basic")) {
      throw new RegistryError(this.#cannot("it answers 401 and names no way to authenticate that is known here"));
    }
    return credentials === undefined || "identityToken" in credentials ? undefined : basic(credentials);
  }

  async #token({ parameters }: Challenge, credentials: Credentials | undefined): Promise<string> {
    const realm = URL.parse(parameters.get("realm") ?? "");
    const root = await this.#root();
    if (realm === null || (realm.protocol !== "https:" && realm.protocol !== root.protocol)) {
      throw new RegistryError(this.#cannot(`its token service '${parameters.get("realm") ?? ""}' is no https address`));
    }
    const { reference, action, mountFrom } = this.#options;
    const scopes = [
      `repository:${reference.repository}:${action === "push" ? "pull,push" : "pull"}`,
      ...(mountFrom === undefined ? [] : [`repository:${mountFrom}:pull`]),
    ];
    const service = parameters.get("service");
    const form = new URLSearchParams(service === undefined ? [] : [["service", service]]);
    if (credentials !== undefined && "identityToken" in credentials) {
      form.set("scope", scopes.join(" "));
      form.set("grant_type", "refresh_token");
      form.set("client_id", CLIENT);
      form.set("refresh_token", credentials.identityToken);
    } else for (const scope of scopes) form.append("scope", scope);
    const response = await this.#fetchToken(realm, { form, credentials });
    const { status } = response;
    if (!response.ok) {
      const text = await reasonOf(response);
      if (status === 401 || status === 403) throw this.#unauthorized(text);
      throw new RegistryError(this.#cannot(`its token service ${realm.host} answers ${status}${because(text)}`), {
        status,
      });
    }
    const token = tokenIn(await this.#tokenAnswer(response, realm));
    if (token !== undefined) return token;
    throw new RegistryError(this.#cannot(`its token service ${realm.host} answers without a token`));
  }

  async #tokenAnswer(response: Response, { host }: URL): Promise<string> {
    try {
      return Buffer.from(await boundedBytes(response, MOST_TOKEN)).toString("utf8");
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      throw new RegistryError(this.#cannot(`what its token service ${host} answers is refused: ${error.message}`));
    }
  }

  async #fetchToken(
    realm: URL,
    { form, credentials }: { readonly form: URLSearchParams; readonly credentials: Credentials | undefined },
  ): Promise<Response> {
    const { signal } = this.#options;
    const shared = { redirect: "error" as const, ...(signal && { signal }) };
    if (credentials !== undefined && "identityToken" in credentials) {
      return fetch(realm, { ...shared, method: "POST", body: form });
    }
    const address = new URL(realm);
    for (const [name, value] of form) address.searchParams.append(name, value);
    const headers = credentials === undefined ? undefined : { authorization: basic(credentials) };
    return fetch(address, { ...shared, ...(headers && { headers }) });
  }

  /** Returns the registry's address. Only on this machine is it checked whether it speaks TLS. */
  #root(): Promise<URL> {
    this.#base ??= this.#findRoot();
    return this.#base;
  }

  async #findRoot(): Promise<URL> {
    const { reference, plainHttp = false, signal } = this.#options;
    const host = reference.registry === "docker.io" ? HUB_HOST : reference.registry;
    if (plainHttp) return new URL(`http://${host}`);
    const secure = new URL(`https://${host}`);
    if (!/^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host)) return secure;
    const plain = new URL(`http://${host}`);
    // A server that requires TLS answers a plain request with 400, or not at all.
    const answer = await fetch(new URL("/v2/", plain), { redirect: "manual", ...(signal && { signal }) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel().catch(() => {});
    return answer === undefined || answer.status === 400 ? secure : plain;
  }

  #cannot(why: string): string {
    const { action, reference } = this.#options;
    const direction = action === "push" ? "push to" : "pull from";
    return `Cannot ${direction} ${reference.registry}/${reference.repository}: ${printable(why)}`;
  }

  /** Returns the error to throw for a failed connection. */
  unreachable(error: unknown): unknown {
    const { signal, reference } = this.#options;
    if (error instanceof RegistryError || signal?.aborted === true) return error;
    if (isUserError(error)) return error;
    const why = messageOf(error);
    return new RegistryError(this.#cannot(`${reference.registry} cannot be reached: ${why}`), { cause: error });
  }

  #unauthorized(text = "", status = 401): RegistryError {
    const { action, reference } = this.#options;
    const advice = `log in with \`docker login ${reference.registry}\` as a user who may ${action}`;
    const why = `the registry does not let us (${status}${because(text)}); ${advice}`;
    return new RegistryError(this.#cannot(why), { status });
  }

  async #refusal(response: Response): Promise<RegistryError> {
    const { status } = response;
    const text = await reasonOf(response);
    if (status === 403) return this.#unauthorized(text, status);
    if (status === 401 && (await this.#isOwn(response))) return this.#unauthorized(text);
    const who = (await this.#isOwn(response))
      ? "the registry"
      : `${URL.parse(response.url)?.host ?? ""}, where it leads,`;
    return new RegistryError(this.#cannot(`${who} answers ${status}${because(text)}`), { status });
  }
}

/** Returns the text of a refusal; empty when it is too large or breaks off. */
async function reasonOf(response: Response): Promise<string> {
  const bytes = await boundedBytes(response, MOST_REASON).catch(() => undefined);
  return bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
}

/** Returns the token in the response of a token service; `undefined` when there is none that a header may contain. */
function tokenIn(text: string): string | undefined {
  try {
    const { token, access_token: accessToken } = JSON.parse(text) as { token?: unknown; access_token?: unknown };
    const bearer = token || accessToken;
    return typeof bearer === "string" && /^[\x21-\x7e]+$/.test(bearer) ? bearer : undefined;
  } catch {
    return undefined; // as for an answer that is null
  }
}

function because(text: string): string {
  const reason = reasonIn(text);
  return reason === "" ? "" : `, ${reason}`;
}

function basic(credentials: Exclude<Credentials, { readonly identityToken: string }>): string {
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`;
}

/** Whether a further attempt would repeat the error, as with unreadable credentials. */
function isUserError(error: unknown): error is Error {
  return error instanceof Error && error.name === "UserError";
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

interface Challenge {
  /** The scheme in lower case: `bearer` or `basic`. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns the challenges of a header, in its order; unreadable ones are left out. */
function parseChallenges(header: string): readonly Challenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  const pattern = /([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([A-Za-z][\w-]*)/g;
  for (const [, key, quoted, plain, scheme] of header.matchAll(pattern)) {
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else challenges.at(-1)?.parameters.set(key!.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "");
  }
  return challenges;
}
