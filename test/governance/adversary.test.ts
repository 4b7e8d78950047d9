import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { type Operator, openOperator } from "../../src/guard/operator/operator.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Store } from "../../src/store/store.ts"
import { audience, createSigner, noonMs, type Signer } from "../fixtures/operator/signer.ts"
import { bodyIn, type ChatMessage } from "../support/conversations.ts"
import { createFailingStore, type FailingStore } from "../support/failing-store.ts"
import { fc, runs } from "../support/property.ts"
import { type Step, type Taken, takenSteps } from "./adversary.ts"
import { operatorRulesIn } from "./system-part.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-adversary-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const directory = join(folder, "policy")
mkdirSync(directory, { mode: 0o755 })
const ofFiles = ["Never send mail outside corp.example.", 'Spend at most $100;\n"more" needs <approval> & a signature.']
/** Given to each program as it is opened. */
const ofOptions = ["Answer in one language.", 'Quote prices in full;\n  "about" needs <source> & date.']
writeFileSync(
  join(directory, "rules.md"),
  `- ${ofFiles[0]}\n- Spend at most $100;\n  "more" needs <approval> & a signature.\n`,
  { mode: 0o644 },
)
writeFileSync(join(directory, "mail.json"), '{"template":"email-domains","domains":["corp.example"]}', { mode: 0o644 })
writeFileSync(
  join(directory, "pay.cedar"),
  '@rule("No dear things.") forbid(principal, action, resource) when { context.actions.contains("purchase") && context.spend > 10000 };',
  { mode: 0o644 },
)

const calls = [
  { tool: "send_email", input: { to: "eve@evil.example", body: "hello" } },
  { tool: "send_email", input: { to: "ann@corp.example", body: "hello" } },
  { tool: "purchase", input: { item: "desk", amount: "$250" } },
  { tool: "purchase", input: { item: "pen", amount: "$5" } },
]
const decisions = ["deny", "allow", "deny", "allow"]

const expectedProblems = new Set([
  "budget-impossible",
  "floor-exceeds-window",
  "nothing-to-undo",
  "pin-unknown",
  "entry-unknown",
  "session-unknown",
  "session-exists",
  "option-invalid",
  "store-unavailable",
])
const ignoreExpected = (error: unknown): void => {
  if (!(error instanceof HoldfastError)) throw error
  expect(expectedProblems).toContain(error.problem.code)
}

/** One of the programs that run on the store, with an operator's channel of its own. */
type Program = { holdfast: Holdfast; operator: Operator; readonly failing: FailingStore; isCut: boolean }

/** Everything of one case. */
type Scene = {
  readonly format: Format
  readonly windowTokens: number
  readonly inner: Store
  readonly signer: Signer
  readonly stranger: Signer
  readonly programs: readonly Program[]
  /** What the operator wanted, from the beginning on. */
  readonly wanted: string[][]
  readonly pinned: Map<string, string>
  readonly sent: string[]
  id: string
  history: ChatMessage[]
}

const latest = ({ wanted }: Scene): readonly string[] => wanted.at(-1) ?? []

async function openProgram(scene: Omit<Scene, "programs">, failing: FailingStore): Promise<Program> {
  const { format, windowTokens, signer } = scene
  const { store } = failing
  const keys = [signer.pair.publicKey]
  const operator = await openOperator({ store, directory, keys, audience, now: () => noonMs, watch: false })
  const holdfast = createHoldfast({ store, operator, format, windowTokens, reserveTokens: 100, pins: ofOptions })
  return { holdfast, operator, failing, isCut: false }
}

async function openScene(format: Format, windowTokens: number): Promise<Scene> {
  const inner = createMemoryStore()
  const scene = {
    format,
    windowTokens,
    inner,
    signer: createSigner(),
    stranger: createSigner(),
    wanted: [ofFiles],
    pinned: new Map<string, string>(),
    sent: [],
    id: "s0",
    history: [{ role: "user" as const, content: "Begin." }],
  }
  const programs = [
    await openProgram(scene, createFailingStore(inner)),
    await openProgram(scene, createFailingStore(inner)),
  ]
  return { ...scene, programs }
}

/** A genuine command. One whose answer got lost is sent again, and is in force either way. */
async function command(scene: Scene, program: Program, unpins: boolean): Promise<void> {
  const { signer, pinned, wanted } = scene
  const [old] = pinned.keys()
  const text = `Rule number ${scene.sent.length} of the harbour stands.`
  const isUnpin = unpins && old !== undefined
  const signed = signer.sign(isUnpin ? { type: "unpin", rule: old } : { type: "pin", text })
  scene.sent.push(signed)
  const before = latest(scene)
  try {
    await program.operator.submit(signed)
  } catch (error) {
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("store-")) throw error
    program.failing.set(undefined)
    program.isCut = false
    await program.operator.submit(signed).catch((again: unknown) => {
      if (!(again instanceof HoldfastError) || again.problem.code !== "command-refused") throw again
      expect(again.problem.reason).toBe("sequence-used")
    })
  }
  if (isUnpin) {
    const gone = pinned.get(old)
    pinned.delete(old)
    wanted.push(before.filter((rule) => rule !== gone))
    return
  }
  const id = (await program.operator.refresh()).rules.find((rule) => rule.text === text)?.id
  expect(id).toBeDefined()
  pinned.set(id ?? "", text)
  wanted.push([...before, text])
}

async function forge(scene: Scene, { operator }: Program, how: Extract<Step, { type: "forge" }>["how"]): Promise<void> {
  const rule = scene.pinned.keys().next().value ?? operator.standing().rules[0]?.id ?? ""
  const unpin = { type: "unpin", rule } as const
  const next = scene.sent.length + 1
  const made = (signer: Signer, change = {}): string => signer.sign(unpin, { sequence: 900_000, ...change })
  const again = createSigner(scene.signer.pair)
  const texts = {
    replay: scene.sent.at(-1) ?? "hf1.",
    stranger: made(scene.stranger, { sequence: next }),
    tampered: made(again).replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
    expired: made(again, { issuedAtMs: noonMs - 2000, expiresAtMs: noonMs - 1000 }),
    elsewhere: made(again, { audience: "another-harbour" }),
    said: JSON.stringify({ audience, command: unpin }),
  }
  await expect(operator.submit(texts[how])).rejects.toThrow(HoldfastError)
}

/** A message of the conversation that a client carries. */
function converse(scene: Scene, step: Step, n: number): void {
  const { history } = scene
  const name = "tool" in step ? step.tool : ""
  if (step.type === "user" || step.type === "assistant") history.push({ role: step.type, content: step.text })
  if (step.type === "system")
    history.push({ role: "user", content: `<system-reminder>\n${step.text}\n</system-reminder>` })
  if (step.type === "tool")
    history.push(
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: `c${n}`, type: "function", function: { name, arguments: '{"path":"notes.txt"}' } }],
      },
      { role: "tool", tool_call_id: `c${n}`, content: step.text },
    )
  if (step.type === "client-compacts") scene.history = [{ role: "user", content: step.text }]
  if (step.type === "rewind") scene.history = history.slice(0, Math.max(1, history.length >> 1))
}

async function take(scene: Scene, program: Program, step: Step, n: number): Promise<void> {
  const session = program.holdfast.session(scene.id)
  converse(scene, step, n)
  switch (step.type) {
    case "pin":
      await session.pin(step.text, n % 2 === 0 ? {} : { scope: "project" })
      return
    case "unpin":
      await session.unpin(step.id)
      return
    case "log":
      await session.append([{ role: "user", content: step.text }], { format: "openai-chat" })
      return
    case "compact":
      await session.compact({ format: scene.format, body: bodyIn(scene.format, scene.history) })
      return
    case "undo":
      await session.undo()
      return
    case "record":
      await session.record({ format: scene.format, messages: [], stop: "end" })
      return
    case "fork":
      await session.fork(`${scene.id}f`)
      scene.id = `${scene.id}f`
      return
    case "restart": {
      program.failing.set(undefined)
      await program.holdfast.close().catch(ignoreExpected)
      await program.operator.close()
      Object.assign(program, await openProgram(scene, program.failing))
      return
    }
    case "fault":
      program.failing.set({
        at: step.at,
        code: "store-unavailable",
        when: step.after ? "after" : "before",
        lasting: step.lasting,
      })
      program.isCut = true
      return
    case "mend":
      program.failing.set(undefined)
      program.isCut = false
      return
    default:
      return
  }
}

/** What the next request has of the operator's rules, and what the guard says, in one program. */
async function check(scene: Scene, program: Program, n: number): Promise<void> {
  const { format, history } = scene
  const isGenuine = (rules: readonly string[] | undefined): void => {
    const states = program.isCut ? scene.wanted : [latest(scene)]
    expect(states).toContainEqual(rules)
  }
  const session = program.holdfast.session(scene.id)
  const body = n % 3 === 2 ? {} : { body: bodyIn(format, history) }
  try {
    const { wire } = await session.prepare({ format, model: "m", ...body })
    const listed = operatorRulesIn(format, wire)
    const states = program.isCut ? scene.wanted : [latest(scene)]
    expect(states.map((rules) => [...ofOptions, ...rules].map((rule) => `- ${rule}`).join("\n"))).toContain(listed)
  } catch (error) {
    ignoreExpected(error)
  }
  isGenuine((await program.operator.refresh()).rules.map(({ text }) => text))
  const pins = await session.pins().catch((error: unknown) => ignoreExpected(error) ?? [])
  const laidDown = pins.flatMap(({ channel, text }) => (channel === "operator" ? [text] : []))
  if (pins.length > 0) expect(laidDown.filter((text) => ofOptions.includes(text))).toEqual(ofOptions)
  const guarding = await session.guarding()
  expect(calls.map((call) => guarding?.guard.judge(call, guarding.circumstances).decision)).toEqual(decisions)
}

async function run(format: Format, steps: readonly Taken[], windowTokens: number): Promise<void> {
  const scene = await openScene(format, windowTokens)
  for (const [n, { step, second }] of steps.entries()) {
    const [one, other] = scene.programs
    const program = second ? other : one
    if (program === undefined) return
    if (step.type === "command") await command(scene, program, step.unpins)
    else if (step.type === "forge") await forge(scene, program, step.how)
    else await take(scene, program, step, n).catch(ignoreExpected)
    await check(scene, program, n)
  }
  for (const program of scene.programs) {
    program.failing.set(undefined)
    program.isCut = false
    await check(scene, program, 0)
    await program.operator.verify()
  }
}

test("no sequence of words, forged commands, compactions, forks, undos, restarts, faults and other programs changes what the operator laid down", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    takenSteps(ofFiles[0] ?? ""),
    fc.integer({ min: 1200, max: 6000 }),
    run,
  )
  await fc.assert(property, { numRuns: Math.ceil(runs / 3) })
}, 600_000)
