import { anyOf } from "../language/word-lists.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { namedActions } from "./facts/action.ts"
import { knownContracts } from "./facts/contracts.ts"
import type { ToolCall } from "./facts/facts.ts"

/** A call written in the text of a response, for clients that parse calls from text, with its offset. */
type TextCall = { readonly tool: string; readonly input: unknown; readonly start: number }

/** Maximum number of elements, objects and lines examined in one text; no response of a model has more calls. */
const maxFound = 500
/** Maximum length of one call in characters. */
const maxCallLength = 500_000

/**
 * Finds the calls in a text: elements (`<execute_command><command>…`), JSON with a name and arguments, JSON behind the marks of a chat
 * template (`<|tool_call_begin|>`, `[TOOL_CALLS]`), `Action:` with `Action Input:`, and Python in a block of tool code.
 */
export function callsInText(text: string): readonly TextCall[] {
  if (!mayBeginCall(text)) return []
  const found = [
    ...elementCalls(text),
    ...objectCalls(text),
    ...markedCalls(text),
    ...actionCalls(text),
    ...codeCalls(text),
  ]
  const seen = new Set<string>()
  return found
    .filter((call) => {
      const key = JSON.stringify([call.tool, call.input])
      return seen.has(key) ? false : seen.add(key).has(key)
    })
    .sort((one, other) => one.start - other.start)
    .slice(0, maxFound)
}

const callBeginning = new RegExp(
  anyOf(
    "<(?:[a-z]+_|function|tool|invoke|call|bash|shell|python|execute|terminal|code)[\\w.:-]*[=\\s>]",
    "<[|｜]|\\[TOOL_|```tool|\\bAction(?: Input)?\\s*:",
    '"(?:arguments|args|parameters|params|kwargs|input|action_input|tool_input)"\\s*:',
    "(?:^|\\n)[ \\t]*\\[\\w+\\(",
  ),
  "i",
)

/** True if a call could begin in a text. Also works on a partial text: it matches what comes before the arguments of a call. */
export const mayBeginCall = (text: string): boolean => callBeginning.test(text)

/** True if a name is that of a known tool or names an action; elements and objects with other names occur in ordinary text too. */
function isToolName(name: string, input: unknown): boolean {
  if (knownContracts().of(name, input) !== undefined) return true
  const actions = namedActions(name, [])
  return !(actions.size === 1 && actions.has("other"))
}

// Elements

type Element = {
  readonly name: string
  /** Name given in an attribute or in the tag itself: `<invoke name="x">`, `<function=x>`. */
  readonly named: string | undefined
  readonly start: number
  readonly bodyStart: number
  body: string
  readonly children: Element[]
}

const tag = /<(\/?)([a-zA-Z][\w.:-]{0,80})(?:=([^\s<>]{1,200}))?(\s[^<>]{0,500})?>/g

/** Parses the elements of a text; one that is never closed ends with the text. */
function elementsIn(text: string): readonly Element[] {
  const roots: Element[] = []
  const stack: Element[] = []
  let count = 0
  const close = (at: number, end: number): void => {
    for (const element of stack.splice(at))
      element.body = text.slice(element.bodyStart, Math.min(end, element.bodyStart + maxCallLength))
  }
  for (const { 0: whole, 1: slash, 2: name = "", 3: value, 4: attributes = "", index } of text.matchAll(tag)) {
    if (++count > maxFound * 10) break
    const plain = name.toLowerCase()
    if (slash === "/") {
      const at = stack.findLastIndex((element) => element.name === plain)
      if (at >= 0) close(at, index)
      continue
    }
    const attribute = /\b(?:name|tool|function)\s*=\s*["']?([^"'\s>]+)/i.exec(attributes)?.[1]
    const named = (value ?? attribute)?.replace(/^["']|["']$/g, "")
    const element: Element = {
      name: plain,
      named,
      start: index,
      bodyStart: index + whole.length,
      body: "",
      children: [],
    }
    ;(stack.at(-1)?.children ?? roots).push(element)
    if (!attributes.trimEnd().endsWith("/")) stack.push(element)
  }
  close(0, text.length)
  return roots
}

/** Elements that wrap calls, those whose attribute names the tool, and those named after a program that runs their content. */
const around = /^(?:antml:)?(?:function_calls|tool_calls?|tool_use|tool|function_call|tools)$/
const namedElement = /^(?:antml:)?(?:invoke|function|tool|call|tool_call|tool_use|function_call)$/
const runners = /^(?:bash|shell|sh|zsh|terminal|cmd|powershell|python|ipython|execute|execute_\w+|run_\w+)$/

function elementCalls(text: string): readonly TextCall[] {
  const calls: TextCall[] = []
  const waiting = [...elementsIn(text)]
  for (let at = 0; at < waiting.length && calls.length < maxFound; at++) {
    const element = waiting[at]
    if (element === undefined) continue
    const call = elementCall(element)
    if (call === undefined) waiting.push(...element.children)
    else calls.push(call)
  }
  return calls
}

function elementCall(element: Element): TextCall | undefined {
  const { name, named, start, children, body } = element
  const child = (names: RegExp): string | undefined => children.find((one) => names.test(one.name))?.body.trim()
  const inner = child(/^(?:tool_name|name|function_name|tool)$/)
  if (namedElement.test(name) && named !== undefined) return { tool: named, input: fieldsOf(element), start }
  const given = child(/^(?:arguments|args|parameters|input|tool_input)$/)
  if (inner !== undefined && /^[\w.:-]+$/.test(inner) && given !== undefined)
    return { tool: inner, input: tryParse(given) ?? fieldsOf(element), start }
  if (around.test(name)) return undefined
  const input = children.length > 0 ? fieldsOf(element) : (tryParse(body.trim()) ?? body.trim())
  if (runners.test(name) && body.trim() !== "") return { tool: name, input, start }
  return name.includes("_") && (children.length > 0 || isObject(input)) && isToolName(name, input)
    ? { tool: name, input, start }
    : undefined
}

/** Input of a call element: the content of each child under its name, or without children its own text, parsed if it is JSON. */
function fieldsOf({ children, body }: Element): unknown {
  if (children.length === 0) return tryParse(body.trim()) ?? body.trim()
  return Object.fromEntries(
    children.map((one) => [one.named ?? one.name, tryParse(one.body.trim()) ?? one.body.replace(/^\n|\n$/g, "")]),
  )
}

// Objects

const nameKeys = ["name", "tool", "tool_name", "function", "function_name", "action", "recipient_name"]
const argumentKeys = ["arguments", "args", "parameters", "params", "kwargs", "input", "tool_input", "action_input"]
/** Argument names that occur in calls and hardly anywhere else. */
const callOnlyKeys = /^(?:arguments|tool_input|action_input|kwargs)$/

function objectCalls(text: string): readonly TextCall[] {
  const calls: TextCall[] = []
  // Limit on characters scanned in all, because each bracket that never closes is followed to the end.
  let left = 4 * text.length + 1_000
  for (let at = text.search(/[[{]/); at >= 0 && left > 0; ) {
    const end = endOfJson(text, at)
    left -= (end ?? Math.min(text.length, at + maxCallLength)) - at
    const value = end === undefined ? undefined : tryParse(text.slice(at, end))
    if (value !== undefined) addObjects(calls, value, at)
    const from = value === undefined || end === undefined ? at + 1 : end
    const next = text.slice(from).search(/[[{]/)
    at = next < 0 ? -1 : from + next
  }
  return calls
}

/** End offset of the object or list that starts at `start`, by its brackets and quotes. */
function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  let isQuoted = false
  for (let at = start; at < text.length && at - start < maxCallLength; at++) {
    const sign = text[at]
    if (isQuoted) {
      if (sign === "\\") at++
      else if (sign === '"') isQuoted = false
    } else if (sign === '"') isQuoted = true
    else if (sign === "{" || sign === "[") depth++
    else if ((sign === "}" || sign === "]") && --depth === 0) return at + 1
  }
  return undefined
}

/** Adds the calls in a value. `isRunner`: it is the input of a tool that runs others. `isRead`: strings that are JSON are parsed too. */
function addObjects(calls: TextCall[], value: unknown, start: number, isRunner = false, isRead = false): void {
  const waiting: unknown[] = [value]
  for (let at = 0; at < waiting.length && at < maxFound && calls.length < maxFound; at++) {
    const held = waiting[at]
    const one = isRead && typeof held === "string" && /^\s*[{[]/.test(held) ? tryParse(held) : held
    if (Array.isArray(one)) waiting.push(...one)
    if (!isObject(one)) continue
    const call = objectCall(one, isRunner)
    if (call === undefined) waiting.push(...Object.values(one))
    else calls.push({ ...call, start })
  }
}

function objectCall(fields: Readonly<Record<string, unknown>>, isRunner: boolean): Omit<TextCall, "start"> | undefined {
  const key = argumentKeys.find((one) => Object.hasOwn(fields, one))
  const named = nameKeys
    .map((one) => fields[one])
    .find((one) => typeof one === "string" && /^[\w.:/-]{1,200}$/.test(one))
  if (key === undefined || typeof named !== "string") return undefined
  const given = fields[key]
  const input = typeof given === "string" ? (tryParse(given) ?? given) : given
  return isRunner || callOnlyKeys.test(key) || isToolName(named, input) ? { tool: bareName(named), input } : undefined
}

/** Matches names of tools that run other tools. */
const runsTools =
  /(?:call|use|invoke|exec(?:ute)?|run|dispatch)[\W_]*(?:\w+_)?(?:tools?|functions?|actions?)(?![a-z])|multi[\W_]?tool|tool[\W_]?(?:calls?|uses?|runner|dispatch)|^batch/i

/** Calls in the arguments of another call, such as one of a tool that runs others by name. */
export function callsWithin(call: ToolCall): readonly Omit<TextCall, "start">[] {
  const calls: TextCall[] = []
  try {
    const { tool, input } = call
    if (typeof input === "object" && input !== null) addObjects(calls, input, 0, runsTools.test(String(tool)), true)
  } catch {
    // The guard cannot read input that throws either, and refuses the call for that.
    return []
  }
  return calls.slice(0, maxNested).map(({ tool, input: given }) => ({ tool, input: given }))
}
const maxNested = 100

/** `functions.bash:0` is a call of `bash`. */
const bareName = (name: string): string => name.replace(/^functions?\./, "").replace(/:\d+$/, "")

// Marks of chat templates

const marks =
  /(?:\bto=|\[TOOL_CALLS\]\s*|[|｜]>\s*|^)((?:functions?\.)?[A-Za-z_][\w.-]{0,100}(?::\d+)?)\s*(?:(?:<[|｜][^<>]{1,60}[|｜]>|\[[A-Z_]+\]|```json|json)\s*){0,4}(?=\{)/gm

function markedCalls(text: string): readonly TextCall[] {
  if (!/<[|｜]|\[TOOL_/.test(text)) return []
  return [...text.matchAll(marks)].slice(0, maxFound).flatMap(({ 0: whole, 1: name = "", index }) => {
    const at = index + whole.length
    const end = endOfJson(text, at)
    const input = end === undefined ? undefined : tryParse(text.slice(at, end))
    return isObject(input) ? [{ tool: bareName(name), input, start: index }] : []
  })
}

// Lines and code

const action =
  /^[ \t>*-]{0,20}Action[ \t]{0,20}:[ \t]{0,100}(?:\r?\n[ \t]{0,100})?([^\n]{1,200})\n[\r\n]{0,20}[ \t>*-]{0,20}Action Input[ \t]{0,20}:/gim
/** Matches the line after the input of an action. */
const afterInput = /\n[ \t]{0,20}(?:Observation|Thought|Action)[ \t]{0,20}:/gi
const actionName = /^[\w.:/ -]{1,100}$/

function actionCalls(text: string): readonly TextCall[] {
  return [...text.matchAll(action)].slice(0, maxFound).flatMap(({ 0: head, 1: line = "", index }) => {
    const tool = line.replace(/[`*]/g, "").trim()
    if (!actionName.test(tool)) return []
    const start = index + head.length
    afterInput.lastIndex = start
    const given = text.slice(start, afterInput.exec(text)?.index)
    const bare = given.trim().replace(/^```\w*\n?|\n?```$/g, "")
    return [{ tool, input: tryParse(bare) ?? bare, start: index }]
  })
}

const toolCode =
  /```tool_(?:code|call)s?\s*\n([\s\S]*?)(?:```|$(?![\s\S]))|<\|python_tag\|>\s*(?!\{)([^\n]+)|(?:^|\n)[ \t]*(\[\w+\([^\n]*\)\])[ \t\r]*(?=\n|$)/g
const pythonCall = /(?<![\w.])([A-Za-z_][\w.]*)\(((?:[^()"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\)/g
const pythonField = /(?<!\w)(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,()]+))/g

/** Calls in Python: the program itself as a call of `python`, unless it is a plain list of calls, and each call with named arguments. */
function codeCalls(text: string): readonly TextCall[] {
  return [...text.matchAll(toolCode)].slice(0, maxFound).flatMap(({ 1: block, 2: line, 3: list, index }) => {
    const code = block ?? line ?? list ?? ""
    const calls = [...code.matchAll(pythonCall)].slice(0, maxFound).flatMap(([, name = "", given = ""]) => {
      const fields = [...given.matchAll(pythonField)].map(([, key = "", double, single, other = ""]) => [
        key,
        double ?? single ?? tryParse(other) ?? other,
      ])
      return fields.length === 0
        ? []
        : [{ tool: name.replace(/\.call$/, ""), input: Object.fromEntries(fields), start: index }]
    })
    return list === undefined ? [{ tool: "python", input: { code }, start: index }, ...calls] : calls
  })
}
