import { type StrategyName, strategies } from "../compact/stages/strategies.ts"
import { HoldfastError } from "../message/errors.ts"
import { type Format, formats } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import type { Arguments, Options } from "./command.ts"

/** What was asked for, as far as it does not depend on the request. */
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

export const compactOptions: Options = {
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

/** Read the options of `compact`; one that cannot be meant is a Problem. */
export function readChoices(args: Arguments): CompactCommandChoices {
  const value = args.valueOf
  const windowTokens = countOf("--window", value("window"), 1)
  const budget = budgetOf(value("budget"))
  const pins = args.valuesOf("pin")
  if (budget !== undefined && windowTokens !== undefined)
    refuse("--window", "nothing beside --budget, which leaves the window out of play", String(windowTokens))
  if (pins.some((pin) => pin.trim() === "")) refuse("--pin", "the words of a rule", "empty")
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

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}

/** No window has as many digits; more would not be exact. */
const wholeNumber = /^\d{1,12}$/
const percentage = /^(\d{1,3}(?:\.\d{1,4})?)%$/

function countOf(option: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const count = wholeNumber.test(text) ? Number(text) : Number.NaN
  if (count >= least) return count
  return refuse(option, `a whole number, at least ${least}`, JSON.stringify(text.slice(0, 40)))
}

function budgetOf(text: string | undefined): CompactCommandChoices["budget"] {
  if (text === undefined) return undefined
  if (wholeNumber.test(text) && Number(text) > 0) return { tokens: Number(text) }
  const share = Number(percentage.exec(text)?.[1] ?? Number.NaN) / 100
  if (share > 0 && share <= 1) return { share }
  return refuse("--budget", "a whole number of tokens or a share such as 25%", JSON.stringify(text.slice(0, 40)))
}

function outputOf({ isOn }: Arguments): CompactCommandChoices["output"] {
  const [first, second] = outputs.filter(isOn)
  if (second !== undefined) refuse(`--${second}`, "nothing", `given beside --${first}, which excludes it`)
  return first ?? "auto"
}
