/** The HTTP routes of a plugin, behind checks of the sender and a limit for bodies. */
import { Hono } from "hono";
import { type BodyBudget, limitedBody } from "../server/body-budget.ts";
import type { Connection } from "../server/local-request.ts";
import { crossSite, misdirected } from "../server/web-guard.ts";
import type { RouteOptions } from "./plugin.ts";

/** A request for a route, without the prefix of the plugin. */
export interface RouteRequest {
  readonly request: Request;
  readonly connection: Connection;
}

const LARGEST_BODY = 1024 * 1024;

export class PluginRoutes {
  readonly #app: Hono;
  readonly #options: RouteOptions;
  readonly #onError: (error: unknown) => void;

  /**
   * Creates the routes. @param onError called with errors that the app does not handle. @throws TypeError for wrong
   * options.
   */
  constructor(app: Hono, options: RouteOptions, onError: (error: unknown) => void) {
    const { largestBody = LARGEST_BODY } = options;
    if (!Number.isSafeInteger(largestBody) || largestBody < 0) {
      throw new TypeError(`Cannot add routes: largestBody is ${String(largestBody)}, and has to be a number of bytes`);
    }
    this.#app = new Hono().onError((error, { req }) => this.#failed(error, req.raw)).route("/", app);
    this.#options = options;
    this.#onError = onError;
  }

  /** Never rejects: the client gets a plain 500 for an error of the app. */
  async answer({ request, connection }: RouteRequest, bodies: BodyBudget): Promise<Response> {
    const { largestBody = LARGEST_BODY, crossSite: answersAll = false } = this.#options;
    const refusal = answersAll ? undefined : (misdirected(request, connection) ?? crossSite(request));
    if (refusal !== undefined) return refusal;
    using share = bodies.open();
    try {
      return await this.#app.fetch(await limitedBody(request, { most: largestBody, share }));
    } catch (error) {
      // Hono does not handle a thrown value that is not an Error.
      return this.#failed(error, request);
    }
  }

  #failed(error: unknown, { signal }: Request): Response {
    if (error instanceof Error && "getResponse" in error && typeof error.getResponse === "function") {
      return error.getResponse() as Response;
    }
    // A client that ends a request in the middle of its body is not an error of the plugin, and could fill the log.
    if (!(signal.aborted && error instanceof Error && error.name === "AbortError")) this.#onError(error);
    return new Response("500 internal server error\n", { status: 500 });
  }
}
