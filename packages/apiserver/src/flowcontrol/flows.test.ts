import { expect, test } from "bun:test";
import { createApiServer } from "../server.ts";

const users = new Map([
  ["admin", { username: "root", groups: ["system:masters", "system:authenticated"] }],
  ["noxu", { username: "noxu", groups: ["system:authenticated"] }],
  ["foo", { username: "foo", groups: ["system:authenticated"] }],
]);

const api = "/apis/flowcontrol.apiserver.k8s.io/v1";

interface Answer {
  readonly code: number;
  readonly uid: string;
  readonly text: string;
  /** The UIDs of the FlowSchema and of its priority level. */
  readonly flow: readonly (string | null)[];
}

async function start() {
  const server = await createApiServer({ users });
  const call = async (path: string, token = "admin", body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await server.fetch(new Request(`http://server${path}`, init), {});
    const text = await answer.text();
    const flow = ["flowschema", "prioritylevel"].map((kind) => answer.headers.get(`x-kubernetes-pf-${kind}-uid`));
    return { code: answer.status, uid: /"uid":"([^"]*)"/.exec(text)?.[1] ?? "", text, flow };
  };
  const flowOf = async (schema: string, level: string) => [
    (await call(`${api}/flowschemas/${schema}`)).uid,
    (await call(`${api}/prioritylevelconfigurations/${level}`)).uid,
  ];
  return { call, flowOf, [Symbol.asyncDispose]: () => server.stop() };
}

const level = (name: string) => ({
  metadata: { name },
  spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } },
});

const schema = (name: string, levelName: string, rule: object) => ({
  metadata: { name },
  spec: {
    matchingPrecedence: 1000,
    priorityLevelConfiguration: { name: levelName },
    rules: [{ subjects: [{ kind: "User", user: { name: "noxu" } }], ...rule }],
  },
});

test("a request names the FlowSchema and the priority level that are about it, also when it is refused", async () => {
  await using server = await start();
  const { call, flowOf } = server;
  expect((await call("/version")).flow).toEqual(await flowOf("exempt", "exempt"));
  expect((await call("/version", "foo")).flow).toEqual(await flowOf("global-default", "global-default"));
  const refused = await call("/api/v1/secrets", "foo");
  expect([refused.code, refused.flow]).toEqual([403, await flowOf("global-default", "global-default")]);
  expect((await call("/version", "nobody")).flow).toEqual([null, null]);
});

test("a FlowSchema counts once its level is there, for the users and the requests that it names", async () => {
  await using server = await start();
  const { call, flowOf } = server;
  const paths = { nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["/ver*", "/version"] }] };
  await call(`${api}/flowschemas`, "admin", schema("paths", "mine", paths));
  expect((await call("/version", "noxu")).flow).toEqual(await flowOf("global-default", "global-default"));
  await call(`${api}/prioritylevelconfigurations`, "admin", level("mine"));
  expect((await call("/version", "noxu")).flow).toEqual(await flowOf("paths", "mine"));
  expect((await call("/version", "foo")).flow).toEqual(await flowOf("global-default", "global-default"));
  const place = { apiGroups: [""], namespaces: ["default"] };
  const resources = { resourceRules: [{ verbs: ["get"], resources: ["pods", "pods/status"], ...place }] };
  await call(`${api}/flowschemas`, "admin", schema("resources", "mine", resources));
  const isMine = async (path: string): Promise<boolean> =>
    (await call(path, "noxu")).flow[0] === (await flowOf("resources", "mine"))[0];
  const pods = "/api/v1/namespaces/default/pods";
  expect(await Promise.all([`${pods}/a`, `${pods}/a/status`].map(isMine))).toEqual([true, true]);
  const others = [pods, `${pods}/a/log`, "/api/v1/namespaces/other/pods/a", "/api/v1/pods", "/version"];
  expect(await Promise.all(others.map(isMine))).toEqual([false, false, false, false, false]);
});

test("metrics count the requests of each flow, and say how many seats a level would have", async () => {
  await using server = await start();
  const { call } = server;
  const dispatched =
    'apiserver_flowcontrol_dispatched_requests_total{flow_schema="global-default",priority_level="global-default"}';
  const countOf = async (): Promise<number> => {
    const { text } = await call("/metrics");
    return Number(
      text
        .split("\n")
        .find((line) => line.startsWith(dispatched))
        ?.slice(dispatched.length),
    );
  };
  const before = await countOf();
  for (let count = 0; count < 3; count += 1) await call("/version", "foo");
  expect(await countOf()).toBe(before + 3);
  await call(`${api}/prioritylevelconfigurations`, "admin", level("mine"));
  // One of the 246 shares of 600 requests at once.
  expect((await call("/metrics")).text).toContain(
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="mine"} 3\n',
  );
});
