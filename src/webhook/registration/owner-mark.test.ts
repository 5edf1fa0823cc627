import { expect, test } from "bun:test";
import { type LoopbackRequest, sendJson, sendStatus, startLoopback } from "../../../tests/support/loopback-server.ts";
import { createTransport } from "../../kube/transport/transport.ts";
import { createLog } from "../../observe/log.ts";
import { type Owner, ownerMark, removeLeftRegistrations } from "./owner-mark.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const clock = { now: () => NOW };
const me = { host: "desk", pid: 7, began: 70 };

test("a registration that another process has just removed keeps nobody from removing the others", async () => {
  const items = ["one", "two"].map((name) => ({ metadata: { name, uid: `uid-${name}` } }));
  await using server = await startLoopback((request, reply) => {
    if (request.method === "GET") sendJson(reply, { items });
    else if (request.path.endsWith("/one")) sendStatus(reply, 404, { reason: "NotFound" });
    else sendJson(reply, {});
  });
  const transport = createTransport(server.config);
  const log = createLog({ level: "error", format: "json" });
  const { signal } = new AbortController();
  const removed = await removeLeftRegistrations({ transport, clock, log, signal, owner: me, isRunning: () => true });
  expect(removed).toEqual(["two", "two"]);
  await transport.close();
});

test("removeLeftRegistrations removes what expired and what processes of this machine left", async () => {
  const marked = (name: string, at: number, owner: Owner) => ({
    metadata: { name, uid: `uid-${name}`, ...ownerMark({ now: () => at }, owner).metadata() },
  });
  const items = [
    marked("mine-in-use", NOW, { host: "desk", pid: 8, began: 80 }),
    marked("mine-crashed", NOW, { host: "desk", pid: 9, began: 90 }),
    marked("mine-before-a-restart", NOW, { ...me, began: 60 }),
    marked("of-this-process", NOW, me),
    marked("theirs-in-use", NOW - 240_000, { host: "lap", pid: 9, began: 90 }),
    marked("theirs-expired", NOW - 300_000, { host: "lap", pid: 9, began: 90 }),
    { metadata: { name: "without-a-mark", uid: "uid-without-a-mark" } },
  ];
  const deleted: LoopbackRequest[] = [];
  await using server = await startLoopback((request, reply) => {
    if (request.method === "DELETE") deleted.push(request);
    const isValidating = request.path.endsWith("/validatingwebhookconfigurations");
    sendJson(reply, request.method === "GET" ? { items: isValidating ? items : [] } : {});
  });
  const transport = createTransport(server.config);
  const removed = await removeLeftRegistrations({
    transport,
    clock,
    log: createLog({ level: "error", format: "json" }),
    signal: new AbortController().signal,
    owner: me,
    isRunning: (pid) => pid !== 9,
  });
  expect(removed).toEqual(["mine-crashed", "mine-before-a-restart", "theirs-expired", "without-a-mark"]);
  expect(deleted.map(({ path }) => path.split("/").at(-1)!)).toEqual([...removed]);
  expect(JSON.parse(deleted[0]!.body)).toMatchObject({ preconditions: { uid: "uid-mine-crashed" } });
  const queries = server.requests
    .filter(({ method }) => method === "GET")
    .map(({ query }) => query.get("labelSelector"));
  expect(queries).toEqual(["binnacle.dev/webhooks=process", "binnacle.dev/webhooks=process"]);
  await transport.close();
});
