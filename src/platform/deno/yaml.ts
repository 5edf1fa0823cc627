/** Parses YAML by the library. */

/**
 * Parses one YAML document.
 *
 * @throws Error that names the line, when the text is not YAML.
 */
export async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  return parse(text);
}
