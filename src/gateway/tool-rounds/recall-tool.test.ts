import { expect, test } from "vitest"
import { type Format, formats } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { printsHandle, recallDeclarations, recallName, withRecallTool } from "./recall-tool.ts"

const tools: Readonly<Record<Format, string>> = {
  "anthropic-messages": `[ {"name":"a","input_schema":{}}, {"name":"b","input_schema":{},"cache_control":{"type":"ephemeral"}} ]`,
  "openai-chat": `[{"type":"function","function":{"name":"a"}},{"type":"custom","custom":{"name":"b"}}]`,
  "openai-responses": `[{"type":"web_search"},{"type":"function","name":"a","parameters":{}},{"type":"custom","name":"b"}]`,
  gemini: `[{"functionDeclarations":[{"name":"a"}]},{"function_declarations":[{"name":"b"}]}]`,
}

const listNames: Readonly<Record<Format, string>> = {
  "anthropic-messages": `"messages":[{"role":"user","content":"go"}]`,
  "openai-chat": `"messages":[{"role":"user","content":"go"}]`,
  "openai-responses": `"input":"go"`,
  gemini: `"contents":[{"parts":[{"text":"go"}]}]`,
}

const bodyOf = (format: Format, list: string, more = ""): string =>
  `{ "model": "m", ${listNames[format]}, "tools": ${list}, "n2": 1.0${more} }`

test.each(formats)("%s: the recall tool is the last tool, and every other byte stays", (format) => {
  const body = bodyOf(format, tools[format])
  const offered = withRecallTool(body, format)
  expect(
    decodeRequest(format, offered)
      .tools.map(({ name }) => name)
      .slice(-3),
  ).toEqual(["a", "b", recallName])
  expect(offered.replace(`,${recallDeclarations[format]}`, "")).toBe(body)
  expect(withRecallTool(decodeRequest(format, body), format)).toBe(offered)
})

test.each(formats)("%s: the recall tool is not added twice", (format) => {
  const once = withRecallTool(bodyOf(format, tools[format]), format)
  expect(withRecallTool(once, format)).toBe(once)
})

test.each(formats)("%s: a request without tools stays unchanged", (format) => {
  for (const body of [
    "",
    "no json",
    "[]",
    "null",
    `{${listNames[format]}}`,
    bodyOf(format, "[]"),
    bodyOf(format, "null"),
    bodyOf(format, "{}"),
  ]) {
    expect(withRecallTool(body, format)).toBe(body)
  }
})

const left: readonly (readonly [why: string, format: Format, body: string])[] = [
  [
    "tools that only the provider runs",
    "anthropic-messages",
    bodyOf("anthropic-messages", `[{"type":"web_search_20250305","name":"web_search"}]`),
  ],
  ["tools that only the provider runs", "openai-responses", bodyOf("openai-responses", `[{"type":"web_search"}]`)],
  ["tools that only the provider runs", "gemini", bodyOf("gemini", `[{"googleSearch":{}}]`)],
  ["several answers", "openai-chat", bodyOf("openai-chat", tools["openai-chat"], `,"n":2`)],
  ["several answers", "gemini", bodyOf("gemini", tools.gemini, `,"generationConfig":{"candidateCount":2}`)],
  [
    "an answer that is fetched later",
    "openai-responses",
    bodyOf("openai-responses", tools["openai-responses"], `,"background":true`),
  ],
  [
    "tools inside an input item",
    "openai-responses",
    `{"input":[{"type":"additional_tools","tools":[{"type":"function","name":"a"}]}]}`,
  ],
  ["the functions of old", "openai-chat", `{"messages":[],"functions":[{"name":"a"}]}`],
]

test.each(left)("%s (%s): the recall tool is not offered", (_why, format, body) => {
  expect(withRecallTool(body, format)).toBe(body)
})

test.each([
  [`{"content":"[120 lines left out; recall hf-12-0123456789abcdef0123]"}`, true],
  [`{"content":"please recall hf-12"}`, false],
  ["{}", false],
])("%s contains a handle: %s", (body, printed) => {
  expect(printsHandle(body)).toBe(printed)
})

test("an Anthropic tool that the client runs counts as a client tool", () => {
  const body = bodyOf("anthropic-messages", `[{"type":"bash_20250124","name":"bash"}]`)
  expect(withRecallTool(body, "anthropic-messages")).toContain(recallName)
})
