/** Manifests with template expressions for the values of a chart: marks in the YAML, which templates then replace. */
import { visit } from "yaml";
import { commentedDocument } from "../../rule-comments.ts";

/**
 * Renders a line with a mark from its indentation, the text before the mark, such as `replicas: ` or `- `, and the key
 * alone.
 */
type Render = (line: { readonly indent: string; readonly before: string }) => string;

/** The account of a plan for a chart; the installation determines both of its names. */
export const RELEASE = { namespace: "release-namespace-mark", name: "release-name-mark" } as const;
/** Stands for the namespace of the present iteration, in a loop over the namespaces of `values`. */
export const EACH_NAMESPACE = "each-namespace-mark";

const NAMES: Readonly<Record<string, string>> = {
  [RELEASE.namespace]: "{{ $.Release.Namespace }}",
  [RELEASE.name]: "{{ $.Release.Name }}",
  [EACH_NAMESPACE]: "{{ . }}",
};
const HAS_NAME = new RegExp(Object.keys(NAMES).join("|"));
const MANAGED_BY = "app.kubernetes.io/managed-by: ";
const MARK = /^( *)(?! )([^\n]*?)template-mark-(\d+)$/gm;

/** Creates marks, and later replaces them with templates. */
export class Slots {
  readonly #renders: Render[] = [];

  /** The line's value is the result of an expression. */
  value(expression: string): string {
    return this.#mark(({ indent, before }) => `${indent}${before}{{ ${expression} }}`);
  }

  /** The line's value is a list or a map of `values`. */
  block(expression: string): string {
    return this.#mark(
      ({ indent, before }) =>
        `${indent}${before.trimEnd()}\n${indent}  {{- toYaml ${expression} | nindent ${indent.length + 2} }}`,
    );
  }

  /** Like `block`, but without a line when the value is empty. */
  optional(expression: string): string {
    return this.#mark(({ indent, before }) =>
      [
        `${indent}{{- with ${expression} }}`,
        `${indent}${before.trimEnd()}`,
        `${indent}  {{- toYaml . | nindent ${indent.length + 2} }}`,
        `${indent}{{- end }}`,
      ].join("\n"),
    );
  }

  /** Adds entries to the list or map that contains the mark. */
  spread(expression: string): string {
    return this.#mark(({ indent }) =>
      [
        `${indent}{{- with ${expression} }}`,
        `${indent}{{- toYaml . | nindent ${indent.length} }}`,
        `${indent}{{- end }}`,
      ].join("\n"),
    );
  }

  /** Puts these lines in place of the mark's line. */
  lines(...lines: readonly string[]): string {
    return this.#mark(({ indent }) => lines.map((line) => `${indent}${line}`).join("\n"));
  }

  /** Renders a document of a template. */
  render(manifest: object): string {
    const document = commentedDocument(manifest);
    visit(document, {
      Scalar(_, node) {
        // A release may be named 123, which must stay text.
        if (typeof node.value === "string" && HAS_NAME.test(node.value)) node.type = "QUOTE_DOUBLE";
      },
    });
    let text = literal(document.toString({ lineWidth: 0 }));
    text = text.replace(MARK, (_, indent: string, before: string, number: string) =>
      this.#renders[Number(number)]!({ indent, before }),
    );
    for (const [mark, expression] of Object.entries(NAMES)) text = text.replaceAll(mark, expression);
    // Objects that Helm installs have Helm's label.
    return `---\n${text.replaceAll(`${MANAGED_BY}binnacle`, `${MANAGED_BY}{{ $.Release.Service }}`)}`;
  }

  #mark(render: Render): string {
    return `template-mark-${this.#renders.push(render) - 1}`;
  }
}

/** Returns text that Helm does not interpret. */
export function literal(text: string): string {
  return text.replaceAll("{{", '{{ "{{" }}');
}
