import { isObject } from "../../wire/json.ts"

/** One statement as PostgreSQL's own grammar reads it: an object with one name, such as `DeleteStmt`. */
export type SqlNode = Readonly<Record<string, unknown>>

type Parse = (text: string) => unknown

let loaded: { readonly parse: Parse | undefined } | undefined

/** The statements of a text, or nothing where the grammar does not take it or is not installed. Loaded at first use, and once. */
export function parseSql(text: string): readonly SqlNode[] | undefined {
  loaded ??= { parse: loadGrammar() }
  if (loaded.parse === undefined || text.trim() === "") return undefined
  try {
    const tree = loaded.parse(text)
    const statements = isObject(tree) && Array.isArray(tree.stmts) ? tree.stmts : []
    return statements.flatMap((one: unknown) => (isObject(one) && isObject(one.stmt) ? [one.stmt] : []))
  } catch {
    // Not in the grammar: the caller says what it makes of that.
    return undefined
  }
}

/**
 * The library of the grammar is loaded by promises, and a verdict is given at once. In a context of its own whose microtasks run before
 * the call returns, and with a module that is compiled on the spot, it is there when the call returns.
 */
function loadGrammar(): Parse | undefined {
  // Where there is no Node, there is no such grammar.
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
  // The microtasks of the context run once more.
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
