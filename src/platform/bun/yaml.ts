/** Parses YAML. The platform's own parser is loaded already; the library would add 20 ms to a start. */

/**
 * Parses one YAML document.
 *
 * @throws Error that names the line, when the text is not YAML.
 */
export async function parseYaml(text: string): Promise<unknown> {
  try {
    return Bun.YAML.parse(text);
  } catch {
    // The library's error has the position.
    const { parse } = await import("yaml");
    return parse(text);
  }
}
