/** What the installer asks of a machine before it takes anything. Whole installations are in scripts/acceptance. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "binnacle-apiserver/certificates";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "binnacle-install-"));
  mkdirSync(join(folder, "v1.2.3"));
  writeFileSync(join(folder, "v1.2.3/SHA256SUMS"), "");
  mkdirSync(join(folder, "bin"));
  command("uname", 'case "$1" in -s) echo Linux ;; *) echo x86_64 ;; esac');
});
afterAll(() => rmSync(folder, { recursive: true }));

function command(name: string, script: string): void {
  writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bin", name), 0o755);
}

/** Returns what the installer says on a machine whose `ldd` is this one. */
function refused(ldd: string): string {
  command("ldd", ldd);
  const args = ["--version", "1.2.3", "--dir", join(folder, "to"), "--releases", folder];
  const { exitCode, stderr } = Bun.spawnSync(["/bin/sh", join(import.meta.dirname, "install.sh"), ...args], {
    env: { PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
  });
  expect(exitCode).toBe(1);
  return stderr.toString();
}

test.skipIf(process.platform === "win32")("the C library is that of ldd, whichever loaders there are", () => {
  const musl = 'echo "musl libc (x86_64)" >&2; echo "Version 1.2.5" >&2; exit 1';
  expect(refused(musl)).toContain("nothing was released for linux-x64-musl\n");
  expect(refused('echo "ldd (Debian GLIBC 2.41-12) 2.41"')).toContain("nothing was released for linux-x64\n");
});

/** Runs the installer, which must not block the server of its test. */
async function install(releases: string, more: Readonly<Record<string, string>> = {}, dir = join(folder, "to")) {
  return run(["--version", "1.2.3", "--dir", dir, "--releases", releases], more);
}

async function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  command("ldd", 'echo "ldd (Debian GLIBC 2.41-12) 2.41"');
  const child = Bun.spawn(["/bin/sh", join(import.meta.dirname, "install.sh"), ...args], {
    env: { PATH: `${join(folder, "bin")}:${process.env["PATH"]}`, ...more },
    stdout: "ignore",
    stderr: "pipe",
  });
  return { said: await new Response(child.stderr).text(), status: await child.exited };
}

const canDownload = process.platform !== "win32" && Bun.which("curl") !== null;

test.skipIf(!canDownload)("a secure address leads to no other one, and one that is not secure may", async () => {
  const now = Date.now();
  const lifetime = { from: now - 3_600_000, until: now + 3_600_000 };
  const authority = createAuthority("releases", lifetime);
  const tls = issue(authority, { ...lifetime, subject: { name: "releases" }, hosts: ["127.0.0.1"] });
  writeFileSync(join(folder, "ca.pem"), authority.cert);
  const asked: string[] = [];
  await using open = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      asked.push(new URL(url).pathname);
      return new URL(url).pathname.startsWith("/first")
        ? Response.redirect(new URL("/second", url).href)
        : new Response("");
    },
  });
  const fetch = () => Response.redirect(`${open.url}second`);
  await using secure = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch });
  const env = { CURL_CA_BUNDLE: join(folder, "ca.pem") };
  expect((await install(secure.url.href, env)).said).toContain("SHA256SUMS cannot be had\n");
  expect(asked).toEqual([]);
  expect((await install(`${open.url}first`)).said).toContain("nothing was released for linux-x64\n");
  expect(asked).toEqual(["/first/v1.2.3/SHA256SUMS", "/second"]);
});

const tools = "mktemp rm rmdir mkdir sed head id cat wget".split(" ");
const hasOnlyWget = process.platform !== "win32" && tools.every((tool) => Bun.which(tool) !== null);

test.skipIf(!hasOnlyWget)("a secure address leads to no other one on a machine without curl", async () => {
  const now = Date.now();
  const lifetime = { from: now - 3_600_000, until: now + 3_600_000 };
  const authority = createAuthority("releases", lifetime);
  const tls = issue(authority, { ...lifetime, subject: { name: "releases" }, hosts: ["127.0.0.1"] });
  writeFileSync(join(folder, "wget.pem"), authority.cert);
  writeFileSync(join(folder, "wgetrc"), `ca_certificate = ${join(folder, "wget.pem")}\n`);
  const bin = join(folder, "no-curl");
  mkdirSync(bin);
  for (const tool of tools) symlinkSync(Bun.which(tool)!, join(bin, tool));
  await using open = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  const fetch = (request: Request) =>
    request.url.includes("/secure")
      ? new Response("", { headers: { link: "<http://127.0.0.1>; rel=help" } })
      : Response.redirect(`${open.url}second`);
  await using secure = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch });
  const env = { PATH: `${join(folder, "bin")}:${bin}`, WGETRC: join(folder, "wgetrc") };
  expect((await install(secure.url.href, env)).said).toContain("SHA256SUMS leads to an address that is not secure\n");
  expect((await install(`${secure.url}secure`, env)).said).toContain("nothing was released for linux-x64\n");
});

test.skipIf(process.platform === "win32")("an executable that ends without a word is explained", async () => {
  const name = "binnacle-1.2.3-linux-x64";
  const releases = join(folder, "silent");
  mkdirSync(join(releases, "v1.2.3"), { recursive: true });
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "binnacle"), "#!/bin/sh\nkill -ILL $$\n", { mode: 0o755 });
  const archive = join(releases, "v1.2.3", `${name}.tar.gz`);
  expect(Bun.spawnSync(["tar", "-czf", archive, "-C", folder, name]).success).toBe(true);
  const digest = createHash("sha256").update(readFileSync(archive)).digest("hex");
  writeFileSync(join(releases, "v1.2.3/SHA256SUMS"), `${digest}  ${name}.tar.gz\n`);
  const { said, status } = await install(releases);
  // Some shells say themselves what it was.
  const reason = "it does not run here: (Illegal instruction.*|it ended with status 132 and said nothing)";
  expect(said).toMatch(
    new RegExp(`Cannot install binnacle 1\\.2\\.3: ${reason}; the processor or the system may be too old\\n$`),
  );
  expect(status).toBe(1);
});

test.skipIf(process.platform === "win32")("folders that were made for nothing are removed, and no others", async () => {
  mkdirSync(join(folder, "kept"));
  expect((await install(folder, {}, join(folder, "kept/a/b/"))).said).toContain("nothing was released");
  expect(existsSync(join(folder, "kept"))).toBe(true);
  expect(readdirSync(join(folder, "kept"))).toEqual([]);
  expect((await install(folder, {}, join(folder, "kept"))).said).toContain("nothing was released");
  expect(existsSync(join(folder, "kept"))).toBe(true);
});

/** Text without an end, and how many bytes of it were taken. */
function endless() {
  let served = 0;
  const answer = (): Response =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          served += 65_536;
          // The test ends all the same where nobody leaves.
          if (served > 2 ** 28) controller.close();
          else controller.enqueue(new Uint8Array(65_536).fill(0x31));
        },
      }),
    );
  return { answer, served: () => served };
}

for (const downloader of ["curl", "wget"]) {
  test.skipIf(process.platform === "win32" || Bun.which(downloader) === null)(
    `what leads to a release may not be endless, with ${downloader}`,
    async () => {
      const { answer, served } = endless();
      await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
      const bin = join(folder, `only-${downloader}`);
      mkdirSync(bin);
      for (const tool of [...tools, "cut", "uname"].filter((name) => name !== "wget" || downloader === "wget"))
        symlinkSync(tool === "uname" ? join(folder, "bin/uname") : Bun.which(tool)!, join(bin, tool));
      if (downloader === "curl") symlinkSync(Bun.which("curl")!, join(bin, "curl"));
      const env = { PATH: `${join(folder, "bin")}:${bin}` };
      const to = ["--dir", join(folder, "endless"), "--releases", server.url.href.replace("//", "//jane:hunter2@")];
      const latest = await run(to, env);
      expect(latest.status).toBe(1);
      expect(latest.said).toContain(`Cannot learn the latest version: ${server.url.href}latest cannot be had\n`);
      const sums = await run([...to, "--version", "1.2.3"], env);
      expect(sums.said).toContain(`${server.url.href}v1.2.3/SHA256SUMS cannot be had\n`);
      expect(`${latest.said}${sums.said}`).not.toContain("hunter2");
      expect(served()).toBeLessThan(2 ** 26);
      expect(existsSync(join(folder, "endless"))).toBe(false);
    },
  );
}

test.skipIf(!canDownload)(
  "what a server says of the latest version is shown without what a terminal acts on",
  async () => {
    const reply = `\u001b]0;owned\u0007${"x".repeat(5000)}`;
    await using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(reply) });
    const result = await run(["--dir", join(folder, "shown"), "--releases", server.url.href]);
    expect(result.said).toMatch(
      /^install\.sh: Cannot install the version '\]0;ownedx{70,80}': expected one such as 1\.2\.3\n$/,
    );
  },
);
