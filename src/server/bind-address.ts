/** Parses the addresses of listeners in flags. */

export interface BindAddress {
  /** The host name; `undefined` for all interfaces. */
  readonly hostname: string | undefined;
  readonly port: number;
  /** The address as the user wrote it. */
  readonly address: string;
}

/**
 * Parses `:8081`, `127.0.0.1:0` or `[::1]:8081`; `undefined` for `0`, which means no listener.
 *
 * @param name the flag's name, such as `metrics` of `--metrics-bind-address`.
 * @throws Error naming the flag.
 */
export function parseAddress(address: string, name: string): BindAddress | undefined {
  if (address === "0" || address === "") return undefined;
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new Error(
      `Cannot use --${name}-bind-address=${address}: write it as ":8080", "127.0.0.1:8080" or "[::1]:8080", or "0" for none`,
    );
  }
  return { hostname: match[1] || match[2] || undefined, port, address };
}

/** Formats an address such as `127.0.0.1:8081`. */
export function shownAddress({
  hostname,
  port,
}: {
  readonly hostname?: string | undefined;
  readonly port?: number | undefined;
}): string {
  return `${hostname?.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** The error of an address that cannot be listened on. This may change: its port may become free. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Explains why an address cannot be listened on. */
export function listenError({ address }: BindAddress, name: string, error: unknown): ListenError {
  return new ListenError(`Cannot listen on ${address} (--${name}-bind-address): ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return "the port is in use, choose another or stop what uses it";
    case "EACCES":
      return "no permission, choose a port from 1024 on";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "this host has no such address";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
