import { generateKeyPairSync } from "node:crypto"
import { expect, test } from "vitest"
import { audience, createSigner, noonMs } from "../../../test/fixtures/operator/signer.ts"
import { codePoints, fc } from "../../../test/support/property.ts"
import {
  createKeyPair,
  fingerprintOf,
  isCommand,
  maxPolicyLength,
  maxRuleLength,
  type OperatorCommand,
  readPublicKey,
  signCommand,
} from "./command.ts"
import { makeKeyRing } from "./directory.ts"
import { isCommandRefusal, readGenuine } from "./judge-command.ts"

const signer = createSigner()
const ring = makeKeyRing([{ text: signer.pair.publicKey, source: "a.pub", state: "trusted" }])

test("what was signed is read back, and names its key", () => {
  const command: OperatorCommand = { type: "pin", text: "Never pay “more” than 5 €.", agent: "clerk" }
  const genuine = readGenuine(signer.sign(command), ring)
  expect(genuine).toMatchObject({ key: { fingerprint: signer.pair.fingerprint }, payload: { audience, command } })
})

test("for any bit that is flipped, anywhere, it is genuine no more", () => {
  const text = signer.sign({ type: "pin", text: "Never delete backups." })
  const bytes = Buffer.from(text, "latin1")
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      expect(isCommandRefusal(readGenuine(flipped.toString("latin1"), ring))).toBe(true)
    }),
  )
})

test("for any text at all, it is refused and nothing is thrown", () => {
  const part = fc.oneof(
    fc.string({ unit: codePoints }),
    fc.base64String(),
    fc.constantFrom("hf1", "", signer.pair.fingerprint),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      expect(isCommandRefusal(readGenuine(parts.join("."), ring))).toBe(true)
    }),
  )
})

test("a signature of the same bytes for another purpose is none", () => {
  const other = createSigner()
  const text = signer.sign({ type: "unpin", rule: "c2" })
  const theirs = other.sign({ type: "unpin", rule: "c2" })
  const mixed = `${text.slice(0, text.lastIndexOf("."))}${theirs.slice(theirs.lastIndexOf("."))}`
  expect(readGenuine(mixed, ring)).toMatchObject({ reason: "signature-wrong" })
})

test.each(["=", " ", "\n", ".", "A"])("%j behind it makes it another text, which is refused", (tail) => {
  expect(readGenuine(`${signer.sign({ type: "unpin", rule: "c2" })}${tail}`, ring)).toMatchObject({
    reason: "malformed",
  })
})

const long = (length: number): string => "x".repeat(length)
const shapes: readonly (readonly [why: string, command: unknown, fits: boolean])[] = [
  ["a pin", { type: "pin", text: "Ask." }, true],
  [
    "a pin for one agent and session, until a moment",
    { type: "pin", text: "Ask.", agent: "a", session: "s", expiresAtMs: 5 },
    true,
  ],
  ["a pin without text", { type: "pin" }, false],
  ["a pin of blanks", { type: "pin", text: " \n" }, false],
  ["a pin as long as it may be", { type: "pin", text: long(maxRuleLength) }, true],
  ["a pin that is longer", { type: "pin", text: long(maxRuleLength + 1) }, false],
  ["a pin with half a character", { type: "pin", text: "a\ud800" }, false],
  ["a pin with a null character", { type: "pin", text: "a\0" }, false],
  ["a pin that says more than it should", { type: "pin", text: "Ask.", trust: "operator" }, false],
  ["an agent that is no name", { type: "pin", text: "Ask.", agent: "" }, false],
  ["a moment that is none", { type: "pin", text: "Ask.", expiresAtMs: 1.5 }, false],
  ["an unpin", { type: "unpin", rule: "c12" }, true],
  ["an unpin of nothing", { type: "unpin" }, false],
  ["a policy in Cedar", { type: "add-policy", name: "no-pay", policy: "forbid(principal, action, resource);" }, true],
  ["a template", { type: "add-policy", name: "spend", policy: { template: "spend-limit", amount: 5 } }, true],
  ["a template that is not known", { type: "add-policy", name: "spend", policy: { template: "spend" } }, false],
  [
    "a template with a text, which would be Cedar",
    { type: "add-policy", name: "a", policy: { template: "read-only", text: "" } },
    false,
  ],
  ["a policy that is too long", { type: "add-policy", name: "a", policy: long(maxPolicyLength + 1) }, false],
  ["a policy's name that is none", { type: "add-policy", name: "a/b", policy: "x" }, false],
  ["taking a policy away", { type: "remove-policy", name: "spend" }, true],
  ["an approval", { type: "approve", call: "call_1" }, true],
  ["a refusal", { type: "refuse", call: "call_1" }, true],
  ["a call that is none", { type: "approve", call: 5 }, false],
  ["something else", { type: "shutdown" }, false],
  ["a name that every object has", { type: "constructor" }, false],
  ["nothing", null, false],
  ["a list", [], false],
]
test.each(shapes)("%s", (_why, command, fits) => {
  expect(isCommand(command)).toBe(fits)
})

test("nesting without end is no template", () => {
  const deep: unknown = JSON.parse(`{"template":"read-only","rule":${"[".repeat(20_000)}${"]".repeat(20_000)}}`)
  expect(isCommand({ type: "add-policy", name: "a", policy: deep })).toBe(false)
})

test("what is no command cannot be signed", () => {
  const payload = { audience, sequence: 1, issuedAtMs: noonMs, expiresAtMs: noonMs, nonce: "short" }
  expect(() => signCommand(signer.pair.privateKey, { ...payload, command: { type: "unpin", rule: "c1" } })).toThrow(
    expect.objectContaining({ problem: expect.objectContaining({ reason: "malformed" }) }),
  )
})

test("a key is called the same in PEM and in base64", () => {
  const { publicKey, fingerprint } = createKeyPair()
  const base64 = publicKey.replace(/-----.*-----|\s/g, "")
  expect([fingerprintOf(publicKey), fingerprintOf(base64)]).toEqual([fingerprint, fingerprint])
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/)
})

const rsa = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
})
test.each([
  ["a private key", createKeyPair().privateKey],
  ["a key of another kind", rsa.publicKey],
  ["no key", "hello"],
  ["nothing", ""],
  ["too much", "x".repeat(100_000)],
])("%s is refused by its name, and not quoted", (_why, text) => {
  const body = text.split("\n")[1] ?? "no second line"
  try {
    readPublicKey(text, "keys/a.pub")
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ problem: { code: "key-invalid", key: "keys/a.pub" } })
    expect(String(error)).not.toContain(body)
  }
})

test("a private key of another kind signs nothing, and is not quoted", () => {
  const payload = { audience, sequence: 1, issuedAtMs: noonMs, expiresAtMs: noonMs, nonce: "a-nonce-that-fits" }
  try {
    signCommand(rsa.privateKey, { ...payload, command: { type: "unpin", rule: "c1" } })
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ problem: { code: "key-invalid" } })
    expect(String(error)).not.toContain(rsa.privateKey.split("\n")[1])
  }
})

test("of a key that is known twice the least trusting word counts, in any order", () => {
  const { publicKey: text, fingerprint } = createKeyPair()
  const states = ["trusted", "retired", "revoked"] as const
  for (const one of states)
    for (const other of states) {
      const least = states[Math.max(states.indexOf(one), states.indexOf(other))]
      const made = makeKeyRing([
        { text, source: "a", state: one },
        { text, source: "b", state: other },
      ])
      expect(made.get(fingerprint)?.state).toBe(least)
    }
})
