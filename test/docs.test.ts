import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { describe, expect, test } from "vitest"
import { type Command, failureOf, isGroup, readArguments } from "../src/cli/command.ts"
import { commands } from "../src/cli/run.ts"
import {
  anchorsOf,
  blocksOf,
  codeSpansOf,
  decisions,
  guides,
  housePages,
  internalLinksOf,
  type Page,
  proseOf,
  type ShellCommand,
  shellCommands,
} from "./support/pages.ts"
import { root } from "./support/source.ts"

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const manifest = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
const all = [...guides, ...housePages, ...decisions]
const byPath = (pages: readonly Page[]): readonly (readonly [string, Page])[] => pages.map((page) => [page.path, page])

test("nginx.conf passes on the Host that the client named, which the gateway checks", () => {
  const hosts = [...read("docs/nginx.conf").matchAll(/proxy_set_header\s+Host\s+([^;]+);/g)].map(([, host]) => host)
  expect(hosts).toEqual(["$http_host"])
})

describe.each(byPath(all))("%s", (path, page) => {
  test("links only to files and headings that exist", () => {
    expect(internalLinksOf(page).filter((target) => !leads(path, target))).toEqual([])
  })

  test("names only files that exist", () => {
    expect(filesNamedIn(page).filter((file) => !exists(file))).toEqual([])
  })
})

function leads(from: string, target: string): boolean {
  const [file = "", anchor] = target.split("#")
  const to = file === "" ? from : normalize(join(dirname(from), file))
  if (!existsSync(join(root, to))) return false
  return anchor === undefined || anchorsOf({ path: to, text: read(to) }).has(anchor)
}

/** Files of ours, in prose and in drawings: from the root, or from `src`. `*` stands for any name. */
function filesNamedIn(page: Page): readonly string[] {
  const shown = [
    proseOf(page).replaceAll(/\]\([^)\s]+\)/g, "]"),
    ...blocksOf(page).flatMap(({ language, content }) => (language === "text" ? content : [])),
  ]
  const named = shown.join("\n").matchAll(/(?<![\w./~-])(?:[\w*.-]+\/)+[\w*.-]+\.(?:ts|md|yaml|conf)(?!\w)/g)
  const spans = codeSpansOf(page).filter((code) => ownPath.test(code))
  return [...named].map(([file]) => file).concat(spans)
}

/** In code: a path below one of our folders, or the bare name of a TypeScript file. */
const ownPath = /^(?:(?:src|test|bench|docs|scripts|examples)\/[\w./*-]*|[a-z][\w-]*(?:\.test)?\.ts)$/

const everyFile: ReadonlySet<string> = new Set(
  globSync("{src,test,bench,scripts,examples}/**/*.ts", { cwd: root }).map((file) => basename(file)),
)

const exists = (file: string): boolean =>
  everyFile.has(file) || [root, join(root, "src")].some((cwd) => globSync(file.replace(/\/$/, ""), { cwd }).length > 0)

describe.each(byPath([...guides, ...housePages]))("the commands of %s", (_path, page) => {
  test("exist with the options that they are shown with", async () => {
    const blocks = blocksOf(page).flatMap(({ language, content }) => (language === "sh" ? content : []))
    const spans = codeSpansOf(page).filter((code) => /^(?:holdfast|npm|npx|node) /.test(code))
    const shown = [...blocks, ...spans].flatMap(shellCommands)
    const objections = await Promise.all(
      shown.map(async (words) => [words.join(" "), await objectionTo(words)] as const),
    )
    expect(objections.filter(([, objection]) => objection !== undefined)).toEqual([])
  })

  test("stand in blocks that say what language they are in", () => {
    const known = ["sh", "ts", "text", "mermaid", "json", "yaml"]
    expect(blocksOf(page).filter(({ language }) => !known.includes(language))).toEqual([])
  })
})

/** Programs that are not part of the project: what follows them is not checked. */
const foreign = new Set(["claude", "gemini", "codex", "curl", "docker", "cp"])

/** Why a command of a page cannot be meant, if so. */
async function objectionTo([program = "", ...words]: ShellCommand): Promise<string | undefined> {
  if (foreign.has(program)) return undefined
  if (program === "holdfast") return objectionToHoldfast(words)
  if (program === "npm") return objectionToNpm(words)
  if (program === "npx") return objectionTo(words)
  if (program === "vitest") return objectionToFiles(words.slice(1).filter((word) => /^(?:src|test)/.test(word)))
  if (program === "node") return objectionToFiles(words.slice(0, 1))
  return `an unknown program ${program}`
}

const objectionToFiles = (files: readonly string[]): string | undefined => files.find((file) => !exists(file))

async function objectionToNpm([verb = "", ...rest]: readonly string[]): Promise<string | undefined> {
  const script = verb === "run" ? (rest[0] ?? "") : verb
  const passed = rest.includes("--") ? rest.slice(rest.indexOf("--") + 1) : []
  if (verb === "ci") return undefined
  if (manifest.scripts[script] === undefined) return `no script ${script}`
  // As scripts/start.ts does: options alone are options of serve.
  if (script === "start")
    return objectionToHoldfast(passed[0]?.startsWith("-") === false ? passed : ["serve", ...passed])
  return script === "bench" ? objectionToBench(passed) : undefined
}

function objectionToBench(words: readonly string[]): string | undefined {
  const runner = read("bench/run.ts")
  const names = words.filter((word, n) => !word.startsWith("--") && !words[n - 1]?.startsWith("--"))
  const missing = names.find((name) => !runner.includes(`  "${name}",\n`))
  return missing ?? words.find((word) => word.startsWith("--") && !runner.includes(word))
}

async function objectionToHoldfast([name = "", ...words]: readonly string[]): Promise<string | undefined> {
  if (name === "--version" || name === "--help") return undefined
  const found = await commands.get(name)?.()
  if (found === undefined) return `no command ${name}`
  if (!isGroup(found)) return objectionToArguments(found, words)
  const [inner = "", ...rest] = words
  const command = found.commands.get(inner)
  if (command !== undefined) return objectionToArguments(command, rest)
  return inner === "" || inner === "--help" ? undefined : `no command ${name} ${inner}`
}

function objectionToArguments({ options, maxPositionals }: Command, words: readonly string[]): string | undefined {
  if (words.includes("--help")) return undefined
  const read = failureOf(() => readArguments(words, options, maxPositionals))
  return "sentence" in read ? read.sentence : undefined
}

describe("the pages as a whole", () => {
  test("README.md is a page and not a book: at most 150 lines", () => {
    expect(read("README.md").split("\n").length - 1).toBeLessThanOrEqual(150)
  })

  test("the glossary has at most 40 terms, each with the words to avoid", () => {
    const rows = [...read("GLOSSARY.md").matchAll(/^\| \*\*.+$/gm)].map(([row]) =>
      row.split("|").map((cell) => cell.trim()),
    )
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.length).toBeLessThanOrEqual(40)
    expect(rows.filter(([, , means, avoid]) => means === "" || avoid === "" || avoid === undefined)).toEqual([])
  })

  test("ARCHITECTURE.md names every folder below src, and the floors that the house rules have", () => {
    const page = read("ARCHITECTURE.md")
    const sources = globSync("**/*.ts", { cwd: join(root, "src"), exclude: ["**/*.test.ts"] })
    const folders = [...new Set(sources.map(dirname))].filter((folder) => folder !== ".")
    expect(folders.filter((folder) => !page.includes(`\`${folder}/\``))).toEqual([])
    const list = /const floors[^=]+= \[\n([\s\S]*?)\n\]/.exec(read("test/tidy.test.ts"))?.[1] ?? ""
    const floors = list.split("\n").map((line) => [...line.matchAll(/"([^"]+)"/g)].map(([, room = ""]) => room))
    expect(floors.length).toBeGreaterThan(5)
    const rows = [...page.matchAll(/^\| (\d+) \| (.+?) \|/gm)].map(([, , rooms = ""]) =>
      [...rooms.matchAll(/`([\w.-]+?)\/?`/g)].map(([, room = ""]) => room),
    )
    expect(rows).toEqual(floors)
  })

  test("every guide is linked from README.md", () => {
    const linked = internalLinksOf({ path: "README.md", text: read("README.md") })
    expect(guides.map(({ path }) => path).filter((path) => path !== "README.md" && !linked.includes(path))).toEqual([])
  })
})

describe("the checks can fail", () => {
  const page = (text: string): Page => ({ path: "docs/gateway.md", text })

  test("a dead link, a dead heading and a file that moved are found", () => {
    expect(leads("docs/gateway.md", "../nowhere.md")).toBe(false)
    expect(leads("docs/gateway.md", "#nowhere")).toBe(false)
    expect(leads("docs/gateway.md", "../README.md")).toBe(true)
    expect(filesNamedIn(page("see `gate/scan.ts`, `gone.ts` and `src/gate/`")).filter((file) => !exists(file))).toEqual(
      ["gate/scan.ts", "gone.ts", "src/gate/"],
    )
  })

  test.each([
    "holdfast serv",
    "holdfast serve --prot 1",
    "holdfast sessions lost",
    "npm run benhc",
    "npm run bench -- nothing",
    "npm run bench -- gateway --soap 30",
    "npm start -- --prot 9000",
    "npx vitest run src/gone.test.ts",
    "PORT=1 wget example.com",
  ])("%s", async (line) => {
    const [command = []] = shellCommands(line)
    expect(await objectionTo(command)).toBeTypeOf("string")
  })

  test("quotes, variables, comments and pipes of a shell line are read", () => {
    expect(shellCommands('A=1 holdfast pin "No | mail." --key k # why\nnpm ci && npm test')).toEqual([
      ["holdfast", "pin", "No | mail.", "--key", "k"],
      ["npm", "ci"],
      ["npm", "test"],
    ])
  })
})
