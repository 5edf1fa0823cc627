import { expect, test } from "bun:test";
import type { Node, PersistentVolume, PersistentVolumeClaim } from "../../resource/builtin/index.ts";
import { matchFor, mismatch } from "./volume-match.ts";

type Spec = NonNullable<PersistentVolume["spec"]>;

const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z", generation: 1 };

function volume(
  name: string,
  storage: string,
  { phase = "Available", ...spec }: Partial<Spec> & { phase?: string } = {},
) {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { ...metadata, name, labels: { name } },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage }, ...spec },
    status: { phase },
  } as PersistentVolume;
}

function claim(storage: string, spec: NonNullable<PersistentVolumeClaim["spec"]> = {}): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...metadata, name: "data", namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
  };
}

const now = { isDelayed: false, node: undefined };

test("matchFor takes the smallest volume that suits the claim", () => {
  const match = (wanted: PersistentVolumeClaim, volumes: readonly PersistentVolume[], options = now) =>
    matchFor(wanted, volumes, options)?.metadata.name;
  const three = [volume("large", "5Gi"), volume("small", "1Gi"), volume("fitting", "2Gi")];
  expect(match(claim("1.5Gi"), three)).toBe("fitting");
  expect(match(claim("6Gi"), three)).toBeUndefined();
  expect(match(claim("1Gi", { selector: { matchLabels: { name: "large" } } }), three)).toBe("large");
  expect(match(claim("1Gi", { storageClassName: "fast" }), three)).toBeUndefined();
  expect(match(claim("1Gi", { volumeMode: "Block" }), three)).toBeUndefined();
  expect(match(claim("1Gi", { volumeAttributesClassName: "gold" }), three)).toBeUndefined();
  expect(match(claim("1Gi", { accessModes: ["ReadWriteMany"] }), three)).toBeUndefined();
  // One that offers more than it is asked for comes last, and one that is not available never.
  const shared = volume("shared", "1Gi", { accessModes: ["ReadWriteOnce", "ReadWriteMany"] });
  expect(match(claim("1Gi"), [shared, ...three])).toBe("small");
  expect(match(claim("1Gi"), [volume("used", "1Gi", { phase: "Released" })])).toBeUndefined();
});

test("matchFor takes a volume that names the claim before all others, and no volume that names another", () => {
  const of = (name: string) => volume(name, "9Gi", { claimRef: { name, namespace: "default" }, phase: "Pending" });
  const volumes = [volume("free", "1Gi"), of("other"), of("data")];
  expect(matchFor(claim("1Gi"), volumes, now)?.metadata.name).toBe("data");
  expect(matchFor(claim("1Gi"), volumes, { ...now, isDelayed: true })?.metadata.name).toBe("data");
  expect(matchFor(claim("1Gi"), volumes.slice(0, 2), { ...now, isDelayed: true })).toBeUndefined();
});

test("matchFor takes a volume that the pod's node reaches", () => {
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
  };
  const local = volume("local", "1Gi", { nodeAffinity: { required } });
  const on = (zone: string) => ({
    isDelayed: false,
    node: { metadata: { name: "n", labels: { zone } } } as unknown as Node,
  });
  expect(matchFor(claim("1Gi"), [local], on("a"))).toBe(local);
  expect(matchFor(claim("1Gi"), [local], on("b"))).toBeUndefined();
});

test("mismatch says what keeps a claim from the volume that it names", () => {
  const of = (wanted: PersistentVolumeClaim) => mismatch(volume("one", "1Gi"), wanted);
  expect(of(claim("1Gi"))).toBeUndefined();
  expect(of(claim("2Gi"))).toBe("requested PV is too small");
  expect(of(claim("1Gi", { storageClassName: "fast" }))).toBe("storageClassName does not match");
  expect(of(claim("1Gi", { volumeAttributesClassName: "gold" }))).toBe("volumeAttributesClassName does not match");
  expect(of(claim("1Gi", { volumeMode: "Block" }))).toBe("incompatible volumeMode");
  expect(of(claim("1Gi", { accessModes: ["ReadWriteMany"] }))).toBe("incompatible accessMode");
});
