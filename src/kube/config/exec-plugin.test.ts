import { afterAll, expect, test } from "bun:test";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runExecPlugin } from "./exec-plugin.ts";

const dir = await mkdtemp(join(tmpdir(), "exec-plugin-"));
afterAll(() => rm(dir, { recursive: true }));
let count = 0;

/** What comes of a plugin with this body. */
async function outcome(body: string, more: { deadline?: number; apiVersion?: string } = {}) {
  const command = join(dir, `plugin-${count++}`);
  await writeFile(command, `#!/bin/sh\n${body}\n`);
  await chmod(command, 0o755);
  const { deadline, ...entry } = more;
  return runExecPlugin({
    entry: { command, ...entry },
    env: { PATH: process.env["PATH"] },
    cluster: undefined,
    deadline,
  }).then(
    (credential) => credential,
    (error: Error) => error.message,
  );
}

const answer = (status: object, more: object = {}): string =>
  `echo '${JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status, ...more })}'`;

test("runExecPlugin gives a plugin that hangs a deadline, and ends it with all that it has started", async () => {
  const pids = join(dir, "pids");
  const start = performance.now();
  const said = await outcome(`sleep 300 & echo $! $$ > ${pids}\nwait`, { deadline: 500 });
  expect(said).toBe("it has not answered within 0.5 s");
  expect(performance.now() - start).toBeLessThan(10_000);
  for (const pid of (await readFile(pids, "utf8")).trim().split(" ").map(Number)) {
    expect(await gone(pid)).toBe(true);
  }
});

/** Whether a process ends soon; a zombie has ended. */
async function gone(pid: number): Promise<boolean> {
  for (let look = 0; look < 200; look++) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
    if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")) return true;
    await Bun.sleep(20);
  }
  return false;
}

test.each([
  ["fails", "echo S3CRET-TOKEN; echo S3CRET-TOKEN >&2; exit 3", "it ended with exit status 3"],
  ["is killed", "echo S3CRET-TOKEN; kill -9 $$", "it was ended by SIGKILL"],
  ["prints a bare token", "echo S3CRET-TOKEN", "its output is not JSON"],
  ["prints another object", `echo '{"kind":"S3CRET-TOKEN"}'`, "what it printed is no ExecCredential"],
  ["prints null", "echo null", "what it printed is no ExecCredential"],
  [
    "speaks another version",
    answer({ token: "S3CRET-TOKEN" }, { apiVersion: "client.authentication.k8s.io/v1beta1" }),
    "what it printed is no ExecCredential of client.authentication.k8s.io/v1",
  ],
  ["gives nothing", answer({}), "it gave neither a token nor a client certificate"],
  [
    "gives null",
    `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":null}'`,
    "it gave neither a token nor a client certificate",
  ],
  [
    "gives half a pair",
    answer({ clientCertificateData: "S3CRET-TOKEN" }),
    "it gave a client certificate without its key",
  ],
  ["gives a token of two lines", answer({ token: "S3CRET-TOKEN\\nx: y" }), "no header may hold the token that it gave"],
  [
    "gives a bad time",
    answer({ token: "S3CRET-TOKEN", expirationTimestamp: "soon" }),
    "the expirationTimestamp that it gave is no time",
  ],
  ["prints without end", "yes S3CRET-TOKEN", "it printed more than 1 MiB"],
])("runExecPlugin of a plugin that %s says so, without a word of what it printed", async (_, body, message) => {
  expect(await outcome(body)).toBe(message);
});

test("runExecPlugin says what is the matter with the command itself", async () => {
  const file = join(dir, "plain");
  await writeFile(file, "text");
  const run = (command: string, more: object = {}): Promise<unknown> =>
    runExecPlugin({ entry: { command, ...more }, env: {}, cluster: undefined }).catch((error: Error) => error.message);
  expect(await run(file)).toBe("the file may not be executed. Check its permissions");
  expect(await run(join(dir, "none"))).toBe("there is no such command");
  expect(await run(dir)).toBe("there is no such command");
  expect(await run("/bin/sh", { interactiveMode: "Always" })).toBe("it wants a person to type, and nobody can here");
  await chmod(file, 0o755);
  await writeFile(file, "#!/no/such/interpreter\n");
  expect(await run(file)).toBe("it cannot be started (ENOENT)");
});

test("runExecPlugin reads token, certificate and time", async () => {
  const status = {
    token: "t",
    clientCertificateData: "C",
    clientKeyData: "K",
    expirationTimestamp: "2030-01-02T03:04:05Z",
  };
  expect(await outcome(answer(status))).toEqual({
    token: "t",
    cert: "C",
    key: "K",
    until: Date.UTC(2030, 0, 2, 3, 4, 5),
  });
  expect(await outcome(answer({ token: "t" }))).toMatchObject({ until: Infinity });
});
