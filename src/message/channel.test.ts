import { describe, expect, test } from "vitest"
import { result, text } from "../../test/support/transcripts.ts"
import { channelOf } from "./fence.ts"
import { type Channel, instructs, type Part, type Role, trust } from "./message.ts"

describe("the channel of a part is its place, unless its reader noted another", () => {
  const cases: readonly [what: string, role: Role, part: Part, channel: Channel][] = [
    ["the user's words", "user", text("hi"), "user"],
    ["the model's words", "assistant", text("hi"), "assistant"],
    ["a developer message", "system", text("be brief"), "system"],
    ["a tool result beside the user's words", "user", result("1"), "tool"],
    ["a result that the provider put into the answer", "assistant", result("1"), "tool"],
    ["a file that the user attached", "user", { type: "document", media: { held: "file" } }, "document"],
    ["what a client's harness injected", "user", { ...text("<context>…</context>"), channel: "document" }, "document"],
    ["a quotation of a tool's output", "user", { ...text("quoted"), channel: "tool" }, "tool"],
    ["the same, read back from the wire", "user", text('<tool-result call="1">\nquoted\n</tool-result>'), "tool"],
    [
      "a text that only begins like one",
      "user",
      text('<tool-result call="1">\nquoted\n</tool-result> and more'),
      "user",
    ],
  ]
  test.each(cases)("%s", (_what, role, part, channel) => {
    expect(channelOf(role, part)).toBe(channel)
  })
})

describe("trust", () => {
  test("nothing overrules the operator, and a tool overrules no one", () => {
    const channels: readonly Channel[] = ["system", "user", "assistant", "memory", "document", "tool"]
    expect(channels.every((channel) => trust(channel) < trust("operator"))).toBe(true)
    expect(channels.filter((channel) => trust(channel) < trust("tool"))).toEqual([])
  })
  test("only operator, system and user instruct", () => {
    const all: readonly Channel[] = ["operator", "system", "user", "assistant", "memory", "document", "tool"]
    expect(all.filter(instructs)).toEqual(["operator", "system", "user"])
  })
})
