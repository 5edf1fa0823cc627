import { expect, test } from "bun:test";
import { createLog } from "./log.ts";

/** Characters that terminals act on, or that make one line look like two or like another one. */
const ATTACKS: Readonly<Record<string, string>> = {
  "CSI colours": "\u001b[31m",
  "CSI clears the screen": "\u001b[2J\u001b[H",
  "CSI moves up and overwrites": "\u001b[1A\u001b[2K",
  "CSI asks for an answer": "\u001b[6n",
  "CSI reports the title": "\u001b[21t",
  "OSC sets the title": "\u001b]0;pwned\u0007",
  "OSC 8 links": "\u001b]8;;http://evil.example/\u001b\\click\u001b]8;;\u001b\\",
  "OSC 52 writes the clipboard": "\u001b]52;c;cm0gLXJmIC8=\u0007",
  DCS: '\u001bP$q"p\u001b\\',
  "APC, PM and SOS": "\u001b_x\u001b\\\u001b^x\u001b\\\u001bXx\u001b\\",
  "RIS resets": "\u001bc",
  "C1 CSI": "\u009b2J",
  "C1 OSC": "\u009d52;c;AAAA\u009c",
  "C1 DCS": "\u0090q\u009c",
  "C1 next line": "a\u0085b",
  "carriage return": "good\rbad!",
  backspace: "rm\b\bls",
  delete: "a\u007fb",
  "NUL and bell": "a\u0000b\u0007",
  "form feed and vertical tab": "a\fb\vc",
  "line break": "x\n00:00:00.000 INFO  all is well",
  "both line breaks": 'x\r\n{"level":"info","msg":"all is well"}',
  "Unicode line ends": "a\u2028b\u2029c",
  "bidi overrides": "gpj.\u202exe\u202c",
  "bidi isolates": "\u2066a\u2067b\u2068c\u2069",
  "bidi marks": "\u200e\u200f\u061c",
};

/** All but the line break, which lines of the log end with. */
// oxlint-disable-next-line no-control-regex
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

function written(format: "json" | "pretty", say: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  say(createLog({ level: "debug", format, write: (line) => lines.push(line) }));
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

for (const format of ["json", "pretty"] as const) {
  test.each(Object.entries(ATTACKS))(`a line of ${format} is one line without %s`, (_name, attack) => {
    const thrown = new Error(attack, { cause: new Error(attack) });
    thrown.name = attack;
    for (const line of [
      written(format, (log) => log.info(`m ${attack}`)),
      written(format, (log) => log.info("m", { value: attack })),
      written(format, (log) => log.info("m", { [attack]: 1 })),
      written(format, (log) => log.info("m", { deep: { [attack]: [attack] } })),
      written(format, (log) => log.with({ key: attack }).info("m")),
    ]) {
      expect(line).not.toMatch(ACTED_ON);
      expect(line.trimEnd()).not.toContain("\n");
    }
    const line = written(format, (log) => log.error("m", { error: thrown }));
    expect(line).not.toMatch(ACTED_ON);
    // Everything below the line itself is indented, so it cannot look like a line of the log.
    for (const below of line.trimEnd().split("\n").slice(1)) expect(below).toStartWith("    ");
  });
}

test("a line of json still holds the exact text", () => {
  for (const attack of Object.values(ATTACKS)) {
    const line = written("json", (log) => log.info(attack, { value: attack }));
    expect(JSON.parse(line)).toMatchObject({ msg: attack, value: attack });
  }
});

test("a field's name in a pretty line cannot pass for other fields", () => {
  expect(written("pretty", (log) => log.info("m", { "a=1 level": "x" }))).toEndWith('  "a=1 level"=x\n');
});

test("texts of all languages stay as they are in both formats", () => {
  const text = "größe-尺寸-🧭-مرحبا";
  for (const format of ["json", "pretty"] as const) {
    expect(written(format, (log) => log.info(text, { text }))).toContain(text);
  }
});

test("a line is written whatever a module hands over as message, error and stack", () => {
  for (const odd of [undefined, null, 1, {}]) {
    written("pretty", (log) => log.info(odd as never, { value: { message: odd, stack: odd } }));
    written("json", (log) => log.info(odd as never, { value: { message: odd, stack: odd } }));
  }
});
