import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { createKeyPair, maxFileBytes, maxFiles, maxRuleLength } from "./command.ts"
import { readDirectory } from "./directory.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-policy-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0
/** A policy directory with these files. */
function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  made += 1
  const directory = join(folder, `${made}`)
  mkdirSync(directory, { mode: 0o755 })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true, mode: 0o755 })
    writeFileSync(join(directory, name), text, { mode: 0o644 })
  }
  return directory
}

const noPaying =
  '@rule("No paying.") forbid(principal, action, resource) when { context.actions.contains("purchase") };'

test("rules, policies and keys come from the files that their endings name", async () => {
  const { publicKey } = createKeyPair()
  const content = await readDirectory(
    directoryOf({
      "README.md": "- not a rule",
      ".hidden": "x",
      "more.md.example": "- not a rule",
      "rules.md": "# Rules\n\n- Never delete backups.\n- Ask first.\n",
      "clerk.txt": '---\nagent: clerk\nsession: "s-1"\nexpires: 2027-01-31\n---\nOnly read.\n',
      "pay.cedar": noPaying,
      "spend.json": '{"template":"spend-limit","amount":5}',
      "two.json": '[{"template":"read-only"},{"template":"no-secrets","name":"keep quiet"}]',
      "keys/a.pub": publicKey,
      "keys/README": "x",
      "keys/retired/b.pub": createKeyPair().publicKey,
      "keys/revoked/c.pub": createKeyPair().publicKey,
    }),
  )
  expect(content.rules).toEqual([
    {
      id: expect.stringMatching(/^clerk\.txt#1:[0-9a-f]{8}$/),
      text: "Only read.",
      source: "clerk.txt",
      agent: "clerk",
      session: "s-1",
      expiresAtMs: Date.UTC(2027, 0, 31),
    },
    { id: expect.stringMatching(/^rules\.md#1:[0-9a-f]{8}$/), text: "Never delete backups.", source: "rules.md" },
    { id: expect.stringMatching(/^rules\.md#2:[0-9a-f]{8}$/), text: "Ask first.", source: "rules.md" },
  ])
  expect(content.policies).toEqual([
    { name: "pay.cedar", text: noPaying },
    { template: "spend-limit", amount: 5, name: "spend.json:1" },
    { template: "read-only", name: "two.json:1" },
    { template: "no-secrets", name: "keep quiet" },
  ])
  expect(content.keys.map(({ source, state }) => [source, state])).toEqual([
    ["keys/a.pub", "trusted"],
    ["keys/retired/b.pub", "retired"],
    ["keys/revoked/c.pub", "revoked"],
  ])
  expect(content.files).toHaveLength(8)
})

test("the same files have the same ids and hashes, and an empty directory says nothing", async () => {
  const files = { "a.md": "- One.\n- Two." }
  const [one, other] = await Promise.all([readDirectory(directoryOf(files)), readDirectory(directoryOf(files))])
  expect([one.rules, one.files]).toEqual([other.rules, other.files])
  expect(await readDirectory(directoryOf({}))).toMatchObject({ files: [], rules: [], policies: [], keys: [] })
})

type Fault = { readonly policy: string; readonly line?: number; readonly expected?: unknown; readonly found?: unknown }
const text = (part: string): unknown => expect.stringContaining(part)
const faulty: readonly (readonly [why: string, files: Readonly<Record<string, string | Uint8Array>>, fault: Fault])[] =
  [
    ["an ending that nobody knows", { "rules.yaml": "a" }, { policy: "rules.yaml", expected: text(".md, .txt") }],
    ["a folder that nobody knows", { "more/a.md": "a" }, { policy: "more" }],
    ["a private key by its name", { "keys/a.key": "a" }, { policy: "keys/a.key", expected: text(".pub") }],
    [
      "bytes that are no text",
      { "a.md": new Uint8Array([0xff, 0xfe, 0]) },
      { policy: "a.md", expected: text("UTF-8") },
    ],
    ["a file that is too large", { "a.md": "x".repeat(maxFileBytes + 1) }, { policy: "a.md", found: text("bytes") }],
    ["a rule that is too long", { "a.md": `One.\n\n${"x".repeat(maxRuleLength + 1)}` }, { policy: "a.md", line: 3 }],
    ["a null character", { "a.md": "a\0b" }, { policy: "a.md", line: 1 }],
    ["a comment without an end", { "a.md": "One.\n\n<!-- so\nTwo." }, { policy: "a.md", line: 3 }],
    ["a block at the beginning without an end", { "a.md": "---\nagent: a\n" }, { policy: "a.md", line: 1 }],
    [
      "a field that nobody knows",
      { "a.md": "---\nagent: a\nuser: b\n---\n" },
      { policy: "a.md", line: 3, found: text("user") },
    ],
    ["a field twice", { "a.md": "---\nagent: a\nagent: b\n---\n" }, { policy: "a.md", line: 3 }],
    ["a name that is none", { "a.md": "---\nagent:\n---\n" }, { policy: "a.md", line: 2 }],
    ["a day that no calendar has", { "a.md": "---\nexpires: 2027-02-30\n---\n" }, { policy: "a.md", line: 2 }],
    ["a moment without a zone", { "a.md": "---\nexpires: 2027-02-03T12:00\n---\n" }, { policy: "a.md", line: 2 }],
    ["a policy that does not parse", { "a.cedar": `${noPaying}\nforbid(principal` }, { policy: "a.cedar", line: 2 }],
    [
      "a policy about what no call has",
      { "a.cedar": `${noPaying}\nforbid(principal, action, resource) when { context.mood == 1 };` },
      { policy: "a.cedar", line: 2 },
    ],
    ["a policy file without policies", { "a.cedar": "// soon" }, { policy: "a.cedar" }],
    [
      "JSON that does not parse",
      { "a.json": '{\n  "template": "read-only",\n}' },
      { policy: "a.json", expected: "JSON" },
    ],
    [
      "a template that nobody knows",
      { "a.json": '{"template":"be-nice"}' },
      { policy: "a.json", found: text("be-nice") },
    ],
    ["no template at all", { "a.json": '[{"template":"read-only"},5]' }, { policy: "a.json", found: text("number 2") }],
    [
      "a parameter that is missing",
      { "a.json": '{"template":"spend-limit"}' },
      { policy: "a.json", expected: text("amount") },
    ],
    [
      "a parameter of the wrong type",
      { "a.json": '{"template":"spend-limit","amount":5,"currency":5}' },
      { policy: "a.json" },
    ],
  ]
test.each(faulty)("%s is told with file and line", async (_why, files, fault) => {
  const directory = directoryOf({ "z.md": "- Fine.", ...files })
  await expect(readDirectory(directory)).rejects.toMatchObject({ problem: { code: "policy-invalid", ...fault } })
})

test("too many files are refused", async () => {
  const files = Object.fromEntries(Array.from({ length: maxFiles + 1 }, (_, at) => [`${at}.md`, "One."]))
  await expect(readDirectory(directoryOf(files))).rejects.toMatchObject({ problem: { code: "policy-invalid" } })
})

test("a directory that is not there is told by its name", async () => {
  const directory = join(folder, "nowhere")
  await expect(readDirectory(directory)).rejects.toMatchObject({
    problem: { code: "policy-invalid", policy: directory },
  })
})

describe.skipIf(process.platform === "win32")("who may write", () => {
  test.each([0o664, 0o646, 0o666])("a file that others may write is refused, with what to do", async (mode) => {
    const directory = directoryOf({ "a.md": "One." })
    chmodSync(join(directory, "a.md"), mode)
    await expect(readDirectory(directory)).rejects.toMatchObject({
      problem: { policy: "a.md", expected: text("chmod go-w"), found: text(mode.toString(8)) },
    })
  })

  test.each([".", "keys", "keys/retired"])("the folder %s that others may write is refused", async (name) => {
    const directory = directoryOf({ "keys/retired/a.pub": createKeyPair().publicKey })
    chmodSync(join(directory, name), 0o777)
    await expect(readDirectory(directory)).rejects.toMatchObject({ problem: { expected: text("chmod go-w") } })
  })

  test("a link that leads out of the directory is refused, one within it is followed", async () => {
    const outside = join(folder, "outside.md")
    writeFileSync(outside, "Obey me.")
    const out = directoryOf({})
    symlinkSync(outside, join(out, "a.md"))
    await expect(readDirectory(out)).rejects.toMatchObject({ problem: { policy: "a.md", found: text("leads out") } })
    const within = directoryOf({ "..data/a.md": "One." })
    symlinkSync("..data/a.md", join(within, "a.md"))
    expect((await readDirectory(within)).rules.map((rule) => rule.text)).toEqual(["One."])
  })

  test("a folder of keys that is a link out of the directory is refused", async () => {
    const elsewhere = directoryOf({ "mine.pub": createKeyPair().publicKey })
    const directory = directoryOf({ "a.md": "One." })
    symlinkSync(elsewhere, join(directory, "keys"))
    await expect(readDirectory(directory)).rejects.toMatchObject({ problem: { found: text("leads out") } })
  })
})
