import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { audience, createSigner, noonMs } from "../../../test/fixtures/operator/signer.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store } from "../../store/store.ts"
import { readSettled } from "./directory.ts"
import type { OperatorEvent } from "./judge-command.ts"
import { type Operator, openOperator } from "./operator.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-running-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Scene = {
  readonly directory: string
  readonly store: Store
  readonly write: (name: string, text: string) => void
  readonly remove: (name: string) => void
  /** Open one more on the same store and directory. */
  readonly open: () => Promise<Operator>
  /** Let a second pass and look again. */
  readonly look: (operator: Operator) => Promise<readonly string[]>
}

let made = 0
function scene(files: Readonly<Record<string, string>>): Scene {
  made += 1
  const directory = join(folder, `${made}`)
  let nowMs = noonMs
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(directory, name)), { recursive: true, mode: 0o755 })
    writeFileSync(join(directory, name), text, { mode: 0o644 })
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  const store = createMemoryStore()
  return {
    directory,
    store,
    write,
    remove: (name) => rmSync(join(directory, name), { recursive: true }),
    open: () => openOperator({ store, directory, audience, now: () => nowMs, watch: false }),
    look: async (operator) => {
      nowMs += 1000
      return (await operator.refresh()).rules.map(({ text }) => text)
    },
  }
}

const listen = (operator: Operator): OperatorEvent[] => {
  const heard: OperatorEvent[] = []
  operator.subscribe((event) => heard.push(event))
  return heard
}

const noPaying = 'forbid(principal, action, resource) when { context.actions.contains("purchase") };'

describe("while it runs", () => {
  test("a changed, a new and a removed file are in force at the next look, told and written down", async () => {
    const { write, remove, open, look } = scene({ "a.md": "- One." })
    const operator = await open()
    const heard = listen(operator)
    write("a.md", "- One.\n- Two.")
    write("b.txt", "Three.")
    write("pay.cedar", noPaying)
    expect(await look(operator)).toEqual(["One.", "Two.", "Three."])
    expect(operator.standing().guard?.judge({ tool: "buy", input: { amount: 5 } }).decision).toBe("deny")
    remove("a.md")
    expect(await look(operator)).toEqual(["Three."])
    expect(heard.map(({ type }) => type)).toEqual(["rules-changed", "rules-changed"])
    expect((await operator.audit()).filter(({ type }) => type === "directory-changed")).toMatchObject([
      { files: [{ name: "a.md" }], added: [expect.stringMatching(/^a\.md#1:/)] },
      { files: [{ name: "a.md" }, { name: "b.txt" }, { name: "pay.cedar" }] },
      {
        files: [{ name: "b.txt" }, { name: "pay.cedar" }],
        added: [],
        removed: [/^a\.md#1:/, /^a\.md#2:/].map((id) => expect.stringMatching(id)),
      },
    ])
  })

  test("files are looked at once a second at most", async () => {
    const { write, open, look } = scene({ "a.md": "- One." })
    const operator = await open()
    write("a.md", "- Two.")
    await operator.refresh()
    expect(operator.standing().rules.map(({ text }) => text)).toEqual(["One."])
    expect(await look(operator)).toEqual(["Two."])
  })

  const faults: readonly (readonly [why: string, name: string, text: string])[] = [
    ["a policy that does not parse", "pay.cedar", "forbid("],
    ["a file of an ending that nobody knows", "b.yaml", "x"],
    ["half of a JSON", "a.json", '{"template":'],
    ["a key that is none", "keys/a.pub", "hello"],
    ["a policy whose id is there already", "twice.cedar", `@id("x") ${noPaying}\n@id("x") ${noPaying}`],
  ]
  test.each(faults)("%s: all that stood stands, it is told once, and mended it is taken", async (_why, name, text) => {
    const { write, remove, open, look } = scene({ "a.md": "- One." })
    const operator = await open()
    const heard = listen(operator)
    const before = operator.standing()
    write(name, text)
    write("a.md", "- Another.")
    await look(operator)
    await look(operator)
    expect(operator.standing()).toBe(before)
    expect(heard).toMatchObject([{ type: "policy-rejected", problem: { code: expect.stringMatching(/-invalid$/) } }])
    expect(operator.problem()).toMatchObject({ code: expect.stringMatching(/-invalid$/) })
    remove(name)
    expect(await look(operator)).toEqual(["Another."])
    expect(operator.problem()).toBeUndefined()
  })

  test("a directory that is gone altogether changes nothing and is told; when it is back it counts again", async () => {
    const { directory, write, open, look } = scene({ "a.md": "- One." })
    const operator = await open()
    const heard = listen(operator)
    renameSync(directory, `${directory}-away`)
    expect(await look(operator)).toEqual(["One."])
    expect(heard).toMatchObject([{ type: "policy-rejected", problem: { policy: directory } }])
    mkdirSync(directory, { mode: 0o755 })
    expect(await look(operator)).toEqual(["One."])
    expect(heard).toHaveLength(2)
    write("a.md", "- Back.")
    expect(await look(operator)).toEqual(["Back."])
  })

  test("the last file that is removed takes its rules along", async () => {
    const { remove, open, look } = scene({ "a.md": "- One." })
    const operator = await open()
    remove("a.md")
    expect(await look(operator)).toEqual([])
  })

  test("a file that is still being written is waited for", async () => {
    const { directory, write } = scene({ "a.md": "" })
    const reading = readSettled(directory, 500)
    setTimeout(() => write("a.md", "- One.\n- Two."), 10)
    expect((await reading).rules.map(({ text }) => text)).toEqual(["One.", "Two."])
  })

  test.each(["", "a\0b"])("%j is no directory", async (directory) => {
    const opening = openOperator({ store: createMemoryStore(), directory, watch: false })
    await expect(opening).rejects.toMatchObject({ problem: { code: "option-invalid", option: "directory" } })
  })

  test("a start with a faulty file does not start", async () => {
    const { open } = scene({ "a.md": "- One.", "pay.cedar": "\nforbid(" })
    await expect(open()).rejects.toMatchObject({ problem: { code: "policy-invalid", policy: "pay.cedar", line: 2 } })
  })

  test("with watching on, a change is in force without anyone asking", async () => {
    const { store, directory, write } = scene({ "a.md": "- One." })
    const operator = await openOperator({ store, directory })
    const changed = new Promise<OperatorEvent>((resolve) => operator.subscribe(resolve))
    write("new.tmp", "x")
    renameSync(join(directory, "new.tmp"), join(directory, "a.md.example"))
    write(".a.md.swp", "- Atomic.")
    renameSync(join(directory, ".a.md.swp"), join(directory, "a.md"))
    expect(await changed).toMatchObject({ type: "rules-changed" })
    expect(operator.standing().rules.map(({ text }) => text)).toEqual(["Atomic."])
    await operator.close()
  })
})

describe("files and commands", () => {
  const signer = createSigner()

  test("a command cannot take back or replace what a file says", async () => {
    const { open } = scene({ "a.md": "- One.", "pay.cedar": noPaying, "keys/a.pub": signer.pair.publicKey })
    const operator = await open()
    const [rule] = operator.standing().rules
    const refused = (found: string) => ({ problem: { reason: "impossible", found: expect.stringContaining(found) } })
    await expect(operator.submit(signer.sign({ type: "unpin", rule: rule?.id ?? "" }))).rejects.toMatchObject(
      refused("a.md"),
    )
    await expect(operator.submit(signer.sign({ type: "remove-policy", name: "pay.cedar" }))).rejects.toMatchObject(
      refused("change the file"),
    )
    const policy = "permit(principal, action, resource);"
    await expect(operator.submit(signer.sign({ type: "add-policy", name: "pay.cedar", policy }))).rejects.toMatchObject(
      refused("change the file"),
    )
    expect(operator.standing()).toMatchObject({ rules: [rule], policies: [{ name: "pay.cedar" }] })
  })

  test("a key that is retired says nothing more, and what it said stands; of a revoked one nothing stands", async () => {
    const [one, other] = [createSigner(), createSigner()]
    const { write, remove, open, look } = scene({
      "keys/a.pub": one.pair.publicKey,
      "keys/b.pub": other.pair.publicKey,
    })
    const operator = await open()
    await operator.submit(one.sign({ type: "pin", text: "Of one." }))
    const { rule } = await operator.submit(other.sign({ type: "pin", text: "Of the other." }))
    await operator.submit(one.sign({ type: "unpin", rule: rule ?? "" }))
    remove("keys/a.pub")
    write("keys/retired/a.pub", one.pair.publicKey)
    expect(await look(operator)).toEqual(["Of one."])
    await expect(operator.submit(one.sign({ type: "pin", text: "More." }))).rejects.toMatchObject({
      problem: { reason: "key-unknown", found: "its key is retired" },
    })
    write("keys/revoked/a.pub", one.pair.publicKey)
    expect(await look(operator)).toEqual(["Of the other."])
    expect((await open()).standing().rules.map(({ text }) => text)).toEqual(["Of the other."])
  })

  test("a key that signed what stands cannot just go: what stood stands, and a start says where to put it", async () => {
    const own = createSigner()
    const { remove, write, open, look } = scene({ "keys/a.pub": own.pair.publicKey, "a.md": "- One." })
    const operator = await open()
    await operator.submit(own.sign({ type: "pin", text: "Two." }))
    const heard = listen(operator)
    remove("keys/a.pub")
    expect(await look(operator)).toEqual(["One.", "Two."])
    expect(heard).toMatchObject([
      { type: "policy-rejected", problem: { code: "key-invalid", key: own.pair.fingerprint } },
    ])
    await expect(operator.submit(own.sign({ type: "pin", text: "Three." }))).rejects.toMatchObject({
      problem: { code: "key-invalid" },
    })
    expect(operator.standing().rules).toHaveLength(2)
    await expect(open()).rejects.toMatchObject({
      problem: { code: "key-invalid", expected: expect.stringContaining("keys/retired") },
    })
    write("keys/retired/a.pub", own.pair.publicKey)
    expect((await open()).standing().rules).toHaveLength(2)
  })

  test("while the directory is faulty no command is obeyed, since a key may have been taken away in it", async () => {
    const own = createSigner()
    const { write, remove, open } = scene({ "keys/a.pub": own.pair.publicKey })
    const operator = await open()
    write("b.yaml", "x")
    const sent = own.sign({ type: "pin", text: "Later." })
    await expect(operator.submit(sent)).rejects.toMatchObject({ problem: { code: "policy-invalid", policy: "b.yaml" } })
    expect(operator.standing().rules).toEqual([])
    remove("b.yaml")
    expect(await operator.submit(sent)).toMatchObject({ line: { command: { text: "Later." } } })
  })

  test("a key that is taken away is not obeyed from that moment on, whenever files were last looked at", async () => {
    const own = createSigner()
    const { remove, open } = scene({ "keys/a.pub": own.pair.publicKey })
    const operator = await open()
    remove("keys/a.pub")
    await expect(operator.submit(own.sign({ type: "pin", text: "Late." }))).rejects.toMatchObject({
      problem: { reason: "key-unknown" },
    })
    expect(operator.standing().rules).toEqual([])
  })

  test("a key that was trusted a moment ago is known to who reads its command", async () => {
    const own = createSigner()
    const { write, open } = scene({ "a.md": "- One." })
    const here = await open()
    write("keys/a.pub", own.pair.publicKey)
    const there = await open()
    await there.submit(own.sign({ type: "pin", text: "Two." }))
    expect((await here.refresh()).rules.map(({ text }) => text)).toEqual(["One.", "Two."])
  })
})
