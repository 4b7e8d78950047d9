import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { createHoldfast } from "../session/holdfast.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-stack-cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const inside = (...names: readonly string[]): string => join(folder, ...names)
mkdirSync(inside("docs"))
writeFileSync(inside("AGENTS.md"), "Use npm.\n")
writeFileSync(inside("docs/a.md"), "Alpha.\n")
writeFileSync(
  inside("c.yaml"),
  `documents: [AGENTS.md]
stack:
  - when: { models: ["claude-*"] }
    sections:
      - { layer: base, name: identity, text: You are Ada., label: v2 }
      - { layer: context, name: guides, files: docs/*.md, document: true, shrink: drop }
`,
)
const data = inside("hf.db")
const run = (...argv: readonly string[]) =>
  holdfast([...argv, "--config", inside("c.yaml")], { env: { HOLDFAST_DATA: data } })

test("show tells layers, sections, versions and sizes, and what the model reads", async () => {
  const shown = await run("stack", "show", "--model", "claude-sonnet-4-5")
  expect(shown).toMatchObject({ exit: 0, stderr: "" })
  for (const word of ["Prompt stack", "identity", "v2", "AGENTS.md", "docs/a.md", "layer base"])
    expect(shown.stdout).toContain(word)
  const text = await run("stack", "show", "--text")
  expect(text.stdout).toBe(
    'You are Ada.\n\n<document path="docs/a.md">\nAlpha.\n</document>\n\n<document path="AGENTS.md">\nUse npm.\n</document>\n',
  )
  const other = await run("stack", "show", "--model", "gpt-5", "--json")
  const { layers, hash } = JSON.parse(other.stdout)
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(layers.flatMap(({ sections }: { sections: { name: string }[] }) => sections.map(({ name }) => name))).toEqual([
    "AGENTS.md",
  ])
})

test("diff names exactly the section that changed, against a saved stack and against a session", async () => {
  const model = ["--model", "claude-sonnet-4-5"]
  writeFileSync(inside("before.json"), (await run("stack", "show", ...model, "--json")).stdout)
  const opened = createHoldfast({
    store: data,
    stack: {
      folder,
      sections: [
        { layer: "base", name: "identity", source: "You are Ada.", label: "v2" },
        { layer: "context", name: "guides", source: { type: "files", pattern: "docs/*.md" }, document: true },
      ],
      documents: ["AGENTS.md"],
    },
  })
  const session = opened.session("one")
  await session.append([{ role: "user", content: "Hi." }])
  await session.prepare({ format: "openai-chat" })
  await opened.close()
  for (const before of [inside("before.json"), "one"])
    expect((await run("stack", "diff", before, ...model)).stdout).toBe("No section changed.\n")
  writeFileSync(inside("docs/a.md"), "Beta.\n")
  for (const before of [inside("before.json"), "one"]) {
    const { stdout, stderr } = await run("stack", "diff", before, ...model)
    expect(stderr).toBe("")
    expect(stdout).toMatch(/^context: docs\/a\.md changed from [0-9a-f]{12} to [0-9a-f]{12}\n$/)
  }
})

test("check tells each stack with its sizes, and fails where one cannot be read or leaves no room", async () => {
  const fine = await run("stack", "check")
  expect(fine.exit).toBe(0)
  expect(fine.stdout).toContain("models claude-*:")
  expect(fine.stdout).toContain("all calls:")
  writeFileSync(inside("bad.yaml"), "documents: [nowhere.md]\n")
  const bad = await holdfast(["stack", "check", "--config", inside("bad.yaml")])
  expect(bad).toMatchObject({ exit: 1 })
  expect(`${bad.stdout}${bad.stderr}`).toContain("nowhere.md")
  const long = JSON.stringify("word ".repeat(400))
  writeFileSync(
    inside("large.yaml"),
    `windowTokens: 300\nstack: [{ sections: [{ layer: base, name: x, text: ${long} }] }]\n`,
  )
  const large = await holdfast(["stack", "check", "--config", inside("large.yaml")])
  expect(large.exit).toBe(1)
  expect(large.stderr).toMatch(/needs 4\d\d tokens.*more than the 300/)
})
