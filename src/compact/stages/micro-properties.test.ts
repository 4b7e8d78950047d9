import { describe, expect, test } from "vitest"
import { corpus, realTraces, withoutCorpus } from "../../../test/support/corpus.ts"
import { fc, isLongRun, sampleOf } from "../../../test/support/property.ts"
import { brokenTranscript, message, text } from "../../../test/support/transcripts.ts"
import { groupTurns, pairCalls } from "../../message/group.ts"
import {
  callId,
  type Message,
  type Part,
  type ToolResultPart,
  type Transcript,
  textOf,
  wireText,
} from "../../message/message.ts"
import { importTranscript } from "../../transcript/import.ts"
import { applyEdits } from "./edit.ts"
import { type MicroOptions, microcompact } from "./microcompact.ts"

const count = (value: string): number => Math.ceil(value.length / 4)
const partTokens = (part: Part): number => {
  if (part.type === "tool-result") return part.content.reduce((total, inner) => total + partTokens(inner), 4)
  return part.type === "image" ? 300 : count("wire" in part && part.type === "opaque" ? part.wire : textOf(part))
}

const line = fc.oneof(
  fc.constantFrom(
    "error: no such file",
    "FAILED t::a",
    "1 failed, 2 passed",
    "   12\tdef f(x):",
    "src/a.ts:3: const rate = 1",
    "@@ -1,2 +1,2 @@",
  ),
  fc.constantFrom(
    "[… 3 lines left out]",
    "[image, png, left out]",
    "exit code 1",
    "Error: bad",
    "",
    "+new line",
    "\ud800",
    "2024-01-01 INFO up",
  ),
  fc.string({ maxLength: 40 }),
  fc.string({ maxLength: 10 }).map((piece) => piece.repeat(60)),
)
const lines = fc.array(line, { maxLength: 40 }).map((all) => all.join("\n"))
const records = fc.array(fc.record({ id: fc.string(), status: line, n: fc.nat() }), { maxLength: 20 })
const output = fc.oneof(
  { weight: 4, arbitrary: lines },
  {
    weight: 2,
    arbitrary: fc.tuple(records, fc.constantFrom(0, 2)).map(([value, blanks]) => JSON.stringify(value, null, blanks)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("same output\n".repeat(50), JSON.stringify({ a: "y".repeat(500) }), "x".repeat(3_000)),
  },
)
const content = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: output.map((value): Part => text(value)) },
    { weight: 1, arbitrary: fc.constant<Part>({ type: "image", media: { held: "url" } }) },
    {
      weight: 1,
      arbitrary: fc.constant<Part>({ type: "opaque", kind: "sealed", wire: wireText(`"${"z".repeat(400)}"`) }),
    },
  ),
  { minLength: 1, maxLength: 2 },
)
const asked = fc.record({
  tool: fc.constantFrom("read", "bash", "grep", "get_order", "edit", "write", "web_fetch", "ls", "odd"),
  input: fc.oneof(
    fc.record({ path: fc.constantFrom("a", "b"), offset: fc.constantFrom(0, 40) }),
    fc.record({ path: fc.constantFrom("a", "b"), content: lines }),
    fc.record({ command: fc.constantFrom("cat a", "make", "npm test", "rm -r b") }),
    fc.constant("free text"),
  ),
})
const turn = fc.oneof(
  {
    weight: 1,
    arbitrary: lines.map((said) => (n: number): readonly Message[] => [
      message(`s${n}`, n % 2 === 0 ? "user" : "assistant", text(`x ${said}`)),
    ]),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(asked, content, fc.constantFrom(undefined, true, false))
      .map(([call, parts, failed]) => (n: number): readonly Message[] => [
        message(`c${n}`, "assistant", { type: "tool-call", callId: callId(`${n}`), kind: "function", ...call }),
        message(`r${n}`, "user", {
          type: "tool-result",
          callId: callId(`${n}`),
          kind: "function",
          content: parts,
          ...(failed === undefined ? {} : { failed }),
        }),
      ]),
  },
)
const transcripts = fc.array(turn, { maxLength: 10 }).map((turns): Transcript => turns.flatMap((make, n) => make(n)))
const settings = fc.record({
  keepRounds: fc.nat(3),
  largest: fc.constantFrom(40, 300, 4_000),
  scale: fc.constantFrom(0, 0.05, 0.3, 1),
  handleOf: fc.constantFrom<(() => string) | undefined>(undefined, () => "h-1"),
})
type Settings = {
  readonly keepRounds: number
  readonly largest: number
  readonly scale: number
  readonly handleOf: (() => string) | undefined
}

const optionsFor = (messages: Transcript, { handleOf, ...rest }: Settings): MicroOptions => ({
  ...{ groups: groupTurns(messages), count, partTokens, ...rest },
  ...(handleOf === undefined ? {} : { handleOf }),
})
const run = (messages: Transcript, chosen: Settings) => microcompact(messages, optionsFor(messages, chosen))

const shell = ({ content: _content, ...rest }: ToolResultPart) => rest

function expectSound(messages: Transcript, chosen: Settings): void {
  const edits = run(messages, chosen)
  expect(run(messages, chosen)).toEqual(edits)
  const after = applyEdits(messages, edits)
  expect(pairCalls(after)).toEqual(pairCalls(messages))
  for (const edit of edits) if ("afterTokens" in edit) expect(edit.afterTokens).toBeLessThan(edit.beforeTokens)
  for (const [at, before] of messages.entries()) {
    for (const [n, part] of before.parts.entries()) {
      const now = after[at]?.parts[n]
      if (part.type !== "tool-result" || now?.type !== "tool-result") continue
      expect(shell(now)).toEqual(shell(part))
      expect(now.content.filter(({ type }) => type === "opaque")).toEqual(
        part.content.filter(({ type }) => type === "opaque"),
      )
    }
  }
  expect(run(after, chosen)).toEqual([])
}

describe("for any transcript, at any pressure", () => {
  test("nothing grows, pairs and sealed parts stay, the same goes in and comes out, and a second time changes nothing", () => {
    fc.assert(fc.property(transcripts, settings, expectSound))
  })
  test("a broken transcript is no reason to fail", () => {
    fc.assert(
      fc.property(brokenTranscript, settings, (messages, chosen) => {
        for (const edit of run(messages, chosen))
          if ("afterTokens" in edit) expect(edit.afterTokens).toBeLessThan(edit.beforeTokens)
      }),
    )
  })
})

test.skipIf(corpus === undefined)(`on every real trace the same holds${withoutCorpus}`, () => {
  const scales = [0, 0.2, 1]
  for (const [at, { id, messages }] of sampleOf(realTraces(), 4).entries()) {
    for (const conversation of importTranscript(`${JSON.stringify({ id, messages })}\n`).conversations) {
      // In the everyday run each trace has one of the scales, in turn.
      for (const scale of scales.filter((_, n) => isLongRun || n === at % scales.length)) {
        expectSound(conversation.messages, { keepRounds: 2, largest: 2_000, scale, handleOf: undefined })
      }
    }
  }
})

const size = 2_000_000
const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
const hostile: readonly (readonly [why: string, output: string])[] = [
  ["one letter", fill("a")],
  ["line breaks", fill("\n")],
  ["open brackets", fill("[")],
  ["JSON that never closes", fill('{"a":')],
  ["a list of numbers", `[${fill("1,")}1]`],
  ["forged markers", fill("[… left out")],
  ["errors", fill("error: x 12\n")],
  ["a log in JSON", JSON.stringify({ a: fill("x\n") })],
  ["paths", fill("a/b.c:1:\n")],
  ["blanks", fill(" ")],
  ["parentheses", fill("f((")],
]

/** Ten times what the slowest takes on a slow machine; anything quadratic takes minutes at this size. */
const limitMs = 20_000

test.each(hostile)(
  "two megabytes of %s are read through once",
  (_why, flood) => {
    for (const tool of ["bash", "read", "grep"]) {
      const messages = [
        message("c", "assistant", {
          type: "tool-call",
          callId: callId("1"),
          kind: "function",
          tool,
          input: { path: "a" },
        }),
        message("r", "user", { type: "tool-result", callId: callId("1"), kind: "function", content: [text(flood)] }),
        message("s", "assistant", text(flood)),
      ]
      expect(run(messages, { keepRounds: 0, largest: 4_000, scale: 1, handleOf: undefined })).toHaveLength(1)
    }
  },
  limitMs,
)
