/** A request's path and query, read as Go reads them. */

export interface ReadUrl {
  /** Decoded once. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const badEscape = /%(?![0-9A-Fa-f]{2})/;

/** @returns what is wrong as an answer, where there is neither a path nor a resource to speak of */
export function readUrl(url: URL): ReadUrl | Response {
  if (badEscape.test(url.pathname)) return text("400 Bad Request", 400);
  // More than one slash at the beginning is as good as one.
  const path = decoded(url.pathname).replace(/^\/\/+/, "/");
  const lost = withoutName(path);
  if (lost) {
    const asked = `${url.pathname}${url.search}`;
    const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${asked}`;
    return text(escaped(`Internal Server Error: ${JSON.stringify(asked)}: ${why}\n`), 500);
  }
  return { path, query: queryOf(url) };
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  const bytes = path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

/** The old forms `/api/v1/watch/…` and `/api/v1/proxy/…` without what they are about. */
function withoutName(path: string): boolean {
  if (!path.includes("watch") && !path.includes("proxy")) return false;
  const parts = path.replace(/^\/+|\/+$/g, "").split("/");
  const special = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : -1;
  return parts.length === special + 1 && ["watch", "proxy"].includes(parts[special] ?? "");
}

/** Pairs that cannot be read are none. */
function queryOf({ search, searchParams }: URL): URLSearchParams {
  if (!search.includes(";") && !badEscape.test(search)) return searchParams;
  const pairs = search.slice(1).split("&");
  return new URLSearchParams(pairs.filter((pair) => !pair.includes(";") && !badEscape.test(pair)).join("&"));
}

function escaped(line: string): string {
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function text(body: string, status: number): Response {
  return new Response(body, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
