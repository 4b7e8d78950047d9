/** Why the file or folder of a store cannot be used. */
export type StoreCause =
  | "permission"
  | "read-only"
  | "not-a-folder"
  | "not-a-file"
  | "full"
  | "missing"
  | "name"
  | "open-files"
  | "disk"
  | "other"

/** Everything that can go wrong by no fault of ours. A bug is an assertion, never one of these. */
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
      /** All of it, piece by piece. */
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
      /** The file or folder that is in the way, for a store of files. */
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
      /** Not given where the file or folder itself is the fault, and `found` says how: "does not exist". */
      readonly expected?: string
      readonly found: string
    }
  /** Rules or policies in force came from a folder that is gone, or rest on keys that were in it. */
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

/** Why a signed command was not obeyed. */
export type CommandRefusal =
  | "malformed"
  | "key-unknown"
  | "signature-wrong"
  | "audience-wrong"
  | "sequence-used"
  | "expired"
  | "not-yet-valid"
  | "impossible"

const refusals: Readonly<Record<CommandRefusal, string>> = {
  malformed: "Sign the command again with holdfast, and send it whole.",
  "key-unknown": "Put the key's public half among the trusted keys, or sign with one that is there.",
  "signature-wrong": "Sign the command again: it was changed after it was signed, or signed by someone else.",
  "audience-wrong": "Sign the command for this deployment.",
  "sequence-used": "Sign the command again: it takes the next number then. One that was sent before counts once.",
  expired: "Sign the command again, and send it before it expires.",
  "not-yet-valid": "Check the clocks of both machines, and send the command again.",
  impossible: "See what stands now, and give a command that fits it.",
}

/** A problem in words: what happened, and what to do about it. */
export type Advice = { readonly sentence: string; readonly next: string }

type Describe = { readonly [Code in Problem["code"]]: (problem: Extract<Problem, { code: Code }>) => Advice }

const describers: Describe = {
  "json-invalid": ({ offset, reason }) => ({
    sentence: `The body is not valid JSON at character ${offset}: ${reason}.`,
    next: "Send one complete JSON value encoded as UTF-8.",
  }),
  "json-too-deep": ({ offset, limit }) => ({
    sentence: `The JSON nests deeper than ${limit} levels at character ${offset}.`,
    next: "Flatten the value, or pass the nested part as a string.",
  }),
  "body-too-large": ({ length, limit }) => ({
    sentence: `The body has ${length} characters; at most ${limit} are read.`,
    next: "Send large media by URL or file id instead of inline.",
  }),
  "request-invalid": ({ path, expected, found }) => ({
    sentence: `The request has ${found} at ${path}, where ${expected} was expected.`,
    next: `Send ${expected} at ${path}.`,
  }),
  "response-invalid": ({ path, expected, found }) => ({
    sentence: `The model's answer has ${found} at ${path}, where ${expected} was expected.`,
    next: "Check that the upstream speaks the wire format that was configured for it.",
  }),
  "stream-invalid": ({ event, expected, found }) => ({
    sentence: `The stream's ${event} event has ${found}, where ${expected} was expected.`,
    next: "Check that the upstream speaks the wire format that was configured for it.",
  }),
  "stream-cut": ({ after }) => ({
    sentence: `The stream ended without its closing event, after ${after}.`,
    next: "Send the request again; what arrived is incomplete and must not be acted on.",
  }),
  "call-withheld": ({ why }) => ({
    sentence: `The answer ends here: it goes on with a tool call in its words that is not allowed. ${why}`,
    next: "Nothing was run. Ask for something else, or ask the operator whose rule it is.",
  }),
  "stream-event-too-large": ({ limit }) => ({
    sentence: `One event of the stream is larger than ${limit} bytes.`,
    next: "Check the upstream: no model API sends events of this size.",
  }),
  "upstream-error": ({ type, message, status }) => ({
    sentence: `The model's API answered with an error${status === undefined ? "" : ` (${status})`}: ${type}: ${message}`,
    next: "See the provider's documentation for this error; nothing was changed by it.",
  }),
  "upstream-unreachable": ({ host, reason }) => ({
    sentence: `The model's API at ${host} could not be reached: ${reason}.`,
    next: "Check the base URL, the network and the key's spelling, and that the server is running.",
  }),
  "upstream-timeout": ({ host, limitMs }) => ({
    sentence: `The model's API at ${host} did not answer in full within ${limitMs} ms.`,
    next: "Raise the time limit, or ask a faster model.",
  }),
  "upstream-stopped": ({ host }) => ({
    sentence: `The call to the model's API at ${host} was stopped before the answer came.`,
    next: "Ask again if the answer is still wanted.",
  }),
  "upstream-too-large": ({ host, limitBytes }) => ({
    sentence: `The answer of the model's API at ${host} is larger than ${limitBytes} bytes.`,
    next: "Lower the output limit of the model, or raise the limit on the response.",
  }),
  "answer-refused": ({ model }) => ({
    sentence: `${model} refused to answer.`,
    next: "Ask another model, or leave the summary to the built-in summarizer.",
  }),
  "answer-empty": ({ model }) => ({
    sentence: `${model} answered without any text.`,
    next: "Check that the model may answer in text, and that its output limit leaves room beside its reasoning.",
  }),
  "answer-cut": ({ model, limitTokens }) => ({
    sentence: `${model} was cut off at its output limit of ${limitTokens} tokens.`,
    next: "Raise the output limit, or ask for a shorter answer.",
  }),
  "summarizer-late": ({ limitMs }) => ({
    sentence: `The custom summarizer did not answer within ${limitMs} ms.`,
    next: "Make it faster, have it stop when its signal is aborted, or raise its time limit.",
  }),
  "prompty-invalid": ({ line, expected, found }) => ({
    sentence: `Line ${line} of the .prompty file has ${found}, where ${expected} was expected.`,
    next: "Change that line, or write the summarizer as a function.",
  }),
  "format-unknown": ({ found, known }) => ({
    sentence: `${found} is in none of the formats that are read here.`,
    next: `Use one of: ${known.join(", ")}.`,
  }),
  "format-mixed": ({ message, found, expected }) => ({
    sentence: `Message ${message} is in the format ${found}, and the request in ${expected}.`,
    next: `Translate it first: translate(messages, "${expected}").`,
  }),
  "part-unwritable": ({ part, format }) => ({
    sentence: `A part of type ${part} without its wire text cannot be written in the format ${format}.`,
    next: "Decode the message that holds it from a request of that format, or say it as text.",
  }),
  "file-invalid": ({ line, expected, found }) => ({
    sentence: `Line ${line} of the file has ${found}, where ${expected} was expected.`,
    next: "Fix or remove that line, or name the file's format explicitly.",
  }),
  "floor-exceeds-window": ({ floorTokens, windowTokens, largest, pieces = [] }) => ({
    sentence: `What can never be left out needs ${floorTokens} tokens, ${floorTokens - windowTokens} more than the ${windowTokens} there are; the largest piece is ${largest}${pieceWords(pieces)}.`,
    next: `Shorten ${largest}, lower the output reserve, or use a model with a larger window.`,
  }),
  "budget-impossible": ({ budgetTokens, neededTokens, largest }) => ({
    sentence: `What has to stay, with a record of the rest, needs ${neededTokens} tokens, and the budget is ${budgetTokens}; the largest piece is ${largest}.`,
    next: "Raise the budget, or shorten that piece: pinned rules are never cut, and the user's latest message only in its middle.",
  }),
  "option-invalid": ({ option, expected, found }) => ({
    sentence: `The option ${option} is ${found}, where ${expected} was expected.`,
    // A name with blanks describes something that has none.
    next: `Give ${expected}, or leave ${option.includes(" ") ? "it" : option} out.`,
  }),
  "stack-invalid": ({ section, reason }) => ({
    sentence: `The prompt section "${section}" cannot be used: ${reason}.`,
    next: `Change the definition of "${section}".`,
  }),
  "source-unreadable": ({ section, reason }) => ({
    sentence: `The source of the prompt section "${section}" could not be read: ${reason}.`,
    next: "Check that the file exists and is UTF-8 text, or that the function returns a string.",
  }),
  "breakpoints-exceeded": ({ count, limit }) => ({
    sentence: `The request carries ${count} cache breakpoints; the provider takes ${limit}.`,
    next: "Remove breakpoints, oldest message first.",
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
  "store-corrupt": ({ store, session, reason }) => ({
    sentence: `What the ${store} store holds of session ${session} is damaged: ${reason}.`,
    next: "Restore it from a backup or an export, or delete the session; others are not affected.",
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
  "store-closed": ({ store }) => ({
    sentence: `The ${store} store is closed.`,
    next: "Open it again before using it.",
  }),
  "package-missing": ({ package: name, purpose }) => ({
    sentence: `The package ${name}, needed for ${purpose}, is not installed.`,
    next: `Install it: npm install ${name}`,
  }),
  "session-unknown": ({ session }) => ({
    sentence: `There is no session ${session}.`,
    next: "Check its name, and that this is the store that it was written to.",
  }),
  "session-exists": ({ session }) => ({
    sentence: `There is a session ${session} already.`,
    next: "Choose another name, or delete that session first.",
  }),
  "entry-unknown": ({ session, entry }) => ({
    sentence: `Session ${session} has no entry ${entry}.`,
    next: "Take an id from history(), from a trace or from a receipt.",
  }),
  "handle-unknown": ({ handle }) => ({
    sentence: `Nothing can be recalled by the handle ${handle}.`,
    next: "Copy the handle whole from where it was printed, in the session in which it was printed.",
  }),
  "nothing-to-undo": ({ session }) => ({
    sentence: `No compaction of session ${session} is in force, so there is none to undo.`,
    next: "See history() for what was done.",
  }),
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
  "policy-missing": ({ directory, found }) => ({
    sentence: `No model call is served: rules or policies are in force, and the policy folder ${directory} that they come from ${found}.`,
    next: "Put the folder back; or, to serve without them, start the gateway with --without-policy-folder.",
  }),
  "command-refused": ({ reason, found }) => ({
    sentence: `The command was refused (${reason}): ${found}.`,
    next: refusals[reason],
  }),
  "key-invalid": ({ key, expected }) => ({
    sentence: `The key ${key} cannot be used: ${expected} was expected.`,
    next: "Make a pair of keys with: holdfast keys new",
  }),
  "finder-failed": ({ reason }) => ({
    sentence: `The finder of rules gave no answer: ${reason}.`,
    next: "Fix it or leave it out: what the built-in finder found is pinned in any case.",
  }),
  "pin-unknown": ({ pin, fitting = 0 }) => ({
    sentence:
      fitting > 1 ? `${fitting} rules fit "${pin}", and one has to be meant.` : `No rule "${pin}" is in force here.`,
    next: "Write its id or more of its words: holdfast rules, or session.rules(), lists them. Rules of the operator are taken back with holdfast unpin.",
  }),
  "pin-shared": ({ pin, scope }) => ({
    sentence: `The rule ${pin} holds for the whole ${scope}, and a session alone cannot demote it.`,
    next: "Take it back with holdfast rules remove, or unpin(), and add it to the sessions that it is for.",
  }),
  "turn-too-long": ({ iterations }) => ({
    sentence: `The model still asked for tools after ${iterations} calls.`,
    next: "Raise the limit on iterations, or see in the transcript what it is going round in circles about.",
  }),
  "turn-stopped": ({ iterations }) => ({
    sentence: `The turn was stopped after ${iterations} model calls.`,
    next: "Start a new turn with the transcript so far if it is to go on.",
  }),
  "access-refused": ({ reason }) => ({
    sentence: `The gateway did not let this request through: ${reason}.`,
    next: "Check the address, the token and the page that the request comes from.",
  }),
  "path-unknown": ({ reason }) => ({
    sentence: `The gateway has nothing at this address: ${reason}.`,
    next: "Check the path and the method.",
  }),
  "path-unjudged": ({ what }) => ({
    sentence: `The gateway did not let this request through: ${what} may bring tool calls that its guard cannot judge.`,
    next: "Use messages, chat completions, responses or generateContent, or set guard.unjudged: pass in its configuration.",
  }),
  "gateway-busy": ({ what, limit }) => ({
    sentence: `The gateway has ${what} at its limit of ${limit}.`,
    next: "Try again in a moment, or raise the limit in the configuration.",
  }),
  "gateway-fault": () => ({
    sentence: "The gateway failed on this request, by a fault of its own.",
    next: "Send it again; what happened is in the gateway's log under the trace id of this answer.",
  }),
}

/** A store by its path where it has one, else by its kind. */
/** More than one piece, each with what it takes. */
const pieceWords = (pieces: readonly { readonly name: string; readonly tokens: number }[]): string =>
  pieces.length < 2 ? "" : ` (${pieces.map(({ name, tokens }) => `${name} ${tokens}`).join(", ")})`

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

const nextByCause: Readonly<Record<StoreCause, string>> = {
  permission: "Give the user that runs this process the right to read and write there, or choose another place.",
  "read-only": "Choose a place on a file system that can be written, or mount this one for writing.",
  "not-a-folder": "Move that file away, or choose another place.",
  "not-a-file": "Choose the name of a file, or a folder in which one can be made.",
  full: "Free some space there, or choose another place.",
  missing: "Nothing can be created at this path: choose another place.",
  name: "Choose a shorter path without circular links.",
  "open-files": "Close some, or raise the limit of open files (ulimit -n).",
  disk: "Check the disk; the system's log says more. Choose another place meanwhile.",
  other: "Check this path, or choose another place.",
}

/** Say it to a person. */
export function describe(problem: Problem): Advice {
  const describer = describers[problem.code] as (problem: Problem) => Advice
  return describer(problem)
}

/** How a problem travels: the one error class of the project. */
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

/** Refuse an option for the value itself: a text is shown quoted and cut, of an object or a function only that it is one. */
export function refuseValue(option: string, expected: string, value: unknown): never {
  if (typeof value === "string") refuseOption(option, expected, JSON.stringify(value.slice(0, 80)))
  const isWhole = value === null || (typeof value !== "object" && typeof value !== "function")
  refuseOption(option, expected, isWhole ? String(value) : typeof value)
}

/** For what goes on without the answer: a Problem is passed over, a bug is not. */
export function ignoreProblem(error: unknown): undefined {
  if (!(error instanceof HoldfastError)) throw error
  return undefined
}

/** The value, or nothing where there was a Problem. */
export function unlessProblem<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    return ignoreProblem(error)
  }
}

/** Load an optional package, or say which one is missing for what. */
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

/** The code of an error of the system, such as ENOENT; undefined for any other error. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined

/** The code of an error of the system; any other error is thrown on. */
export function codeOrThrow(error: unknown): string {
  const code = systemCode(error)
  if (code === undefined) throw error
  return code
}
