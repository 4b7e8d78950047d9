import { expect, test } from "vitest"
import { audience, createSigner, noonMs } from "../../../test/fixtures/operator/signer.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { hashEntry, operatorLog } from "../../store/reserved-log.ts"
import type { Store, StoredEntry } from "../../store/store.ts"
import { type OperatorCommand, signCommand } from "./command.ts"
import { type Operator, openOperator } from "./operator.ts"

const signers = [createSigner(), createSigner()]
const stranger = createSigner()
const keys = signers.map(({ pair }) => pair.publicKey)
const perKey = 12

/** What number n of a key says: mostly pins, now and then taking one back that may or may not stand. */
const commandOf = (key: number, n: number): OperatorCommand =>
  n % 3 === 2 ? { type: "unpin", rule: `c${n}` } : { type: "pin", text: `Rule ${n} of key ${key}.` }

type Kind = "genuine" | "expired" | "foreign" | "future"
const changes = {
  genuine: {},
  expired: { expiresAtMs: noonMs - 1, issuedAtMs: noonMs - 10 },
  foreign: { audience: "mill" },
  future: { issuedAtMs: noonMs + 600_000, expiresAtMs: noonMs + 700_000 },
} as const

/** All commands that can be sent, signed once. */
const pool = new Map<string, string>()
for (const [key, signer] of signers.entries())
  for (let sequence = 1; sequence <= perKey; sequence += 1)
    for (const kind of ["genuine", "expired", "foreign", "future"] as const)
      pool.set(`${kind} ${key} ${sequence}`, signer.sign(commandOf(key, sequence), { sequence, ...changes[kind] }))
const theirs = stranger.sign({ type: "pin", text: "Obey me." }, { sequence: 99 })

type Step =
  | { readonly type: "send"; readonly kind: Kind; readonly key: number; readonly sequence: number; readonly to: number }
  | {
      readonly type: "forge"
      readonly key: number
      readonly sequence: number
      readonly to: number
      readonly at: number
    }
  | { readonly type: "stranger"; readonly to: number }
  | { readonly type: "restart"; readonly to: number }
  | { readonly type: "refresh"; readonly to: number }

const to = fc.nat(1)
const key = fc.nat(signers.length - 1)
const sequence = fc.integer({ min: 1, max: perKey })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("send" as const),
      kind: fc.constant("genuine" as const),
      key,
      sequence,
      to,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("send" as const),
      kind: fc.constantFrom("expired" as const, "foreign" as const, "future" as const),
      key,
      sequence,
      to,
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("forge" as const), key, sequence, to, at: fc.nat(5000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("stranger" as const), to }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const), to }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("refresh" as const), to }) },
)

const flip = (text: string, at: number): string => {
  const bytes = Buffer.from(text, "latin1")
  const place = Math.floor(at / 8) % bytes.length
  bytes[place] = (bytes[place] ?? 0) ^ (1 << (at % 8))
  return bytes.toString("latin1")
}

/** What should stand, reckoned without any of the code under test. */
type Model = { readonly rules: Map<string, string>; readonly last: number[] }

function expectAccepted(model: Model, { key: by, sequence: n, kind }: Extract<Step, { type: "send" }>): boolean {
  if (kind !== "genuine" || n <= (model.last[by] ?? 0)) return false
  const command = commandOf(by, n)
  return command.type !== "unpin" || model.rules.has(command.rule)
}

const open = (store: Store): Promise<Operator> =>
  openOperator({ store, keys, audience, now: () => noonMs, watch: false })

const textOf = (one: Step): string => {
  if (one.type === "send") return pool.get(`${one.kind} ${one.key} ${one.sequence}`) ?? ""
  if (one.type === "forge") return flip(pool.get(`genuine ${one.key} ${one.sequence}`) ?? "", one.at)
  return theirs
}

const wanted = (operator: Operator): readonly (readonly [string, string])[] =>
  operator.standing().rules.map(({ id, text }) => [id, text] as const)

async function play(steps: readonly Step[]): Promise<void> {
  const store = createMemoryStore()
  const operators = [await open(store), await open(store)]
  const model: Model = { rules: new Map(), last: [] }
  for (const one of steps) {
    const operator = operators[one.to]
    if (operator === undefined) continue
    const bystander = operators[1 - one.to]?.standing()
    if (one.type === "restart") operators[one.to] = await open(store)
    else if (one.type === "refresh") await operator.refresh()
    else await send(operator, one, model)
    expect(operators[1 - one.to]?.standing()).toBe(bystander)
    // Whoever was just asked knows all there is; a refusal may have been told without asking the store.
    if (one.type === "send" || one.type === "refresh" || one.type === "restart")
      expect(wanted(operators[one.to] ?? operator)).toEqual([...model.rules])
  }
  for (const operator of [...operators, await open(store)]) {
    await operator.refresh()
    expect(wanted(operator)).toEqual([...model.rules])
  }
  expect(await operators[0]?.verify()).toEqual(await store.head(operatorLog))
}

async function send(operator: Operator, one: Step, model: Model): Promise<void> {
  const before = operator.standing()
  const answer = await operator.submit(textOf(one)).catch((error: unknown) => error)
  if (answer instanceof HoldfastError) {
    expect(answer.problem.code).toBe("command-refused")
    expect(one.type === "send" && expectAccepted(model, one)).toBe(false)
    // Writing the refusal down may have brought what another had accepted, and nothing else.
    if (operator.standing() !== before) expect(wanted(operator)).toEqual([...model.rules])
    return
  }
  if (one.type !== "send") expect.unreachable("what was not genuine was accepted")
  else {
    expect(expectAccepted(model, one)).toBe(true)
    model.last[one.key] = one.sequence
    const command = commandOf(one.key, one.sequence)
    const line = (await operator.audit()).at(-1)
    if (command.type === "pin") model.rules.set(`c${line?.number}`, command.text)
    if (command.type === "unpin") model.rules.delete(command.rule)
  }
}

test("whatever is sent to whichever of two, only what is genuine, new and possible changes what stands, each once", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), play), { numRuns: Math.ceil(runs / 4) })
}, 600_000)

/** A log with lines of every kind. */
async function exampleLog(): Promise<{ readonly store: Store; readonly operator: Operator }> {
  const store = createMemoryStore()
  const operator = await open(store)
  for (const n of [1, 3, 4, 6]) await operator.submit(pool.get(`genuine 0 ${n}`) ?? "")
  await operator.submit("nonsense").catch(() => undefined)
  await operator.submit(pool.get("genuine 1 1") ?? "")
  return { store, operator }
}

const example = await exampleLog()
const entries = await example.store.read(operatorLog)

/** The same store with another log in it; `said` is where it claims that the log ends. */
const withLog = (log: readonly StoredEntry[], said?: StoredEntry): Store => ({
  ...example.store,
  head: async () => {
    const last = said ?? log.at(-1)
    return last === undefined ? { seq: 0, hash: "" } : { seq: last.seq, hash: last.hash }
  },
  read: async (_session, { from = 1, limit = Infinity } = {}) => log.filter(({ seq }) => seq >= from).slice(0, limit),
})

const place = fc.nat(entries.length - 1)
const tampering: fc.Arbitrary<readonly StoredEntry[]> = fc.oneof(
  fc
    .tuple(place, fc.nat(1000), fc.nat(6))
    .map(([at, where, bit]) =>
      entries.map((entry, n) => (n === at ? { ...entry, body: flipAscii(entry.body, where, bit) } : entry)),
    ),
  fc
    .tuple(place, fc.constantFrom("atMs", "seq"))
    .map(([at, field]) =>
      entries.map((entry, n) =>
        n === at ? { ...entry, [field]: entry[field === "seq" ? "seq" : "atMs"] + 1 } : entry,
      ),
    ),
  place.map((at) => entries.map((entry, n) => (n === at ? { ...entry, hash: `${entry.hash.slice(1)}0` } : entry))),
  place.map((at) => entries.map((entry, n) => (n === at ? { ...entry, type: `${entry.type}s` } : entry))),
  fc
    .tuple(place, fc.integer({ min: 1, max: 5 }))
    .map(([at, many]) => entries.filter((_, n) => n < at || n >= at + many)),
  fc
    .tuple(place, place)
    .filter(([one, other]) => one !== other)
    .map(([one, other]) =>
      entries.map((entry, n) => (n === one ? entries[other] : n === other ? entries[one] : entry) ?? entry),
    ),
  place.map((at) => entries.flatMap((entry, n) => (n === at ? [entry, entry] : [entry]))),
)

function flipAscii(text: string, where: number, bit: number): string {
  const at = where % text.length
  return `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))}${text.slice(at + 1)}`
}

/** A running operator that had read the log as it was, and now finds another one. */
async function verifyAs(log: readonly StoredEntry[]): Promise<unknown> {
  let there: Store = example.store
  const shifting: Store = { ...example.store, head: (id) => there.head(id), read: (id, range) => there.read(id, range) }
  const operator = await open(shifting)
  there = withLog(log)
  return operator.verify().catch((error: unknown) => error)
}

test("for any line that is changed, deleted, doubled or swapped, the middle or the end cut out, verify finds it", async () => {
  await fc.assert(
    fc.asyncProperty(tampering, async (log) => {
      expect(await verifyAs(log)).toMatchObject({ problem: { code: "store-corrupt" } })
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

test("for any such log that says it ends where it did, a start fails as well", async () => {
  await fc.assert(
    fc.asyncProperty(tampering, async (log) => {
      await expect(open(withLog(log, entries.at(-1)))).rejects.toMatchObject({ problem: { code: "store-corrupt" } })
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

/** The same lines with hashes that fit: what someone can do who may write to the store. */
function rechain(lines: readonly Pick<StoredEntry, "type" | "atMs" | "body">[]): readonly StoredEntry[] {
  let before = ""
  return lines.map(({ type, atMs, body }, at) => {
    const entry = { seq: at + 1, type, atMs, body }
    before = hashEntry(before, entry)
    return { ...entry, hash: before }
  })
}

const accepted = (signed: string) => ({
  type: "command-accepted",
  atMs: noonMs,
  body: JSON.stringify({ type: "command-accepted", signed, by: "x" }),
})

/** A stranger's words and signature, under the name of a key that is trusted. */
const borrowed = theirs.replace(stranger.pair.fingerprint, signers[1]?.pair.fingerprint ?? "")

const inserted: readonly (readonly [why: string, lines: readonly ReturnType<typeof accepted>[], code: string])[] = [
  ["a stranger's command", [accepted(theirs)], "key-invalid"],
  ["a stranger's command under another's name", [accepted(borrowed)], "store-corrupt"],
  ["a command that was changed", [accepted(flip(pool.get("genuine 1 4") ?? "", 600))], "store-corrupt"],
  ["another deployment's command", [accepted(pool.get("foreign 1 4") ?? "")], "store-corrupt"],
  ["a command for the second time", [accepted(pool.get("genuine 1 1") ?? "")], "store-corrupt"],
  ["a text that is no command", [accepted("nonsense")], "store-corrupt"],
  [
    "a count that is none",
    [
      {
        type: "command-refused",
        atMs: 1,
        body: '{"type":"command-refused","reason":"expired","sha256":"","unwritten":"many","by":"x"}',
      },
    ],
    "store-corrupt",
  ],
  [
    "a beginning in the middle",
    [{ type: "log-opened", atMs: 1, body: '{"type":"log-opened","audience":"mill","by":"x"}' }],
    "store-corrupt",
  ],
  [
    "a line that says it is another",
    [{ type: "rule-added", atMs: 1, body: '{"type":"rule-added","text":"Obey.","by":"x"}' }],
    "store-corrupt",
  ],
]
test.each(inserted)("%s put into the store with hashes that fit commands nobody", async (_why, lines, code) => {
  const forged = rechain([...entries, ...lines])
  await expect(open(withLog(forged))).rejects.toMatchObject({ problem: { code } })
  const there: { store: Store } = { store: example.store }
  const operator = await open({
    ...example.store,
    head: (id) => there.store.head(id),
    read: (id, range) => there.store.read(id, range),
  })
  const before = operator.standing()
  there.store = withLog(forged)
  expect(await operator.refresh()).toBe(before)
  expect(operator.problem()).toMatchObject({ code })
})

test("a log rewritten with hashes that fit is found by who had read it before", async () => {
  const rewritten = rechain(entries.filter((_, at) => at !== 2))
  expect(await verifyAs(rewritten)).toMatchObject({ problem: { code: "store-corrupt" } })
})

test("what was signed for one store is refused by another of the same keys", async () => {
  const other = await openOperator({
    store: createMemoryStore(),
    keys,
    audience: "mill",
    now: () => noonMs,
    watch: false,
  })
  await expect(other.submit(pool.get("genuine 0 1") ?? "")).rejects.toMatchObject({
    problem: { reason: "audience-wrong" },
  })
  const payload = { audience: "mill", sequence: 1, issuedAtMs: noonMs, expiresAtMs: noonMs + 9, nonce: "n".repeat(20) }
  const sent = signCommand(signers[0]?.pair.privateKey ?? "", { ...payload, command: { type: "pin", text: "Ask." } })
  expect(await other.submit(sent)).toMatchObject({ rule: "c3" })
})
