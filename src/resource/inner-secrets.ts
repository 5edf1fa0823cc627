/**
 * Finds the secrets inside a sensitive value with a structure of its own, such as the logins of a `.dockerconfigjson`.
 */

/** The maximum length: Kubernetes accepts no larger Secret. */
const LONGEST = 1_048_576;
/** Names of secret values in lines of `.env`, `.npmrc`, INI and YAML files. */
const SECRET_NAME = /pass|secret|token|key|auth|cred/i;
/** The maximum number of names before the value in a line: `//registry.example.com/:_authToken=…` has two. */
const MOST_NAMES = 4;
/** No shorter line has a name and a value that is looked for. */
const SHORTEST_LINE = 12;
const QUOTED = /^(["'])(.*)\1,?$/;
/** Matches `scheme://user:password@host`, also without a password. */
const USER_INFO = /:\/\/([^\s/:@]*)(?::([^\s/@]*))?@/g;
/** The least number of characters of a token; names of users are shorter. */
const SHORTEST_TOKEN = 20;
/** Matches the beginning of PEM blocks that are public. */
const PUBLIC = /^-----BEGIN (?:CERTIFICATE|.*PUBLIC KEY)/;
/** Matches a line of a key in PEM. */
const BASE64_LINE = /^[A-Za-z0-9+/]{32,}={0,2}$/;
/** Matches a login before it is decoded, and values without a structure of their own. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Matches a login, `user:password`. */
const LOGIN = /^([^\s:]+):(\S+)$/;

/** Yields the parts of a sensitive text that are secret by themselves, but not the text as a whole. */
export function* innerSecrets(text: string): Generator<string> {
  if (text.length > LONGEST || BASE64.test(text)) return;
  for (const [, user, password] of text.matchAll(USER_INFO)) {
    if (isTokenAsUser(user!)) yield* spelledInUrls(user!);
    if (password) yield* spelledInUrls(password);
  }
  const parsed = structureOf(text);
  if (parsed !== undefined) yield* leaves(parsed);
  else if (text.includes("\n") || text.includes("=")) yield* linesOf(text);
}

/** Returns whether the user in an address is a token, as in `https://TOKEN@host`. */
export function isTokenAsUser(user: string): boolean {
  return user.length >= SHORTEST_TOKEN;
}

/**
 * The maximum depth, which no credentials reach. A deeper value takes long to parse, and each value in it as many steps
 * as there are levels.
 */
const DEEPEST = 100;

/** Whether brackets are nested too deeply; brackets in texts count, too. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) {
      if (++depth > DEEPEST) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

function structureOf(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || isDeep(text)) return undefined;
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
  for (let at = 0, end = 0; end >= 0; at = end + 1) {
    end = text.indexOf("\n", at);
    if (end >= 0 && end - at < SHORTEST_LINE) continue;
    const line = text.slice(at, end < 0 ? undefined : end).trim();
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

/**
 * Returns the text after the name of a secret. It reads each character once, because the line may come from anybody.
 */
function assignedIn(line: string): string | undefined {
  let from = 0;
  for (const { index } of line.matchAll(/[:=]/g).take(MOST_NAMES)) {
    if (SECRET_NAME.test(line.slice(from, index))) return line.slice(index + 1).trim();
    from = index + 1;
  }
  return undefined;
}

/** Yields the parts of a registry's `auth`, which is a login in base64. */
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
    // The value is not percent-encoded.
  }
}
