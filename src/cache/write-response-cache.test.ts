import { expect, test } from "bun:test";
import type { AnyObject } from "../resource/handle.ts";
import { WriteResponseCache, isEchoOf } from "./write-response-cache.ts";

function object(version: number, more: object = {}): AnyObject {
  const metadata = { name: "a", uid: "u", resourceVersion: String(version), creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", ...more, metadata };
}

const line = (type: string, text: string) => `{"type":"${type}","object":${text}}`;

function known(version: number, more?: object) {
  const taken = object(version, more);
  const text = JSON.stringify(taken);
  return { answer: { key: "ns/a", object: taken, text: `${text}\n` }, text };
}

test("isEventOf takes equal texts alone, with and without the line break of an answer", () => {
  const { answer, text } = known(7);
  expect(isEchoOf(line("MODIFIED", text), answer.text)).toBe(true);
  expect(isEchoOf(line("ADDED", text), text)).toBe(true);
  const others = [
    line("DELETED", text),
    line("BOOKMARK", text),
    line("ERROR", text),
    line("MODIFIED", text.replace('"u"', '"v"')),
    line("MODIFIED", text.slice(0, -1)),
    line("MODIFIED", `${text} `),
    `${line("MODIFIED", text).slice(0, -1)}]`,
    `{"object":${text},"type":"ADDED"}`,
    text,
    "",
  ];
  for (const other of others) expect([other, isEchoOf(other, answer.text)]).toEqual([other, false]);
});

test("WriteResponseCache recognises an echo once, whatever came before it", () => {
  const answers = new WriteResponseCache();
  const [first, second] = [known(7), known(8)];
  answers.add(first.answer);
  answers.add(second.answer);
  expect(answers.matchWriteEcho(line("MODIFIED", known(9).text))).toBeUndefined();
  expect(answers.matchWriteEcho(line("MODIFIED", second.text))).toBe(second.answer);
  expect(answers.matchWriteEcho(line("MODIFIED", second.text))).toBeUndefined();
  expect(answers.matchWriteEcho(line("ADDED", first.text))).toBe(first.answer);
  expect(answers.size).toBe(0);
});

test("WriteResponseCache leaves to the parser what it cannot find, and what has another text", () => {
  const answers = new WriteResponseCache();
  answers.add(known(7).answer);
  expect(answers.matchWriteEcho("")).toBeUndefined();
  expect(answers.matchWriteEcho('{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"7')).toBeUndefined();
  // A version that stands in the data, before that of the object.
  const hiding = known(8, { data: { resourceVersion: "5" } });
  answers.add(hiding.answer);
  expect(answers.matchWriteEcho(line("MODIFIED", hiding.text))).toBeUndefined();
  expect(answers.matchWriteEcho(line("DELETED", known(7).text))).toBeUndefined();
});

test("WriteResponseCache keeps the last of answers with one version, and counts no other", () => {
  const answers = new WriteResponseCache();
  const other = { ...known(7, { data: { a: "b" } }) };
  const large = { key: "ns/b", object: object(7), text: "x".repeat(750_000) };
  answers.add(large);
  answers.add(large);
  answers.add(other.answer);
  expect(answers.matchWriteEcho(line("MODIFIED", known(7).text))).toBeUndefined();
  answers.add(other.answer);
  answers.add({ ...large, object: object(8) });
  expect(answers.size).toBe(2);
  expect(answers.matchWriteEcho(line("ADDED", other.text))).toBe(other.answer);
});

test("WriteResponseCache forgets the oldest of too many, and what the stream has passed", () => {
  const answers = new WriteResponseCache();
  const text = "x".repeat(250_000);
  for (let version = 10; version < 20; version++) answers.add({ key: "a", object: object(version), text });
  expect(answers.size).toBe(4);
  const small = known(30);
  answers.add(small.answer);
  expect(answers.size).toBe(4);
  answers.forgetUpTo((version) => Number(version) < 20);
  expect(answers.size).toBe(1);
  for (let version = 40; version < 43; version++) answers.add({ key: "a", object: object(version), text });
  expect(answers.size).toBe(4);
  answers.clear();
  expect(answers.matchWriteEcho(line("MODIFIED", small.text))).toBeUndefined();
});
