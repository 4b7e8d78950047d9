import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { parseSync } from "vite"

export const root: string = resolve(import.meta.dirname, "../..")
const src = join(root, "src")

export type Import = { readonly from: string; readonly typeOnly: boolean }
/** A node of the syntax tree, as far as the house rules need it. */
export type Node = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export type SourceFile = {
  /** Path below `src`. */
  readonly path: string
  readonly text: string
  readonly nodes: readonly Node[]
  /** Paths of our own files below `src`, and names of packages. */
  readonly imports: readonly Import[]
  /** Names that it defines and exports. */
  readonly exported: readonly string[]
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

/** Returns every node below a value, parents before children. */
function nodesBelow(value: unknown, found: Node[] = []): readonly Node[] {
  if (Array.isArray(value)) for (const item of value) nodesBelow(item, found)
  if (!isNode(value)) return found
  found.push(value)
  for (const key in value) nodesBelow(value[key], found)
  return found
}

function importsOf(path: string, nodes: readonly Node[]): readonly Import[] {
  return nodes.flatMap((node): readonly Import[] => {
    const source = node.source
    if (!/^(Import|Export)/.test(node.type) || !isNode(source) || typeof source.value !== "string") return []
    const named = [node.specifiers].flat().filter(isNode)
    const typeOnly =
      node.importKind === "type" ||
      node.exportKind === "type" ||
      (named.length > 0 && named.every((one) => one.importKind === "type" || one.exportKind === "type"))
    const from = source.value.startsWith(".") ? relative(src, resolve(src, dirname(path), source.value)) : source.value
    return [{ from, typeOnly }]
  })
}

/** Returns every source file that we ship, parsed; tests and generated files are excluded. */
export function readSources(): readonly SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.includes("generated"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(src, path), "utf8")))
}

export function parseSource(path: string, text: string): SourceFile {
  const { program } = parseSync(path, text, { lang: "ts" })
  const nodes = nodesBelow(program)
  return { path, text, nodes, imports: importsOf(path, nodes), exported: exportedBy(nodes) }
}

function exportedBy(nodes: readonly Node[]): readonly string[] {
  return nodes.flatMap(({ type, declaration }) => {
    if (type !== "ExportNamedDeclaration" || !isNode(declaration)) return []
    const declared = [declaration.declarations ?? declaration].flat()
    return declared.flatMap((one) =>
      isNode(one) && isNode(one.id) && typeof one.id.name === "string" ? [one.id.name] : [],
    )
  })
}

const importing =
  /(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s+from\s+"(\.[^"]+\.ts)"|import\(\s*"(\.[^"]+\.ts)"\s*\)/g

/** Returns by file below `src` the names that any file of the project imports or re-exports; `*` for all of them. */
export function readUsedNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>()
  for (const top of ["src", "test", "bench", "scripts", "examples", "inspector"])
    for (const path of readdirSync(join(root, top), { recursive: true, encoding: "utf8" })) {
      if (!/\.tsx?$/.test(path) || path.includes("node_modules")) continue
      const file = join(root, top, path)
      for (const [, named = "*", from, lazily] of readFileSync(file, "utf8").matchAll(importing)) {
        const to = relative(src, resolve(dirname(file), from ?? lazily ?? ""))
        const names = named.startsWith("{") ? named.slice(1, -1).split(",") : ["*"]
        const known = used.get(to) ?? new Set()
        for (const name of names)
          known.add(
            name
              .trim()
              .replace(/^type\s+/, "")
              .replace(/\s+as\s+\w+$/, ""),
          )
        used.set(to, known)
      }
    }
  return used
}
