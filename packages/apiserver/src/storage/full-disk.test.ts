import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenApiServer } from "../listen.ts";

const maps = "/api/v1/namespaces/default/configmaps";

test("what a full disk does not keep is refused and not listed, /readyz says why, and the next start works", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-full-"));
  const [data, script, config] = ["data", "serve.ts", "kubeconfig"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const listen = JSON.stringify(join(import.meta.dirname, "../listen.ts"));
  writeFileSync(
    script,
    `import { listenApiServer } from ${listen};
     const { url, kubeconfig } = await listenApiServer({ data: ${JSON.stringify(data)} });
     await Bun.write(${JSON.stringify(config)}, kubeconfig);
     console.log(url);`,
  );
  // The process cannot write files larger than 3 MiB, as if the disk were full.
  const limited = `trap '' XFSZ; ulimit -f 3072; exec "$0" "$@"`;
  const child = Bun.spawn(["bash", "-c", limited, process.execPath, script], { stdout: "pipe", stderr: "pipe" });
  try {
    const { value } = await child.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    const text = readFileSync(config, "utf8");
    const ca = Buffer.from(/authority-data: (.*)/.exec(text)?.[1] ?? "", "base64").toString();
    const headers = {
      authorization: `Bearer ${/token: (.*)/.exec(text)?.[1]}`,
      "content-type": "application/json",
    };
    const ask = (path: string, body?: object): Promise<Response> =>
      fetch(`${url}${path}`, {
        headers,
        tls: { ca },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      });
    const kept: string[] = [];
    let refused: Response | undefined;
    for (let index = 0; index < 100 && refused === undefined; index++) {
      const name = `m-${String(index).padStart(3, "0")}`;
      const answer = await ask(maps, { metadata: { name }, data: { text: "x".repeat(100_000) } });
      if (answer.status === 201) kept.push(name);
      else refused = answer;
    }
    expect(refused?.status).toBe(500);
    expect(((await refused!.json()) as { message: string }).message).toContain("cannot keep what is written");
    const names = async (): Promise<(string | undefined)[]> =>
      ((await (await ask(maps)).json()) as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      );
    expect(await names()).toEqual(kept);
    expect((await ask(`${maps}/m-${String(kept.length).padStart(3, "0")}`)).status).toBe(404);
    const ready = await ask("/readyz");
    expect(ready.status).toBe(500);
    expect(await ready.text()).toContain("[-]etcd failed: cannot keep what is written");
    expect((await ask("/livez")).status).toBe(200);
    child.kill("SIGKILL");
    await child.exited;
    await using again = await listenApiServer({ data });
    const list = await again.server.fetch(new Request(`http://server${maps}`));
    const { items } = (await list.json()) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(kept);
    expect((await again.server.fetch(new Request("http://server/readyz"))).status).toBe(200);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(folder, { recursive: true });
  }
}, 180_000);
