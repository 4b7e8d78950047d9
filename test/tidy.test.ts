import { dirname } from "node:path"
import { expect, test } from "vitest"
import { type Node, parseSource, readSources, readUsedNames, type SourceFile } from "./support/source.ts"

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
const purePackages = /^(?:@noble\/hashes\/|yaml$)/

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
const allowedNames: Readonly<Record<string, string>> = { "message/sha256.ts": "globalThis" }

/** Where `as` may stand beside `wire/`: brand constructors, and places that TypeScript cannot follow, each two lines long. */
const castFiles =
  /^(wire\/|transcript\/|message\/(?:message|present|errors)\.ts|session\/log\/redact\.ts|tokens\/generated\/)/

/** The error class is the only one, beside what guards state over time. */
const classFiles = new Set(["message/errors.ts"])

const bannedFileNames = /(^|\/)(utils?|helpers?|common|misc|manager|types)\.ts$/

const maxFileLines = 600
const maxFunctionLines = 70
const maxLineLength = 300

/** A file below this length that one file imports belongs into that file. Doors are left, and their number may only go down. */
const smallLines = 60
const maxSmallFiles = 9

const room = (path: string): string => path.split("/")[0] ?? path
const floorOf = (path: string): number => floors.findIndex((rooms) => rooms.includes(room(path)))
const ours = ({ imports }: SourceFile): readonly string[] =>
  imports.map(({ from }) => from).filter((from) => from.endsWith(".ts"))
const linesIn = (text: string): number => text.split("\n").length

/** A law of the house: says for each place that breaks it which one it is. */
type Law = (files: readonly SourceFile[]) => readonly string[]

const forEach =
  (faultsOf: (file: SourceFile) => readonly string[]): Law =>
  (files) =>
    files.flatMap((file) => faultsOf(file).map((fault) => `${file.path}: ${fault}`))

const importsGoDown: Law = forEach((file) =>
  floorOf(file.path) < 0
    ? ["is in a room without a floor"]
    : ours(file)
        .filter((to) => room(to) !== room(file.path) && floorOf(to) >= floorOf(file.path))
        .map((to) => `imports ${to}`),
)

const nothingIsLong: Law = forEach(({ text, nodes }) => [
  ...(linesIn(text) > maxFileLines ? [`has ${linesIn(text)} lines`] : []),
  ...nodes
    .filter(({ type }) => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type))
    .filter(({ start, end }) => linesIn(text.slice(start, end)) > maxFunctionLines)
    .map(
      ({ start }) => `has a function of more than ${maxFunctionLines} lines in line ${linesIn(text.slice(0, start))}`,
    ),
])

/** Word lists stand in JSON files, and `anyOf` makes patterns of them: src/language/word-lists.ts. */
const linesAreShort: Law = forEach(({ text }) =>
  text
    .split("\n")
    .flatMap((line, at) =>
      line.length > maxLineLength ? [`has a line of more than ${maxLineLength} characters, line ${at + 1}`] : [],
    ),
)

const typesAreHonest: Law = forEach(({ path, text, nodes }) => [
  ...nodes.filter(({ type }) => type === "TSAnyKeyword").map(() => "has `any`"),
  ...nodes
    .filter((node) => node.type === "TSAsExpression" && !isConst(node) && !castFiles.test(path))
    .map(({ start, end }) => `casts: ${text.slice(start, end)}`),
  ...nodes
    .filter(({ type }) => type === "ClassDeclaration" && !classFiles.has(path))
    .map(() => "has a class beside the error"),
])

const isConst = (node: Node): boolean => JSON.stringify(node.typeAnnotation).includes('"name":"const"')

const filesHaveSubjects: Law = forEach(({ path }) => (bannedFileNames.test(path) ? ["is named after no subject"] : []))

const pureRoomsOnlyCompute: Law = forEach((file) => {
  if (!pureRooms.includes(room(file.path))) return []
  const packages = file.imports
    .map(({ from }) => from)
    .filter((from) => !/\.(?:ts|json)$/.test(from) && !purePackages.test(from))
  const named = file.nodes.flatMap((node) =>
    node.type === "Identifier" && typeof node.name === "string" && !isProperty(node, file) ? [node.name] : [],
  )
  const banned = named.filter((name) => Object.hasOwn(bannedNames, name) && name !== allowedNames[file.path])
  return [
    ...packages.map((from) => `imports ${from}`),
    ...banned.map((name) => `names ${name}: ${bannedNames[name]}`),
    ...(/Math\.random/.test(file.text) ? ["is random"] : []),
  ]
})

/** A property or key of that name is not the global of that name. */
function isProperty({ start, end }: Node, { text }: SourceFile): boolean {
  return text[start - 1] === "." || /^\s*\??:/.test(text.slice(end, end + 8))
}

const noTestHelpers: Law = forEach(({ imports }) =>
  imports.filter(({ from }) => from === "vitest" || from.startsWith("..")).map(({ from }) => `imports ${from}`),
)

const noFileCircle: Law = (files) =>
  circlesIn(
    new Map(files.map(({ path, imports }) => [path, imports.filter((one) => !one.typeOnly).map(({ from }) => from)])),
  )

/** At each level the folders, and the files beside them taken together, import each other in one direction only, types included. */
const noFolderCircle: Law = (files) => {
  const parents = new Set(files.flatMap(({ path }) => foldersOf(path)))
  return [...parents].flatMap((parent) => {
    const inside = (path: string): string | undefined => {
      if (parent !== "." && !path.startsWith(`${parent}/`)) return undefined
      const rest = parent === "." ? path : path.slice(parent.length + 1)
      // At the top each file stands on a floor of its own, and a door stands above the folder that it opens.
      if (rest.includes("/")) return rest.slice(0, rest.indexOf("/"))
      return parent === "." || rest === "index.ts" ? rest : "(its files)"
    }
    const edges = new Map<string, string[]>()
    for (const file of files) {
      const from = inside(file.path)
      if (from === undefined) continue
      const to = ours(file).flatMap((path) => inside(path) ?? [])
      edges.set(from, [...(edges.get(from) ?? []), ...to.filter((other) => other !== from)])
    }
    return circlesIn(edges).map((circle) => `${parent}: ${circle}`)
  })
}

function foldersOf(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === "." ? ["."] : [folder, ...foldersOf(folder)]
}

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

const smallFiles: Law = (files) => {
  const importers = new Map<string, Set<string>>()
  for (const file of files)
    for (const to of ours(file)) importers.set(to, (importers.get(to) ?? new Set()).add(file.path))
  return files
    .filter(({ path, text }) => linesIn(text) < smallLines && importers.get(path)?.size === 1)
    .map(({ path }) => `${path} is only imported by ${[...(importers.get(path) ?? [])]}`)
}

const namesTwice: Law = (files) => {
  const homes = new Map<string, Set<string>>()
  for (const { path, exported } of files)
    for (const name of exported) homes.set(name, (homes.get(name) ?? new Set()).add(path))
  return [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(", ")}`)
}

/** Files whose exports are for users: what package.json opens. */
const doors = /^(?:index|browser)\.ts$|\/index\.ts$|^rules\/survival\.ts$/

const exportsAreUsed =
  (used: ReadonlyMap<string, ReadonlySet<string>>): Law =>
  (files) =>
    files
      .filter(({ path }) => !doors.test(path))
      .flatMap(({ path, exported }) => {
        const names = used.get(path) ?? new Set()
        return names.has("*") ? [] : exported.filter((name) => !names.has(name)).map((name) => `${path}: ${name}`)
      })

const files = readSources()

test.each<[string, Law]>([
  ["a file imports its own room or a lower floor", importsGoDown],
  [`no file has more than ${maxFileLines} lines, no function more than ${maxFunctionLines}`, nothingIsLong],
  [`no line has more than ${maxLineLength} characters`, linesAreShort],
  ["there is no `any`, no cast outside its place, no class beside the error", typesAreHonest],
  ["a file is named after its subject", filesHaveSubjects],
  ["pure rooms compute and touch nothing", pureRoomsOnlyCompute],
  ["nothing of the tests is in the source", noTestHelpers],
  ["no file imports itself round a circle at run time", noFileCircle],
  ["no folder imports itself round a circle at any level, types included", noFolderCircle],
  ["one name has one definition", namesTwice],
  ["what a file exports is used", exportsAreUsed(readUsedNames())],
])("%s", (_law, law) => expect(law(files)).toEqual([]))

test(`at most ${maxSmallFiles} files under ${smallLines} lines have a single importer`, () => {
  const found = smallFiles(files)
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(maxSmallFiles)
})

const longFunction = `export function long(): void {\n${"  void 0\n".repeat(maxFunctionLines)}}\n`

test.each<[string, Law, Readonly<Record<string, string>>, string]>([
  ["an import upwards", importsGoDown, { "wire/a.ts": 'import "../cli/main.ts"' }, "wire/a.ts: imports cli/main.ts"],
  ["a room without a floor", importsGoDown, { "attic/a.ts": "" }, "attic/a.ts: is in a room without a floor"],
  ["a long file", nothingIsLong, { "wire/a.ts": "\n".repeat(maxFileLines) }, "wire/a.ts: has 601 lines"],
  [
    "a long function",
    nothingIsLong,
    { "wire/a.ts": longFunction },
    "wire/a.ts: has a function of more than 70 lines in line 1",
  ],
  [
    "a long line",
    linesAreShort,
    { "wire/a.ts": `const words = /${"word|".repeat(60)}/` },
    "wire/a.ts: has a line of more than 300 characters, line 1",
  ],
  ["any", typesAreHonest, { "session/a.ts": "export let a: any" }, "session/a.ts: has `any`"],
  ["a cast", typesAreHonest, { "session/a.ts": "export const a = 1 as number" }, "session/a.ts: casts: 1 as number"],
  ["a class", typesAreHonest, { "session/a.ts": "class A {}" }, "session/a.ts: has a class beside the error"],
  ["a drawer", filesHaveSubjects, { "message/utils.ts": "" }, "message/utils.ts: is named after no subject"],
  ["a package", pureRoomsOnlyCompute, { "wire/a.ts": 'import "node:fs"' }, "wire/a.ts: imports node:fs"],
  ["a clock", pureRoomsOnlyCompute, { "wire/a.ts": "Date.now()" }, "wire/a.ts: names Date: take `now` as a parameter"],
  ["chance", pureRoomsOnlyCompute, { "wire/a.ts": "Math.random()" }, "wire/a.ts: is random"],
  ["a test helper", noTestHelpers, { "wire/a.ts": 'import "vitest"' }, "wire/a.ts: imports vitest"],
  [
    "a circle of files",
    noFileCircle,
    { "wire/a.ts": 'import "./b.ts"', "wire/b.ts": 'import "./a.ts"' },
    "wire/a.ts -> wire/b.ts -> wire/a.ts",
  ],
  [
    "a circle of folders",
    noFolderCircle,
    { "wire/x/a.ts": 'import type { B } from "../b.ts"', "wire/b.ts": 'import "./x/c.ts"', "wire/x/c.ts": "" },
    "wire: x -> (its files) -> x",
  ],
  [
    "a small file",
    smallFiles,
    { "wire/a.ts": 'import "./b.ts"', "wire/b.ts": "" },
    "wire/b.ts is only imported by wire/a.ts",
  ],
  [
    "a name twice",
    namesTwice,
    { "wire/a.ts": "export const one = 1", "wire/b.ts": "export const one = 2" },
    "one: wire/a.ts, wire/b.ts",
  ],
  [
    "an unused export",
    exportsAreUsed(new Map([["wire/a.ts", new Set(["one"])]])),
    { "wire/a.ts": "export const one = 1\nexport type Two = 2" },
    "wire/a.ts: Two",
  ],
])("%s is found", (_what, law, texts, fault) => {
  expect(law(Object.entries(texts).map(([path, text]) => parseSource(path, text)))).toEqual([fault])
})
