// Keeps copies of a Secret in the namespaces that its annotation names:
//   kubectl annotate secret registry-login mirror.binnacle.dev/to=team-a,team-b
// A copy is in another namespace, where no owner reference reaches: `track: "label"` finds and removes it instead.
import { defineController, of, watch, type ObjectOf } from "binnacle";
import { Namespace, Secret } from "binnacle/resources";

const ANNOTATION = "mirror.binnacle.dev/to";

const targets = (secret: ObjectOf<typeof Secret>) => {
  const named = secret.metadata.annotations?.[ANNOTATION]?.split(",").map((name) => name.trim()) ?? [];
  return [...new Set(named)].filter((name) => name !== "" && name !== secret.metadata.namespace);
};

export const secretMirror = defineController({
  name: "secret-mirror",
  for: watch(Secret, { match: (secret) => secret.metadata.annotations?.[ANNOTATION] !== undefined }),
  owns: [watch(Secret, { track: "label" })],
  watches: [
    watch(Namespace, {
      // A namespace that is created or deleted affects the Secrets that name it.
      enqueue: async (namespace, { client }) => {
        const secrets = await client.list(Secret);
        return secrets.filter((secret) => targets(secret).includes(namespace.metadata.name));
      },
    }),
  ],
  async reconcile(secret, { children, client }) {
    const namespaces = await client.list(Namespace);
    const active = new Set(namespaces.filter((one) => one.status?.phase === "Active").map((one) => one.metadata.name));
    await children.sync(
      {
        copies: targets(secret)
          .filter((namespace) => active.has(namespace))
          .map((namespace) =>
            of(Secret, {
              metadata: { name: secret.metadata.name, namespace },
              type: secret.type,
              data: secret.data,
            }),
          ),
      },
      { allowEmpty: true },
    );
  },
});
