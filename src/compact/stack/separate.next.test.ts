import { expect, test } from "vitest"
import { histories, unseen } from "../../../test/support/histories.ts"
import { fc } from "../../../test/support/property.ts"
import { call, message, result, text } from "../../../test/support/transcripts.ts"
import { type Message, type Part, type Role, wireText } from "../../message/message.ts"
import { hashText } from "../../message/sha256.ts"
import { separate } from "./separate.ts"

const reminder = "<system-reminder>The branch is main.</system-reminder>"
const memory = "<context>Notes of the day.</context>"
const tools: Part = { type: "opaque", kind: "mcp_list_tools", wire: wireText("{}") }

const parts = fc.constantFrom<Part>(
  text(reminder),
  text(memory),
  text("fix it"),
  text(" "),
  call("1"),
  result("1"),
  { ...text("marked"), breakpoint: "5m" },
  tools,
)
const messages = fc
  .array(
    fc.record({
      role: fc.constantFrom<Role>("user", "user", "assistant", "system"),
      parts: fc.array(parts, { maxLength: 3 }),
    }),
    { maxLength: 8 },
  )
  .map((turns) => turns.map(({ role, parts: own }, n): Message => message(`m${n}`, role, ...own)))

const standing = fc.constantFrom(new Set<string>(), new Set([hashText(memory)]), new Set([hashText(reminder)]))

test("for any requests that go on from one another, each is parted as one that nobody has seen", () => {
  fc.assert(
    fc.property(histories(messages), fc.array(standing, { minLength: 6, maxLength: 6 }), (made, sets) => {
      for (const [n, list] of made.entries()) {
        const options = { standing: sets[n] ?? new Set<string>() }
        const parted = separate({ system: [], tools: [], messages: list }, options)
        const anew = separate({ system: [], tools: [], messages: unseen(list) }, options)
        expect({ ...parted, breakpoints: [...parted.breakpoints] }).toEqual({ ...anew })
      }
    }),
  )
})

test("a message that documents were taken out of is the same object from request to request", () => {
  const first = message("m0", "user", text(reminder), text("fix it"))
  const answer = message("m1", "assistant", text("done"))
  const one = separate({ system: [], tools: [], messages: [first, answer] })
  const more = [first, answer, message("m2", "user", text("thanks"))]
  const other = separate({ system: [], tools: [], messages: more })
  expect(other.conversation[0]).toBe(one.conversation[0])
  expect(other.conversation).toHaveLength(3)
})
