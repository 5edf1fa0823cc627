/** Parses a request's path and query as Go does. */

export interface ReadUrl {
  /** The path, decoded once. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const badEscape = /%(?![0-9A-Fa-f]{2})/;

/** Parses a URL. @returns an error response where there is no valid path */
export function readUrl(url: URL): ReadUrl | Response {
  if (badEscape.test(url.pathname)) return text("400 Bad Request", 400);
  // Several leading slashes count as one.
  const path = decode(url.pathname.replace(/^\/\/+/, "/"));
  const lost = withoutName(path);
  if (lost) {
    const target = `${url.pathname}${url.search}`;
    const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${target}`;
    return text(escaped(`Internal Server Error: ${JSON.stringify(target)}: ${why}\n`), 500);
  }
  return { path, query: queryOf(url) };
}

function decode(path: string): string {
  if (!path.includes("%")) return path;
  const bytes = path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

/** Whether the path is one of the old forms `/api/v1/watch/…` and `/api/v1/proxy/…` without a resource. */
function withoutName(path: string): boolean {
  if (!path.includes("watch") && !path.includes("proxy")) return false;
  const parts = path.replace(/^\/+|(?<!\/)\/+$/g, "").split("/");
  const special = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : -1;
  return parts.length === special + 1 && ["watch", "proxy"].includes(parts[special] ?? "");
}

/** Ignores pairs that cannot be decoded. */
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
