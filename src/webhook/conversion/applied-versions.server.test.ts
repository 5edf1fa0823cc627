/** Random applies, patches and updates through all versions of random kinds: nothing valid is refused or lost. */
import { expect, test } from "bun:test";
import { Cluster } from "../../../tests/support/cluster.ts";
import { Chance } from "../../../tests/support/conversion/fields.ts";
import { kindOf, Model } from "../../../tests/support/conversion/model.ts";
import { InProcess } from "../../../tests/support/integration/in-process.ts";
import { servers } from "../../../tests/support/integration/lab.ts";
import { startEmbeddedCluster } from "../../cluster/index.ts";
import { loadKubeconfig } from "../../kube/config/kubeconfig.ts";
import type { ClusterConfig } from "../../kube/config/cluster-config.ts";
import { createTransport } from "../../kube/transport/transport.ts";

const SEED = Number(process.env["BINNACLE_SEED"] ?? 1);
/** How many kinds there are, each with so many objects; on a real server each act takes longer. */
const KINDS = { embedded: Number(process.env["BINNACLE_KINDS"] ?? 6), real: 2 };
const OBJECTS = 2;
const ACTS = 12;

interface Server extends AsyncDisposable {
  readonly config: ClusterConfig;
}

const start = {
  async embedded(): Promise<Server> {
    const cluster = await startEmbeddedCluster({ pods: false });
    return { config: cluster.config, [Symbol.asyncDispose]: () => cluster.stop() };
  },
  async real(): Promise<Server> {
    const cluster = await Cluster.start({ controllers: false });
    const config = await loadKubeconfig({ kubeconfig: cluster.kubeconfig, env: {} });
    return { config, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
  },
};

for (const name of servers) {
  test(`what is applied through any version stays as it is, on the ${name} server (seed ${SEED})`, async () => {
    await using server = await start[name]();
    const chance = new Chance(SEED);
    const kinds = Array.from({ length: KINDS[name] }, (_, index) => kindOf(chance, `Model${index}`));
    await using operator = await InProcess.start({
      cluster: server.config,
      definitions: kinds.map(({ resource }) => resource),
      webhooks: true,
    });
    const transport = createTransport(server.config);
    const failures: string[] = [];
    for (const kind of kinds) {
      for (let object = 0; object < OBJECTS; object++) {
        const model = new Model(kind, { chance, transport, name: `object-${object}` });
        try {
          await model.begin();
          for (let act = 0; act < ACTS; act++) await model.act();
        } catch (error) {
          failures.push(`${kind.resource.kind}: ${(error as Error).message}`);
        }
      }
    }
    await transport.close();
    expect(failures).toEqual([]);
    expect(operator.lines("error")).toEqual([]);
  }, 60_000);
}
