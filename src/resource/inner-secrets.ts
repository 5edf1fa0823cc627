/** The secrets inside of a sensitive value that has a structure of its own, such as the logins of a `.dockerconfigjson`. */

/** Longer than what Kubernetes takes for a Secret as a whole. */
const LONGEST = 1_048_576;
/** Names of what is secret, as they stand in the lines of `.env`, `.npmrc`, INI and YAML files. */
const SECRET_NAME = /pass|secret|token|key|auth|cred/i;
/** A line has no more names than this before its value: `//registry.example.com/:_authToken=…` has two. */
const MOST_NAMES = 4;
const QUOTED = /^(["'])(.*)\1,?$/;
/** `scheme://user:password@host` */
const USER_INFO = /:\/\/[^\s/:@]*:([^\s/@]+)@/g;
/** The beginning of what may be shown, in PEM. */
const PUBLIC = /^-----BEGIN (?:CERTIFICATE|.*PUBLIC KEY)/;
/** A line of a key in PEM. */
const BASE64_LINE = /^[A-Za-z0-9+/]{32,}={0,2}$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** What a login is made of: `user:password`. */
const LOGIN = /^([^\s:]+):(\S+)$/;

/** What of a sensitive text is secret by itself; the text as a whole is not among it. */
export function* innerSecrets(text: string): Generator<string> {
  if (text.length > LONGEST) return;
  for (const [, password] of text.matchAll(USER_INFO)) yield* spelledInUrls(password!);
  const parsed = structureOf(text);
  if (parsed !== undefined) yield* leaves(parsed);
  else if (text.includes("\n") || text.includes("=")) yield* linesOf(text);
}

function structureOf(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

function* leaves(value: unknown): Generator<string> {
  if (typeof value === "string") {
    yield value;
    yield* loginOf(value);
    yield* linesOf(value);
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* leaves(inner);
  }
}

function* linesOf(text: string): Generator<string> {
  let isPublic = false;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    if (line.startsWith("-----")) isPublic = PUBLIC.test(line);
    if (isPublic) continue;
    if (BASE64_LINE.test(line)) yield line;
    const assigned = assignedIn(line);
    if (assigned === undefined) continue;
    const value = QUOTED.exec(assigned)?.[2] ?? assigned;
    yield value;
    yield* loginOf(value);
  }
}

/** What follows the name of something secret. Each character is looked at once, because anybody may have written the line. */
function assignedIn(line: string): string | undefined {
  let from = 0;
  for (const { index } of line.matchAll(/[:=]/g).take(MOST_NAMES)) {
    if (SECRET_NAME.test(line.slice(from, index))) return line.slice(index + 1).trim();
    from = index + 1;
  }
  return undefined;
}

/** The `auth` of a registry is a login in base64. */
function* loginOf(value: string): Generator<string> {
  if (!BASE64.test(value)) return;
  const [login, , password] = LOGIN.exec(Buffer.from(value, "base64").toString()) ?? [];
  if (login === undefined) return;
  yield login;
  yield password!;
}

function* spelledInUrls(password: string): Generator<string> {
  yield password;
  try {
    yield decodeURIComponent(password);
  } catch {
    // It is not percent-encoded.
  }
}
