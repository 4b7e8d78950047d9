import { separate } from "../compact/stack/separate.ts"
import { type StrategyName, strategies } from "../compact/stages/strategies.ts"
import { refuseOption } from "../message/errors.ts"
import { type Format, formats } from "../message/message.ts"
import { present } from "../message/present.ts"
import { compactRequest } from "../session/one-shot/compact-request.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import { meterFor, planRequest } from "../session/one-shot/plan-request.ts"
import { decodeRequest } from "../wire/decode.ts"
import type { Arguments, Command, Options } from "./command.ts"
import { writeResult } from "./deliver.ts"
import { type OpenedRequest, openRequest, readInput } from "./read-input.ts"
import { startProgress } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** The choices from the command line, as far as they do not depend on the request. */
export type CompactCommandChoices = {
  readonly format?: Format
  readonly index: number
  /** Tokens, or a share of what is outside the prompt stack. */
  readonly budget?: { readonly tokens: number } | { readonly share: number }
  readonly options: Omit<CompactOptions, "format" | "budgetTokens">
  readonly out?: string
  readonly trace?: string
  readonly output: "auto" | "json" | "show" | "quiet"
}

const isStrategy = (name: string): name is StrategyName => Object.hasOwn(strategies, name)
const strategyNames: readonly StrategyName[] = Object.keys(strategies).filter(isStrategy)
const schemaNames = ["handoff", "snapshot"] as const
const summarizerNames = ["extractive", "none"] as const
const outputs = ["json", "show", "quiet"] as const

const compactOptions: Options = {
  budget: { value: "N", help: "most tokens outside the prompt stack, or a share of them: 25%" },
  window: { value: "N", help: "the window in tokens, where the model's own is not to be used" },
  model: { value: "NAME", help: "whose tokens and window; the request's own unless given" },
  strategy: { value: "NAME", help: "what stays verbatim; staged unless given", oneOf: strategyNames },
  summarizer: { value: "NAME", help: "who writes the digest; extractive unless given", oneOf: summarizerNames },
  schema: { value: "NAME", help: "the digest's sections; handoff unless given", oneOf: schemaNames },
  focus: { value: "TEXT", help: "what matters; raises what speaks of it" },
  pin: { value: "RULE", help: "a rule that must be there verbatim", repeats: true },
  format: { value: "NAME", help: "the wire format, where it is not to be told by shape", oneOf: formats },
  index: { value: "N", help: "which conversation of a file that holds several; from 0" },
  out: { value: "FILE", help: "write the compacted body there" },
  trace: { value: "FILE", help: "write what was done and why there, as JSON lines" },
  json: { help: "one object { body, report, trace } on stdout, and nothing else" },
  show: { help: "the account on stdout, and no body" },
  quiet: { help: "the body and no account" },
}

export const compactCommand: Command = {
  options: compactOptions,
  maxPositionals: 1,
  run: compactFile,
}

/** Length of a text in characters from which progress is shown. */
const longLength = 1_000_000

async function compactFile(args: Arguments, world: World): Promise<0> {
  const choices = readChoices(args)
  const input = await readInput(args.positionals[0], world)
  const startMs = world.nowMs()
  const isSilent = choices.output === "json" || choices.output === "quiet" || input.text.length < longLength
  const stopProgress = startProgress(isSilent, world.stderr)
  try {
    const opened = openRequest(input.text, choices)
    const options = optionsFor(opened, choices)
    const result = await compactRequest(opened.body, options)
    await stopProgress()
    const tookMs = world.nowMs() - startMs
    return await writeResult({ name: input.name, opened, options, result, tookMs }, choices, world)
  } finally {
    await stopProgress()
  }
}

/** The options for a request: a budget given as a share becomes a number of tokens. */
function optionsFor(
  { body, format, model }: OpenedRequest,
  { budget, options }: CompactCommandChoices,
): CompactOptions {
  const whole: CompactOptions = { format, ...present({ model }), ...options }
  if (budget === undefined) return whole
  if ("tokens" in budget) return { ...whole, budgetTokens: budget.tokens }
  const counted: CompactOptions = { ...whole, budgetTokens: 1 }
  const request = decodeRequest(format, body)
  const { outsideTokens } = planRequest(request, separate(request), meterFor(request, counted), counted)
  return { ...whole, budgetTokens: Math.max(1, Math.floor(outsideTokens * budget.share)) }
}

/** Reads the options of `compact`; an invalid one is a Problem. */
function readChoices(args: Arguments): CompactCommandChoices {
  const value = args.valueOf
  const windowTokens = countOf("--window", value("window"), 1)
  const budget = budgetOf(value("budget"))
  const pins = args.valuesOf("pin")
  if (budget !== undefined && windowTokens !== undefined)
    refuseOption("--window", "nothing beside --budget, which leaves the window out of play", String(windowTokens))
  if (pins.some((pin) => pin.trim() === "")) refuseOption("--pin", "the words of a rule", "empty")
  return {
    index: countOf("--index", value("index"), 0) ?? 0,
    output: outputOf(args),
    options: {
      pins,
      ...present({
        windowTokens,
        model: value("model"),
        strategy: strategyNames.find((name) => name === value("strategy")),
        schema: schemaNames.find((name) => name === value("schema")),
        summarizer: summarizerNames.find((name) => name === value("summarizer")),
        focus: value("focus"),
      }),
    },
    ...present({
      budget,
      format: formats.find((format) => format === value("format")),
      out: value("out"),
      trace: value("trace"),
    }),
  }
}

/** Matches a whole number. No window has more digits, and a longer number would not be exact. */
const wholeNumber = /^\d{1,12}$/
const percentage = /^(\d{1,3}(?:\.\d{1,4})?)%$/

function countOf(option: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const count = wholeNumber.test(text) ? Number(text) : Number.NaN
  if (count >= least) return count
  return refuseOption(option, `a whole number, at least ${least}`, JSON.stringify(text.slice(0, 40)))
}

function budgetOf(text: string | undefined): CompactCommandChoices["budget"] {
  if (text === undefined) return undefined
  if (wholeNumber.test(text) && Number(text) > 0) return { tokens: Number(text) }
  const share = Number(percentage.exec(text)?.[1] ?? Number.NaN) / 100
  if (share > 0 && share <= 1) return { share }
  return refuseOption("--budget", "a whole number of tokens or a share such as 25%", JSON.stringify(text.slice(0, 40)))
}

function outputOf({ isOn }: Arguments): CompactCommandChoices["output"] {
  const [first, second] = outputs.filter(isOn)
  if (second !== undefined) refuseOption(`--${second}`, "nothing", `given beside --${first}, which excludes it`)
  return first ?? "auto"
}
