/** Chooses how a text is written in YAML, so that it is read as a text again. */
import { scalarValue } from "./scalar-value.ts";

export type ScalarStyle = "plain" | "single" | "double" | "literal";

/** Returns the style. @param isKey whether it is a key, which needs to stay on one line */
export function scalarStyle(text: string, isKey: boolean): ScalarStyle {
  const { isPlainAllowed, isSingleAllowed, isLiteralAllowed, isMultiline } = analyzed(text);
  if (isKey && isMultiline) return "double";
  if (text.includes("\n")) return isLiteralAllowed && !isKey ? "literal" : "double";
  if (!isSomethingElse(text)) {
    if (isPlainAllowed && !(text === "" && isKey)) return "plain";
    return isSingleAllowed ? "single" : "double";
  }
  return "double";
}

/** Whether the text without quotes would be read as a number, a time, a boolean or null. */
function isSomethingElse(text: string): boolean {
  if (/^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text)) return true;
  return scalarValue("", text).type !== "str";
}

/** Whether the character may appear in YAML as it is. */
export function isPrintable(character: string): boolean {
  return (
    /^[\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]$/u.test(character) &&
    (character.codePointAt(0) ?? 0) <= 0xffff
  );
}

interface Analysis {
  readonly isPlainAllowed: boolean;
  readonly isSingleAllowed: boolean;
  readonly isLiteralAllowed: boolean;
  readonly isMultiline: boolean;
}

function analyzed(text: string): Analysis {
  if (text === "") return { isPlainAllowed: true, isSingleAllowed: true, isLiteralAllowed: false, isMultiline: false };
  const isSpecial = Array.from(text).some((character) => !isPrintable(character));
  const hasSpaceBeforeBreak = / [\n\u0085\u2028\u2029]/.test(text);
  const isNever = isSpecial || hasSpaceBeforeBreak;
  const isMultiline = /[\n\u0085\u2028\u2029]/.test(text);
  return {
    isPlainAllowed: !isNever && !isMultiline && !/^ | $/.test(text) && !hasIndicators(text),
    isSingleAllowed: !isNever && !/[\n\u0085\u2028\u2029] /.test(text),
    isLiteralAllowed: !isNever && !text.endsWith(" "),
    isMultiline,
  };
}

/** Whether the text contains characters with a meaning outside of flow collections. */
function hasIndicators(text: string): boolean {
  if (text.startsWith("---") || text.startsWith("...")) return true;
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text)) return true;
  if (/^[-?:]([ \t]|$)/.test(text)) return true;
  return /:([ \t]|$)|[ \t]#/.test(text.slice(1)) || /^[ \t]#/.test(text);
}
