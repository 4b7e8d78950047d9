import { expect, test } from "vitest"
import { agent, chat, type Frame, says, user, words } from "../../../test/fixtures/gateway/chat.ts"
import { createWorld, lettersOf } from "../../../test/fixtures/gateway/world.ts"
import { fc } from "../../../test/support/property.ts"
import type { ModelRequest } from "../../message/message.ts"
import type { Assignment } from "./decision.ts"
import type { Identity } from "./identity.ts"
import { contentKey } from "./names.ts"

type OutgoingCall = { readonly asks: string; readonly answer: string; readonly isCutFirst: boolean }
type Talk = { readonly frame: Frame; readonly turns: readonly OutgoingCall[] }

/** Few words, so that conversations begin alike, get the same responses, and differ late. */
const turn = fc.record({
  asks: fc.constantFrom("hi", "go"),
  answer: fc.constantFrom("Hello!", "Hello!", "Fine."),
  isCutFirst: fc.boolean(),
})
const [kind, brief]: readonly Frame[] = [{ system: "Be kind." }, { system: "Be brief.", tools: ["read"] }]
const frame = fc.constantFrom(kind, kind, kind, brief).map((one): Frame => one ?? agent)
const talk: fc.Arbitrary<Talk> = fc.record({ frame, turns: fc.array(turn, { minLength: 1, maxLength: 4 }) })
const talks = fc.array(talk, { minLength: 2, maxLength: 4 })
const order = fc.array(fc.nat(3), { minLength: 8, maxLength: 14, size: "max" })

const keysOf = ({ messages }: ModelRequest): readonly string[] =>
  messages.filter(({ role }) => role !== "system").map(contentKey)
const isStart = (start: readonly string[], whole: readonly string[]): boolean =>
  start.length <= whole.length && start.every((key, n) => key === whole[n])

type Step = {
  readonly talk: number
  readonly request: ModelRequest
  readonly given: Assignment
  readonly isFirst: boolean
}
type Way = { readonly identity?: Identity; readonly tenant?: (talk: number) => string; readonly restarts?: boolean }

/** Run the conversations turn by turn, and record which session each request got. */
async function hold(all: readonly Talk[], turns: readonly number[], { identity = {}, tenant, restarts }: Way = {}) {
  const world = createWorld()
  const done = all.map(() => 0)
  const entries = new Map<string, readonly string[]>()
  const steps: Step[] = []
  for (const [n, whose] of turns.entries()) {
    const at = whose % all.length
    const { frame, turns: own } = all[at] ?? { frame: agent, turns: [] }
    const now = own[done[at] ?? 0]
    if (now === undefined) continue
    const before = own.slice(0, done[at]).flatMap(({ asks, answer }) => [user(asks), says(answer)])
    const request = chat(frame, ...before, user(now.asks))
    const seen = { tenant: tenant?.(at) ?? "t", entry: `e${n}` }
    const isFirst = done[at] === 0
    if (now.isCutFirst) {
      const given = await world.exchange(identity, request, [], { ...seen, isCut: true })
      steps.push({ talk: at, request, given, isFirst })
    }
    const given = await world.exchange(identity, request, words(now.answer), seen)
    steps.push({ talk: at, request, given, isFirst })
    entries.set(`e${n}`, keysOf(chat(frame, ...before, user(now.asks), says(now.answer))))
    done[at] = (done[at] ?? 0) + 1
    if (restarts === true) world.restart()
  }
  return { steps, entries }
}

const sessionsOf = (steps: readonly Step[]): readonly string[] => steps.map(({ given }) => given.session)

test("without ids a session is a line: each request contains the one before it", async () => {
  await fc.assert(
    fc.asyncProperty(talks, order, fc.boolean(), async (all, turns, restarts) => {
      const { steps } = await hold(all, turns, { restarts })
      for (const line of Map.groupBy(steps, ({ given }) => given.session).values()) {
        for (const [n, { request, talk }] of line.entries()) {
          const last = line[n - 1]
          if (last === undefined) continue
          expect(isStart(keysOf(last.request), keysOf(request))).toBe(true)
          expect(all[talk]?.frame).toBe(all[last.talk]?.frame)
        }
      }
    }),
  )
})

test("without ids a conversation continues in its session, or in a copy of exactly its own history", async () => {
  await fc.assert(
    fc.asyncProperty(talks, order, fc.boolean(), async (all, turns, restarts) => {
      const { steps, entries } = await hold(all, turns, { restarts })
      for (const { given, request, isFirst } of steps) {
        if (!isFirst) expect(given.isNew).toBe(given.fork !== undefined)
        if (given.fork === undefined) continue
        const { at = "", messages } = given.fork
        const shared = request.messages.slice(0, messages).filter(({ role }) => role !== "system")
        expect(entries.get(at)).toEqual(shared.map(contentKey))
      }
    }),
  )
})

test("a single conversation is one session, however often it is cut off and the gateway restarted", async () => {
  await fc.assert(
    fc.asyncProperty(talk, fc.boolean(), async (one, restarts) => {
      const { steps } = await hold([one], [0, 0, 0, 0, 0], { restarts })
      expect(new Set(sessionsOf(steps)).size).toBe(1)
    }),
  )
})

test("a restarted gateway separates conversations like one that kept running", async () => {
  const ways: readonly Way[] = [{}, { identity: { client: "ses_1a2b3c4d5e" } }, { identity: { explicit: "mine" } }]
  await fc.assert(
    fc.asyncProperty(talks, order, fc.constantFrom(...ways), async (all, turns, way) => {
      const one = await hold(all, turns, way)
      const other = await hold(all, turns, { ...way, restarts: true })
      expect(lettersOf(sessionsOf(other.steps))).toBe(lettersOf(sessionsOf(one.steps)))
    }),
  )
})

test("tenants share nothing, whatever they say and whatever ids they send", async () => {
  const ways: readonly Way[] = [{}, { identity: { client: "ses_1a2b3c4d5e" } }, { identity: { explicit: "mine" } }]
  await fc.assert(
    fc.asyncProperty(talk, order, fc.constantFrom(...ways), async (one, turns, way) => {
      const { steps } = await hold([one, one], turns, { ...way, tenant: (n) => `tenant-${n}` })
      const [mine, theirs] = [0, 1].map((n) => new Set(sessionsOf(steps.filter(({ talk }) => talk === n))))
      expect([...(mine ?? [])].filter((session) => theirs?.has(session))).toEqual([])
    }),
  )
})

test("concurrent requests give the same number of sessions in any order", async () => {
  const topic: Frame = { system: "Say whether this opens another topic, in one word." }
  const some = [
    chat(agent, user("go")),
    chat(agent, user("go on from the summary")),
    chat(topic, user("go")),
    chat({ system: "Name this conversation." }, user("go")),
    chat({ system: "Name this conversation." }, user("go")),
  ]
  const shuffled = fc.shuffledSubarray(some, { minLength: some.length, maxLength: some.length })
  await fc.assert(
    fc.asyncProperty(shuffled, fc.boolean(), async (requests, isNamed) => {
      const world = createWorld()
      const identity = isNamed ? { client: "ses_1a2b3c4d5e" } : {}
      const given = await Promise.all(requests.map((request) => world.assign("t", identity, request)))
      expect(new Set(given.map(({ session }) => session)).size).toBe(isNamed ? 3 : some.length)
      expect(given.filter(({ isNew }) => isNew)).toHaveLength(isNamed ? 3 : some.length)
    }),
  )
})
