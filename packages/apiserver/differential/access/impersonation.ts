/** Cases about who may impersonate whom. */
import type { Case } from "../case.ts";
import { pairs } from "../sampling.ts";
import type { Requests } from "../session.ts";
import { makePeople } from "./accounts.ts";
import type { Rule } from "./world.ts";

const authentication = "authentication.k8s.io";
const everything = { apiGroups: ["*"], resources: ["*"] };
const core = (resources: string[], more: Partial<Rule> = {}): Rule => ({
  verbs: ["impersonate"],
  apiGroups: [""],
  resources,
  ...more,
});

const senders: Readonly<Record<string, readonly Rule[]>> = {
  nobody: [],
  "old-all": [{ verbs: ["impersonate"], ...everything }],
  "old-users": [core(["users"])],
  "old-one": [core(["users"], { resourceNames: ["ann"] }), core(["groups"], { resourceNames: ["dev"] })],
  "old-accounts": [core(["serviceaccounts"])],
  "old-parts": [
    core(["users", "groups"]),
    { verbs: ["impersonate"], apiGroups: [authentication], resources: ["uids", "userextras/scopes"] },
  ],
  "old-extra": [core(["users"]), { verbs: ["impersonate"], apiGroups: [authentication], resources: ["userextras/*"] }],
  info: [
    { verbs: ["impersonate-on:user-info:list"], apiGroups: [""], resources: ["configmaps"] },
    { verbs: ["impersonate:user-info"], apiGroups: [authentication], resources: ["users", "groups", "uids"] },
  ],
  "info-all": [
    { verbs: ["impersonate-on:user-info:list", "impersonate-on:user-info:get"], ...everything },
    { verbs: ["impersonate:user-info"], ...everything },
  ],
  "info-on": [{ verbs: ["impersonate-on:user-info:list"], ...everything }],
  node: [
    { verbs: ["impersonate-on:arbitrary-node:list"], ...everything },
    { verbs: ["impersonate:arbitrary-node"], apiGroups: [authentication], resources: ["nodes"] },
  ],
  account: [
    { verbs: ["impersonate-on:serviceaccount:list", "impersonate-on:serviceaccount:create"], ...everything },
    { verbs: ["impersonate:serviceaccount"], apiGroups: [authentication], resources: ["serviceaccounts"] },
  ],
  all: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
};

const asWhom: readonly Record<string, string>[] = [
  { user: "ann" },
  { user: "ann", group: "dev" },
  { user: "ann", group: "system:masters" },
  { user: "ann", group: "system:authenticated" },
  { user: "ann", group: "system:unauthenticated" },
  { user: "bob", group: "ops" },
  { user: "ann", uid: "u-1" },
  { user: "ann", "extra-scopes": "view" },
  { user: "ann", "extra-example.test%2Fone": "x" },
  { user: "system:anonymous" },
  { user: "system:node:one" },
  { user: "system:node:one", group: "system:nodes" },
  { user: "system:node:Not_Valid" },
  { user: "system:node:" },
  { user: "system:serviceaccount:default:default" },
  { user: "system:serviceaccount:default:default", group: "dev" },
  { user: "system:serviceaccount:default" },
  { user: "system:serviceaccount:Default:x" },
  { group: "dev" },
  { uid: "u-1" },
  { "extra-scopes": "view" },
];

export const impersonation: Case = {
  name: "impersonation",
  async run(session) {
    const people: readonly (readonly [string, Requests])[] = [
      ...(await makePeople(session, senders)),
      ["administrator", session],
    ];
    const configMaps = `/api/v1/namespaces/${session.slug}/configmaps`;
    const reviews = `/apis/${authentication}/v1/selfsubjectreviews`;
    const body = { apiVersion: `${authentication}/v1`, kind: "SelfSubjectReview" };
    for (const [[name, sender], whom] of pairs(people, asWhom)) {
      const headers = Object.fromEntries(Object.entries(whom).map(([part, value]) => [`impersonate-${part}`, value]));
      const label = `${name} as ${JSON.stringify(whom)}`;
      await sender.send(`${label} lists`, "GET", configMaps, { headers });
      await sender.send(`${label} asks who it is`, "POST", reviews, { headers, body });
      await sender.send(`${label} asks for the version`, "GET", "/version", { headers });
    }
  },
};
