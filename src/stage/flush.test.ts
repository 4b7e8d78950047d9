import { describe, expect, test } from "vitest"
import { text, transcript } from "../../test/support/transcripts.ts"
import type { Fact } from "../ledger/fact.ts"
import { buildLedger } from "../ledger/ledger.ts"
import { callId } from "../message/ids.ts"
import { notesOf } from "../summary/notes.ts"
import { memoryOf } from "./flush.ts"

const messages = transcript(
  ["user", text("Repair the login page of https://shop.example")],
  [
    "assistant",
    text("I chose bcrypt because md5 is broken."),
    { type: "tool-call", callId: callId("c"), tool: "bash", kind: "function", input: { command: "npm test" } },
  ],
  [
    "user",
    {
      type: "tool-result",
      callId: callId("c"),
      kind: "function",
      content: [text("Error: port 8080 is taken\n1 failed")],
    },
  ],
  ["user", text("No, never open that port")],
)

describe("what is saved before anything is compacted", () => {
  const entries = memoryOf(notesOf(messages), [...buildLedger(messages).facts.values()])

  test("requests, corrections, decisions and errors are there with their sources", () => {
    expect(entries).toContainEqual({
      kind: "request",
      text: "Repair the login page of https://shop.example",
      sources: ["m0"],
      channel: "user",
      trusted: true,
    })
    expect(entries).toContainEqual({
      kind: "correction",
      text: "No, never open that port",
      sources: ["m3"],
      channel: "user",
      trusted: true,
    })
    expect(entries).toContainEqual({
      kind: "decision",
      text: "I chose bcrypt because md5 is broken.",
      sources: ["m1"],
      channel: "assistant",
      trusted: false,
    })
    expect(entries).toContainEqual({
      kind: "error",
      text: "[Failed attempt] `npm test` failed: Error: port 8080 is taken",
      sources: ["m1", "m2"],
      channel: "tool",
      trusted: false,
    })
  })

  test("an exact value that the user gave is trusted; a command that a note names is not said twice", () => {
    expect(
      entries.some(
        ({ kind, text: line, trusted }) => kind === "identifier" && line.endsWith("https://shop.example") && trusted,
      ),
    ).toBe(true)
    expect(entries.filter(({ text: line }) => line.endsWith("npm test"))).toEqual([])
  })
})

test("a value that a later one replaced is not saved", () => {
  const facts = [...buildLedger(transcript(["user", text("Call me at 17:30 on 2030-01-02")])).facts.values()]
  expect(facts.length).toBeGreaterThan(0)
  expect(memoryOf([], facts)).toHaveLength(facts.length)
  expect(
    memoryOf(
      [],
      facts.map((fact): Fact => ({ ...fact, state: "superseded" })),
    ),
  ).toEqual([])
})
