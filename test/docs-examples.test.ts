import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { parse } from "yaml"
import { checkConfig } from "../src/cli/config/check-config.ts"
import { blocksOf, guides, type Page } from "./support/pages.ts"
import { root } from "./support/source.ts"

/** A user's project that has the package as built, and the SDKs that the pages show beside it. */
const project = mkdtempSync(join(tmpdir(), "holdfast-docs-"))
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** What the examples take as given: the reader's own request, file reader and model call. */
const given = `declare const bodyText: string
declare const readFile: (path: string) => Promise<string>
declare const budgetTokens: import("holdfast/message").Tokens
declare const callYourModel: (body: string | object) => Promise<object>
declare const sseEvents: AsyncIterable<import("holdfast/wire").SseEvent>
`

const contentsOf = (page: Page, language: string): readonly string[] =>
  blocksOf(page).flatMap((block) => (block.language === language ? block.content : []))

/** The examples of a page as one module: a later one may use what an earlier one made. */
function moduleOf(page: Page): string {
  const code = contentsOf(page, "ts").join("\n")
  return `${given}${code.includes("const answer =") ? "" : "declare const answer: object\n"}${code}`
}

const pageAt = (path: string): Page => guides.find((page) => page.path === path) ?? { path, text: "" }

function link(name: string, target: string): void {
  const path = join(project, "node_modules", name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

/** What the compiler says to these modules. */
function complaintsOf(modules: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(project, name), text)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "es2024",
    lib: ["es2024", "dom"],
    types: [],
    module: "nodenext",
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "reader", private: true, type: "module" }))
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(modules) }))
  return spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", ".", "--singleThreaded"], {
    cwd: project,
    encoding: "utf8",
  }).stdout
}

describe("the examples of README.md and docs", () => {
  test("compile as they stand, against the package as built", () => {
    link("holdfast", root)
    const shown = guides.filter((page) => contentsOf(page, "ts").length > 0)
    const modules = Object.fromEntries(
      shown.map((page) => [`${page.path.replaceAll(/[/.]/g, "-")}.ts`, moduleOf(page)]),
    )
    expect(Object.keys(modules).length).toBeGreaterThan(3)
    const imports = Object.values(modules)
      .join("\n")
      .matchAll(/from "((?:@[\w-]+\/)?[\w-]+)/g)
    const packages = new Set([...imports].map(([, name = ""]) => name).filter((name) => name !== "holdfast"))
    for (const name of packages) link(name, join(root, "node_modules", name))
    expect(complaintsOf(modules)).toBe("")
    expect(complaintsOf({ "wrong.ts": `${modules["README-md.ts"]}\nsession.forget()` })).toContain("forget")
  })

  test("the before and after of README.md is what its example prints", () => {
    const printed = execFileSync(process.execPath, [join(root, "examples/rule-survives.ts")], { encoding: "utf8" })
    expect(contentsOf(pageAt("README.md"), "text")).toContain(printed)
  })
})

describe.each(guides.map((page) => [page.path, page] as const))("the data in %s", (_path, page) => {
  test("is JSON, or a configuration that the gateway takes", () => {
    for (const text of contentsOf(page, "json")) expect(() => JSON.parse(text)).not.toThrow()
    const place = { source: "page", lineOf: () => undefined }
    const faults = contentsOf(page, "yaml").map((text) => checkConfig(parse(text), place))
    expect(faults.filter((checked) => "faults" in checked)).toEqual([])
  })
})
