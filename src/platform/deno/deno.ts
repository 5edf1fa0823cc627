/** The functions of Deno that this program uses, for a type checker that knows another runtime. */

export interface DenoRuntime {
  readonly version: { readonly deno: string };
  serve(options: DenoServeOptions, handler: DenoHandler): DenoServer;
  dlopen(
    library: string,
    symbols: { readonly _exit: { readonly parameters: readonly ["i32"]; readonly result: "void" } },
  ): { readonly symbols: { _exit(status: number): void } };
  listen(options: { readonly hostname: string; readonly port: number }): DenoListener;
}

export interface DenoListener {
  readonly addr: { readonly port: number };
  close(): void;
}

export type DenoHandler = (request: Request, info: DenoRequestInfo) => Response | Promise<Response>;

export interface DenoRequestInfo {
  readonly remoteAddr: { readonly hostname?: string };
}

export interface DenoServeOptions {
  readonly hostname: string;
  readonly port: number;
  readonly reusePort?: boolean;
  readonly cert?: string;
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly onListen?: () => void;
  readonly onError?: (error: unknown) => Response;
}

export interface DenoServer {
  readonly addr: { readonly hostname: string; readonly port: number };
  readonly finished: Promise<void>;
  /** Accepts no more connections, and lets active requests finish. */
  shutdown(): Promise<void>;
}

/** The global object of Deno. */
export const deno: DenoRuntime = (globalThis as unknown as { readonly Deno: DenoRuntime }).Deno;
