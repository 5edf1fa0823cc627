/**
 * Expressions in policies, conditions of webhooks and rules of definitions: mistakes in the compiler's words, and
 * costs.
 */
import { definitionOf, definitions, withSpec } from "../custom-kinds.ts";
import type { Family, Probe } from "./family.ts";

/** One for each way in which an expression is wrong, or is used where it does not fit. */
const expressions: readonly string[] = `
5 ## 1.5 ## null ## [] ## {'a': 1} ## b'x' ## 1u ## true ## object ## object.x == 1 ## object.metadata.name.size()
request.name ## request.nope ## request.userInfo.groups ## request.kind.group == 5 ## namespaceObject.metadata.labels
namespaceObject.metadata.nope == 'x' ## authorizer.group('').resource('pods').check('get').allowed() ## authorizer.nope()
params.x ## variables.x ## nope ## nope() ## object.nope() ## size(1) ## 1 + 'a' ## 1 + 1.0 ## 1 < 'a' ## 'a' in 'b'
1 in ['a'] ## !1 ## -'a' ## 1 && true ## true ? 1 : 'a' ## 1 ? true : false ## [1, 'a'] ## [1, 2].all(x, x)
[1, 2].exists(x, x + 1) ## [1, 2].map(x, x > 1, x * 2) ## [1, 2].filter(x, x > 1) ## 'abc'.all(x, true) ## [1].all(1, true)
{'a': 1}.all(k, v, v > 0) ## [1].transformList(i, v, v) ## has(object) ## has(object.x, 1) ## has('a') ## dyn(1)
type(1) == int ## duration('x') ## timestamp('x') ## timestamp('2020-01-01T00:00:00Z').getFullYear() ## 'a'.matches('(')
'a'.startsWith(1) ## 'a,b'.split(',') ## ['a'].join(1) ## 'a'.format([1]) ## ['a'].sum() ## [1].indexOf('a')
[[1]].flatten() ## lists.range(3) ## [1].sortBy(x, x) ## sets.intersects([1], ['a']) ## url('https://a').getHost()
ip('1.2.3.4').family() ## cidr('10.0.0.0/8').containsIP('10.0.0.1') ## quantity('1') > quantity('2')
quantity('1Gi').isGreaterThan(quantity('1')) ## semver('1.2.3').major() ## format.dns1123Label().validate('a')
optional.of(1).hasValue() ## optional.none().orValue(1) ## object.?x.orValue(true) ## object.?x.y.hasValue() ## [1]['a']
{1: 2}.a ## 'a'.b ## 1.a ## object.spec.replicas > 1 && ## object. ## object..x ## object.x( ## [1, ## {'a': ## (true
true) ## true true ## 'unclosed ## == 1 ## @ ## object.x = 1 ## if true ## unknown1 == 1 && unknown2 == 2
'a' == 1 || 2 == 'b' ## jsonpatch.escapeKey('a') ## .object.x == 1 ## object.\`a-b\` == 1 ## '\\q' ## r'\\q' == 'a'
99999999999999999999 == 1 ## 18446744073709551616u > 1u ## 1e999 > 1.0 ## '%d'.format(['a']) ## '%'.format([1])
'%s'.format([[1, ip('1.2.3.4')]]) ## Object{ ## Object{nope ## Object{spec: Object.spec{ ## object.for == 'b'`
  .trim()
  .split(/ ## |\n/);

const group = "admissionregistration.k8s.io";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

/** The places of policies where an expression stands, by the kind of the policy. */
const places: Readonly<Record<string, readonly [kind: string, spec: (expression: string) => object]>> = {
  validation: ["Validating", (expression) => ({ validations: [{ expression }] })],
  parameters: [
    "Validating",
    (expression) => ({ paramKind: { apiVersion: "v1", kind: "ConfigMap" }, validations: [{ expression }] }),
  ],
  message: ["Validating", (expression) => ({ validations: [{ expression: "true", messageExpression: expression }] })],
  annotation: ["Validating", (expression) => ({ auditAnnotations: [{ key: "k", valueExpression: expression }] })],
  condition: [
    "Validating",
    (expression) => ({ validations: [{ expression: "true" }], matchConditions: [{ name: "c", expression }] }),
  ],
  variable: [
    "Validating",
    (expression) => ({ variables: [{ name: "x", expression }], validations: [{ expression: "variables.x" }] }),
  ],
  patch: ["Mutating", (expression) => ({ mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }] })],
  application: [
    "Mutating",
    (expression) => ({ mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }] }),
  ],
};

async function policies(probe: Probe): Promise<void> {
  for (const expression of expressions) {
    for (const [place, [type, specOf]] of Object.entries(places)) {
      const more = type === "Mutating" ? { reinvocationPolicy: "Never" } : {};
      const spec = { matchConstraints: { resourceRules: rules }, ...more, ...specOf(expression) };
      const path = `/apis/${group}/v1/${type.toLowerCase()}admissionpolicies?dryRun=All`;
      const kind = `${type}AdmissionPolicy`;
      await probe.post(`${place} ${expression}`, path, {
        apiVersion: `${group}/v1`,
        kind,
        metadata: { name: "p" },
        spec,
      });
    }
    const hook = {
      name: "a.example.test",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      rules,
      clientConfig: { url: "https://a.example.test" },
      matchConditions: [{ name: "c", expression }],
    };
    const kind = "ValidatingWebhookConfiguration";
    const path = `/apis/${group}/v1/validatingwebhookconfigurations?dryRun=All`;
    const body = { apiVersion: `${group}/v1`, kind, metadata: { name: "w" }, webhooks: [hook] };
    await probe.post(`webhook ${expression}`, path, body);
  }
}

/** Rules for a schema with fields of every type, with and without bounds; `T` stands for a text, `L` for a list. */
const ruleTexts = `
T.size() > 1 ## T.matches('^a+$') ## T.contains(self.open) ## T.find('[0-9]+') != '' ? true : self.numbers.sum() > 3
T.split(',').all(x, x.size() < 5) ## T.lowerAscii() == T.upperAscii() ## T.replace('a', 'bb').size() < 9 ## T + T == 'aa'
url(T).getHost() == 'a' ## quantity(T).isLessThan(quantity('1')) ## T in ['a', 'b'] ## [T, T].isSorted()
L.all(x, x == x) ## L.exists(x, L.exists(y, x == y)) ## L.all(x, L.all(y, L.all(z, x == y && y == z)))
L.map(x, x).isSorted() ## L.filter(x, true) == L ## L.sum() > 1 ## L.max() == L[0] ## L.indexOf(L[0]) == 0
L + L == L ## L.join(',') == '' ## sets.contains(L, L) ## L.distinct().size() == L.size() ## L.all(i, x, i >= 0) ## L[0] in L
self.objects.map(o, o.value).sum() > 1 ## self.objects.all(o, o.key.matches('a')) ## self.map.all(k, self.map[k] == 'a')
self.map.all(k, v, v == 'a') ## self.openMap.all(k, k.size() > 0) ## self.map == self.openMap
self.time < timestamp('2020-01-01T00:00:00Z') ## self.span < duration('1h') ## self.either == 1 || self.either == 'a'
type(self.either) == int ? self.either > 1 : self.either.size() > 1 ## self.free.x == 1 ## self.nope == 1 ## self.text
self.object.key == 'a' && self.object.nope ## oldSelf.text == self.text ## self == oldSelf ## oldSelf.hasValue()
oldSelf.optMap(o, o.text == self.text).orValue(true) ## has(self.text) && has(self.nope) ## self.number > 1.5
self.flag == 'true' ## !self.number ## cidr('10.0.0.0/8').containsIP(self.text) ## self.?text.orValue('a') == 'a'`
  .trim()
  .split(/ ## |\n/)
  .flatMap((rule) => ["text", "open", "enum", "bytes"].map((name) => rule.replaceAll(/\bT\b/g, `self.${name}`)))
  .flatMap((rule) => ["numbers", "texts", "many", "objects"].map((name) => rule.replaceAll(/\bL\b/g, `self.${name}`)));

const text = { type: "string" };
const schema = withSpec({
  text: { ...text, maxLength: 50 },
  open: text,
  enum: { ...text, enum: ["a", "bcd"] },
  bytes: { ...text, format: "byte", maxLength: 20 },
  number: { type: "integer" },
  flag: { type: "boolean" },
  time: { ...text, format: "date-time" },
  span: { ...text, format: "duration" },
  numbers: { type: "array", maxItems: 10, items: { type: "integer" } },
  texts: { type: "array", maxItems: 10, items: { ...text, maxLength: 10 } },
  many: { type: "array", items: text },
  objects: {
    type: "array",
    maxItems: 5,
    items: { type: "object", properties: { key: { ...text, maxLength: 5 }, value: { type: "integer" } } },
  },
  object: { type: "object", properties: { key: text } },
  map: { type: "object", maxProperties: 10, additionalProperties: { ...text, maxLength: 5 } },
  openMap: { type: "object", additionalProperties: text },
  either: { "x-kubernetes-int-or-string": true },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});

async function rulesOfDefinitions(probe: Probe): Promise<void> {
  const create = async (label: string, rule: object): Promise<void> => {
    const definition = definitionOf({ group: "example.test", plural: "rules", kind: "Rule", schema });
    definition.spec.versions[0].schema = structuredClone(definition.spec.versions[0].schema);
    definition.spec.versions[0].schema.openAPIV3Schema.properties.spec["x-kubernetes-validations"] = [rule];
    await probe.post(label, `${definitions}?dryRun=All`, definition);
  };
  for (const rule of new Set([...ruleTexts, ...expressions])) {
    await create(`rule ${rule}`, { rule });
    await create(`message ${rule}`, { rule: "true", messageExpression: rule });
    if (rule.includes("oldSelf")) await create(`optional ${rule}`, { rule, optionalOldSelf: true });
  }
}

export const expressionFamilies: readonly Family[] = [
  { name: "expressions of policies", share: 0.15, run: policies },
  { name: "expressions of definitions", share: 0.25, run: rulesOfDefinitions },
];
