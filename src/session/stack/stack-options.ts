import { fitStack, type StackEvent, stackFloor, stackTokens } from "../../compact/stack/fit.ts"
import { documentsIn, placeStanding, type StackDocument } from "../../compact/stack/place-stack.ts"
import {
  type Layer,
  type Readers,
  resolveStack,
  type Section,
  type SectionDefinition,
  type Stack,
  type StackDefinition,
  sectionsOf,
} from "../../compact/stack/stack.ts"
import { refuseValue } from "../../message/errors.ts"
import { type Breakpoint, type ModelRequest, tokens } from "../../message/message.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Meter } from "../../tokens/meter.ts"

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

const stackNames = optionNames<StackOptions>()("sections documents inputs maxTokens changes folder")

export const optionsOf = (option: StackOption): StackOptions => (isDefinition(option) ? { sections: option } : option)

const isDefinition = (option: StackOption): option is StackDefinition => Array.isArray(option)

/** Refuses invalid options. Sections are checked when they are read. */
export function checkStackOption(option: StackOption, owner: string): void {
  if (typeof option !== "object" || option === null)
    refuseValue("stack", "a list of sections or { sections, documents }", option)
  const options = optionsOf(option)
  checkOptionNames(options, stackNames, owner, "stack")
  const { sections, documents, maxTokens, changes, folder } = options
  if (sections !== undefined && !Array.isArray(sections)) refuseValue("stack.sections", "a list of sections", sections)
  if (documents !== undefined && !(Array.isArray(documents) && documents.every((path) => typeof path === "string")))
    refuseValue("stack.documents", "a list of paths", documents)
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens >= 1))
    refuseValue("stack.maxTokens", "a whole number of tokens, at least 1", maxTokens)
  if (changes !== undefined && changes !== "at-compaction" && changes !== "now")
    refuseValue("stack.changes", "at-compaction or now", changes)
  if (folder !== undefined && typeof folder !== "string") refuseValue("stack.folder", "a folder", folder)
}

/** The section of a document. If the stack has too little room, it is truncated at its end. */
const documentSection = (path: string, order: number): SectionDefinition => ({
  layer: "context",
  name: path,
  source: isPattern(path) ? { type: "files", pattern: path } : { type: "file", path },
  document: true,
  order,
  shrink: { type: "truncate" },
})

/** The `order` of the first document: documents follow the other sections of their layer, in the given order. */
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
type FittedForWindow = {
  readonly stack: Stack
  readonly stackTokens: number
  readonly events: readonly StackEvent[]
}

/** The prompt stack that a session sends, from its log. */
export type StackInForce = {
  /** The entry that installed it. */
  readonly seq: number
  readonly stack: Stack
  /** The same sections, with the hashes of their sources. */
  readonly source: Stack
  readonly documents: readonly StackDocument[]
  readonly ttl: Breakpoint
  /** The model and window that it was last checked to fit. */
  fits?: string
}

/** A changed stack, fitted to the window, that waits for the next compaction. */
export type WaitingStack = FittedForWindow & { readonly source: Stack }

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

/** The token budget of a stack: the given limit or its share of the window, and at least what its sections need. */
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

export type StackedRequest = {
  readonly request: ModelRequest
  readonly stack: Stack
  readonly documents: readonly StackDocument[]
  readonly events: readonly StackEvent[]
}

/** Puts a stack into one request; a stack that was already read is used unchanged. */
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

/** Reads the files of a stack; unchanged files are cached. */
type StackFiles = Required<Pick<Readers, "readFile" | "listFiles">>

/** Limit on the size of a file: far more than fits any window; a larger one is a mistake in the path. */
const maxFileBytes = 64_000_000
/** Limit on the folders searched for a pattern; more is a mistake in the pattern. */
const maxFolders = 20_000

/** Node's built-in modules; a browser has none. */
const builtIns = () => {
  const load = globalThis.process?.getBuiltinModule
  if (load === undefined) throw new Error("there are no files here; give the text itself")
  return { fs: load("node:fs/promises"), path: load("node:path") }
}

/** Reads files relative to a folder, by default the working directory. */
function createStackFiles(folder = "."): StackFiles {
  const known = new Map<string, { readonly version: string; readonly text: string }>()
  return {
    readFile: async (name) => {
      const { fs, path } = builtIns()
      const file = path.resolve(folder, name)
      const { mtimeNs, ctimeNs, size, ino } = await fs.stat(file, { bigint: true })
      const version = [mtimeNs, ctimeNs, size, ino].join()
      const before = known.get(file)
      if (before?.version === version) return before.text
      if (size > maxFileBytes) throw new Error(`${name} is larger than ${maxFileBytes} bytes`)
      const text = readUtf8(await fs.readFile(file), name)
      known.set(file, { version, text })
      return text
    },
    listFiles: (pattern) => listFiles(folder, pattern),
  }
}

function readUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`${name} is not UTF-8 text`)
  }
}

const isPattern = (path: string): boolean => /[*?]/.test(path)

type Search = { readonly root: string; folders: number; readonly found: Set<string> }

/**
 * The files that match a pattern: `*` is any part of a name, `?` one character, `**` any folders. Names that begin with a dot, and
 * node_modules, match only if the pattern spells them out.
 */
async function listFiles(root: string, pattern: string): Promise<readonly string[]> {
  const search: Search = { root, folders: 0, found: new Set() }
  const absolute = pattern.startsWith("/")
  await walk(
    search,
    absolute ? "/" : "",
    pattern.split("/").filter((segment) => segment !== "" && segment !== "."),
  )
  if (search.found.size === 0) throw new Error(`the pattern ${pattern} finds no file`)
  return [...search.found]
}

async function walk(search: Search, below: string, segments: readonly string[]): Promise<void> {
  const [segment, ...rest] = segments
  if (segment === undefined) return
  const join = (name: string): string => (below === "" || below === "/" ? `${below}${name}` : `${below}/${name}`)
  if (segment === "**") {
    await walk(search, below, rest)
    for (const { name, isFolder } of await entriesOf(search, below))
      if (isFolder && !isHidden(name)) await walk(search, join(name), segments)
    return
  }
  if (!isPattern(segment) && rest.length > 0) return walk(search, join(segment), rest)
  const fits = matcher(segment)
  for (const { name, isFolder } of await entriesOf(search, below)) {
    if (!fits(name) || (isHidden(name) && isPattern(segment) && !segment.startsWith("."))) continue
    if (rest.length > 0 && isFolder) await walk(search, join(name), rest)
    else if (rest.length === 0 && !isFolder) search.found.add(join(name))
  }
}

const isHidden = (name: string): boolean => name.startsWith(".") || name === "node_modules"

const matcher = (segment: string): ((name: string) => boolean) => {
  const source = segment
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
  const pattern = new RegExp(`^${source}$`, "u")
  return (name) => pattern.test(name)
}

/** The entries of a folder; a missing folder is empty. Symbolic links count as files and are not followed into folders. */
async function entriesOf(
  search: Search,
  below: string,
): Promise<readonly { readonly name: string; readonly isFolder: boolean }[]> {
  const { fs, path } = builtIns()
  if (++search.folders > maxFolders) throw new Error(`a pattern leads through more than ${maxFolders} folders`)
  const folder = path.resolve(search.root, below)
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error)) return []
    throw error
  })
  return entries.flatMap((entry) =>
    entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()
      ? [{ name: entry.name, isFolder: entry.isDirectory() }]
      : [],
  )
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")
