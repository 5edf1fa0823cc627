/** Regular expressions in Go's syntax, RE2. */

/** @returns `undefined` when it cannot be read */
export function goRegExp(pattern: string): RegExp | undefined {
  let flags = "u";
  const source = pattern
    .replace(/^\(\?([ims]+)\)/, (_, letters: string) => {
      flags += letters;
      return "";
    })
    .replaceAll("(?P<", "(?<")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
    .replaceAll("\\Q", "")
    .replaceAll("\\E", "")
    .replace(/\[\[:(\w+):\]\]/g, (whole, name: string) => (classes[name] ? `[${classes[name]}]` : whole))
    .replace(/\[:(\w+):\]/g, (whole, name: string) => classes[name] ?? whole);
  try {
    return new RegExp(source, flags);
  } catch {
    // Go takes escapes that the strict mode does not, such as `\-`.
    try {
      return new RegExp(source, flags.replace("u", ""));
    } catch {
      return undefined;
    }
  }
}

/** Why RE2 does not take it, in Go's words; `undefined` when it does. */
export function goRegExpError(pattern: string): string | undefined {
  const perl = /\(\?(?:[=!]|<[=!])/.exec(pattern)?.[0];
  if (perl) return `error parsing regexp: invalid or unsupported Perl syntax: \`${perl.slice(0, 3)}\``;
  const reference = /(?<!\\)(?:\\\\)*(\\[1-9])/.exec(pattern)?.[1];
  if (reference) return `error parsing regexp: invalid escape sequence: \`${reference}\``;
  if (goRegExp(pattern)) return undefined;
  return `error parsing regexp: ${mistake(pattern)}`;
}

function mistake(pattern: string): string {
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "\\") i++;
    else if (character === "[") {
      const end = pattern.indexOf("]", i + 2);
      if (end < 0) return `missing closing ]: \`${pattern.slice(i)}\``;
      i = end;
    } else if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return `unexpected ): \`${pattern}\``;
    else if (/[*+?]/.test(character!) && (i === 0 || /[(|]/.test(pattern[i - 1]!))) {
      return `missing argument to repetition operator: \`${character}\``;
    }
  }
  return depth > 0 ? `missing closing ): \`${pattern}\`` : `invalid regular expression: \`${pattern}\``;
}

const classes: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  space: "\\t\\n\\v\\f\\r ",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
  punct: "!-\\/:-@\\[-`{-~",
};
