/** Follows docs/languages/node.md with the package as it is published, on Node with npm, and on Bun. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoProgram } from "../support/deno.ts";
import { packedServer } from "./packed-server.ts";
import { lacks, Project } from "./project.ts";

const TIMEOUT = 180_000;
const root = join(import.meta.dirname, "../..");
const isAbsent = lacks("node", "npm");

describe.skipIf(isAbsent)("docs/languages/node.md", () => {
  const project = new Project("node");
  const command = (start: string) => project.page.commands.filter((one) => one.command.startsWith(start));

  test(
    "node:test runs with nothing but Node and npm, in an empty folder",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "binnacle-npm-"));
      try {
        cpSync(join(import.meta.dirname, "node"), folder, { recursive: true });
        writeFileSync(join(folder, "configmaps.test.mjs"), project.page.files.get("configmaps.test.mjs")!);
        const archive = await packedServer();
        // Neither Bun nor anything of this repository is on the path.
        const path = ["node", "npm"].map((name) => join(Bun.which(name)!, "..")).join(":");
        const env = { PATH: `${path}:/usr/bin:/bin`, HOME: process.env["HOME"] ?? folder };
        const run = (line: string) => {
          const start = performance.now();
          const { status, stdout, stderr } = spawnSync("bash", ["-c", line], { cwd: folder, env, encoding: "utf8" });
          console.log(`${((performance.now() - start) / 1000).toFixed(1)} s: ${line}`);
          expect(status === 0 ? "" : stdout + stderr).toBe("");
          return stdout;
        };
        run("npm ci --no-audit --no-fund --prefer-offline");
        run(`npm install --no-save --no-audit --no-fund ${archive}`);
        for (const { command: line, output } of command("node --test")) {
          const printed = run(line);
          for (const expected of output) expect(printed).toContain(expected);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    TIMEOUT,
  );

  test(
    "vitest, bun:test and Deno run, and the declarations fit either way of resolution",
    async () => {
      cpSync(join(import.meta.dirname, "vitest"), project.folder, { recursive: true });
      rmSync(join(project.folder, "node_modules", "binnacle-apiserver"), { recursive: true, force: true });
      await project.run(`${process.execPath} install --frozen-lockfile`);
      await project.run(
        `mkdir -p node_modules/binnacle-apiserver && tar -xzf ${await packedServer()} -C node_modules/binnacle-apiserver --strip-components=1`,
      );
      await project.follow(command("npx vitest"));
      await project.follow(
        command("bun test").map((one) => ({ ...one, command: one.command.replace(/^bun/, process.execPath) })),
      );
      const deno = denoProgram();
      if (deno !== undefined) {
        writeFileSync(join(project.folder, "start.mjs"), starts);
        expect(await project.run(`${deno} run --allow-all start.mjs`)).toContain("200 403");
      }
      // The declarations of others have mistakes of their own, so those of this package are checked without them.
      writeFileSync(join(project.folder, "surface.ts"), surface);
      for (const resolution of resolutions) {
        await checkTypes(project, { ...resolution, types: ["bun"], skipLibCheck: true }, "*.test.ts");
        await checkTypes(project, { ...resolution, types: [], skipLibCheck: false }, "surface.ts");
      }
    },
    TIMEOUT,
  );
});

/** What the server does on Deno, without a test runner. */
const starts = `
import { startApiServer } from "binnacle-apiserver";
await using server = await startApiServer({ data: await Deno.makeTempDir(), crds: "crds" });
const client = Deno.createHttpClient({ caCerts: [server.authority] });
const ask = async (token) => {
  const headers = { authorization: "Bearer " + token };
  const answer = await fetch(server.url + "/apis/example.com/v1/widgets", { client, headers });
  await answer.body?.cancel();
  return answer.status;
};
console.log(await ask(server.token), await ask(server.addUser("jane").token));
client.close();`;

const resolutions = [{ module: "nodenext" }, { module: "preserve", moduleResolution: "bundler" }];
const surface = `import { startApiServer } from "binnacle-apiserver";
export const server: Promise<{ readonly url: string; stop(): Promise<void> }> = startApiServer({
  crds: new URL("./crds", import.meta.url),
});
`;

async function checkTypes(project: Project, options: object, files: string): Promise<void> {
  const lib = ["es2023", "esnext.disposable", "dom"];
  const compilerOptions = { noEmit: true, strict: true, target: "es2023", lib, ...options };
  writeFileSync(join(project.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: [files] }));
  await project.run(`${process.execPath} ${join(root, "node_modules/typescript/bin/tsc")} -p tsconfig.json`);
}
