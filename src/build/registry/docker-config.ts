/** The credentials for registries that `docker login` and similar commands have stored. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../platform/error-message.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type Credentials =
  | { readonly username: string; readonly password: string }
  /** A refresh token of an identity provider. */
  | { readonly identityToken: string };

interface AuthEntry {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
}

interface DockerConfig {
  readonly auths?: Readonly<Record<string, AuthEntry>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

/** A configuration or a helper that cannot be used. */
class CredentialsError extends Error {
  override readonly name = "UserError" as const;
}

const HUB = "docker.io";
/** The names under which Docker keeps credentials of its own registry. */
const hubKeys: readonly string[] = ["https://index.docker.io/v1/", "index.docker.io", HUB];
/** The user name that means that the password is a refresh token. */
const TOKEN_USER = "<token>";
/** Milliseconds for a credential helper. */
const HELPER_WITHIN = 30_000;

/**
 * Returns the credentials for a registry, from the first file that has some: `$REGISTRY_AUTH_FILE`, `config.json` of
 * `$DOCKER_CONFIG` or `~/.docker`, and the `auth.json` of podman.
 *
 * @returns `undefined` for an unknown registry. @throws CredentialsError
 */
export async function credentialsFor(registry: string, env: Environment): Promise<Credentials | undefined> {
  for (const file of configFiles(env)) {
    const config = await readConfig(file);
    const credentials = config && (await credentialsIn(config, { registry, env, file }));
    if (credentials !== undefined) return credentials;
  }
  return undefined;
}

function configFiles(env: Environment): readonly string[] {
  const home = env["HOME"] ?? homedir();
  const runtime = env["XDG_RUNTIME_DIR"];
  return [
    ...(env["REGISTRY_AUTH_FILE"] ? [env["REGISTRY_AUTH_FILE"]] : []),
    join(env["DOCKER_CONFIG"] || join(home, ".docker"), "config.json"),
    ...(runtime ? [join(runtime, "containers", "auth.json")] : []),
    join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "containers", "auth.json"),
  ];
}

async function readConfig(file: string): Promise<DockerConfig | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw new CredentialsError(`Cannot read '${file}': ${messageOf(error)}`);
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // said below
  }
  throw new CredentialsError(`Cannot read '${file}': it is not JSON; log in again, or mend it`);
}

async function credentialsIn(
  { auths = {}, credHelpers = {}, credsStore }: DockerConfig,
  { registry, env, file }: { readonly registry: string; readonly env: Environment; readonly file: string },
): Promise<Credentials | undefined> {
  const keys =
    registry === HUB
      ? hubKeys
      : [registry, `https://${registry}`, `https://${registry}/v1/`, `https://${registry}/v2/`];
  const helper = keys.map((key) => credHelpers[key]).find((name) => name !== undefined) ?? credsStore;
  if (helper) {
    const answer = await askHelper(helper, { server: keys[0]!, env });
    if (answer !== undefined) return answer;
  }
  for (const key of keys) {
    const entry = auths[key];
    const credentials = entry && credentialsOf(entry, file);
    if (credentials !== undefined) return credentials;
  }
  return undefined;
}

function credentialsOf({ auth, identitytoken, ...plain }: AuthEntry, file: string): Credentials | undefined {
  if (identitytoken) return { identityToken: identitytoken };
  if (plain.username && plain.password) return { username: plain.username, password: plain.password };
  if (!auth) return undefined;
  const text = Buffer.from(auth, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) throw new CredentialsError(`Cannot read '${file}': an 'auth' in it is no user and password in base64`);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** @returns `undefined` when the helper knows nothing of the registry. */
async function askHelper(
  name: string,
  { server, env }: { readonly server: string; readonly env: Environment },
): Promise<Credentials | undefined> {
  const program = `docker-credential-${name}`;
  if (!/^[\w.-]+$/.test(name))
    throw new CredentialsError(`Cannot ask '${program}' for credentials: it is no name of a program`);
  const { status, stdout, stderr } = await run(program, { input: server, env });
  if (status !== 0) {
    const message = (stdout.trim() || stderr.trim()).split("\n")[0] ?? "";
    if (/credentials not found/i.test(message)) return undefined;
    throw new CredentialsError(`Cannot get credentials from ${program}: ${message || `it ended with ${status}`}`);
  }
  try {
    const { Username = "", Secret = "" } = JSON.parse(stdout) as {
      readonly Username?: string;
      readonly Secret?: string;
    };
    if (Secret === "") return undefined;
    return Username === TOKEN_USER ? { identityToken: Secret } : { username: Username, password: Secret };
  } catch {
    throw new CredentialsError(`Cannot get credentials from ${program}: its answer is not JSON`);
  }
}

async function run(
  program: string,
  { input, env }: { readonly input: string; readonly env: Environment },
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(program, ["get"], { env: { ...env }, timeout: HELPER_WITHIN });
  const text = { stdout: "", stderr: "" };
  child.stdout.on("data", (data: Buffer) => void (text.stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => void (text.stderr += data.toString()));
  child.stdin.on("error", () => {}); // it ended without reading: its status says how
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      const why = "code" in error && error.code === "ENOENT" ? "it is not on the PATH" : error.message;
      reject(new CredentialsError(`Cannot get credentials from ${program}: ${why}`));
    });
    child.once("close", (status) => resolve({ status, ...text }));
  });
}
