/** Reading YAML. The platform's own parser is there at once; a library's takes 20 ms of a start to warm up. */

/**
 * Parses one YAML document.
 *
 * @throws Error that names the line, when the text is not YAML.
 */
export async function parseYaml(text: string): Promise<unknown> {
  try {
    return Bun.YAML.parse(text);
  } catch {
    // The library says where.
    const { parse } = await import("yaml");
    return parse(text);
  }
}
