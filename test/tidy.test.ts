import { describe, expect, test } from "vitest"
import { type Node, readSources, type SourceFile } from "./support/source.ts"

/** The floors, ground first. A room not named here fails until someone decides where it stands. */
const floors: readonly (readonly string[])[] = [
  ["message"],
  ["language", "tokens", "wire"],
  ["transcript", "rules", "model", "store"],
  ["guard", "compact"],
  ["session"],
  ["adapter", "gateway"],
  ["mcp"],
  ["browser.ts"],
  ["index.ts"],
  ["cli"],
]

/** Rooms that run anywhere, a browser included: they compute, and touch nothing. */
const pureRooms: readonly string[] = ["message", "language", "tokens", "wire", "transcript", "rules", "compact"]

/** Packages that a pure room may import, each small, pure and with its reason in docs/decisions. */
const purePackages = /^@noble\/hashes\//

/** What no pure room may name, and what to do instead. */
const bannedNames: Readonly<Record<string, string>> = {
  process: "take the value as an option; cli/ reads the environment",
  Buffer: "use Uint8Array",
  console: "return a trace event",
  Date: "take `now` as a parameter",
  performance: "measure in bench/",
  setTimeout: "stages do not wait; session/ and model/ do",
  setInterval: "stages do not wait; session/ and model/ do",
  fetch: "model/ talks to models",
  crypto: "use @noble/hashes, or take `newId` as a parameter",
  globalThis: "take what you need as a parameter",
  require: "import it",
  eval: "no",
}

/** Where a name is allowed after all: what is computed is the same with it and without it, and a test says so. */
const worldly: Readonly<Record<string, string>> = { "message/sha256.ts": "globalThis" }

/** Where `as` may stand beside `wire/`: brand constructors, and places that TypeScript cannot follow, each two lines long. */
const castRooms =
  /^(wire\/|transcript\/|message\/(?:message|present|errors)\.ts|session\/log\/redact\.ts|tokens\/generated\/)/

/** The error class is the only one, beside what guards state over time. */
const classFiles = new Set(["message/errors.ts"])

const bannedFileNames = /(^|\/)(utils?|helpers?|common|misc|manager|types)\.ts$/

const files = readSources()
const room = (path: string): string => path.split("/")[0] ?? path
const floorOf = (path: string): number => floors.findIndex((rooms) => rooms.includes(room(path)))
const ours = ({ imports }: SourceFile): readonly string[] =>
  imports.map(({ from }) => from).filter((from) => from.endsWith(".ts"))
const linesIn = (text: string): number => text.split("\n").length

describe.each(files.map((file) => [file.path, file] as const))("%s", (path, file) => {
  test("stands on a floor and imports only its own room or a lower floor", () => {
    expect(floorOf(path), "a room without a floor").toBeGreaterThanOrEqual(0)
    expect(ours(file).filter((to) => room(to) !== room(path) && floorOf(to) >= floorOf(path))).toEqual([])
  })

  test("is no longer than 600 lines, and none of its functions longer than 70", () => {
    expect(linesIn(file.text)).toBeLessThanOrEqual(600)
    const functions = file.nodes.filter(({ type }) =>
      /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type),
    )
    const long = functions.filter(({ start, end }) => linesIn(file.text.slice(start, end)) > 70)
    expect(long.map(({ start }) => `line ${linesIn(file.text.slice(0, start))}`)).toEqual([])
  })

  test("has no `any`, no cast outside its place, no class beside the error, no drawer for a name", () => {
    expect(file.nodes.filter(({ type }) => type === "TSAnyKeyword")).toEqual([])
    const casts = file.nodes.filter((node) => node.type === "TSAsExpression" && !isConst(node))
    if (!castRooms.test(path)) expect(casts.map((node) => file.text.slice(node.start, node.end))).toEqual([])
    expect(file.nodes.filter(({ type }) => type === "ClassDeclaration").length === 0 || classFiles.has(path)).toBe(true)
    expect(bannedFileNames.test(path)).toBe(false)
  })
})

const isConst = (node: Node): boolean => JSON.stringify(node.typeAnnotation).includes('"name":"const"')

describe.each(files.filter(({ path }) => pureRooms.includes(room(path))).map((file) => [file.path, file] as const))(
  "pure: %s",
  (path, file) => {
    test("imports nothing but its own kind", () => {
      expect(
        file.imports.map(({ from }) => from).filter((from) => !from.endsWith(".ts") && !purePackages.test(from)),
      ).toEqual([])
    })
    test("names nothing of the world outside", () => {
      const named = file.nodes.filter(
        ({ type, name }) =>
          type === "Identifier" &&
          typeof name === "string" &&
          Object.hasOwn(bannedNames, name) &&
          name !== worldly[path],
      )
      expect(
        named.filter((node) => !isProperty(node, file)).map(({ name }) => `${name}: ${bannedNames[String(name)]}`),
      ).toEqual([])
      expect(file.text).not.toMatch(/Math\.random/)
    })
  },
)

/** A property or key of that name is not the global of that name. */
function isProperty({ start, end }: Node, { text }: SourceFile): boolean {
  return text[start - 1] === "." || /^\s*\??:/.test(text.slice(end, end + 8))
}

test("no file imports itself round a circle at run time", () => {
  const edges = new Map(
    files.map(({ path, imports }) => [path, imports.filter(({ typeOnly }) => !typeOnly).map(({ from }) => from)]),
  )
  expect(circlesIn(edges)).toEqual([])
})

test("no room imports itself round a circle, types included", () => {
  const edges = new Map<string, string[]>()
  for (const file of files) {
    const to = ours(file)
      .map(room)
      .filter((other) => other !== room(file.path))
    edges.set(room(file.path), [...(edges.get(room(file.path)) ?? []), ...to])
  }
  expect(circlesIn(edges)).toEqual([])
})

function circlesIn(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (at: string, trail: readonly string[]): void => {
    if (trail.includes(at)) circles.push([...trail.slice(trail.indexOf(at)), at].join(" -> "))
    if (trail.includes(at) || done.has(at)) return
    for (const to of edges.get(at) ?? []) visit(to, [...trail, at])
    done.add(at)
  }
  for (const at of edges.keys()) visit(at, [])
  return circles
}

test("the rules can fail: each of them, on a file that breaks it", () => {
  expect(
    circlesIn(
      new Map([
        ["a", ["b"]],
        ["b", ["a"]],
      ]),
    ),
  ).toEqual(["a -> b -> a"])
  expect(
    isProperty({ type: "Identifier", start: 0, end: 4 }, { path: "", text: "Date.now()", nodes: [], imports: [] }),
  ).toBe(false)
  expect(bannedFileNames.test("message/utils.ts")).toBe(true)
})
