/** Webhooks: which are called, in which order, what they get, and what follows from their responses. */
import type { Case } from "../case.ts";
import type { Loose, Session } from "../session.ts";
import { patchVerdict, verdict, type WebhookServer, webhookServer } from "./webhook-server.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const merge = { "content-type": "application/merge-patch+json" };

interface Hook {
  readonly path: string;
  readonly more?: object;
}

async function configure(
  session: Session,
  server: WebhookServer,
  kind: "mutating" | "validating",
  hooks: readonly Hook[],
): Promise<() => Promise<void>> {
  const name = `${session.slug}-${kind}`;
  const body = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kind === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: hooks.map(({ path, more }) => ({
      name: `${path.slice(1)}.hooks.example.test`,
      clientConfig: { url: `${server.url}${path}`, caBundle: server.caBundle },
      rules: [
        {
          apiGroups: [""],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE", "DELETE"],
          resources: ["configmaps"],
          scope: "Namespaced",
        },
      ],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": session.slug } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 2,
      ...more,
    })),
  };
  const path = `${group}/${kind}webhookconfigurations`;
  const response = await session.quietly("POST", path, body);
  if (response?.kind === "Status") await session.post("configure", path, body);
  // The server learns of configurations through a watch of its own.
  await session.noticed(400);
  return async () => {
    await session.quietly("DELETE", `${path}/${name}`);
    await session.noticed(400);
  };
}

async function place(session: Session): Promise<string> {
  return `${await session.createNamespace()}/configmaps`;
}

const map = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...more },
  data: { a: "1" },
});

function noteReviews(session: Session, label: string, server: WebhookServer): void {
  session.note(label, server.reviews.splice(0));
}

export const webhooks: readonly Case[] = [
  {
    name: "webhooks that refuse",
    run: async (session) => {
      const path = await place(session);
      await using server = webhookServer();
      const remove = await configure(session, server, "validating", [{ path: "/refuse" }]);
      const replies: Readonly<Record<string, (review: Loose) => unknown>> = {
        "with a message": (review) =>
          verdict(review, { allowed: false, status: { message: "no thanks", code: 418, reason: "Teapot" } }),
        "with a reason": (review) => verdict(review, { allowed: false, status: { reason: "Forbidden" } }),
        "without a word": (review) => verdict(review, { allowed: false }),
        "with success": (review) =>
          verdict(review, { allowed: false, status: { status: "Success", code: 200, message: "m" } }),
        "with details": (review) =>
          verdict(review, {
            allowed: false,
            status: {
              message: "m",
              code: 422,
              reason: "Invalid",
              details: { causes: [{ field: "data", message: "bad" }] },
            },
          }),
        "with another uid": (review) => ({ ...verdict(review, {}), response: { uid: "x", allowed: true } }),
        "without a response": () => ({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" }),
        "in another version": (review) => ({
          ...verdict(review, { allowed: true }),
          apiVersion: "admission.k8s.io/v1beta1",
        }),
        "with a patch": (review) => patchVerdict(review, []),
        "with an error": () => new Response("broken", { status: 500 }),
        "with not found": () => new Response("nothing", { status: 404 }),
        "with warnings": (review) => verdict(review, { allowed: true, warnings: ["careful", 'very "careful"'] }),
      };
      for (const [label, reply] of Object.entries(replies)) {
        server.answer("/refuse", reply);
        await session.post(`create, answered ${label}`, path, map(`m-${label.replaceAll(" ", "-")}`));
      }
      noteReviews(session, "what was asked on create", server);
      server.answer("/refuse", (review) => verdict(review, { allowed: true }));
      await session.post("create", path, map("one"));
      await session.post("create dry", `${path}?dryRun=All`, map("dry"));
      await session.patch("update", `${path}/one?fieldManager=m`, { data: { b: "2" } });
      await session.delete("delete", `${path}/one`);
      noteReviews(session, "what was asked later", server);
      await remove();
      await session.post("create afterwards", path, map("after"));
    },
  },
  {
    name: "webhooks of subresources",
    run: async (session) => {
      await place(session);
      await using server = webhookServer();
      const root = `/api/v1/namespaces/${session.slug}`;
      const containers = [{ name: "c", image: "i" }];
      for (const name of ["one", "two", "three"])
        await session.quietly("POST", `${root}/pods`, {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name, labels: { a: "b" } },
          spec: { containers },
        });
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "account" } };
      await session.quietly("POST", `${root}/serviceaccounts`, account);
      const deployments = `/apis/apps/v1/namespaces/${session.slug}/deployments`;
      await session.quietly("POST", deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers } },
        },
      });
      const resources = ["pods/*", "serviceaccounts/*", "deployments/*"];
      const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources, scope: "*" };
      const more = { rules: [all] };
      const unconfigure = [
        await configure(session, server, "mutating", [{ path: "/change", more }]),
        await configure(session, server, "validating", [{ path: "/check", more }]),
      ];
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "one" } };
      const binding = (name: string): object => ({
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name },
        target: { kind: "Node", name: "n" },
      });
      const token = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      const status = { status: { phase: "Running" } };
      const round = async (label: string): Promise<void> => {
        const send = async (what: string, method: string, path: string, body: unknown): Promise<void> => {
          const headers = method === "PATCH" ? merge : { "content-type": "application/json" };
          await session.send(`${what}, ${label}`, method, path, { body, headers });
          noteReviews(session, `asked of ${what}, ${label}`, server);
        };
        await send("a try of an eviction", "POST", `${root}/pods/one/eviction?dryRun=All`, eviction);
        await send("a binding", "POST", `${root}/pods/two/binding`, binding("two"));
        await send("a status", "PATCH", `${root}/pods/three/status?fieldManager=m`, status);
        await send("a scale", "PATCH", `${deployments}/d/scale?fieldManager=m`, { spec: { replicas: 2 } });
        await send("a token", "POST", `${root}/serviceaccounts/account/token`, token);
        await send("an eviction", "POST", `${root}/pods/one/eviction`, eviction);
      };
      server.answer("/change", (review) => verdict(review, { allowed: true }));
      server.answer("/check", (review) => verdict(review, { allowed: false, status: { message: "no" } }));
      await round("refused by the last");
      server.answer("/change", (review) => verdict(review, { allowed: false, status: { message: "no" } }));
      await round("refused by the first");
      server.answer("/change", (review) =>
        patchVerdict(review, [{ op: "add", path: "/metadata/annotations", value: { changed: "yes" } }]),
      );
      server.answer("/check", (review) => verdict(review, { allowed: true, warnings: ["seen"] }));
      await round("changed");
      await session.get("the bound pod", `${root}/pods/two`);
      for (const remove of unconfigure) await remove();
    },
  },
  {
    name: "webhooks that change",
    run: async (session) => {
      const path = await place(session);
      await using server = webhookServer();
      const remove = await configure(session, server, "mutating", [
        { path: "/first", more: { reinvocationPolicy: "IfNeeded" } },
        {
          path: "/second",
          more: {
            matchConditions: [
              {
                name: "not-skipped",
                expression: "!has(object.metadata.labels) || !('skip' in object.metadata.labels)",
              },
            ],
          },
        },
        { path: "/third", more: { objectSelector: { matchLabels: { third: "yes" } } } },
      ]);
      const removeChecks = await configure(session, server, "validating", [{ path: "/check" }]);
      server.answer("/first", (review) => patchVerdict(review, [{ op: "add", path: "/data/first", value: "yes" }]));
      server.answer("/second", (review) =>
        patchVerdict(review, [{ op: "add", path: "/data/second", value: String(review.request.object?.data?.first) }]),
      );
      server.answer("/third", (review) => patchVerdict(review, [{ op: "remove", path: "/data/a" }]));
      server.answer("/check", (review) => verdict(review, { allowed: review.request.object?.data?.first === "yes" }));
      await session.post("create", path, map("one"));
      await session.post("create that skips", path, map("skips", { labels: { skip: "yes" } }));
      await session.post("create for the third", path, map("third", { labels: { third: "yes" } }));
      noteReviews(session, "what was asked", server);
      await session.send("apply", "PATCH", `${path}/applied?fieldManager=x`, {
        headers: { "content-type": "application/apply-patch+yaml" },
        body: map("applied"),
      });
      server.answer("/first", (review) => patchVerdict(review, [{ op: "remove", path: "/data/nope" }]));
      await session.post("create with a patch that fails", path, map("two"));
      server.answer("/first", (review) => verdict(review, { allowed: true, patch: "!!", patchType: "JSONPatch" }));
      await session.post("create with a patch that is none", path, map("two"));
      server.answer("/first", (review) => verdict(review, { allowed: true, patch: "W10=" }));
      await session.post("create with a patch without a type", path, map("two"));
      server.answer("/first", (review) =>
        patchVerdict(review, [{ op: "replace", path: "/metadata/name", value: "other" }]),
      );
      await session.post("create with a patch of the name", path, map("two"));
      server.answer("/first", (review) => patchVerdict(review, [{ op: "add", path: "/nope", value: 1 }]));
      await session.post("create with a patch of an unknown field", path, map("three"));
      await remove();
      await removeChecks();
    },
  },
  {
    name: "webhooks that fail",
    run: async (session) => {
      const path = await place(session);
      await using server = webhookServer();
      server.answer("/slow", async (review) => {
        await Bun.sleep(1500);
        return verdict(review, { allowed: true });
      });
      const failures: Readonly<Record<string, object>> = {
        "nobody there": { clientConfig: { url: "https://127.0.0.1:1/x" } },
        "nobody there, ignored": { clientConfig: { url: "https://127.0.0.1:1/x" }, failurePolicy: "Ignore" },
        "too slow": { timeoutSeconds: 1 },
        "no service": { clientConfig: { service: { namespace: session.slug, name: "nope", path: "/x" } } },
        "a condition that breaks": { matchConditions: [{ name: "breaks", expression: "object.data.nope == 'x'" }] },
        "a condition that breaks, ignored": {
          failurePolicy: "Ignore",
          matchConditions: [{ name: "breaks", expression: "object.data.nope == 'x'" }],
        },
      };
      for (const [label, more] of Object.entries(failures)) {
        const remove = await configure(session, server, "validating", [{ path: "/slow", more }]);
        await session.post(`create with ${label}`, path, map(`m-${label.replaceAll(/[ ,]+/g, "-")}`));
        await remove();
      }
    },
  },
  {
    name: "webhooks whose patches are broken",
    run: async (session) => {
      const path = await place(session);
      await using server = webhookServer();
      const patch = Buffer.from("{").toString("base64");
      server.answer("/typed", (review) => patchVerdict(review, [{ op: "add", path: "/data/n", value: 5 }]));
      server.answer("/cut", (review) => verdict(review, { allowed: true, patchType: "JSONPatch", patch }));
      for (const hook of ["/typed", "/cut"]) {
        const remove = await configure(session, server, "mutating", [{ path: hook }]);
        await session.post(`create ${hook}`, path, map("broken"));
        await remove();
      }
      const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["*/*", "a/b", "*/b"] }];
      await session.post("overlapping rules", `${group}/validatingwebhookconfigurations?dryRun=All`, {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingWebhookConfiguration",
        metadata: { name: session.slug },
        webhooks: [
          {
            name: "a.hooks.example.test",
            clientConfig: { url: server.url },
            rules,
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
          },
        ],
      });
    },
  },
];
