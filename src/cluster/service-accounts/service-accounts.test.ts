import { afterAll, beforeAll, expect, test } from "bun:test";
import { ConfigMap, Namespace, Secret, ServiceAccount } from "../../resource/builtin/index.ts";
import { eventually } from "../../testing/eventually.ts";
import { startCluster, type TestCluster } from "../../testing/start-cluster.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster({ server: "embedded", pods: false });
  await cluster.client.create(Namespace, { metadata: { name: "shop" } });
});

afterAll(() => cluster?.stop());

const account = { namespace: "shop", name: "default" };
const root = { namespace: "shop", name: "kube-root-ca.crt" };

test("defaultAccounts makes the account of a namespace, and makes it again", async () => {
  const { client } = cluster;
  const first = await eventually(() => client.get(ServiceAccount, account));
  await client.delete(ServiceAccount, account);
  await eventually(async () => {
    expect((await client.get(ServiceAccount, account)).metadata.uid).not.toBe(first.metadata.uid);
  });
});

test("rootCertificates restores what was changed and deleted", async () => {
  const { client } = cluster;
  const first = await eventually(() => client.get(ConfigMap, root));
  expect(first.data?.["ca.crt"]).toStartWith("-----BEGIN CERTIFICATE-----");
  await client.patch(ConfigMap, root, { type: "merge", body: { data: { "ca.crt": "nothing", more: "of it" } } });
  await eventually(async () => expect((await client.get(ConfigMap, root)).data).toEqual(first.data));
  await client.delete(ConfigMap, root);
  const again = await eventually(() => client.get(ConfigMap, root));
  expect(again.data).toEqual(first.data);
});

test("tokenSecrets fills a Secret with a token that the server knows, and deletes it with the account", async () => {
  const { client, kubeconfig } = cluster;
  const type = "kubernetes.io/service-account-token";
  const key = { namespace: "shop", name: "token" };
  await eventually(() => client.get(ServiceAccount, account));
  const annotations = { "kubernetes.io/service-account.name": "default" };
  await client.create(Secret, { metadata: { ...key, annotations }, type });
  const { data } = await eventually(async () => {
    const secret = await client.get(Secret, key);
    expect(secret.data).toHaveProperty("token");
    return secret;
  });
  expect(atob(data!["namespace"]!)).toBe("shop");
  const url = /server: (\S+)/.exec(await Bun.file(kubeconfig).text())![1]!;
  const response = await fetch(`${url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: "POST",
    headers: { authorization: `Bearer ${atob(data!["token"]!)}`, "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
    tls: { ca: atob(data!["ca.crt"]!) },
  });
  const review = (await response.json()) as { status?: { userInfo: { username: string } } };
  expect(review.status?.userInfo.username).toBe("system:serviceaccount:shop:default");
  await client.delete(ServiceAccount, account);
  await eventually(async () => expect(await client.find(Secret, key)).toBeUndefined());
});
