/** Wrong expressions in policies, match conditions and definitions: the compiler's messages, and costs. */
import { type Family, type Probe } from "./family.ts";

const texts = [
  "5",
  "'a'",
  "1.5",
  "null",
  "[1]",
  "[]",
  "{}",
  "{'a': 1}",
  "b'x'",
  "1u",
  "true",
  "object",
  "object.x",
  "object.x == 1",
  "object.metadata.name.size()",
  "request.name",
  "request.nope",
  "request.userInfo.groups",
  "request.userInfo.extra",
  "request.dryRun",
  "request.kind.group == 5",
  "namespaceObject",
  "namespaceObject.metadata.labels",
  "namespaceObject.metadata.nope == 'x'",
  "namespaceObject.metadata.creationTimestamp",
  "authorizer",
  "authorizer.group('').resource('pods').check('get').allowed()",
  "authorizer.nope()",
  "params.x",
  "variables.x",
  "nope",
  "nope()",
  "object.nope()",
  "size('a')",
  "size(1)",
  "1 + 'a'",
  "1 + 1.0",
  "1 == 1.0",
  "1 < 'a'",
  "'a' in 'b'",
  "1 in ['a']",
  "'a' in {'a': 1}",
  "!1",
  "-'a'",
  "1 && true",
  "true || 'x'",
  "true ? 1 : 'a'",
  "1 ? true : false",
  "true ? true : false",
  "[1, 'a']",
  "[1, 2].all(x, x > 0)",
  "[1, 2].all(x, x)",
  "[1, 2].exists(x, x + 1)",
  "[1, 2].exists_one(x, x)",
  "[1, 2].map(x, x * 2)",
  "[1, 2].map(x, x > 1, x * 2)",
  "[1, 2].filter(x, x)",
  "[1, 2].filter(x, x > 1)",
  "'abc'.all(x, true)",
  "[1].all(1, true)",
  "{'a': 1}.map(k, k)",
  "{'a': 1}.all(k, v, v > 0)",
  "[1].transformList(i, v, v)",
  "{'a': 1}.transformMap(k, v, v)",
  "has(object)",
  "has(object.x)",
  "has(object.x, 1)",
  "has('a')",
  "dyn(1)",
  "type(1)",
  "type(1) == int",
  "int('1')",
  "string(1)",
  "bool('true')",
  "duration('1h')",
  "duration('x')",
  "timestamp('2020-01-01T00:00:00Z')",
  "timestamp('x')",
  "timestamp('2020-01-01T00:00:00Z').getFullYear()",
  "'a'.matches('(')",
  "'a'.matches('a')",
  "matches('a', '[')",
  "'a'.startsWith(1)",
  "'a'.contains('b')",
  "'a,b'.split(',')",
  "['a'].join(',')",
  "['a'].join(1)",
  "'a'.find('a')",
  "'a'.findAll('a')",
  "'a'.replace('a', 'b')",
  "'a'.lowerAscii()",
  "'a'.format([1])",
  "[3, 1].isSorted()",
  "[3, 1].sum()",
  "['a'].sum()",
  "[1].max()",
  "[1].indexOf(1)",
  "[1].indexOf('a')",
  "[[1]].flatten()",
  "[1, 1].distinct()",
  "[1, 2].reverse()",
  "[1, 2].slice(0, 1)",
  "lists.range(3)",
  "[1].sort()",
  "[1].sortBy(x, x)",
  "[1].first()",
  "sets.contains([1], [1])",
  "sets.intersects([1], ['a'])",
  "url('https://a')",
  "url('https://a').getHost()",
  "isURL('x')",
  "ip('1.2.3.4')",
  "ip('1.2.3.4').family()",
  "ip.isCanonical('1.2.3.4')",
  "cidr('10.0.0.0/8').containsIP('10.0.0.1')",
  "quantity('1Gi')",
  "quantity('1Gi').isGreaterThan(quantity('1'))",
  "quantity('1') > quantity('2')",
  "semver('1.2.3').major()",
  "format.named('dns1123Label')",
  "format.dns1123Label().validate('a')",
  "optional.of(1)",
  "optional.of(1).hasValue()",
  "optional.none().orValue(1)",
  "object.?x",
  "object.?x.orValue(true)",
  "object.?x.y.hasValue()",
  "[1][0]",
  "[1]['a']",
  "{'a': true}['a']",
  "{'a': 1}.a",
  "{1: 2}.a",
  "'a'.b",
  "1.a",
  "(1).a",
  "object.x[0].y == 'a'",
  "object.x ? 1 : 2",
  "object.spec.replicas > 1 &&",
  "object.",
  "object..x",
  "object.x(",
  "size(",
  "[1, ",
  "{'a': ",
  "(true",
  "true)",
  "true true",
  "a b c",
  "'unclosed",
  "1 +",
  "== 1",
  "@",
  "object.x = 1",
  "if true",
  "for",
  "  ",
  "\ttrue",
  "true\n&& 1",
  "1 +\n'a' +\n2",
  "unknown1 == 1 && unknown2 == 2",
  "'a' == 1 || 2 == 'b'",
  "jsonpatch.escapeKey('a')",
  ".object.x == 1",
  ".nope",
  ".nope()",
  "[.object].exists(x, .object == x)",
  "object.`a-b` == 1",
  "`a` == 1",
  "'\\q'",
  "'a\\x' == 'b'",
  "'a\\U0001' == \"b\"",
  "r'\\q' == 'a'",
  "99999999999999999999 == 1",
  "-9223372036854775808 < 1",
  "18446744073709551616u > 1u",
  "1e999 > 1.0",
  "'%d'.format(['a'])",
  "'%q'.format([1])",
  "'%'.format([1])",
  "'%.f'.format([1.0])",
  "'%s %s'.format([object])",
  "'%s'.format([[1, ip('1.2.3.4')]])",
  "object.x in ['a', 'b'",
  "{'a': 1",
  "{'a': 1, 'b'",
  "object.x[0",
  "Object{",
  "Object{nope",
  "Object{spec: Object.spec{",
  "object.namespace == 'a' || object.for == 'b'",
];

const group = "admissionregistration.k8s.io";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

async function policies(probe: Probe): Promise<void> {
  const spec = { matchConstraints: { resourceRules: rules } };
  const create = async (label: string, [kind, plural]: readonly [string, string], more: object): Promise<void> => {
    const body = { apiVersion: `${group}/v1`, kind, metadata: { name: "p" }, spec: { ...spec, ...more } };
    await probe.send(label, "POST", `/apis/${group}/v1/${plural}?dryRun=All`, { body });
  };
  const validating = ["ValidatingAdmissionPolicy", "validatingadmissionpolicies"] as const;
  const mutating = ["MutatingAdmissionPolicy", "mutatingadmissionpolicies"] as const;
  const fine = { validations: [{ expression: "true" }] };
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  for (const expression of texts) {
    await create(`validation ${expression}`, validating, { validations: [{ expression }] });
    await create(`validation with parameters ${expression}`, validating, { paramKind, validations: [{ expression }] });
    const messages = [{ expression: "true", messageExpression: expression }];
    await create(`message ${expression}`, validating, { validations: messages });
    await create(`annotation ${expression}`, validating, {
      auditAnnotations: [{ key: "k", valueExpression: expression }],
    });
    await create(`condition ${expression}`, validating, { ...fine, matchConditions: [{ name: "c", expression }] });
    const variables = [{ name: "x", expression }];
    await create(`variable ${expression}`, validating, { variables, validations: [{ expression: "variables.x" }] });
    for (const [patchType, field] of [
      ["JSONPatch", "jsonPatch"],
      ["ApplyConfiguration", "applyConfiguration"],
    ] as const) {
      const mutations = [{ patchType, [field]: { expression } }];
      await create(`${patchType} ${expression}`, mutating, { mutations, reinvocationPolicy: "Never" });
    }
    await webhookCondition(probe, expression);
  }
}

async function webhookCondition(probe: Probe, expression: string): Promise<void> {
  const hook = {
    name: "a.example.test",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    rules,
    clientConfig: { url: "https://a.example.test" },
    matchConditions: [{ name: "c", expression }],
  };
  const kind = "ValidatingWebhookConfiguration";
  const body = { apiVersion: `${group}/v1`, kind, metadata: { name: "w" }, webhooks: [hook] };
  const path = `/apis/${group}/v1/validatingwebhookconfigurations?dryRun=All`;
  await probe.send(`webhook ${expression}`, "POST", path, { body });
}

/** Rules for a schema with fields of every type, with and without bounds. */
const ruleTexts = [
  ...["self.text", "self.open", "self.enum", "self.bytes"].flatMap((text) => [
    `${text} == 'a'`,
    `${text}.size() > 1`,
    `${text}.startsWith('a')`,
    `${text}.matches('^a+$')`,
    `${text}.contains(self.open)`,
    `${text}.find('[0-9]+') != '' ? true : self.numbers.sum() > 3`,
    `${text}.split(',').all(x, x.size() < 5)`,
    `${text}.lowerAscii() == ${text}.upperAscii()`,
    `${text}.replace('a', 'bb').size() < 9`,
    `${text} + ${text} == 'aa'`,
    `${text}.indexOf('a') < 1`,
    `${text} < self.open`,
    `url(${text}).getHost() == 'a'`,
    `quantity(${text}).isLessThan(quantity('1'))`,
    `ip(${text}).family() == 4`,
    `${text} in ['a', 'b']`,
    `format.dns1123Label().validate(${text}).hasValue()`,
    `[${text}, ${text}].isSorted()`,
    `[${text}].join(',') == 'a'`,
  ]),
  ...["self.numbers", "self.texts", "self.many", "self.objects"].flatMap((list) => [
    `${list}.all(x, x == x)`,
    `${list}.exists(x, ${list}.exists(y, x == y))`,
    `${list}.all(x, ${list}.all(y, ${list}.all(z, x == y && y == z)))`,
    `${list}.map(x, x).size() > 1`,
    `${list}.map(x, x).isSorted()`,
    `${list}.filter(x, true) == ${list}`,
    `${list}.isSorted()`,
    `${list}.sum() > 1`,
    `${list}.max() == ${list}[0]`,
    `${list}.indexOf(${list}[0]) == 0`,
    `${list} + ${list} == ${list}`,
    `${list}.join(',') == ''`,
    `sets.contains(${list}, ${list})`,
    `${list}.exists_one(x, x == ${list}[0])`,
    `${list}.distinct().size() == ${list}.size()`,
    `${list}.all(i, x, i >= 0)`,
    `${list}[0] in ${list}`,
  ]),
  "self.objects.map(o, o.key).isSorted()",
  "self.objects.map(o, o.value).sum() > 1",
  "self.objects.all(o, o.key.matches('a'))",
  "self.objects.map(o, o.key).join(',') == 'a'",
  "self.map.all(k, self.map[k] == 'a')",
  "self.map.exists(k, k == 'must')",
  "self.map.all(k, v, v == 'a')",
  "self.openMap.all(k, k.size() > 0)",
  "self.map == self.openMap",
  "self.time < timestamp('2020-01-01T00:00:00Z')",
  "self.span < duration('1h')",
  "self.either == 1 || self.either == 'a'",
  "type(self.either) == int ? self.either > 1 : self.either.size() > 1",
  "self.free.x == 1",
  "has(self.free)",
  "self.nope == 1",
  "self.object.key == 'a' && self.object.nope",
  "self.text",
  "self.number",
  "self.either",
  "oldSelf.text == self.text",
  "self == oldSelf",
  "oldSelf.hasValue()",
  "oldSelf.optMap(o, o.text == self.text).orValue(true)",
  "has(self.text) && has(self.nope)",
  "self.number > 1.5",
  "self.number + self.float > 1",
  "self.float > 1",
  "self.flag == 'true'",
  "!self.number",
  "self.text + 1 == 'a1'",
  "cidr('10.0.0.0/8').containsIP(self.text)",
  "optional.of(self).text.orValue('') != 'a'",
  "self.?text.orValue('a') == 'a'",
  "dyn(self).anything",
];

const text = { type: "string" };
const properties = {
  text: { ...text, maxLength: 50 },
  open: text,
  enum: { ...text, enum: ["a", "bcd"] },
  bytes: { ...text, format: "byte", maxLength: 20 },
  number: { type: "integer" },
  float: { type: "number" },
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
};

async function definitions(probe: Probe): Promise<void> {
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";
  const create = async (label: string, rule: object): Promise<void> => {
    const spec = { type: "object", properties, "x-kubernetes-validations": [rule] };
    const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
    const body = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "rules.example.test" },
      spec: {
        group: "example.test",
        scope: "Namespaced",
        names: { plural: "rules", kind: "Rule" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    };
    await probe.send(label, "POST", path, { body });
  };
  for (const rule of [...ruleTexts, ...texts]) {
    await create(`rule ${rule}`, { rule });
    if (probe.isChosen(rule, 0.3)) await create(`message ${rule}`, { rule: "true", messageExpression: rule });
    if (rule.includes("oldSelf")) await create(`optional ${rule}`, { rule, optionalOldSelf: true });
  }
}

export const expressions: readonly Family[] = [
  { name: "expressions of policies", run: policies },
  { name: "expressions of definitions", run: definitions },
];
