import { fitStack, type StackEvent, stackFloor, stackTokens } from "../../compact/stack/fit.ts"
import { documentsIn, placeStanding, type StackDocument } from "../../compact/stack/place-stack.ts"
import {
  type Layer,
  resolveStack,
  type Section,
  type SectionDefinition,
  type Stack,
  type StackDefinition,
  sectionsOf,
} from "../../compact/stack/stack.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type ModelRequest, tokens } from "../../message/message.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Meter } from "../../tokens/meter.ts"
import { createStackFiles, isPattern, type StackFiles } from "./stack-files.ts"

/** When a changed source takes effect: with the next compaction, which resets the provider's cache anyway, or with the next call. */
export type StackChanges = "at-compaction" | "now"

/** The prompt stack: text after the client's own system part, byte for byte the same in every call. */
export type StackOptions = {
  /** Named sections in the layers base, role, context and task. */
  readonly sections?: StackDefinition
  /** Files for the context layer, as documents in this order: paths, or patterns with `*`, `?` and `**`. */
  readonly documents?: readonly string[]
  /** The argument of sources that are functions. */
  readonly inputs?: unknown
  /** Token limit of the stack; half of the window by default. */
  readonly maxTokens?: number
  /** `at-compaction` by default. */
  readonly changes?: StackChanges
  /** The folder for relative paths; the working directory by default. */
  readonly folder?: string
}

/** Only sections, or all options. */
export type StackOption = StackDefinition | StackOptions

const stackNames = optionNames<StackOptions>({
  sections: true,
  documents: true,
  inputs: true,
  maxTokens: true,
  changes: true,
  folder: true,
})

export const optionsOf = (option: StackOption): StackOptions => (isDefinition(option) ? { sections: option } : option)

const isDefinition = (option: StackOption): option is StackDefinition => Array.isArray(option)

/** Refuse invalid options. Sections are checked when they are read. */
export function checkStackOption(option: StackOption, owner: string): void {
  const refuse = (name: string, expected: string, found: unknown): never => {
    const shown = typeof found === "string" ? JSON.stringify(found.slice(0, 40)) : String(found).slice(0, 40)
    throw new HoldfastError({ code: "option-invalid", option: name, expected, found: shown })
  }
  if (typeof option !== "object" || option === null)
    refuse("stack", "a list of sections or { sections, documents }", option)
  const options = optionsOf(option)
  checkOptionNames(options, stackNames, owner, "stack")
  const { sections, documents, maxTokens, changes, folder } = options
  if (sections !== undefined && !Array.isArray(sections)) refuse("stack.sections", "a list of sections", sections)
  if (documents !== undefined && !(Array.isArray(documents) && documents.every((path) => typeof path === "string")))
    refuse("stack.documents", "a list of paths", documents)
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens >= 1))
    refuse("stack.maxTokens", "a whole number of tokens, at least 1", maxTokens)
  if (changes !== undefined && changes !== "at-compaction" && changes !== "now")
    refuse("stack.changes", "at-compaction or now", changes)
  if (folder !== undefined && typeof folder !== "string") refuse("stack.folder", "a folder", folder)
}

/** If the stack has too little room, a document is truncated at its end. */
const documentSection = (path: string, order: number): SectionDefinition => ({
  layer: "context",
  name: path,
  source: isPattern(path) ? { type: "files", pattern: path } : { type: "file", path },
  document: true,
  order,
  shrink: { type: "truncate" },
})

/** Documents follow the other sections of their layer, in the given order. */
const firstDocument = 1000

const definitionOf = ({ sections = [], documents = [] }: StackOptions): StackDefinition => [
  ...sections,
  ...documents.map((path, n) => documentSection(path, firstDocument + n)),
]

/** Reads stacks repeatedly: unchanged sections are neither read nor hashed again. */
export type StackReader = { readonly read: (options: StackOptions) => Promise<Stack> }

export function createStackReader(): StackReader {
  const files = new Map<string, StackFiles>()
  const known = new Map<string, Section>()
  const filesOf = (folder = "."): StackFiles => {
    const found = files.get(folder) ?? createStackFiles(folder)
    files.set(folder, found)
    return found
  }
  return {
    read: async (options) => {
      const stack = await resolveStack(definitionOf(options), options.inputs, { ...filesOf(options.folder), known })
      if (known.size > maxKnown) known.clear()
      for (const section of sectionsOf(stack)) known.set(section.name, section)
      return stack
    },
  }
}

/** Limit on cached sections: enough for some stacks. */
const maxKnown = 2000

/** A stack fitted to the window, with the events of fitting it. */
export type FittedForWindow = {
  readonly stack: Stack
  readonly stackTokens: number
  readonly events: readonly StackEvent[]
}

/** Share of the window for the stack; the rest is for the conversation. Sections that cannot shrink may take more, up to the window. */
const stackShare = 0.5

/** The model and the window that a stack has to fit. */
export type StackRoom = { readonly meter: Meter; readonly windowTokens: number }

export function fitToWindow(stack: Stack, options: StackOptions, room: StackRoom): FittedForWindow {
  const { meter } = room
  const budgetTokens = tokens(budgetFor(stack, options, room))
  const { stack: fitted, events } = fitStack(stack, budgetTokens, meter)
  return { stack: fitted, stackTokens: stackTokens(fitted, meter.text), events }
}

/**
 * The token budget of a stack: the given limit, or its share of the window; at least what its sections need, and then the window decides.
 */
export const budgetFor = (stack: Stack, { maxTokens }: StackOptions, { meter, windowTokens }: StackRoom): number =>
  maxTokens ?? Math.max(stackFloor(stack, meter), Math.floor(windowTokens * stackShare))

/** The hash of a stack, and of each non-empty layer. */
export type StackVersions = {
  readonly hash: string
  readonly layers: readonly { readonly layer: Layer; readonly hash: string }[]
}

export const versionsOf = ({ hash, layers }: Stack): StackVersions => ({
  hash,
  layers: layers.filter(({ sections }) => sections.length > 0).map(({ layer, hash: own }) => ({ layer, hash: own })),
})

/** A single request with its stack. */
export type StackedRequest = {
  readonly request: ModelRequest
  readonly stack: Stack
  readonly documents: readonly StackDocument[]
  readonly events: readonly StackEvent[]
}

/** Put a stack into one request; a stack that was already read is used unchanged. */
export async function stackRequest(
  request: ModelRequest,
  option: StackOption | Stack,
  room: StackRoom,
): Promise<StackedRequest> {
  const { stack, events } = isStack(option)
    ? { stack: option, events: [] }
    : fitToWindow(await createStackReader().read(optionsOf(option)), optionsOf(option), room)
  return { request: placeStanding(request, { stack }), stack, documents: documentsIn(stack), events }
}

const isStack = (option: StackOption | Stack): option is Stack => "layers" in option
