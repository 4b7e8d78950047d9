import { parsePrompty } from "../compact/summary/prompty.ts"
import { checkGuardUse } from "../guard/guard-use.ts"
import { HoldfastError } from "../message/errors.ts"
import { formats } from "../message/message.ts"
import { readBaseUrl } from "../model/address.ts"
import { isObject } from "../wire/json.ts"
import type { TurnOptions } from "./turn-options.ts"
import type { TurnTool } from "./turn-tool.ts"

function refuse(option: string, expected: string, found: unknown): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found: describeFound(found) })
}

function describeFound(found: unknown): string {
  if (typeof found === "string") return JSON.stringify(found.slice(0, 80))
  return typeof found === "number" ? String(found) : found === null ? "null" : typeof found
}

/** Refuse what cannot be meant, by name, before any model is called. */
export function checkTurn(options: TurnOptions): void {
  const { agent, inputs, messages = [], tools = [], session } = options
  checkModel(agent)
  if (typeof inputs !== "string" && !Array.isArray(inputs)) refuse("inputs", "text or a list of messages", inputs)
  if (!Array.isArray(messages)) refuse("messages", "a list of messages", messages)
  if (inputs.length === 0 && messages.length === 0 && session === undefined)
    refuse("inputs", "something to answer", inputs)
  if (session !== undefined) {
    for (const name of ["messages", "contextBudget", "compaction", "compactionOptions"] as const)
      if (options[name] !== undefined) refuse(name, "nothing beside a session, which sees to it itself", options[name])
  }
  checkGuard(options.guard)
  checkBudget(options.contextBudget)
  checkCompaction(options)
  checkTools(tools)
  checkCount("maxIterations", options.maxIterations)
  checkCount("maxParallelTools", options.maxParallelTools)
  checkCount("toolTimeoutMs", options.toolTimeoutMs)
  checkCount("maxResultLength", options.maxResultLength)
}

function checkModel(agent: unknown): void {
  const model = isObject(agent) ? agent.model : undefined
  if (!isObject(model)) refuse("agent.model", "where the model is and how to speak to it", model)
  if (!formats.some((format) => format === model.format))
    refuse("agent.model.format", `one of ${formats.join(", ")}`, model.format)
  if (typeof model.model !== "string" || model.model === "") refuse("agent.model.model", "a model's name", model.model)
  readBaseUrl(String(model.baseUrl))
  checkCount("agent.model.maxOutputTokens", model.maxOutputTokens)
  checkCount("agent.model.timeoutMs", model.timeoutMs)
}

function checkCount(option: string, value: unknown): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1))
    refuse(option, "a whole number, at least 1", value)
}

function checkGuard(guard: TurnOptions["guard"]): void {
  if (guard === undefined) return
  if (!isObject(guard) || !isObject(guard.guard) || typeof guard.guard.judge !== "function")
    refuse("guard", "{ guard } with a guard from createGuard", guard)
  checkGuardUse(guard, "guard.")
}

function checkBudget(budget: unknown): void {
  if (budget === undefined) return
  const size = isObject(budget) ? (budget.tokens ?? budget.characters) : budget
  if (!(Number.isSafeInteger(size) && Number(size) >= 1))
    refuse("contextBudget", "a whole number of tokens, { tokens } or { characters }", size)
}

function checkCompaction({ compaction }: TurnOptions): void {
  if (compaction === undefined || compaction === "extractive" || compaction === "none") return
  if (typeof compaction === "function") return
  if (!isObject(compaction)) refuse("compaction", "extractive, none, a function, a model or { prompty }", compaction)
  // A mistake in the file is told before the first call and not in the midst of the work.
  if (typeof compaction.prompty === "string") parsePrompty(compaction.prompty)
}

/** What every provider takes for a tool's name. */
const toolName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

function checkTools(tools: readonly TurnTool[]): void {
  if (!Array.isArray(tools)) refuse("tools", "a list of tools", tools)
  const names = new Set<string>()
  for (const { name, inputSchema, run } of tools) {
    if (typeof name !== "string" || !toolName.test(name))
      refuse("tools", "names of 1 to 64 letters, digits, underscores and hyphens", name)
    if (names.has(name)) refuse("tools", "names that differ", name)
    if (!isObject(inputSchema)) refuse(`tools.${name}.inputSchema`, "a JSON Schema of an object", inputSchema)
    if (typeof run !== "function") refuse(`tools.${name}.run`, "a function", run)
    names.add(name)
  }
}
