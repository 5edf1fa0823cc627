/** Checks the syntax of label keys and values as the API server does. */

const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** Whether the text is a DNS-1123 subdomain, such as `demo.example.com`. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

/**
 * Returns what is wrong with a label key, if anything.
 *
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
 */
export function labelKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(slash, 0));
  const name = key.slice(slash + 1);
  if (slash >= 0 && !isDnsSubdomain(prefix)) {
    return `the prefix "${prefix}" of the key "${key}" must be a DNS name such as "example.com"`;
  }
  if (name.length > 63) return `the name in the key "${key}" is longer than 63 characters`;
  if (!namePart.test(name)) {
    return `the key "${key}" must consist of letters, digits, "-", "_" and ".", and begin and end with a letter or digit`;
  }
  return undefined;
}

/** Returns the problem of a label value; `undefined` for a valid one, such as the empty value. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return `the value "${value}" is longer than 63 characters`;
  if (value !== "" && !namePart.test(value)) {
    return `the value "${value}" must consist of letters, digits, "-", "_" and ".", and begin and end with a letter or digit`;
  }
  return undefined;
}
