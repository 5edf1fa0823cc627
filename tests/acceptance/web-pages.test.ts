/** Tests what a page in a real browser can do to the embedded API server of its viewer: nothing. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenApiServer } from "binnacle-apiserver";

const browser = ["chromium", "chromium-browser", "google-chrome"].map((name) => Bun.which(name)).find(Boolean);

/** A page that tries everything that pages can do. It has even stolen the token, and reports what it could read. */
function page(server: string, rebound: string, token: string): string {
  return `<!doctype html><body><iframe name=sink></iframe><script>
const told = {};
const wait = (promise) => Promise.race([promise, new Promise((_, no) => setTimeout(no, 4000, new Error("nothing came")))]);
const body = (name) => JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
async function attempt(name, path, init) {
  try {
    const answer = await wait(fetch(path, init));
    told[name] = answer.type + " " + answer.status + " " + (await answer.text()).length;
  } catch (error) { told[name] = "error"; }
}
function socket(name, url) {
  return new Promise((done) => {
    const one = new WebSocket(url, ["base64url.bearer.authorization.k8s.io." + btoa("${token}").replaceAll(/[=+/]/g, ""), "v4.channel.k8s.io"]);
    one.onopen = () => { told[name] = "open"; done(); };
    one.onerror = () => { told[name] = "error"; done(); };
    setTimeout(done, 4000);
  });
}
function form(name, url, enctype) {
  const element = Object.assign(document.createElement("form"), { action: url, method: "post", enctype, target: "sink" });
  element.append(Object.assign(document.createElement("input"), { name: body(name).slice(0, -1) + ',"x":"', value: '"}' }));
  document.body.append(element);
  element.submit();
}
(async () => {
  for (const [label, url] of [["direct", "${server}"], ["rebound", "${rebound}"]]) {
    const path = url + "/api/v1/namespaces";
    await attempt(label + " read", path);
    await attempt(label + " read no-cors", path, { mode: "no-cors", credentials: "include" });
    await attempt(label + " read with the token", path, { headers: { authorization: "Bearer ${token}" } });
    for (const type of ["text/plain", "application/json"])
      await attempt(label + " write " + type, path, { method: "POST", body: body("by-fetch"), headers: { "content-type": type } });
    await attempt(label + " write without a type", path, { method: "POST", mode: "no-cors", body: new Blob([body("by-blob")]) });
    await attempt(label + " write with the token", path, {
      method: "POST", body: body("by-token"), headers: { authorization: "Bearer ${token}", "content-type": "application/json" },
    });
    await socket(label + " socket", url.replace("https", "wss") + "/api/v1/namespaces/default/pods/a/exec?command=ls");
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) form("by-form", path, type);
  }
  await new Promise((done) => setTimeout(done, 500));
  await fetch("/told", { method: "POST", body: JSON.stringify(told) });
})();
</script>`;
}

test.skipIf(browser === undefined)(
  "a page neither reads nor writes: by fetch, form, WebSocket, or a name that leads here, even with the token",
  async () => {
    await using listening = await listenApiServer();
    const { port } = new URL(listening.url);
    const token = /token: (.*)/.exec(listening.kubeconfig)?.[1] ?? "";
    const told = Promise.withResolvers<Record<string, string>>();
    using pages = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        if (request.method === "POST") told.resolve((await request.json()) as Record<string, string>);
        const text = page(listening.url, `https://rebound.example:${port}`, token);
        return new Response(text, { headers: { "content-type": "text/html" } });
      },
    });
    const profile = await mkdtemp(join(tmpdir(), "binnacle-browser-"));
    const flags = [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      `--user-data-dir=${profile}`,
      // The page has every advantage: its certificate is trusted, and its name resolves to this machine.
      "--ignore-certificate-errors",
      "--host-resolver-rules=MAP rebound.example 127.0.0.1",
      `http://rebound.example:${pages.port}/`,
    ];
    const child = Bun.spawn([browser!, ...flags], { stdout: "ignore", stderr: "ignore" });
    try {
      const late = Bun.sleep(60_000).then(() => Promise.reject(new Error("the page told nothing")));
      const seen = await Promise.race([told.promise, late]);
      console.log(JSON.stringify(seen));
      expect(Object.keys(seen).length).toBeGreaterThanOrEqual(16);
      for (const outcome of Object.values(seen)) expect(outcome).toMatch(/^(error|opaque 0 0)$/);
    } finally {
      child.kill("SIGKILL");
      await child.exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
    const names = await listening.server.fetch(new Request("http://server/api/v1/namespaces"));
    expect(await names.text()).not.toContain('"by-');
  },
  240_000,
);
