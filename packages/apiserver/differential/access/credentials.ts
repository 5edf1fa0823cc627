/** Requests without credentials, with wrong ones, and with those of users who are gone. */
import type { Case } from "../case.ts";
import type { Session } from "../session.ts";
import { makeAccount, tokenOf } from "./accounts.ts";

const paths: readonly string[] = [
  "/",
  "/api",
  "/api/v1",
  "/api/v1/namespaces",
  "/apis",
  "/apis/apps/v1/deployments",
  "/apis/absent.example.test/v1/things",
  "/healthz",
  "/healthz/ping",
  "/livez",
  "/livez?verbose",
  "/readyz",
  "/readyz/etcd",
  "/version",
  "/version/",
  "/metrics",
  "/absent",
];

const wrong: Readonly<Record<string, string>> = {
  "no token": "Bearer ",
  "an unknown token": "Bearer nope",
  "a broken token": "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x",
  "an empty header": "",
  "another scheme": "Basic YTpi",
  "a lower case scheme": "bearer nope",
};

export const credentials: Case = {
  name: "credentials",
  isAlone: true,
  async run(session) {
    for (const path of paths) {
      await session.send(`nobody gets ${path}`, "GET", path, { credentials: "none" });
    }
    for (const [label, authorization] of Object.entries(wrong)) {
      for (const path of ["/version", "/api/v1/namespaces"]) {
        await session.send(`${label} for ${path}`, "GET", path, { credentials: "none", headers: { authorization } });
      }
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "never" } };
      const call = { credentials: "none", headers: { authorization }, body } as const;
      await session.send(`${label} to create`, "POST", "/api/v1/namespaces", call);
    }
    await session.send("nobody acts as somebody", "GET", "/version", {
      credentials: "none",
      headers: { "impersonate-user": "ann" },
    });
    await accounts(session);
  },
};

async function accounts(session: Session): Promise<void> {
  await session.createNamespace();
  const { slug } = session;
  const list = `/api/v1/namespaces/${slug}/configmaps`;
  const rules = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] }];
  const token = await makeAccount(session, "robot", rules);
  await session.noticed(600);
  for (const path of [...paths, list]) await session.by(token).get(`robot gets ${path}`, path);
  const both = { headers: { authorization: `Bearer ${token}` } };
  await session.send("a certificate and a token", "GET", "/api/v1/namespaces/kube-public/secrets", both);
  const otherAudience = await tokenOf(session, "robot", { audiences: ["elsewhere"] });
  await session.by(otherAudience).get("a token for others", list);
  const two = await tokenOf(session, "robot", { audiences: ["elsewhere", "https://kubernetes.default.svc"] });
  await session.by(two).get("a token for others and the server", list);
  const unused = await tokenOf(session, "robot");
  const later = await tokenOf(session, "robot");
  const account = `/api/v1/namespaces/${slug}/serviceaccounts/robot`;
  await session.quietly("DELETE", account);
  await session.noticed(200);
  await session.by(unused).get("a token whose account is gone", list);
  const again = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot", namespace: slug } };
  await session.quietly("POST", `/api/v1/namespaces/${slug}/serviceaccounts`, again);
  await session.noticed(200);
  await session.by(later).get("a token whose account is another one", list);
}
