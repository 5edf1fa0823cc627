/** The files that the lines refer to. */
import { signingRequest } from "../differential/samples/cluster.ts";

export const manifests: Readonly<Record<string, string>> = {
  "manifest.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: applied
  namespace: show
  labels: {set: applied}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: Service
metadata: {name: applied, namespace: show}
spec:
  ports: [{name: http, port: 80}, {name: https, port: 443}]
`,
  "changed.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: applied
  namespace: show
  labels: {set: applied}
data: {a: "3", c: "4"}
`,
  "wrong.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: Wrong_Name, namespace: show}
dota: {a: b}
`,
  "unknown.yaml": `
apiVersion: show.example.test/v9
kind: Nothing
metadata: {name: a}
`,
  "definition.yaml": `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.show.example.test}
spec:
  group: show.example.test
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Replicas, type: integer, jsonPath: .spec.replicas}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [replicas]
            properties: {replicas: {type: integer, maximum: 10, description: How many.}}
          status: {type: object, properties: {replicas: {type: integer}}}
`,
  "widget.yaml": `
apiVersion: show.example.test/v1
kind: Widget
metadata: {name: first, namespace: show}
spec: {replicas: 2}
`,
  "node.yaml": `
apiVersion: v1
kind: Node
metadata: {name: worker}
`,
  "csr.yaml": `
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: show}
spec:
  signerName: example.test/signer
  usages: [client auth]
  request: ${signingRequest}
`,
  "rbac.yaml": `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: show}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
`,
};
