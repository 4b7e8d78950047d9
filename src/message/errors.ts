import type { Words } from "./present.ts"
import words from "./problems.json" with { type: "json" }

/** Why the file or folder of a store cannot be used. */
export type StoreCause = Words<"permission read-only not-a-folder not-a-file full missing name open-files disk other">

/** All expected failures. A bug is an assertion, never one of these. */
export type Problem =
  | { readonly code: "json-invalid"; readonly offset: number; readonly reason: string }
  | { readonly code: "json-too-deep"; readonly offset: number; readonly limit: number }
  | { readonly code: "body-too-large"; readonly length: number; readonly limit: number }
  | { readonly code: "request-invalid"; readonly path: string; readonly expected: string; readonly found: string }
  | { readonly code: "response-invalid"; readonly path: string; readonly expected: string; readonly found: string }
  | { readonly code: "stream-invalid"; readonly event: string; readonly expected: string; readonly found: string }
  | { readonly code: "stream-cut"; readonly after: string }
  | { readonly code: "call-withheld"; readonly why: string }
  | { readonly code: "stream-event-too-large"; readonly limit: number }
  | { readonly code: "upstream-error"; readonly type: string; readonly message: string; readonly status?: number }
  | { readonly code: "upstream-unreachable"; readonly host: string; readonly reason: string }
  | { readonly code: "upstream-timeout"; readonly host: string; readonly limitMs: number }
  | { readonly code: "upstream-stopped"; readonly host: string }
  | { readonly code: "upstream-too-large"; readonly host: string; readonly limitBytes: number }
  | { readonly code: "answer-refused"; readonly model: string }
  | { readonly code: "answer-empty"; readonly model: string }
  | { readonly code: "answer-cut"; readonly model: string; readonly limitTokens: number }
  | { readonly code: "summarizer-late"; readonly limitMs: number }
  | { readonly code: "prompty-invalid"; readonly line: number; readonly expected: string; readonly found: string }
  | { readonly code: "format-unknown"; readonly found: string; readonly known: readonly string[] }
  | { readonly code: "format-mixed"; readonly message: string; readonly found: string; readonly expected: string }
  | { readonly code: "part-unwritable"; readonly part: string; readonly format: string }
  | { readonly code: "file-invalid"; readonly line: number; readonly expected: string; readonly found: string }
  | {
      readonly code: "floor-exceeds-window"
      readonly floorTokens: number
      readonly windowTokens: number
      readonly largest: string
      /** All pieces of the floor, each with its size. */
      readonly pieces?: readonly { readonly name: string; readonly tokens: number }[]
    }
  | {
      readonly code: "budget-impossible"
      readonly budgetTokens: number
      readonly neededTokens: number
      readonly largest: string
    }
  | { readonly code: "option-invalid"; readonly option: string; readonly expected: string; readonly found: string }
  | { readonly code: "stack-invalid"; readonly section: string; readonly reason: string }
  | { readonly code: "source-unreadable"; readonly section: string; readonly reason: string }
  | { readonly code: "breakpoints-exceeded"; readonly count: number; readonly limit: number }
  | { readonly code: "store-full"; readonly store: string; readonly path?: string }
  | {
      readonly code: "store-unavailable"
      readonly store: string
      readonly reason: string
      /** The file or folder that causes the problem, for a store of files. */
      readonly path?: string
      readonly cause?: StoreCause
    }
  | { readonly code: "store-locked"; readonly store: string; readonly waitedMs: number; readonly path?: string }
  | {
      readonly code: "store-corrupt"
      readonly store: string
      readonly session: string
      readonly reason: string
      readonly path?: string
    }
  | {
      readonly code: "store-newer"
      readonly store: string
      readonly version: number
      readonly known: number
      readonly path?: string
    }
  | { readonly code: "store-closed"; readonly store: string }
  | { readonly code: "store-sealed"; readonly store: string; readonly reason: "no-key" | "other-key" | "plain" }
  | { readonly code: "store-in-use"; readonly store: string; readonly path: string; readonly owner?: string }
  | { readonly code: "package-missing"; readonly package: string; readonly purpose: string }
  | { readonly code: "session-unknown"; readonly session: string }
  | { readonly code: "session-exists"; readonly session: string }
  | { readonly code: "entry-unknown"; readonly session: string; readonly entry: string }
  | { readonly code: "handle-unknown"; readonly handle: string }
  | { readonly code: "nothing-to-undo"; readonly session: string }
  | {
      readonly code: "policy-invalid"
      readonly policy: string
      readonly line?: number
      /** Absent if the file or folder itself is the fault and `found` says how: "does not exist". */
      readonly expected?: string
      readonly found: string
    }
  /** The folder of the rules or policies in force, or of the keys that they depend on, is gone. */
  | { readonly code: "policy-missing"; readonly directory: string; readonly found: string }
  | { readonly code: "command-refused"; readonly reason: CommandRefusal; readonly found: string }
  | { readonly code: "key-invalid"; readonly key: string; readonly expected: string }
  | { readonly code: "finder-failed"; readonly reason: string }
  | { readonly code: "pin-unknown"; readonly pin: string; readonly fitting?: number }
  | { readonly code: "pin-shared"; readonly pin: string; readonly scope: string }
  | { readonly code: "turn-too-long"; readonly iterations: number }
  | { readonly code: "turn-stopped"; readonly iterations: number }
  | { readonly code: "access-refused"; readonly status: 401 | 403; readonly reason: string }
  | { readonly code: "path-unknown"; readonly reason: string }
  | { readonly code: "path-unjudged"; readonly what: string }
  | { readonly code: "gateway-busy"; readonly what: string; readonly limit: number }
  | { readonly code: "gateway-fault" }

/** Why a signed command was rejected. */
export type CommandRefusal =
  Words<"malformed key-unknown signature-wrong audience-wrong sequence-used expired not-yet-valid impossible">

const refusals: Readonly<Record<CommandRefusal, string>> = words.refusals

/** A problem in words: what happened, and what to do about it. */
export type Advice = { readonly sentence: string; readonly next: string }

type Describe = { readonly [Code in Problem["code"]]: (problem: Extract<Problem, { code: Code }>) => Advice }

/** Problems whose text depends on more than the values of their fields. */
const describers = {
  "upstream-error": ({ type, message, status }) => ({
    sentence: `The model's API answered with an error${status === undefined ? "" : ` (${status})`}: ${type}: ${message}`,
    next: "See the provider's documentation for this error; nothing was changed by it.",
  }),
  "floor-exceeds-window": ({ floorTokens, windowTokens, largest, pieces = [] }) => ({
    sentence: `What can never be left out needs ${floorTokens} tokens, ${floorTokens - windowTokens} more than the ${windowTokens} there are; the largest piece is ${largest}${pieceWords(pieces)}.`,
    next: `Shorten ${largest}, lower the output reserve, or use a model with a larger window.`,
  }),
  "option-invalid": ({ option, expected, found }) => ({
    sentence: `The option ${option} is ${found}, where ${expected} was expected.`,
    // An option name with blanks is a description rather than a name.
    next: `Give ${expected}, or leave ${option.includes(" ") ? "it" : option} out.`,
  }),
  "store-full": (problem) => ({
    sentence: `${storeWords(problem)} has no room left on its disk; nothing was written.`,
    next: "Free some space, or delete old sessions; what is in memory is written as soon as there is room.",
  }),
  "store-unavailable": (problem) => {
    const { path, cause = path === undefined ? undefined : "other", reason } = problem
    return cause === undefined
      ? { sentence: `${storeWords(problem)} could not be reached: ${reason}.`, next: nextIfUnreachable }
      : {
          sentence: `The store cannot be used: ${path === undefined ? "" : `${path}: `}${reason}.`,
          next: nextByCause[cause],
        }
  },
  "store-locked": (problem) => ({
    sentence: `${storeWords(problem)} was locked by another program for more than ${problem.waitedMs} ms.`,
    next: "Find out who holds it (a backup, a long transaction), or try again.",
  }),
  "store-newer": (problem) => ({
    sentence: `${storeWords(problem)} was written by a newer version (schema ${problem.version}; this one knows ${problem.known}).`,
    next: "Update holdfast, or open another store.",
  }),
  "store-in-use": ({ path, owner = "its process is not known" }) => ({
    sentence: `Another gateway serves from the store ${path}: ${owner}.`,
    next: "Stop that one, name another place with --data, or keep the sessions of both in PostgreSQL (--data postgres://...).",
  }),
  "store-sealed": ({ store, reason }) => sealedWords[reason](store),
  "policy-invalid": ({ policy, line, expected, found }) =>
    expected === undefined
      ? {
          sentence: `The policy path ${policy} ${found}.`,
          next: "Put it there, or name the folder that has the policies. What was in force before stays.",
        }
      : {
          sentence: `The policy ${policy}${line === undefined ? "" : `, line ${line},`} has ${found}, where ${expected} was expected.`,
          next: "Fix the policy; until then nothing that it says is in force, and what was in force before stays.",
        },
  "command-refused": ({ reason, found }) => ({
    sentence: `The command was refused (${reason}): ${found}.`,
    next: refusals[reason],
  }),
  "pin-unknown": ({ pin, fitting = 0 }) => ({
    sentence:
      fitting > 1 ? `${fitting} rules fit "${pin}", and one has to be meant.` : `No rule "${pin}" is in force here.`,
    next: "Write its id or more of its words: holdfast rules, or session.rules(), lists them. Rules of the operator are taken back with holdfast unpin.",
  }),
} satisfies Partial<Describe>

/** Lists the pieces with their sizes if there is more than one. */
const pieceWords = (pieces: readonly { readonly name: string; readonly tokens: number }[]): string =>
  pieces.length < 2 ? "" : ` (${pieces.map(({ name, tokens }) => `${name} ${tokens}`).join(", ")})`

/** Names a store by its path if it has one, otherwise by its kind. */
const storeWords = ({ store, path }: { readonly store: string; readonly path?: string }): string =>
  path === undefined ? `The ${store} store` : `The store at ${path}`

const nextForKey =
  "Give its key: in HOLDFAST_STORE_KEY, or HOLDFAST_STORE_KEY_FILE or HOLDFAST_STORE_KEY_COMMAND name what has it; in a program, openStore(place, { key })."

const sealedWords: Readonly<Record<"no-key" | "other-key" | "plain", (store: string) => Advice>> = {
  "no-key": (store) => ({ sentence: `The ${store} store is encrypted, and no key was given.`, next: nextForKey }),
  "other-key": (store) => ({ sentence: `The ${store} store is encrypted with another key.`, next: nextForKey }),
  plain: (store) => ({
    sentence: `The ${store} store has sessions that are not encrypted, and a key was given.`,
    next: "Export its sessions without the key (holdfast sessions export), and import them into a new store with it.",
  }),
}

const nextIfUnreachable =
  "Check that it is running and that its address and rights are right; what is in memory is written when it is back."

const nextByCause: Readonly<Record<StoreCause, string>> = words.storeCauses

/** The texts of all other problems, in which `{name}` stands for a field. */
const written: Readonly<Record<Exclude<Problem["code"], keyof typeof describers>, Advice>> = words.problems

/** Describes a problem for a person. */
export function describe(problem: Problem): Advice {
  const describer = (describers as Partial<Describe>)[problem.code] as ((problem: Problem) => Advice) | undefined
  if (describer !== undefined) return describer(problem)
  const { sentence, next } = (written as Readonly<Record<string, Advice>>)[problem.code] as Advice
  const fields: Readonly<Record<string, unknown>> = problem
  const filled = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_, name: string) => [fields[name]].flat().join(", "))
  return { sentence: filled(sentence), next: filled(next) }
}

/** The only error class of the project: carries a problem. */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError"
  readonly problem: Problem
  constructor(problem: Problem, options?: ErrorOptions) {
    const { sentence, next } = describe(problem)
    super(`${sentence} ${next}`, options)
    this.problem = problem
  }
}

export function refuseOption(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}

/** Rejects an option for its value: strings are shown quoted and cut, for an object or function only its type. */
export function refuseValue(option: string, expected: string, value: unknown): never {
  if (typeof value === "string") refuseOption(option, expected, JSON.stringify(value.slice(0, 80)))
  const isWhole = value === null || (typeof value !== "object" && typeof value !== "function")
  refuseOption(option, expected, isWhole ? String(value) : typeof value)
}

/** Error handler for callers that can do without the result: ignores a Problem, rethrows a bug. */
export function ignoreProblem(error: unknown): undefined {
  if (!(error instanceof HoldfastError)) throw error
  return undefined
}

/** The same if only Problems with these codes are expected. */
export const ignoreCodes =
  (...codes: readonly Problem["code"][]) =>
  (error: unknown): undefined => {
    if (!codes.includes(problemOrThrow(error).code)) throw error
  }

/** Returns the Problem of an expected failure; rethrows any other error, which is a bug. */
export function problemOrThrow(error: unknown): Problem {
  if (error instanceof HoldfastError) return error.problem
  throw error
}

/** Returns the value, or undefined if there was a Problem. */
export function unlessProblem<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    return ignoreProblem(error)
  }
}

/** Loads an optional package; throws a Problem that says which one is missing and for what. */
export async function loadOptional<Module>(
  load: () => Promise<Module>,
  purpose: string,
  nameOf: (message: string) => string,
): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error
    throw new HoldfastError({ code: "package-missing", package: nameOf(error.message), purpose }, { cause: error })
  }
}

/** Returns the code of a system error, such as ENOENT; undefined for any other error. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined

/** Returns the code of a system error; rethrows any other error. */
export function codeOrThrow(error: unknown): string {
  const code = systemCode(error)
  if (code === undefined) throw error
  return code
}
