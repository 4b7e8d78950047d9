import { countO200k } from "../src/tokens/counter.ts"
import { type ChatMessage, countMessage } from "./chat.ts"

/**
 * A reader without a model: what a history holds that its continuation needs (acts, words, files, records, stopping point), found by rules
 * of its own, and whether a compacted context still says it. It shares no code with what it measures.
 */

/** A share: `found` out of `of`. */
export type Count = { readonly found: number; readonly of: number }

export type Reading = {
  readonly acts: Count
  readonly words: Count
  readonly openRequest: Count
  readonly stopPoint: Count
  readonly files: Count
  readonly changes: Count
  readonly owned: Count
  readonly mixed: Count
  readonly bare: Count
  readonly unread: Count
  /** Characters of the digest that state values, out of all its characters. */
  readonly facts: Count
  readonly digestTokens: number
}

type Call = { readonly tool: string; readonly input: unknown; readonly result: string | undefined }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

function callsIn(messages: readonly ChatMessage[]): readonly Call[] {
  const calls: Call[] = []
  for (const [n, message] of messages.entries()) {
    if (message.role !== "assistant") continue
    for (const { id, function: called } of message.tool_calls ?? []) {
      const result = messages.slice(n + 1).find((later) => later.role === "tool" && later.tool_call_id === id)
      calls.push({ tool: called.name, input: parse(called.arguments), result: result?.content ?? undefined })
    }
  }
  return calls
}

const failure =
  /^\s*(?:error\b|traceback|exception|failed\b|fatal)|"error"\s*:|not found|no such file|no replacement was performed|command not found|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]|deep-interview phase boundary|blocked/i
const hasSucceeded = ({ result }: Call): boolean => result !== undefined && !failure.test(result.slice(0, 600))

const changing =
  /(?:^|[_\-. ])(?:book|cancel|update|modify|exchange|return|create|delete|remove|send|add|set|transfer|pay|refund|submit|assign|close|reply|insert|write|edit|replace|patch|input|select|fill|upload|move|rename|order|schedule|approve)(?:$|[_\-. ])/i
const readingTool = /^(?:get|list|search|find|read|view|check|calculate|think|open|visit)/i
const namesOf = (tool: string): string => tool.replace(/([a-z\d])([A-Z])/g, "$1_$2")
const shellChange =
  /(?:^|&&|;|\n)\s*(?:sudo )?(?:git (?:commit|push|checkout -b|merge|rebase|tag|reset|revert)|rm |mv |cp |mkdir |npm (?:i|install|publish)\b|pip3? install|apt(?:-get)? install|brew install|docker (?:run|rm|build)|kill |chmod |ln -s|touch )/

const shellOf = (input: unknown): string | undefined => {
  const told = isRecord(input) ? (input.command ?? input.cmd) : undefined
  if (Array.isArray(told)) return told.join(" ")
  return typeof told === "string" ? told : undefined
}

/** Returns values that identify a call: short scalars, ids and names before numbers. */
function keyValues(input: unknown): readonly string[] {
  const leaves = leavesOf(input).filter((leaf) => leaf.length >= 3 && leaf.length <= 60 && !leaf.includes("\n"))
  const ids = leaves.filter((leaf) => /\d|[_@/]/.test(leaf))
  return (ids.length > 0 ? ids : leaves).slice(0, 3)
}

const leavesOf = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** What has to be in one line or message for an act to be recognized: its values, and in a digest its tool as well. */
type Act = { readonly tool?: string; readonly values: readonly string[] }

function actsOf(calls: readonly Call[]): readonly Act[] {
  return calls.filter(hasSucceeded).flatMap((call): readonly Act[] => {
    const { tool, input } = call
    const shell = shellOf(input)
    if (shell !== undefined && pathOf(input) === undefined) {
      if (!shellChange.test(shell)) return []
      const step = shell.split(/&&|;|\n/).find((each) => shellChange.test(each)) ?? shell
      return [{ values: [step.trim().slice(0, 32)] }]
    }
    if (fileChange(call).length > 0 || (isRecord(input) && pathOf(input) !== undefined && !insertsText(input)))
      return []
    const words = namesOf(tool)
    // An edit of the open file has no name of its own: the line of its file reports it.
    if (/^(?:edit|insert|append|replace)(?:$|_)/i.test(tool) && isRecord(input) && insertsText(input))
      return [{ values: ["edited"] }]
    if (!changing.test(words) || readingTool.test(words) || /todo|plan|think/i.test(words)) return []
    const values = keyValues(input)
    return values.length === 0 ? [] : [{ tool, values }]
  })
}

/** Returns the path that a call names, without the line range or format that some tools append (`a.ts:424-440`, `a.ts:raw`). */
const pathOf = (input: unknown): string | undefined => {
  if (!isRecord(input)) return undefined
  const path = input.path ?? input.file_path ?? input.filename ?? input.notebook_path ?? input.absolute_path
  return typeof path === "string" && path !== ""
    ? path.replace(/(\.\w{1,10}):(?:\d+(?:-\d+)?|[a-z]{2,8})$/, "$1")
    : undefined
}

/** True if an edit says what it inserts. An editor that is given nothing only shows the file. */
const insertsText = (input: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(input).some((key) => /old|new|content|text|edit|diff|patch|insert|replac|code|input/i.test(key))

/** True if another compaction removed the text of this change, so that nobody knows what changed. */
const isTextRemoved = (input: unknown): boolean =>
  leavesOf(input).some((leaf) => /^\[Compacted history content/.test(leaf))

type Fate = "read" | "created" | "edited" | "deleted"
type FileChange = { readonly path: string; readonly fate: Fate }

const patchHead = /^\*\*\* (Add|Update|Delete) File: (.+)$/gm

/** Returns the files that a call changed, according to its arguments. */
function fileChange({ tool, input }: Call): readonly FileChange[] {
  const text = leavesOf(input).join("\n")
  const patched = [...text.matchAll(patchHead)].map(([, word, path = ""]): FileChange => {
    return { path: path.trim(), fate: word === "Add" ? "created" : word === "Delete" ? "deleted" : "edited" }
  })
  if (patched.length > 0) return patched
  const path = pathOf(input)
  if (path === undefined || !isRecord(input)) return []
  const verb = `${tool} ${typeof input.command === "string" ? input.command : ""}`
  if (/\b(?:view|undo_edit)\b/.test(verb)) return []
  if (/write|create/i.test(verb)) return [{ path, fate: "created" }]
  return /edit|replace|insert/i.test(verb) && insertsText(input) && !/^open/i.test(tool)
    ? [{ path, fate: "edited" }]
    : []
}

/** Returns every file that was read, created, edited or deleted, with the last fate that changed it. */
function filesOf(calls: readonly Call[]): ReadonlyMap<string, Fate> {
  const files = new Map<string, Fate>()
  for (const call of calls.filter(hasSucceeded)) {
    const changed = fileChange(call)
    const path = pathOf(call.input)
    const read: readonly FileChange[] =
      changed.length === 0 &&
      path !== undefined &&
      /read|view|open|editor/i.test(`${call.tool} ${leavesOf(call.input)[0]}`)
        ? [{ path, fate: "read" }]
        : []
    for (const { path: named, fate } of [...changed, ...read]) {
      const known = files.get(named)
      if (fate !== "read" || known === undefined)
        files.set(named, known === "created" && fate === "edited" ? known : fate)
    }
  }
  return files
}

const digestStart = '<summary by="holdfast"'
const flat = (text: string): string => text.replace(/\s+/g, " ").trim()

/** True if a person wrote the user message: it is no notice of a harness and no tool output. */
const isUserText = (text: string): boolean =>
  text.trim() !== "" &&
  !/\(Open file: |bash-\$\s*$/.test(text) &&
  !/^(?:\[aider\]|<(?:system|command|local|environment)|Caveat:|Observation)/.test(text.trim())

/** Matches what a client notes where the user interrupted. */
const interruption = /^\s*\[Request inter[^\]\n]*\]\s*/

const maxSaidTokens = 150

/** Returns every text of a context, digest and messages, as a model reads it. */
const say = (message: ChatMessage): string =>
  [
    message.content ?? "",
    ...("tool_calls" in message ? (message.tool_calls ?? []) : []).flatMap(({ function: called }) => [
      called.name,
      ...leavesOf(parse(called.arguments)),
    ]),
  ].join("\n")

/** Reads a compacted context as its continuation has to, given the history that it stands for. */
export function readHandoff(
  history: readonly ChatMessage[],
  context: readonly ChatMessage[],
  budgetTokens: number,
): Reading {
  const own = context.find(({ role, content }) => role === "user" && content?.startsWith(digestStart) === true)
  const digest = own?.content ?? ""
  const shown = context.filter((message) => message.role !== "system" && message !== own)
  const text = flat([digest, ...shown.map(say)].join("\n"))
  const calls = callsIn(history)
  const shownUnits = shown.map((message) => flat(say(message)))
  const digestUnits = digest.split("\n").map(flat)
  const isRetained = ({ tool, values }: Act): boolean => {
    const holds = (unit: string): boolean => values.every((value) => unit.includes(flat(value)))
    // The name of an MCP server says nothing about the act.
    const own = tool?.split("__").at(-1)
    return (
      shownUnits.some(holds) || digestUnits.some((unit) => holds(unit) && (own === undefined || unit.includes(own)))
    )
  }
  const share = <Item>(items: readonly Item[], holds: (item: Item) => boolean): Count => ({
    found: items.filter(holds).length,
    of: items.length,
  })
  const users = history.flatMap((message) => {
    const content = (message.role === "user" ? (message.content ?? "") : "").replace(interruption, "")
    return message.role === "user" && isUserText(content) ? [{ ...message, content }] : []
  })
  const short = users.filter((message) => countMessage(message, countO200k) <= maxSaidTokens)
  const files = filesOf(calls)
  const lines = digest.split("\n")
  const shownCalls = callsIn(shown)
  const told = (path: string, more: RegExp): boolean =>
    lines.some((line) => names(line, path) && more.test(line.replace(path, ""))) ||
    shownCalls.some((call) => leavesOf(call.input).some((leaf) => leaf.includes(path)))
  const gone = new Set(calls.flatMap(({ input }) => (isTextRemoved(input) ? [pathOf(input) ?? ""] : [])))
  const changed = [...files].filter(([path, fate]) => fate !== "read" && !gone.has(path))
  const { owned, mixed, facts, bare } = readValues(lines, calls)
  return {
    acts: share(actsOf(calls), isRetained),
    words: share(short, ({ content }) => text.includes(flat(content ?? ""))),
    openRequest: share(users.slice(-1), ({ content }) => opens(text, flat(content ?? ""))),
    stopPoint: stopOf(history, text),
    files: share([...files], ([path, fate]) => told(path, fateWords[fate])),
    changes: share(changed, ([path]) => told(path, /[+−-]\d|`[^`]+`|lines?\b|:\s*\w+\s+\w+/)),
    owned,
    mixed,
    bare,
    facts,
    unread: unreadOf(history, context, budgetTokens),
    digestTokens: countO200k(digest),
  }
}

/** True if a line names a path, as it is or in a list that a shell would expand (`step-{1..9}.txt`, `https://a.example/{x,y}`). */
function names(line: string, path: string): boolean {
  if (line.includes(path)) return true
  return [...line.matchAll(/`([^`{}]*)\{([^`{}]+)\}([^`{}]*)`/g)].some(([, before = "", list = "", after = ""]) => {
    if (!path.startsWith(before) || !path.endsWith(after)) return false
    const own = path.slice(before.length, path.length - after.length)
    return list.split(",").some((piece) => {
      const [from = Number.NaN, to = Number.NaN] = piece.split("..").map(Number)
      return piece === own || (Number(own) >= from && Number(own) <= to)
    })
  })
}

const fateWords: Readonly<Record<Fate, RegExp>> = {
  read: /\bread\b|edited|created|deleted/,
  created: /created|written|edited/,
  edited: /edited|created/,
  deleted: /deleted/,
}

/** A long message counts as present if its two ends are. */
const opens = (text: string, said: string): boolean =>
  text.includes(said) || (said.length > 600 && text.includes(said.slice(0, 80)) && text.includes(said.slice(-80)))

/** Stopping point: the last answer is present, or most of its distinctive words are in one line of the context. */
function stopOf(history: readonly ChatMessage[], text: string): Count {
  const last = history.findLast(
    ({ role, content, ...rest }) => role === "assistant" && (content || "tool_calls" in rest),
  )
  if (last === undefined) return { found: 0, of: 0 }
  const said = flat(last.content ?? "")
  const called = callsIn([last])
    .flatMap(({ input }) => leavesOf(input))
    .map(flat)
  // An agent that writes its commands as text stopped at the last command it wrote.
  const written = [...(last.content ?? "").matchAll(/```\w*\n([\s\S]*?)```\s*$/g)].map(([, command = ""]) =>
    flat(command),
  )
  const sentences = said.split(/(?<=[.!?。:])\s/).filter((sentence) => sentence.length > 12)
  const isThere =
    (said !== "" && text.includes(said)) ||
    sentences.some((sentence) => text.includes(sentence.slice(0, 100))) ||
    [called, written].some((some) => some.length > 0 && some.every((leaf) => text.includes(leaf.slice(0, 60))))
  return { found: isThere || (said === "" && called.length === 0) ? 1 : 0, of: 1 }
}

/** Counts the results that the model has not read, if they fit the budget with their calls and the user's latest words. */
function unreadOf(history: readonly ChatMessage[], context: readonly ChatMessage[], budgetTokens: number): Count {
  const last = history.findLastIndex(({ role }) => role === "assistant")
  const round = history.slice(Math.max(0, last))
  const unread = round.filter(({ role }) => role === "tool")
  const words = history.slice(0, Math.max(0, last)).findLast(({ role }) => role === "user")
  const stays = [...round, ...(words === undefined ? [] : [words])]
  if (stays.reduce((sum, message) => sum + countMessage(message, countO200k), 0) > budgetTokens)
    return { found: 0, of: 0 }
  const shown = new Set(context.filter(({ role }) => role === "tool").map(({ content }) => content))
  return { found: unread.filter(({ content }) => shown.has(content)).length, of: unread.length }
}

type Owner = Map<string, Set<string>>

/** Returns for each value under a key of a JSON result the names (ids) of the records around it, and of what was asked for. */
function ownersIn(calls: readonly Call[]): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>()
  const note = (key: string, value: string, names: readonly string[]): void => {
    const byValue: Owner = owners.get(key) ?? new Map()
    const known = byValue.get(value) ?? new Set()
    for (const name of names) known.add(name)
    byValue.set(value, known)
    owners.set(key, byValue)
  }
  const walk = (value: unknown, key: string, names: readonly string[]): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, key, names)
    else if (isRecord(value)) {
      const scalars = Object.values(value).filter((each) => typeof each === "string" || typeof each === "number")
      for (const [inner, each] of Object.entries(value)) walk(each, inner, [...names, inner, ...scalars.map(String)])
    } else note(key, String(value), names)
  }
  for (const { input, result, tool } of calls) walk(parse(result ?? ""), "", [tool, ...leavesOf(input)])
  return owners
}

const recordLine = /^- (.{2,120}?): (.*=.*)$/
const field = /(?:^|; )([\w .-]{1,40})=(?:`([^`]*)`|([^;(),]*))/g

/** Counts the values that a digest states with their owner, those whose source agrees, and lists of values without an owner. */
function readValues(
  lines: readonly string[],
  calls: readonly Call[],
): Pick<Reading, "owned" | "mixed" | "facts" | "bare"> {
  const owners = ownersIn(calls)
  let [right, checked, mixed, factLength, bareLength, inFacts] = [0, 0, 0, 0, 0, false]
  for (const line of lines) {
    if (line.startsWith("## ")) inFacts = /^## (?:Facts|Known values|Values)/.test(line)
    if (inFacts) factLength += line.length + 1
    if (isBareList(line)) bareLength += line.length + 1
    const record = inFacts ? recordLine.exec(line) : null
    if (record === null) continue
    const [, owner = "", fields = ""] = record
    for (const [, key = "", ticked, plain = ""] of fields.matchAll(field)) {
      const named = owners.get(key.split(/[ .]/).at(-1) ?? key)?.get((ticked ?? plain).trim())
      if (named === undefined) continue
      checked++
      // A record's name has no blank after a colon, because that would end it.
      if ([...named].some((name) => name.length > 1 && owner.includes(name.replaceAll(": ", ":")))) right++
      else mixed++
    }
  }
  const all = lines.join("\n").length
  return {
    owned: { found: right, of: checked },
    mixed: { found: mixed, of: checked },
    facts: { found: factLength, of: all },
    bare: { found: bareLength, of: all },
  }
}

/** True for `ids: a1, b2, c3, d4`: at least four bare values after a plural or nothing. */
function isBareList(line: string): boolean {
  const [, list = ""] = /^(?:- )?(?:[\w ]{2,24}: )?(\S+(?:, \S+){3,}.*)$/.exec(line) ?? []
  if (list === "" || /[=(]/.test(list)) return false
  const items = list.split(", ")
  return items.filter((item) => !/\s/.test(item.trim())).length >= items.length * 0.8
}
