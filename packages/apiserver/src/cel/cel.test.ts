import { expect, test } from "bun:test";
import { celEnvironment } from "./environment.ts";

test.each([
  "url('https://a.b:80/p').getHostname() == 'a.b' && url('https://a.b:80/p').getPort() == '80'",
  "url('https://a/b?x=1&x=2').getQuery()['x'] == ['1', '2']",
  "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && !isIP('x')",
  "ip.isCanonical('::1') && !ip.isCanonical('0:0:0:0:0:0:0:1')",
  "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))",
  "string(cidr('10.1.1.1/8').masked()) == '10.0.0.0/8' && string(cidr('fd00:1::1/16').masked()) == 'fd00::/16'",
  "quantity('1Gi').compareTo(quantity('1024Mi')) == 0 && quantity('1').add(2) == quantity('3')",
  "quantity('500m').asApproximateFloat() == 0.5 && !isQuantity('x')",
  "[1, 2].isSorted() && [1, 2].sum() == 3 && [3, 1].min() == 1 && [1, 2, 1].lastIndexOf(1) == 2",
  "'a1b2'.findAll('[0-9]') == ['1', '2'] && 'abc123'.find('[0-9]+') == '123'",
  "'%s-%d-%.2f-%x'.format(['a', 3, 3.14159, 255]) == 'a-3-3.14-ff'",
  "sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
  "format.dns1123Label().validate('A').hasValue() && !format.named('uuid').value().validate('x').hasValue() == false",
  "format.dns1123Label().validate('A').value()[0].startsWith('a lowercase RFC 1123 label must consist of')",
  "optional.of([1]) == optional.of([1]) && optional.of(1) != optional.of(2) && optional.none() != optional.of(1)",
  "format.dns1123LabelPrefix().validate('a-') == optional.none() && format.byte().validate('!').value() == ['invalid base64']",
  "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('v1.2', true).minor() == 2 && !isSemver('1.2')",
  "timestamp('2020-01-01T00:00:00Z') + duration('24h') == timestamp('2020-01-02T00:00:00Z')",
])("rules have Kubernetes' functions: %s", (expression) => {
  expect(celEnvironment().evaluate(expression, {})).toBe(true);
});

test.each(["quantity('x')", "ip('x')", "cidr('1.2.3.4')", "url('x')", "semver('x')"])(
  "%s is an error",
  (expression) => {
    expect(() => celEnvironment().evaluate(expression, {}) as unknown).toThrow();
  },
);
