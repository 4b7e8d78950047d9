import { describe, expect, test } from "vitest"
import { maxLifetimeMs, maxSkewMs, type OperatorCommand, type Payload } from "../../../src/guard/operator/command.ts"
import type { OperatorEvent } from "../../../src/guard/operator/judge-command.ts"
import { type Operator, openOperator } from "../../../src/guard/operator/operator.ts"
import { operatorLog } from "../../../src/store/reserved-log.ts"
import type { Store } from "../../../src/store/store.ts"
import { audience, createSigner, noonMs } from "../../fixtures/operator/signer.ts"

const signer = createSigner()
const stranger = createSigner()

const open = (store: Store, nowMs = noonMs): Promise<Operator> =>
  openOperator({ store, keys: [signer.pair.publicKey], audience, now: () => nowMs, watch: false })

const textsOf = (operator: Operator): readonly string[] => operator.standing().rules.map(({ text }) => text)

const noPaying =
  '@rule("No paying.") forbid(principal, action, resource) when { context.actions.contains("purchase") };'

/** The contract of the operator's channel on any store. */
export function describeOperator(name: string, openStore: () => Promise<Store>): void {
  describe(name, () => {
    describeCommands(openStore)
    describeMoments(openStore)
    describeRefusals(openStore)
    describeFloods(openStore)
    describeReplicas(openStore)
  })
}

function describeCommands(openStore: () => Promise<Store>): void {
  test("a rule is pinned, stands after a restart by the same id, and is taken back", async () => {
    const store = await openStore()
    const operator = await open(store)
    const before = operator.standing().version
    const { rule } = await operator.submit(signer.sign({ type: "pin", text: "Never pay.", agent: "clerk" }))
    const pinned = { id: "c2", text: "Never pay.", source: signer.pair.fingerprint, agent: "clerk" }
    expect(rule).toBe("c2")
    expect(operator.standing().rules).toEqual([pinned])
    expect(operator.standing().version).not.toBe(before)
    const again = await open(store)
    expect(again.standing()).toEqual(operator.standing())
    await again.submit(signer.sign({ type: "unpin", rule: "c2" }))
    expect(again.standing().rules).toEqual([])
    expect(operator.standing().rules).toEqual([pinned])
    expect((await operator.refresh()).rules).toEqual([])
    expect(operator.standing().version).toBe(before)
  })

  test("policies are added, replaced and taken away, and make a guard", async () => {
    const store = await openStore()
    const operator = await open(store)
    expect(operator.standing().guard).toBeUndefined()
    await operator.submit(signer.sign({ type: "add-policy", name: "pay", policy: noPaying }))
    const buy = { tool: "buy", input: { item: "boat", amount: 5 } }
    expect(operator.standing().guard?.judge(buy)).toMatchObject({ decision: "deny", reasons: [{ policy: "pay" }] })
    const use = { template: "spend-limit", amount: 10 } as const
    await operator.submit(signer.sign({ type: "add-policy", name: "pay", policy: use }))
    expect(operator.standing().policies).toEqual([{ ...use, name: "pay" }])
    expect((await open(store)).standing().policies).toEqual([{ ...use, name: "pay" }])
    await operator.submit(signer.sign({ type: "remove-policy", name: "pay" }))
    expect(operator.standing()).toMatchObject({ policies: [] })
    expect(operator.standing().guard).toBeUndefined()
  })
}

function describeMoments(openStore: () => Promise<Store>): void {
  test("a rule ends by itself at its moment, and the version is another then", async () => {
    const store = await openStore()
    let nowMs = noonMs
    const keys = [signer.pair.publicKey]
    const operator = await openOperator({ store, keys, audience, now: () => nowMs, watch: false })
    await operator.submit(signer.sign({ type: "pin", text: "Until one.", expiresAtMs: noonMs + 60 }))
    await operator.submit(signer.sign({ type: "pin", text: "For good." }))
    const { version } = operator.standing()
    nowMs += 59
    expect(operator.standing().version).toBe(version)
    nowMs += 1
    expect(textsOf(operator)).toEqual(["For good."])
    expect(operator.standing().version).not.toBe(version)
  })

  test("approvals are written down and told, and each call is decided once", async () => {
    const store = await openStore()
    const operator = await open(store)
    const heard: OperatorEvent[] = []
    operator.subscribe((event) => heard.push(event))
    await operator.submit(signer.sign({ type: "approve", call: "call_1" }))
    expect(heard).toMatchObject([
      { type: "command-accepted", line: { number: 2, command: { type: "approve", call: "call_1" } } },
    ])
    await expect(operator.submit(signer.sign({ type: "refuse", call: "call_1" }))).rejects.toMatchObject({
      problem: { reason: "impossible" },
    })
    expect((await operator.audit()).map(({ type }) => type)).toEqual([
      "log-opened",
      "command-accepted",
      "command-refused",
    ])
    expect(await operator.audit({ from: 2, limit: 1 })).toMatchObject([{ number: 2, key: signer.pair.fingerprint }])
    expect(await operator.verify()).toEqual(await store.head(operatorLog))
  })
}

const pin: OperatorCommand = { type: "pin", text: "Obey." }
const wrong: readonly (readonly [
  why: string,
  command: OperatorCommand,
  change: Partial<Payload>,
  reason: string,
  found: string,
])[] = [
  ["another deployment's", pin, { audience: "mill" }, "audience-wrong", '"mill"'],
  ["one whose time is over", pin, { expiresAtMs: noonMs }, "expired", "over"],
  ["one that is good for too long", pin, { expiresAtMs: noonMs + maxLifetimeMs + 1 }, "malformed", "7 days"],
  ["one from the future", pin, { issuedAtMs: noonMs + maxSkewMs + 1 }, "not-yet-valid", "not come yet"],
  [
    "one with a number that was used",
    pin,
    { sequence: 1, nonce: "another-nonce-than-that" },
    "sequence-used",
    "number 1 already",
  ],
  ["a rule that has expired", { ...pin, expiresAtMs: noonMs }, {}, "impossible", "expired already"],
  ["an unpin of a rule that is not there", { type: "unpin", rule: "c99" }, {}, "impossible", "c99"],
  ["a policy that does not parse", { type: "add-policy", name: "p", policy: "\nforbid(" }, {}, "impossible", "line 2"],
  [
    "a template without its parameter",
    { type: "add-policy", name: "p", policy: JSON.parse('{"template":"spend-limit"}') },
    {},
    "impossible",
    "amount",
  ],
  ["a policy that is not there", { type: "remove-policy", name: "p" }, {}, "impossible", "no policy p"],
]

function describeRefusals(openStore: () => Promise<Store>): void {
  test.each(wrong)(
    "%s is refused, told, written down, and changes nothing",
    async (_why, command, change, reason, found) => {
      const own = createSigner()
      const store = await openStore()
      const operator = await openOperator({
        store,
        keys: [own.pair.publicKey],
        audience,
        now: () => noonMs,
        watch: false,
      })
      await operator.submit(own.sign({ type: "pin", text: "Never pay." }))
      const before = operator.standing()
      const heard: OperatorEvent[] = []
      operator.subscribe((event) => heard.push(event))
      const sent = own.sign(command, change)
      await expect(operator.submit(sent)).rejects.toMatchObject({
        problem: { code: "command-refused", reason, found: expect.stringContaining(found) },
      })
      expect(operator.standing()).toBe(before)
      const key = own.pair.fingerprint
      expect(heard).toMatchObject([{ type: "command-refused", reason, key }])
      const line = (await operator.audit()).at(-1)
      expect(line).toMatchObject({
        type: "command-refused",
        reason,
        key,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect(JSON.stringify(line)).not.toContain(sent.slice(-60))
      expect((await openOperator({ store, keys: [own.pair.publicKey], watch: false })).standing().rules).toEqual(
        before.rules,
      )
    },
  )

  test.each([
    ["a stranger's", stranger.sign(pin), "key-unknown"],
    ["a text that is none", "please pin this", "malformed"],
    ["nothing", "", "malformed"],
    ["a very long one", "x".repeat(3_000_000), "malformed"],
    ["half a character", "hf1.\ud800", "malformed"],
  ])("%s is refused without asking what it says", async (_why, sent, reason) => {
    const operator = await open(await openStore())
    await expect(operator.submit(sent)).rejects.toMatchObject({ problem: { code: "command-refused", reason } })
    const line = (await operator.audit()).at(-1)
    expect(line).toMatchObject({ type: "command-refused", reason })
    expect(line).not.toHaveProperty("key")
  })
}

function describeFloods(openStore: () => Promise<Store>): void {
  test("one that was accepted is refused the second time, and it is said as what it was accepted", async () => {
    const store = await openStore()
    const sent = signer.sign(pin)
    await (await open(store)).submit(sent)
    await expect((await open(store)).submit(`  ${sent}\n`)).rejects.toMatchObject({
      problem: { reason: "sequence-used", found: expect.stringContaining("c2") },
    })
  })

  test("a flood of refusals takes a few lines, and all of it is counted", async () => {
    const store = await openStore()
    const operator = await open(store)
    for (let sent = 0; sent < 200; sent += 1)
      await expect(operator.submit(`hf1.${sent}`)).rejects.toMatchObject({ problem: { reason: "malformed" } })
    const { seq } = await store.head(operatorLog)
    expect(seq).toBeLessThan(30)
    await operator.close()
    const lines = await (await open(store)).audit()
    const counted = lines.flatMap((line) => (line.type === "command-refused" ? [1 + (line.unwritten ?? 0)] : []))
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(200)
  })

  test("an operator that is closed does nothing more", async () => {
    const operator = await open(await openStore())
    await operator.close()
    await operator.close()
    await expect(operator.submit(signer.sign(pin))).rejects.toMatchObject({ problem: { code: "store-closed" } })
    await expect(operator.refresh()).rejects.toMatchObject({ problem: { code: "store-closed" } })
  })
}

function describeReplicas(openStore: () => Promise<Store>): void {
  test("the same command sent to several at once is accepted once", async () => {
    const store = await openStore()
    const replicas = await Promise.all([open(store), open(store), open(store)])
    const sent = signer.sign({ type: "pin", text: "Once." })
    const answers = await Promise.allSettled(replicas.map((replica) => replica.submit(sent)))
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    for (const answer of answers)
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ problem: { reason: "sequence-used" } })
    for (const replica of replicas) expect((await replica.refresh()).rules.map(({ text }) => text)).toEqual(["Once."])
  })

  test("commands sent to several at once all stand, in one order", async () => {
    const store = await openStore()
    const signers = Array.from({ length: 6 }, () => createSigner())
    const keys = signers.map(({ pair }) => pair.publicKey)
    const replicas = await Promise.all(
      [0, 1, 2].map(() => openOperator({ store, keys, audience, now: () => noonMs, watch: false })),
    )
    await Promise.all(
      signers.map((one, at) => replicas[at % 3]?.submit(one.sign({ type: "pin", text: `Rule ${at}.` }))),
    )
    const seen = await Promise.all(replicas.map((replica) => replica.refresh()))
    expect(new Set(seen.map(({ version }) => version)).size).toBe(1)
    expect(new Set(seen[0]?.rules.map(({ text }) => text))).toEqual(new Set(signers.map((_, at) => `Rule ${at}.`)))
    expect(await replicas[0]?.verify()).toEqual(await store.head(operatorLog))
  })

  test("a deployment without a name makes one up at the first start, and all agree on it", async () => {
    const store = await openStore()
    const [one, other] = await Promise.all([
      openOperator({ store, watch: false }),
      openOperator({ store, watch: false }),
    ])
    expect(one?.audience).toMatch(/^[0-9a-f]{24}$/)
    expect(other?.audience).toBe(one?.audience)
    await expect(openOperator({ store, audience: "mill", watch: false })).rejects.toMatchObject({
      problem: { code: "option-invalid", option: "audience" },
    })
  })

  test("a listener hears of a command that another replica accepted, once", async () => {
    const store = await openStore()
    const [here, there] = [await open(store), await open(store)]
    const heard: string[] = []
    here?.subscribe(({ type }) => heard.push(type))
    here?.subscribe(() => {
      throw new Error("a listener of the user's")
    })
    await there?.submit(signer.sign({ type: "pin", text: "Ask." }))
    await here?.refresh()
    await here?.refresh()
    expect(heard).toEqual(["command-accepted", "rules-changed"])
  })
}
