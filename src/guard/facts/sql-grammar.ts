import { isObject } from "../../wire/json.ts"

/** One statement as PostgreSQL's own grammar parses it: an object with one key, such as `DeleteStmt`. */
export type SqlNode = Readonly<Record<string, unknown>>

type Parse = (text: string) => unknown

let loaded: { readonly parse: Parse | undefined } | undefined

/** Parses the statements of a text; undefined if the grammar rejects it or is not installed. The grammar is loaded once, at first use. */
export function parseSql(text: string): readonly SqlNode[] | undefined {
  loaded ??= { parse: loadGrammar() }
  if (loaded.parse === undefined || text.trim() === "") return undefined
  try {
    const tree = loaded.parse(text)
    const statements = isObject(tree) && Array.isArray(tree.stmts) ? tree.stmts : []
    return statements.flatMap((one: unknown) => (isObject(one) && isObject(one.stmt) ? [one.stmt] : []))
  } catch {
    // Not in the grammar: the caller decides what that means.
    return undefined
  }
}

/**
 * Loads the grammar synchronously, although its library loads asynchronously: verdicts are synchronous. The library runs in a context whose
 * microtasks are run before the call returns, and its WebAssembly module is compiled synchronously.
 */
function loadGrammar(): Parse | undefined {
  // The grammar needs Node.
  const builtIn = globalThis.process?.getBuiltinModule
  if (builtIn === undefined) return undefined
  const { compileFunction, createContext, runInContext } = builtIn("node:vm")
  const { dirname, join } = builtIn("node:path")
  const { readFileSync } = builtIn("node:fs")
  const host = builtIn("node:module").createRequire(import.meta.url)
  const folder = folderOf(host, (file) => join(dirname(file), "../wasm"))
  if (folder === undefined) return undefined
  const context = createContext({ process, TextDecoder, setTimeout, URL }, { microtaskMode: "afterEvaluate" })
  runInContext(atOnce, context)
  const load = (name: string): unknown => {
    const module: { exports: unknown } = { exports: {} }
    const require = (id: string): unknown =>
      id.startsWith("./") ? load(id.slice(2)) : id.startsWith("node:") || id === "fs" || id === "path" ? host(id) : {}
    const source = readFileSync(join(folder, name), "utf8")
    const names = ["module", "exports", "require", "__dirname", "__filename"]
    const run = compileFunction(source, names, { parsingContext: context })
    run(module, module.exports, require, folder, join(folder, name))
    return module.exports
  }
  const library = load("index.cjs")
  // Runs the remaining microtasks of the context.
  runInContext("0", context)
  const parse = isObject(library) ? library.parseSync : undefined
  return typeof parse === "function" ? (text) => parse(text) : undefined
}

const atOnce = `WebAssembly.instantiate = async (bytes, imports) => {
  const module = new WebAssembly.Module(bytes)
  return { module, instance: new WebAssembly.Instance(module, imports) }
}`

function folderOf(host: NodeJS.Require, beside: (file: string) => string): string | undefined {
  try {
    return beside(host.resolve("libpg-query"))
  } catch {
    return undefined
  }
}
