/** Formats of names and values: each function returns the mistakes in a text, in the server's words. */

export type Format = (value: string) => readonly string[];

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

export function tooLong(length: number): string {
  return `must be no more than ${length} characters`;
}

/** Returns the error of a text that is limited in bytes. */
function tooManyBytes(length: number): string {
  return `must be no more than ${length} bytes`;
}

interface Pattern {
  readonly text: string;
  readonly regex: string;
  readonly examples?: readonly string[];
  readonly longest?: number;
}

/** Makes a format of a regular expression. */
function pattern({ text, regex, examples = [], longest = Number.POSITIVE_INFINITY }: Pattern): Format {
  const matcher = new RegExp(`^${regex}$`);
  const message = patternError(text, regex, { examples });
  return (value) => [...(value.length > longest ? [tooLong(longest)] : []), ...(matcher.test(value) ? [] : [message])];
}

export function patternError(
  text: string,
  regex: string,
  { examples }: { readonly examples: readonly string[] },
): string {
  if (examples.length === 0) return `${text} (regex used for validation is '${regex}')`;
  const list = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${list}regex used for validation is '${regex}')`;
}

const subdomainMatcher = new RegExp(`^${subdomain}$`);
const labelPattern = pattern({ text: labelText, regex: label, examples: ["my-name", "123-abc"], longest: 63 });

export const dnsSubdomain: Format = pattern({
  text: subdomainText,
  regex: subdomain,
  examples: ["example.com"],
  longest: 253,
});

export const dnsLabel: Format = (value) =>
  labelPattern(value).map((message) =>
    message.startsWith("a lowercase") && subdomainMatcher.test(value) ? "must not contain dots" : message,
  );

export const dns1035Label: Format = pattern({
  text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  regex: "[a-z]([-a-z0-9]*[a-z0-9])?",
  examples: ["my-name", "abc-123"],
  longest: 63,
});

export const wildcardSubdomain: Format = pattern({
  text: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  regex: `\\*\\.${subdomain}`,
  examples: ["*.example.com"],
  longest: 253,
});

const configKey = pattern({
  text: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  regex: "[-._a-zA-Z0-9]+",
  examples: ["key.name", "KEY_NAME", "key-name"],
  longest: 253,
});

export const configMapKey: Format = (value) => [...configKey(value), ...upwards(value)];

export const percent: Format = pattern({
  text: "a valid percent string must be a numeric string followed by an ending '%'",
  regex: "[0-9]+%",
  examples: ["1%", "93%"],
});

export const envVarName: Format = (value) => {
  if (value === "") return ["environment variable name must be non-empty"];
  return /^[\x20-\x3c\x3e-\x7e]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
};

const labelPart = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const namePart = pattern({
  text: "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  regex: labelPart,
  examples: ["MyName", "my.name", "123-abc"],
});

/** The format of the keys of labels and annotations: `[prefix/]name`. */
export const qualifiedName: Format = (value) => {
  const parts = value.split("/");
  const errors: string[] = [];
  let name = value;
  if (parts.length === 2) {
    const [prefix = "", rest = ""] = parts;
    name = rest;
    if (prefix === "") errors.push("prefix part must be non-empty");
    else errors.push(...dnsSubdomain(prefix).map((message) => `prefix part ${inBytes(message)}`));
  } else if (parts.length > 2) {
    const shape = patternError(
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      labelPart,
      { examples: ["MyName", "my.name", "123-abc"] },
    );
    return [`${shape} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (name === "") errors.push("name part must be non-empty");
  else if (name.length > 63) errors.push(`name part ${tooManyBytes(63)}`);
  return [...errors, ...namePart(name)];
};

function inBytes(message: string): string {
  return message === tooLong(253) ? tooManyBytes(253) : message;
}

const labelValuePattern = pattern({
  text: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  regex: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
  examples: ["MyValue", "my_value", "12345"],
});

export const labelValue: Format = (value) => [
  ...(value.length > 63 ? [tooManyBytes(63)] : []),
  ...labelValuePattern(value),
];

export const httpHeaderName: Format = pattern({
  text: "a valid HTTP header must consist of alphanumeric characters or '-'",
  regex: "[-A-Za-z0-9]+",
  examples: ["X-Header-Name"],
});

const underscored = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";

/** The format of DNS search domains. */
export const searchDomain: Format = pattern({
  text: subdomainText.replace("'-' or '.'", "'_', '-' or '.'"),
  regex: `${underscored}(\\.${underscored})*`,
  examples: ["example.com"],
  longest: 253,
});

/** Accepts only characters that Go can print. */
export const printable: Format = (value) => {
  const wrong: string[] = [];
  let position = 0;
  for (const character of value) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      wrong.push(`invalid character U+${code} (at position ${position})`);
    }
    position += Buffer.byteLength(character);
  }
  return wrong;
};

export const pathSegment: Format = (value) => {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
};

export const portName: Format = (value) => {
  const errors: string[] = [];
  if (value.length > 15) errors.push(tooLong(15));
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
};

function upwards(value: string): string[] {
  if (value === ".") return ["must not be '.'"];
  if (value === "..") return ["must not be '..'"];
  return value.startsWith("..") ? ["must not start with '..'"] : [];
}
