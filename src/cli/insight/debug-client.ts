/** Speaks with the debug listener of one process. */
import { messageOf } from "../../platform/error-message.ts";
import type { ErrorAnswer } from "../../server/debug/answers.ts";
import { UserError } from "../usage-error.ts";

/** A process with a debug listener. */
export interface DebugTarget {
  /** The name by which people know it: the pod, or the address on this machine. */
  readonly name: string;
  /** The host and port on this machine. */
  readonly address: string;
  /** Returns the token that actions need. @throws UserError that says how to get one. */
  readonly token: () => Promise<string>;
  /** Explains a connection that fails; `undefined` when there is nothing more to say. */
  readonly why?: (() => string | undefined) | undefined;
}

/** The processes, which are reachable until they are disposed of. */
export interface Targets extends AsyncDisposable {
  readonly clients: readonly DebugClient[];
}

export class DebugClient {
  readonly target: DebugTarget;

  constructor(target: DebugTarget) {
    this.target = target;
  }

  get name(): string {
    return this.target.name;
  }

  /** @returns `undefined` when the process does not know what is asked for, and calls `onMissing` with its reason. */
  async find<T>(path: string, onMissing: (reason: string) => void): Promise<T | undefined> {
    const response = await this.#request(path, { method: "GET" });
    if (response.status !== 404) return this.#answer<T>(response);
    onMissing(await this.#refusal(response));
    return undefined;
  }

  /** @throws UserError with the reason of the process. */
  async get<T>(path: string): Promise<T> {
    return this.#answer<T>(await this.#request(path, { method: "GET" }));
  }

  async post<T>(path: string, body: object): Promise<T> {
    return this.#answer<T>(await this.act(path, body));
  }

  /** Takes an action. @returns the response; a status other than 404 and 200 throws. */
  async act(path: string, body: object): Promise<Response> {
    const headers = { authorization: `Bearer ${await this.target.token()}`, "content-type": "application/json" };
    const response = await this.#request(path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok && response.status !== 404) throw new UserError(await this.#refusal(response));
    return response;
  }

  /** Follows a stream of events until the signal fires or the process ends it. */
  async follow(path: string, onEvent: (event: string, data: unknown) => void, signal: AbortSignal): Promise<void> {
    const response = await this.#request(path, { method: "GET", headers: { accept: "text/event-stream" }, signal });
    if (!response.ok) throw new UserError(await this.#refusal(response));
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true });
        const blocks = rest.split("\n\n");
        rest = blocks.pop()!;
        for (const block of blocks) {
          const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
          if (event !== undefined && data !== undefined) onEvent(event, JSON.parse(data));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw new UserError(`${this.name} does not answer any more: ${messageOf(error)}`);
    }
  }

  async #answer<T>(response: Response): Promise<T> {
    if (!response.ok) throw new UserError(await this.#refusal(response));
    return (await response.json()) as T;
  }

  async #refusal(response: Response): Promise<string> {
    const text = await response.text();
    let reason = text.slice(0, 500);
    try {
      reason = (JSON.parse(text) as ErrorAnswer).error;
    } catch {
      // The text stays as it is: something else than binnacle has answered.
    }
    return `${this.name}: ${reason}`;
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const { address, why } = this.target;
    try {
      return await fetchLocally(`http://${address}${path}`, init);
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new UserError(`Cannot reach the debug listener of ${this.name}: ${why?.() ?? messageOf(error)}`);
    }
  }
}

/** Sends a request to this machine. A proxy of the environment must not see it: it may carry a token. */
export function fetchLocally(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, proxy: "" } as RequestInit);
}
