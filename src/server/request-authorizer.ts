/**
 * Authorizes requests by the API server: TokenReview identifies the user of a token and SubjectAccessReview checks
 * the user's permissions, as in controller-runtime's filter of the metrics listener.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 */
import { sha256 } from "#runtime/digest";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { plainResponse } from "./plain-response.ts";

export interface RequestAuthorizerOptions {
  readonly transport: Pick<Transport, "request">;
  readonly log?: Log | undefined;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

interface User {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: User };
}

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/** For how many milliseconds results are remembered; controller-runtime has the same. */
const TOKEN_MS = 60_000;
const ALLOWED_MS = 300_000;
const DENIED_MS = 30_000;
/** The timeout of a review in milliseconds. */
const REVIEW_MS = 10_000;
/** The maximum number of remembered results, so that a client that tries tokens cannot fill the memory. */
const MOST_ANSWERS = 1_000;
/** kube-apiserver itself issues no longer tokens. */
const LONGEST_TOKEN = 16_384;

export class RequestAuthorizer {
  readonly #options: RequestAuthorizerOptions;
  /** The users by the hash of their token; the token itself is not kept. */
  readonly #users: RememberedAnswers<User | undefined>;
  readonly #allowed: RememberedAnswers<boolean>;

  constructor(options: RequestAuthorizerOptions) {
    const { clock = systemClock } = options;
    this.#options = options;
    this.#users = new RememberedAnswers(clock, () => TOKEN_MS);
    this.#allowed = new RememberedAnswers(clock, (allowed) => (allowed ? ALLOWED_MS : DENIED_MS));
  }

  /** The refusal of a request: 401 without a valid token, 403 without the right, 500 when nobody can say. */
  async refusal(request: Request): Promise<Response | undefined> {
    const token = tokenOf(request);
    if (token === undefined) return unauthorized();
    const path = new URL(request.url).pathname;
    const verb = request.method.toLowerCase();
    let user: User | undefined;
    try {
      user = await this.#userOf(token);
    } catch (error) {
      return this.#failed("Authentication failed", error);
    }
    if (user === undefined) return unauthorized();
    try {
      if (await this.#mayAsk(user, { path, verb })) return undefined;
    } catch (error) {
      return this.#failed(`Authorization for user ${user.username} failed`, error);
    }
    return plainResponse(`Authorization denied for user ${user.username}\n`, 403);
  }

  #userOf(token: string): Promise<User | undefined> {
    const key = sha256(token);
    return this.#users.get(key, async () => {
      const { status } = await this.#review<TokenReview>("authentication.k8s.io", "TokenReview", { token });
      return status?.authenticated === true ? status.user : undefined;
    });
  }

  #mayAsk(user: User, nonResourceAttributes: { readonly path: string; readonly verb: string }): Promise<boolean> {
    const { username, uid, groups, extra } = user;
    const spec = { user: username, uid, groups, extra, nonResourceAttributes };
    return this.#allowed.get(JSON.stringify(spec), async () => {
      const { status } = await this.#review<SubjectAccessReview>("authorization.k8s.io", "SubjectAccessReview", spec);
      return status?.allowed === true;
    });
  }

  #review<T>(group: string, kind: string, spec: object): Promise<T> {
    return this.#options.transport.request<T>({
      method: "POST",
      path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
      body: { apiVersion: `${group}/v1`, kind, spec },
      timeout: REVIEW_MS,
    });
  }

  #failed(what: string, error: unknown): Response {
    this.#options.log?.error("Cannot authorize a request", { reason: what, error });
    return plainResponse(`${what}\n`, 500);
  }
}

/** Answers that are valid for a while; simultaneous callers share one request. */
class RememberedAnswers<T> {
  readonly #clock: Clock;
  readonly #goodFor: (answer: T) => number;
  /** The oldest first. */
  readonly #answers = new Map<string, { readonly answer: T; readonly until: number }>();
  readonly #pending = new Map<string, Promise<T>>();

  constructor(clock: Clock, goodFor: (answer: T) => number) {
    this.#clock = clock;
    this.#goodFor = goodFor;
  }

  /** Returns the answer; failures are not remembered. @throws the error of `ask`. */
  async get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(key);
    if (known !== undefined && known.until > this.#clock.now()) return known.answer;
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      pending = ask().finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    const answer = await pending;
    this.#answers.delete(key);
    this.#answers.set(key, { answer, until: this.#clock.now() + this.#goodFor(answer) });
    if (this.#answers.size > MOST_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!);
    return answer;
  }
}

function tokenOf(request: Request): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return token === undefined || token.length > LONGEST_TOKEN ? undefined : token;
}

function unauthorized(): Response {
  return plainResponse("Unauthorized\n", 401);
}
