import { describe, expect, test } from "bun:test";
import type { PodTemplateSpec } from "../../resource/builtin/index.ts";
import { isSamePatch, patchedTemplate, patchHash, templatePatch } from "./template-patch.ts";

/** The template as kube-apiserver returns it. */
const template = {
  metadata: { labels: { app: "web" } },
  spec: {
    containers: [
      {
        name: "web",
        image: "web:1",
        imagePullPolicy: "IfNotPresent",
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  },
} as PodTemplateSpec;

describe("templatePatch", () => {
  test("gives the template back", () => {
    expect(patchedTemplate(templatePatch(template))).toEqual(template);
  });

  test("has the bytes of kube-controller-manager's", () => {
    const turned = { spec: { restartPolicy: "Always", containers: [] }, metadata: { labels: { b: "", a: "" } } };
    expect(JSON.stringify(templatePatch(turned as unknown as PodTemplateSpec))).toBe(
      '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"","b":""}},"spec":{"containers":[],"restartPolicy":"Always"}}}}',
    );
  });
});

describe("patchHash", () => {
  test("is that of kube-controller-manager", () => {
    expect(patchHash(templatePatch(template), 0)).toBe("656b6d6c54");
  });

  test("is another one after a collision", () => {
    const patch = templatePatch(template);
    expect(patchHash(patch, 1)).not.toBe(patchHash(patch, 0));
  });
});

describe("isSamePatch", () => {
  test("does not see the order of fields", () => {
    const turned = { spec: template.spec, metadata: template.metadata } as PodTemplateSpec;
    expect(isSamePatch(templatePatch(turned), templatePatch(template))).toBe(true);
    const other = { ...template, metadata: { labels: { app: "shop" } } };
    expect(isSamePatch(templatePatch(other), templatePatch(template))).toBe(false);
  });
});
