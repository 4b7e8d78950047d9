import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { createKeyPair, type OperatorCommand, type Payload, signCommand } from "../../src/guard/operator/command.ts"
import type { Operator } from "../../src/guard/operator/operator.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import type { Session } from "../../src/session/session.ts"
import { bodyIn, type ChatMessage } from "../support/conversations.ts"
import { isLongRun } from "../support/property.ts"
import { atEnd, type Desk, openDesk, until } from "./desk.ts"
import { operatorRulesIn } from "./system-part.ts"

const files = {
  "rules.md":
    "# Rules\n\n- Never send mail outside corp.example.\n- Spend at most $100;\n  more needs <approval> & a signature.\n",
  "pay.cedar": '@rule("No deletions.") forbid(principal, action == Holdfast::Action::"delete", resource);',
  "mail.json": '{"template":"email-domains","domains":["corp.example"]}',
}
const listed = "- Never send mail outside corp.example.\n- Spend at most $100;\nmore needs <approval> & a signature."

type Running = { readonly desk: Desk; readonly operator: Operator; readonly session: Session }

/** A program that runs under the operator's rules, in the words of a format. */
async function start(format: Format, watch = true): Promise<Running> {
  const desk = openDesk(files)
  const store = await desk.store()
  const operator = await desk.operator(store, watch)
  const holdfast = createHoldfast({ store, operator, format, windowTokens: 4000, reserveTokens: 100 })
  atEnd(() => holdfast.close())
  return { desk, operator, session: holdfast.session("s1") }
}

const filler = (n: number): ChatMessage[] =>
  Array.from({ length: n }, (_, at) => ({
    role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `Note ${at}: ${"the quay was quiet and the boats were in. ".repeat(20)}`,
  }))

const heldBodies: readonly (readonly [name: string, format: Format, body: object])[] = [
  [
    "an earlier response",
    "openai-responses",
    { model: "m", previous_response_id: "resp_1", input: [{ role: "user", content: "Go on." }] },
  ],
  [
    "a conversation of the provider's",
    "openai-responses",
    { model: "m", conversation: "conv_1", instructions: "Be brief.", input: [{ role: "user", content: "Go on." }] },
  ],
  [
    "a thread",
    "anthropic-messages",
    { model: "m", max_tokens: 9, thread: { id: "t1" }, messages: [{ role: "user", content: "Go on." }] },
  ],
]

describe("the rules of files stand verbatim in the system part", () => {
  test.each(formats)("%s: of a client's own request, before and after a compaction", async (format) => {
    const { session } = await start(format)
    for (const turns of [3, 60]) {
      const { wire } = await session.prepare({ format, body: bodyIn(format, filler(turns)) })
      expect(operatorRulesIn(format, wire)).toBe(listed)
    }
  })

  test.each(formats)("%s: of a request made from the log, with a system prompt and without", async (format) => {
    const { session } = await start(format)
    await session.append(filler(2), { format: "openai-chat" })
    for (const system of [undefined, "You are a clerk."]) {
      const { wire } = await session.prepare({ model: "m", ...(system === undefined ? {} : { system }) })
      expect(operatorRulesIn(format, wire)).toBe(listed)
    }
    await session.append(filler(50), { format: "openai-chat" })
    const { wire, trace } = await session.prepare({ model: "m" })
    expect(trace.some(({ type }) => type === "checkpoint-installed")).toBe(true)
    expect(operatorRulesIn(format, wire)).toBe(listed)
  })

  test.each(heldBodies)("of a request whose history the provider holds: %s", async (_, format, body) => {
    const { session } = await start(format)
    for (const given of [body, JSON.stringify(body)]) {
      const { wire } = await session.prepare({ format, body: given })
      expect(operatorRulesIn(format, wire)).toBe(listed)
    }
  })
})

/** The rules that the next request of a running session has. */
const rulesOf = async ({ session }: Running): Promise<string> => {
  const format = "openai-chat"
  const { wire } = await session.prepare({ format, body: bodyIn(format, filler(1)) })
  return operatorRulesIn(format, wire) ?? "none"
}

const deletion = { tool: "delete_file", input: { path: "/srv/a.txt" } }
const decisionOn = async ({ session }: Running): Promise<string | undefined> =>
  (await session.guarding())?.guard.judge(deletion).decision

describe("a running session takes up by itself", () => {
  test("what is pinned, added and taken back by the program in another process", async () => {
    const running = await start("openai-chat")
    const { holdfast, key, write, policy } = running.desk
    const ask = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await holdfast(...args, "--key", key)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" })
      return stdout
    }
    const pinned = await ask("pin", "Never deploy on a Friday.")
    await until(async () => (await rulesOf(running)) === `${listed}\n- Never deploy on a Friday.`)
    await ask("unpin", /Pinned as (c\d+)\./.exec(pinned)?.[1] ?? "")
    await until(async () => (await rulesOf(running)) === listed)

    rmSync(join(policy, "pay.cedar"))
    await until(async () => (await decisionOn(running)) === "allow")
    write("../no-deletions.cedar", files["pay.cedar"])
    await ask("policy", "add", "deletions", join(policy, "../no-deletions.cedar"))
    await until(async () => (await decisionOn(running)) === "deny")
    await ask("policy", "remove", "deletions")
    await until(async () => (await decisionOn(running)) === "allow")
  })

  test("a file that was changed, and the operator's listeners hear of it without any call", async () => {
    const running = await start("openai-chat")
    let heard = 0
    running.operator.subscribe(({ type }) => {
      if (type === "rules-changed") heard += 1
    })
    running.desk.write("rules.md", "- Only this.\n")
    await until(() => heard > 0)
    expect(await rulesOf(running)).toBe("- Only this.")
  })
})

describe("a running session goes on under what stood", () => {
  test.each([
    ["a policy with a mistake in it", "pay.cedar", "forbid(principal, action, resource when"],
    ["a template that is not known", "mail.json", '{"template":"no-such"}'],
    ["a file of rules with an open comment", "rules.md", "- Never.\n<!-- swallowed\n- all that follows\n"],
    ["a key that is none", "keys/operator.pub", "not a key"],
  ])("with %s", async (_, name, text) => {
    const running = await start("openai-chat")
    const { version } = running.operator.standing()
    running.desk.write(name, text)
    await until(() => running.operator.problem() !== undefined)
    expect(running.operator.standing().version).toBe(version)
    expect([await rulesOf(running), await decisionOn(running)]).toEqual([listed, "deny"])
  })

  test("when the policy directory is deleted, and takes it up again once it is back", async () => {
    const running = await start("openai-chat")
    const { policy } = running.desk
    rmSync(policy, { recursive: true, force: true })
    await until(() => running.operator.problem() !== undefined)
    expect([await rulesOf(running), await decisionOn(running)]).toEqual([listed, "deny"])
    mkdirSync(policy, { mode: 0o755 })
    running.desk.write("rules.md", "- Only this.\n")
    await until(async () => (await rulesOf(running)) === "- Only this.")
    expect(running.operator.problem()).toBeUndefined()
  })
})

const hour = 3_600_000
const refused = async (operator: Operator, command: string): Promise<string> => {
  try {
    await operator.submit(command)
    return "obeyed"
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "command-refused") throw error
    return error.problem.reason
  }
}

test("a command that is forged, replayed, expired, for others or tampered with changes nothing, here and in another process", async () => {
  const running = await start("openai-chat", false)
  const { operator, desk } = running
  const sign = (command: OperatorCommand, change: Partial<Payload> = {}, key = desk.privateKey): string =>
    signCommand(key, {
      audience: operator.audience,
      sequence: 7,
      issuedAtMs: Date.now(),
      expiresAtMs: Date.now() + hour,
      nonce: "some-nonce-or-other",
      command,
      ...change,
    })
  const pin: OperatorCommand = { type: "pin", text: "Never deploy on a Friday." }
  const genuine = sign(pin)
  const { rule = "" } = await operator.submit(genuine)
  const before = operator.standing()
  const unpin: OperatorCommand = { type: "unpin", rule }
  const tampered = sign(unpin, { sequence: 8 }).split(".")
  const payload = Buffer.from(tampered[2] ?? "", "base64url")
    .toString()
    .replace('"sequence":8', '"sequence":9')
  const attempts: readonly (readonly [command: string, reason: string])[] = [
    [genuine, "sequence-used"],
    [sign(unpin, { sequence: 7 }), "sequence-used"],
    [sign(unpin, { sequence: 3 }), "sequence-used"],
    [sign(unpin, { sequence: 8, expiresAtMs: Date.now() - 1, issuedAtMs: Date.now() - hour }), "expired"],
    [sign(unpin, { sequence: 8, issuedAtMs: Date.now() + hour, expiresAtMs: Date.now() + 2 * hour }), "not-yet-valid"],
    [sign(unpin, { sequence: 8, audience: "someone-else" }), "audience-wrong"],
    [sign(unpin, { sequence: 8 }, createKeyPair().privateKey), "key-unknown"],
    [tampered.with(2, Buffer.from(payload).toString("base64url")).join("."), "signature-wrong"],
    [sign({ type: "unpin", rule: operator.standing().rules[0]?.id ?? "" }, { sequence: 8 }), "impossible"],
    ["hf1.", "malformed"],
    [JSON.stringify({ command: unpin }), "malformed"],
  ]
  for (const [command, reason] of attempts) {
    expect([command, await refused(operator, command)]).toEqual([command, reason])
    // The other process judges by the same code: two of them, and all in a long run, show that it tells the reason.
    if (!isLongRun && reason !== "signature-wrong" && command !== genuine) continue
    desk.write("../command.txt", command)
    const { code, stderr } = await desk.holdfast("policy", "submit", join(desk.policy, "../command.txt"))
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) })
  }
  expect((await operator.refresh()).version).toBe(before.version)
  expect(await rulesOf(running)).toBe(`${listed}\n- Never deploy on a Friday.`)
  expect((await desk.holdfast("policy", "verify")).code).toBe(0)
})
