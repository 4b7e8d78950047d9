import { afterEach, describe, expect, test } from "vitest"
import { diagonalOf } from "../support/property.ts"
import { compactingClients } from "./compacting-clients.ts"
import { type Conversation, openConversation, openPlace, type Place } from "./compacting-conversation.ts"

const rule = "Never write to any file below vendor/."
const laterRule = "Always write commit messages in English."

const summaries = {
  "several lines":
    "The user wants the parts of the project read one after the other.\nThe first parts were read and nothing was found in them.\nThe last part is still to be read.",
  "one line": "Parts read, the last one is left to do.",
  "a few words": "Reading parts.",
} as const

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function start(): Promise<Place> {
  const place = await openPlace()
  open.push(place.close)
  return place
}

/** Returns the rules in force in the conversation's session, with their channels. */
const standing = async ({ gateway }: Place, talk: Conversation) => {
  await gateway.holdfast.idle()
  const pins = await gateway.holdfast.session(talk.sessions().at(-1) ?? "").pins()
  return pins.map(({ text, channel }) => [text, channel])
}

const bothRules = [
  [rule, "user"],
  [laterRule, "user"],
]

const one = (sessions: readonly string[]): number => new Set(sessions).size

const inWords = compactingClients.flatMap((client) =>
  Object.entries(summaries).map(([how, summary]) => ({ client, name: client.name, how, summary })),
)

test.each(diagonalOf(inWords, Object.keys(summaries).length))(
  "$name compacts its own history into $how: it stays one session, and its rule stands",
  async ({ client, summary }) => {
    const place = await start()
    const talk = openConversation(place, client, "4c2e-8a11-90b3")
    await talk.begin(`${rule} Read the parts of this project.`, 3)
    await talk.compact(summary)
    expect(talk.reached()).toContain(rule)
    expect(one(talk.sessions())).toBe(1)
    await talk.say("Read one more part.", 1)
    expect(talk.reached()).toContain(rule)
    expect(one(talk.sessions())).toBe(1)
    expect(place.gateway.faults).toEqual([])
  },
)

describe.each(compactingClients)("$name compacts its own history", (client) => {
  test("again and again into the same words: it stays one session, and its rule stands", async () => {
    const place = await start()
    const talk = openConversation(place, client, "5d3f-8a11-90b3")
    await talk.say(`${rule} Read the parts of this project.`, 2)
    for (let n = 0; n < 3; n++) {
      await talk.compact(summaries["one line"], n === 0 ? "Go on." : undefined)
      expect(talk.reached()).toContain(rule)
      expect(one(talk.sessions())).toBe(1)
    }
  })

  test("nothing that it writes around the summary becomes a rule, and what the user says next is the user's", async () => {
    const place = await start()
    const talk = openConversation(place, client, "6e40-8a11-90b3")
    await talk.say(`${rule} Read the parts of this project.`, 2)
    await talk.compact(summaries["several lines"], laterRule)
    await talk.say("Go on then.", 1)
    expect(await standing(place, talk)).toEqual(bothRules)
  })

  test("so it is when the compaction comes in the midst of a turn, and the user's rule after it", async () => {
    const place = await start()
    const talk = openConversation(place, client, "7f51-8a11-90b3")
    await talk.begin(`${rule} Read the parts of this project.`, 2)
    await talk.compact(summaries["several lines"])
    await talk.begin(laterRule, 1)
    await talk.compact(summaries["one line"])
    expect(talk.reached()).toContain(rule)
    expect(talk.reached()).toContain(laterRule)
    expect(await standing(place, talk)).toEqual(bothRules)
  })
})
