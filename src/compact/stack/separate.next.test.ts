import { expect, test } from "vitest"
import { histories, unseen } from "../../../test/support/histories.ts"
import { fc } from "../../../test/support/property.ts"
import { call, message, result, text } from "../../../test/support/transcripts.ts"
import { type Message, type Part, type Role, wireText } from "../../message/message.ts"
import { hashText } from "../../message/sha256.ts"
import { rejoin } from "./rejoin.ts"
import { separate, separateMade } from "./separate.ts"

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

test("for any request, what is made of it is told apart as before: under other ids, with a system message, rejoined without some messages", () => {
  fc.assert(
    fc.property(messages, standing, fc.array(fc.boolean(), { maxLength: 8 }), (made, set, keeps) => {
      // As they are read: each part is an object of its own.
      const list = made.map((one): Message => ({ ...one, parts: one.parts.map((part) => ({ ...part })) }))
      const options = { standing: set }
      const separation = separate({ system: [], tools: [], messages: list }, options)
      const renamed = list.map((one, n): Message => ({ ...one, id: message(`e${n}`, "user").id }))
      const named = separateMade(separation, { system: [], tools: [], messages: renamed })
      const anew = separate({ system: [], tools: [], messages: unseen(renamed) }, options)
      expect({ ...named }).toEqual({ ...anew })
      const first = message("operator", "system", text("Never push."))
      const added = separateMade(named, { system: [], tools: [], messages: [first, ...renamed] })
      expect(added.conversation).toEqual(named.conversation)
      expect(added.infrastructure.messages).toEqual([first, ...named.infrastructure.messages])
      const hashesOf = ({ infrastructure }: typeof added) => infrastructure.documents.map(({ hash }) => hash)
      expect(hashesOf(added)).toEqual(hashesOf(named))
      const kept = separation.conversation.filter((one, n) => keeps[n] === true || one.role === "system")
      const rejoined = separateMade(separation, rejoin(separation, kept))
      // Later documents join those that open the session once no answer stands before them.
      const saidIn = (said: readonly Message[]) =>
        said
          .filter(({ role }) => role !== "system")
          .flatMap(({ parts: own }) => own.filter((part) => part.channel !== "document"))
      expect(saidIn(rejoined.conversation)).toEqual(saidIn(kept))
      expect(hashesOf(rejoined)).toEqual(expect.arrayContaining([...hashesOf(separation)]))
    }),
  )
})
