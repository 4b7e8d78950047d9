import { lazy } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { refuseOption } from "../../message/errors.ts"
import { createRecent } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { Action } from "./action.ts"
import { type Leaf, roleNames } from "./leaf.ts"
import wellKnown from "./well-known-tools.json" with { type: "json" }
import { globMatches } from "./words.ts"

/** Verbs with which an operator declares what a tool does. */
const contractVerbs = ["read", "write", "delete", "send", "pay", "run", "deploy", "query", "disclose"] as const
type ContractVerb = (typeof contractVerbs)[number]

/**
 * What a tool does, and what its fields hold. Fields that are not listed are text for people: no file, host or command is read from them.
 */
export type ToolContract = {
  /** Tool names; `*` matches any characters. */
  readonly tools: readonly string[]
  /** MCP server that offers them: the names `mcp__NAME__tool` and `NAME.tool` match then as well. */
  readonly server?: string
  /** Limits the contract to calls in which each of these fields has one of its values. */
  readonly when?: Readonly<Record<string, readonly string[]>>
  /** What such a call does; empty if it has no effect. */
  readonly does: readonly ContractVerb[]
  /** True if its amounts are in hundredths of the currency's unit. */
  readonly hundredths?: boolean
  /** True if a path in its fields includes everything below that path. */
  readonly below?: boolean
  /** How it reaches people, such as email or slack. */
  readonly medium?: string
  /** True if it uses a network, whatever its fields say. */
  readonly network?: boolean
} & { readonly [List in keyof typeof roles]?: readonly string[] }

/** What happens to a call of a tool that nobody has declared: it is judged by its name and fields, put to a person, or denied. */
export type Undeclared = "infer" | "ask" | "deny"

/** Properties of a contract that list fields of a call, with the role of those fields. */
const roles = {
  recipients: "recipient",
  subjects: "subject",
  amounts: "amount",
  currencies: "currency",
  quantities: "quantity",
  paths: "path",
  patches: "patch",
  hosts: "url",
  sql: "sql",
  shell: "command",
  code: "code",
  regions: "region",
  environments: "environment",
  texts: "body",
} as const satisfies Readonly<Record<string, Leaf["role"]>>

const isList = (name: string): name is keyof typeof roles => Object.hasOwn(roles, name)
const lists = Object.keys(roles).filter(isList)

const actionOf = (deed: ContractVerb): Action => (deed === "pay" ? "purchase" : deed === "run" ? "execute" : deed)

export const actionsOfContract = ({ does }: ToolContract): ReadonlySet<Action> => new Set(does.map(actionOf))

type CompiledContract = {
  readonly contract: ToolContract
  readonly names: readonly string[]
  readonly roles: ReadonlyMap<string, Leaf["role"]>
}

export type Contracts = {
  /** Returns the contract of a call, with the role of each field that it names. */
  readonly of: (tool: string, input: unknown) => MatchedContract | undefined
}

export type MatchedContract = { readonly contract: ToolContract; readonly roles: ReadonlyMap<string, Leaf["role"]> }

/** A tool name without case and separators, so that `Read-File` and `read_file` are the same. */
const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d*]+/g, "_")

function compile(contract: ToolContract): CompiledContract {
  const fields = lists.flatMap((list) =>
    (contract[list] ?? []).map((field) => [roleNames(field), roles[list]] as const),
  )
  const own = contract.tools.map(plainName)
  const server = contract.server === undefined ? undefined : plainName(contract.server)
  const names =
    server === undefined
      ? own
      : own.flatMap((name) => [`mcp_${server}_${name}`, `mcp_*_${server}_${name}`, `${server}_${name}`, name])
  // Reversed, so that a field that is listed twice has the role of the first list.
  return { contract, names, roles: new Map(fields.reverse()) }
}

const keysOf = (input: unknown): readonly string[] => (isObject(input) ? Object.keys(input) : [])

function hasWantedValues({ when }: ToolContract, input: unknown): boolean {
  if (when === undefined) return true
  const values = new Map(typeof input === "object" && input !== null ? Object.entries(input) : [])
  return Object.entries(when).every(([field, wanted]) => wanted.includes(String(values.get(field))))
}

/**
 * Looks up contracts: the operator's first, then those of well-known tools. One of the latter applies only if it knows every field of the
 * call, because another tool may have the same name.
 */
export function contractsOf(given: readonly ToolContract[]): Contracts {
  const own = given.map(compile)
  const known = wellKnownContracts()
  const named = createNameLookup([own, known])
  return {
    of: (tool, input) => {
      const [ofOwn = [], ofKnown = []] = named(plainName(tool))
      const declared = ofOwn.find((one) => hasWantedValues(one.contract, input))
      if (declared !== undefined) return declared
      const parsed = parsedInput(input)
      const keys = keysOf(parsed).map((key) => roleNames(key))
      const found = ofKnown.find(
        (one) =>
          hasWantedValues(one.contract, parsed) &&
          keys.every((key) => one.roles.has(key) || explanationFields.has(key)) &&
          !mayHideFields(one.contract, parsed),
      )
      return found
    },
  }
}

/** Number of tool names whose contracts are cached: an agent has some dozens, and calls them again and again. */
const maxTools = 500

/** Returns a function that finds the contracts of each list by the name of a tool. */
const createNameLookup = (lists: readonly (readonly CompiledContract[])[]) =>
  createRecent((name) => {
    const bare = name.replace(/^mcp_[a-z\d]+_/, "")
    const isNamed = ({ names }: CompiledContract): boolean =>
      names.some((one) => (one.includes("*") ? fitsPattern(one, name) : one === name || one === bare))
    return lists.map((list) => list.filter(isNamed))
  }, maxTools)

/** True if a name matches a pattern. Compares the text before the first wildcard first: most patterns are those of other servers. */
const fitsPattern = (pattern: string, name: string): boolean =>
  name.startsWith(pattern.slice(0, pattern.search(/[*?[]/))) && globMatches(pattern, name)

/** Fields in which models give their reasons, whatever the tool. */
const explanationFields = wordSet(
  "thought thoughts reasoning reason explanation description rationale summary justification purpose intent security_risk title",
)

/** True if the fields of a tool that does more than read and write hold objects, which may have fields that its contract does not know. */
const mayHideFields = ({ does }: ToolContract, input: unknown): boolean =>
  does.some((deed) => deed !== "read" && deed !== "write") &&
  typeof input === "object" &&
  input !== null &&
  Object.values(input).some((value) => typeof value === "object" && JSON.stringify(value)?.includes("{") === true)

const mainLists = ["shell", "patches", "code", "sql", "paths"] as const

/** Role of arguments that are a single text without a field. */
export const mainRole = (contract: ToolContract): Leaf["role"] =>
  roles[mainLists.find((list) => contract[list] !== undefined) ?? "texts"]

/** Parses arguments that came as JSON text. */
function parsedInput(input: unknown): unknown {
  if (typeof input !== "string" || !/^\s*\{/.test(input)) return input
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}

/** Throws an `option-invalid` Problem for a contract with an unknown field or a value of the wrong type. */
export function checkContracts(given: readonly ToolContract[]): void {
  const wrong = (at: string, expected: string, found: unknown): never => {
    refuseOption(at, expected, JSON.stringify(found)?.slice(0, 60) ?? "nothing")
  }
  if (!Array.isArray(given)) wrong("tools", "a list of contracts", given)
  const texts = (value: unknown): boolean =>
    Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "")
  for (const [at, contract] of given.entries()) {
    const place = `tools[${at}]`
    if (typeof contract !== "object" || contract === null) wrong(place, "a contract with tools and does", contract)
    for (const [key, value] of Object.entries(contract)) {
      if (key === "tools" || isList(key)) {
        if (!texts(value)) wrong(`${place}.${key}`, "a list of names", value)
      } else if (!Object.hasOwn(otherFields, key))
        wrong(`${place}.${key}`, `one of tools, does, ${[...lists, ...Object.keys(otherFields)].join(", ")}`, key)
      else if (key !== "does" && key !== "when" && typeof value !== otherFields[key])
        wrong(`${place}.${key}`, `a ${otherFields[key]}`, value)
    }
    if (!texts(contract.tools) || contract.tools.length === 0)
      wrong(`${place}.tools`, "one name or more", contract.tools)
    if (!Array.isArray(contract.does) || !contract.does.every((deed) => contractVerbs.includes(deed)))
      wrong(`${place}.does`, `some of ${contractVerbs.join(", ")}, or none`, contract.does)
    if (
      contract.when !== undefined &&
      (typeof contract.when !== "object" || !Object.values(contract.when).every(texts))
    )
      wrong(`${place}.when`, "fields with lists of values", contract.when)
  }
}

const otherFields: Readonly<Record<string, string>> = {
  does: "list",
  when: "object",
  server: "string",
  hundredths: "boolean",
  medium: "string",
  below: "boolean",
  network: "boolean",
}

/** Words of a list in the file of well-known tools; `@name` stands for a list that several tools share. */
const wordsIn = (text: string): readonly string[] =>
  text.split(" ").flatMap((word) => (word.startsWith("@") ? wordsIn(sharedWords[word.slice(1)] ?? "") : word))
const sharedWords: Readonly<Record<string, string>> = wellKnown.lists

/**
 * Contracts of the tools of Claude Code, Codex, Gemini CLI, opencode, pi, qwen and other agents, and of common MCP servers, by their
 * documentation.
 */
const wellKnownContracts = lazy(() =>
  wellKnown.tools.map(({ tools, does, ...fields }) => {
    const read = Object.entries(fields).map(([name, value]) => [
      name,
      isList(name) && typeof value === "string" ? wordsIn(value) : value,
    ])
    const deedsIn = contractVerbs.filter((deed) => does.split(" ").includes(deed))
    return compile({ ...Object.fromEntries(read), tools: wordsIn(tools), does: deedsIn })
  }),
)

/** Contracts of the well-known tools alone. */
export const knownContracts: () => Contracts = lazy(() => contractsOf([]))
