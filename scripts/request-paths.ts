import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseSync } from "vite"

/**
 * Counts how many files a reader has to open to follow a request: for each of the three paths through the gateway, the files and functions
 * that a request of a conversation enters before it is sent upstream, and how often the next function is in another file: counted over all
 * calls, and over first calls alone, because a reader does not open `present` or `tokens` a second time. Only functions at module level are
 * counted; nested ones are read in place. `--files` lists the files by functions entered, `--pairs` the pairs of files between which it
 * changes most, `--calls` the functions in call order.
 */

const src = fileURLToPath(new URL("../src/", import.meta.url))

type Entered = { readonly file: string; readonly name: string }
type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [key: string]: unknown }

const functions: Entered[] = []
let entered: number[] = []
let sentAt = 0
Object.assign(globalThis, { enteredFunction: (id: number) => entered.push(id) })

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

const nameOf = ({ id }: Node): string => (isNode(id) && typeof id.name === "string" ? id.name : "")

/** Returns the functions of a module, declared or constant. */
function functionsOf(statement: Node): readonly (readonly [Node, string])[] {
  const declared = isNode(statement.declaration) ? statement.declaration : statement
  if (declared.type === "FunctionDeclaration") return [[declared, nameOf(declared)]]
  return [declared.declarations ?? []]
    .flat()
    .filter(isNode)
    .flatMap((one) => (isNode(one.init) && /Function/.test(one.init.type) ? [[one.init, nameOf(one)] as const] : []))
}

/** Returns the source with a call at the start of each function of the module. */
function counted(file: string, source: string): string {
  const text = stripTypeScriptTypes(source)
  const inserts: (readonly [at: number, text: string])[] = []
  for (const [{ body }, name] of [parseSync(file, text, { lang: "js" }).program.body as unknown]
    .flat()
    .filter(isNode)
    .flatMap(functionsOf)) {
    if (!isNode(body)) continue
    const id = functions.push({ file, name }) - 1
    if (body.type === "BlockStatement") inserts.push([body.start + 1, `enteredFunction(${id});`])
    else inserts.push([body.start, `(enteredFunction(${id}),`], [body.end, ")"])
  }
  return inserts
    .toSorted(([one], [other]) => other - one)
    .reduce((changed, [at, what]) => `${changed.slice(0, at)}${what}${changed.slice(at)}`, text)
}

registerHooks({
  load: (url, context, next) => {
    if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context)
    const path = fileURLToPath(url)
    if (!path.startsWith(src)) return next(url, context)
    const source = counted(relative(src, path), readFileSync(path, "utf8"))
    return { format: "module", source, shortCircuit: true }
  },
})

const { startGateway } = await import("../src/gateway/gateway.ts")
const { usualGatewayLimits, usualTimes } = await import("../src/gateway/settings/gateway-options.ts")
const { createHoldfast } = await import("../src/session/holdfast.ts")
const { createMemoryStore } = await import("../src/store/memory-store.ts")
const { startModelServer } = await import("../test/model-server/model-server.ts")

type Path = {
  readonly windowTokens: number
  readonly pins: readonly string[]
  readonly turns: readonly (readonly unknown[])[]
}

const output = Array.from({ length: 60 }, (_, n) => `src/part-${n}.ts:${n}: order ${n * 17} is open`).join("\n")

const spoken = Array.from({ length: 3 }, (_, n) => [
  { role: "assistant", content: "It is done." },
  { role: "user", content: `And then number ${n}?` },
])

const rounds = Array.from({ length: 6 }, (_, n) => [
  {
    role: "assistant",
    content: [{ type: "tool_use", id: `toolu_${n}`, name: "search", input: { query: `order ${n}` } }],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: `${n}: ${output}` }] },
])

const paths: Readonly<Record<string, Path>> = {
  "at-once": { windowTokens: 200_000, pins: [], turns: spoken },
  prepared: { windowTokens: 200_000, pins: ["Never delete a table."], turns: spoken },
  compacting: { windowTokens: 3000, pins: ["Never delete a table."], turns: rounds },
}

async function follow(name: string, { windowTokens, pins, turns }: Path): Promise<readonly Entered[]> {
  const model = await startModelServer({
    script: () => {
      sentAt = entered.length
      return { text: "It is done." }
    },
  })
  const store = createMemoryStore()
  let taken = ""
  let seen: readonly Entered[] = []
  const holdfast = createHoldfast({ store, pins: [...pins], memory: { flush: false } })
  const gateway = await startGateway({
    host: "127.0.0.1",
    port: 0,
    allowedHosts: [],
    allowedOrigins: [],
    upstreams: [{ name: "model", families: ["anthropic", "openai", "gemini"], baseUrl: model.url, ...usualTimes }],
    tenants: "by-key",
    recall: false,
    limits: usualGatewayLimits,
    admin: { token: "not-used-here", origins: [] },
    askTimeoutMs: 2000,
    keepAliveMs: 15_000,
    version: "0.0.0",
    now: Date.now,
    windowTokens,
    holdfast,
    store,
    onRecord: ({ how, trace }) => {
      taken = trace.some(({ type }) => type === "checkpoint-installed") ? "compacting" : `${how}`
    },
    onFault: (error) => {
      throw error
    },
  })
  const opening = { role: "user", content: "Look at the orders one after the other." }
  for (let turn = 0; turn <= turns.length; turn++) {
    entered = []
    const headers = { "x-api-key": "k", "content-type": "application/json", "anthropic-version": "2023-06-01" }
    const body = JSON.stringify({
      model: "scripted",
      max_tokens: 500,
      messages: [opening, ...turns.slice(0, turn).flat()],
    })
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: "POST", headers, body })
    await answer.text()
    if (answer.status !== 200) throw new Error(`the gateway answered with ${answer.status}`)
    // What is stored after the answer belongs to the request.
    await sleep(300)
    if (taken === name) seen = entered.slice(0, sentAt).flatMap((id) => functions[id] ?? [])
  }
  await gateway.close()
  await holdfast.close()
  await model.close()
  if (seen.length === 0) throw new Error(`no request was ${name}`)
  return seen
}

function tally<Key>(keys: readonly Key[]): readonly (readonly [Key, number])[] {
  const counts = new Map<Key, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

const changesIn = (files: readonly string[]): readonly string[] =>
  files.flatMap((file, n) => (n > 0 && file !== files[n - 1] ? [`${files[n - 1]} > ${file}`] : []))

const wants = (option: string): boolean => process.argv.includes(option)
for (const [path, options] of Object.entries(paths)) {
  const seen = await follow(path, options)
  const files = seen.map(({ file }) => file)
  const changes = changesIn(files)
  const first = new Map(seen.map((one) => [`${one.file} ${one.name}`, one.file]))
  const firstChanges = changesIn([...first.values()])
  process.stdout.write(
    `${path}: ${new Set(files).size} files, ${first.size} functions, ${changes.length} switches, ${firstChanges.length} at first calls\n`,
  )
  if (wants("--files")) for (const [file, count] of tally(files)) process.stdout.write(`  ${count} ${file}\n`)
  if (wants("--pairs"))
    for (const [pair, count] of tally(changes).slice(0, 40)) process.stdout.write(`  ${count} ${pair}\n`)
  if (wants("--calls")) for (const { file, name } of seen) process.stdout.write(`  ${file} ${name}\n`)
}
