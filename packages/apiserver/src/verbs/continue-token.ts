/** Continue tokens: the key at which a list continues, relative to the list's prefix, and the version. */
import { badRequest, type StatusError } from "../status.ts";

const known = "meta.k8s.io/v1";

export interface ContinueToken {
  /** The version; negative when the list continues with the present state. */
  readonly version: number;
  /** The key after which the list continues. */
  readonly start: string;
}

/** Makes a token. @param prefix the common prefix of all keys of the list: its namespace and a slash, or nothing */
export function continueToken({ version, start }: ContinueToken, prefix: string): string {
  const content = JSON.stringify({ v: known, rv: version, start: `/${start.slice(prefix.length)}\0` });
  return Buffer.from(content).toString("base64url");
}

/** Parses a token. @throws StatusError 400 */
export function readContinueToken(text: string, prefix: string): ContinueToken {
  const { v, rv, start } = contentOf(text);
  if (v !== known) throw refused(`server does not recognize this encoded version ${typeof v === "string" ? v : ""}`);
  if (typeof rv !== "number" || rv === 0) throw refused(`incorrect encoded start resourceVersion (version ${known})`);
  if (typeof start !== "string" || start === "") throw refused(`encoded start key empty (version ${known})`);
  const path = start.startsWith("/") ? start : `/${start}`;
  if (path.split("/").some((part, index) => index > 0 && ["", ".", ".."].includes(part))) throw refused(start);
  return { version: rv, start: prefix + path.slice(1).replace(/\0$/, "") };
}

function contentOf(text: string): { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } {
  if (/[^A-Za-z0-9_-]/.test(text) || text.length % 4 === 1) throw refused("it is not base64");
  try {
    return (JSON.parse(Buffer.from(text, "base64url").toString()) ?? {}) as object;
  } catch (error) {
    throw refused((error as Error).message);
  }
}

function refused(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
