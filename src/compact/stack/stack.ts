import { HoldfastError } from "../../message/errors.ts"
import { fence } from "../../message/fence.ts"
import { type Part, type Tokens, tokens } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { hashData, hashText } from "../../message/sha256.ts"

/** The layers of a stack. What changes least comes first, so that it stays cached longest. */
export const layers = ["base", "role", "context", "task"] as const

export type Layer = (typeof layers)[number]

/** The section that says who the agent is: never shortened, never empty. */
const identity = "identity"

/** How a section may shrink when the stack does not fit. */
export type Shrink<Text> =
  | { readonly type: "fixed" }
  /** Loses its end, by whole lines if possible, down to its minimum. */
  | { readonly type: "truncate" }
  /** Is included whole or not at all. */
  | { readonly type: "drop" }
  /** Is replaced by one of these shorter texts. */
  | { readonly type: "swap"; readonly variants: readonly Text[] }

/** A named text of the prompt. Its version is its hash, and the label if it has one. */
export type Section = {
  readonly layer: Layer
  readonly name: string
  readonly text: string
  readonly hash: string
  readonly label?: string
  readonly heading?: string
  /** A document is fenced in `<document path="…">`; its path is the section's name. */
  readonly document?: true
  /** Only the beginning of the document is included. */
  readonly cut?: true
  readonly order: number
  readonly minTokens: Tokens
  readonly shrink: Shrink<string>
}

/** Returns the section as the model reads it. */
export function renderSection({ name, heading, document, cut, text }: RenderedFields): string {
  // The fence adds the last line end.
  const inside = text.endsWith("\n") ? text.slice(0, -1) : text
  if (document === true)
    return fence("document", inside, { path: name, ...(cut === true ? { shows: "beginning" } : {}) })
  return heading === undefined ? text : `# ${heading}\n\n${text}`
}

type RenderedFields = Pick<Section, "name" | "heading" | "document" | "cut" | "text">

/** True for an empty section, which is left out with its heading. */
export const isBlank = (text: string): boolean => text.trim() === ""

/** Adds the section's hash. A whole document is hashed as its file's text, because its path is in the name. */
export const makeSection = (section: Omit<Section, "hash">): Section => ({
  ...section,
  hash: hashText(section.document === true && section.cut === undefined ? section.text : renderSection(section)),
})

/** Returns the section with another text, and so another version. */
export const withText = ({ label: _label, ...section }: Section, text: string): Section =>
  makeSection({
    ...section,
    ...(section.document === true && section.shrink.type === "truncate" ? { cut: true } : {}),
    text,
  })

/** Orders by layer, then `order`, then identity first, then name: never by definition order. */
function bySectionOrder(one: SectionOrder, other: SectionOrder): number {
  return (
    layers.indexOf(one.layer) - layers.indexOf(other.layer) ||
    (one.order ?? 0) - (other.order ?? 0) ||
    Number(other.name === identity) - Number(one.name === identity) ||
    (one.name < other.name ? -1 : Number(one.name > other.name))
  )
}

type SectionOrder = { readonly layer: Layer; readonly name: string; readonly order?: number }

export type StackLayer = { readonly layer: Layer; readonly hash: string; readonly sections: readonly Section[] }

/** The prompt as infrastructure: four layers in fixed order, each and the whole identified by a content hash. */
export type Stack = { readonly hash: string; readonly layers: readonly StackLayer[] }

/** Returns a stack without text. */
export const emptyStack = (): Stack => makeStack([])

/** Sorts the sections and identifies the stack by its content. */
export function makeStack(sections: readonly Section[]): Stack {
  const ordered = sections.toSorted(bySectionOrder)
  const stacked = layers.map((layer): StackLayer => {
    const layerSections = ordered.filter((section) => section.layer === layer)
    return {
      layer,
      hash: hashData([layer, ...layerSections.map(({ name, hash }) => [name, hash])]),
      sections: layerSections,
    }
  })
  return { hash: hashData(stacked.map(({ hash }) => hash)), layers: stacked }
}

export const sectionsOf = (stack: Stack): readonly Section[] => stack.layers.flatMap(({ sections }) => sections)

/** Where a text comes from: given directly, a file, or a function of the task's inputs. */
export type Source<Inputs> = string | { readonly type: "file"; readonly path: string } | FromInputs<Inputs>

/** Written as a method, so that functions with different inputs can be in one list of sections. */
type FromInputs<Inputs> = { from(inputs: Inputs): string | Promise<string> }["from"]

/** Each file that the pattern matches becomes a section, named by its path. */
export type FilesSource = { readonly type: "files"; readonly pattern: string }

export type SectionDefinition<Inputs = unknown> = {
  readonly layer: Layer
  readonly name: string
  readonly source: Source<Inputs> | FilesSource
  /** A name for the version, for people, next to its hash. */
  readonly label?: string
  /** Printed above the text. */
  readonly heading?: string
  /** Fences the text as a document with the section's name, or the file's path, as its path. */
  readonly document?: boolean
  /** Position within the layer; sections of equal order are sorted by name. */
  readonly order?: number
  /** Minimum size of the text in tokens, without the heading. */
  readonly minTokens?: number
  /** Without it the section is fixed. */
  readonly shrink?: Shrink<Source<Inputs>>
}

export type StackDefinition<Inputs = unknown> = readonly SectionDefinition<Inputs>[]

/** All external access that resolving a stack needs. */
export type Readers = {
  readonly readFile: (path: string) => string | Promise<string>
  /** Returns the paths that match a pattern, in any order. Without it no pattern can be used. */
  readonly listFiles?: (pattern: string) => readonly string[] | Promise<readonly string[]>
  /** Earlier sections by name: one with unchanged text is not hashed again. */
  readonly known?: ReadonlyMap<string, Section>
}

/** A section whose source is one text. */
type SingleSection<Inputs> = Omit<SectionDefinition<Inputs>, "source"> & { readonly source: Source<Inputs> }

/** Reads every source once. From then on the stack is plain data and everything about it is pure. */
export async function resolveStack<Inputs>(
  definition: StackDefinition<Inputs>,
  inputs: Inputs,
  readers: Readers,
): Promise<Stack> {
  checkDefinition(definition)
  const ordered = (await expandFiles(definition, readers)).toSorted(bySectionOrder)
  const read = await Promise.allSettled(ordered.map((section) => resolveSection(section, inputs, readers)))
  return makeStack(
    read.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason
      return outcome.value
    }),
  )
}

/** Replaces patterns by the files that match. A file that has its own section, or that an earlier pattern matched, is not repeated. */
async function expandFiles<Inputs>(
  definition: StackDefinition<Inputs>,
  { listFiles }: Readers,
): Promise<readonly SingleSection<Inputs>[]> {
  const singles: SingleSection<Inputs>[] = []
  const patterns: (SectionDefinition<Inputs> & { readonly source: FilesSource })[] = []
  for (const section of definition) {
    const { source } = section
    if (typeof source === "object" && source.type === "files") patterns.push({ ...section, source })
    else singles.push({ ...section, source })
  }
  const names = new Set(singles.map(({ name }) => name))
  for (const section of patterns) {
    const { name, source } = section
    if (listFiles === undefined) throw unreadable(name, "no files can be listed here")
    const paths = await attempt(name, () => listFiles(source.pattern))
    const found = [...new Set(paths)].sort().filter((path) => !names.has(path))
    for (const path of found) {
      names.add(path)
      singles.push({ ...section, name: path, source: { type: "file", path } })
    }
    if (singles.length > maxSections) refuse(name, `its pattern makes more than ${maxSections} sections`)
  }
  return singles
}

async function resolveSection<Inputs>(
  { source, shrink = { type: "fixed" }, minTokens = 0, order = 0, document, ...section }: SingleSection<Inputs>,
  inputs: Inputs,
  readers: Readers,
): Promise<Section> {
  const read = (from: Source<Inputs>): Promise<string> => readSource(section.name, from, inputs, readers)
  const text = await read(source)
  if (section.name === identity && isBlank(text)) refuse(identity, "it is empty")
  const made: Omit<Section, "hash"> = {
    ...present({ label: section.label, heading: section.heading }),
    ...(document === true ? { document } : {}),
    layer: section.layer,
    name: section.name,
    order,
    text,
    minTokens: tokens(minTokens),
    shrink: shrink.type === "swap" ? { type: "swap", variants: await Promise.all(shrink.variants.map(read)) } : shrink,
  }
  const known = readers.known?.get(section.name)
  return known !== undefined && rendersSame(known, made) ? { ...made, hash: known.hash } : makeSection(made)
}

const rendersSame = (one: RenderedFields, other: RenderedFields): boolean =>
  one.text === other.text && one.heading === other.heading && one.document === other.document && one.cut === other.cut

/** Maximum length of a section, the size of the largest window in characters; a longer one is a wrong path. */
const maxCharacters = 16_000_000

async function readSource<Inputs>(
  section: string,
  source: Source<Inputs>,
  inputs: Inputs,
  { readFile }: Readers,
): Promise<string> {
  const text: unknown = await attempt(section, () =>
    typeof source === "string" ? source : typeof source === "function" ? source(inputs) : readFile(source.path),
  )
  if (typeof text !== "string") throw unreadable(section, `it gave ${text === null ? "null" : typeof text}, not a text`)
  if (text.length > maxCharacters) throw unreadable(section, `it is longer than ${maxCharacters} characters`)
  return text
}

/** Turns an error in a reader or in a user's function into the Problem of its section. */
async function attempt<Value>(section: string, run: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause
    throw unreadable(section, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

const unreadable = (section: string, reason: string, cause?: unknown): HoldfastError =>
  new HoldfastError({ code: "source-unreadable", section, reason }, cause === undefined ? undefined : { cause })

/** Maximum number of sections: a stack is written by hand and sent on every call, so more are generated by mistake. */
const maxSections = 1000

/** Rejects an invalid definition before anything is read. It may come from a file, so its types are not trusted. */
function checkDefinition<Inputs>(definition: StackDefinition<Inputs>): void {
  const seen = new Set<string>()
  if (definition.length > maxSections) refuse("stack", `it has more than ${maxSections} sections`)
  for (const section of definition) {
    checkSection(section)
    if (seen.has(section.name)) refuse(section.name, "its name is used twice")
    seen.add(section.name)
  }
}

function checkSection<Inputs>(section: SectionDefinition<Inputs>): void {
  const { name, layer, source, heading, document, order = 0, minTokens = 0, shrink = { type: "fixed" } } = section
  if (typeof name !== "string" || name.trim() === "") refuse(String(name), "it has no name")
  if (!layers.includes(layer)) refuse(name, `there is no layer "${layer}", only ${layers.join(", ")}`)
  if (heading !== undefined && !/^[^\r\n]*\S[^\r\n]*$/.test(heading))
    refuse(name, "its heading is not one line of text")
  if (document === true && heading !== undefined) refuse(name, "a document has its path, and no heading")
  if (!Number.isFinite(order)) refuse(name, "its order is not a number")
  if (!Number.isSafeInteger(minTokens) || minTokens < 0) refuse(name, "its minTokens is not a count")
  if (!["fixed", "truncate", "drop", "swap"].includes(shrink.type)) refuse(name, `it cannot shrink by "${shrink.type}"`)
  if (shrink.type === "drop" && minTokens > 0) refuse(name, "it has a minimum and so cannot be dropped")
  if (name === identity && shrink.type !== "fixed") refuse(name, "identity never shrinks")
  if (typeof source === "object" && source?.type === "files") {
    if (typeof source.pattern !== "string" || source.pattern === "") refuse(name, "its pattern is no text")
    if (shrink.type === "swap") refuse(name, "files that a pattern finds have no shorter variants")
    return
  }
  for (const from of [source, ...(shrink.type === "swap" ? shrink.variants : [])]) {
    const known = typeof from === "string" || typeof from === "function" || typeof from?.path === "string"
    if (!known) refuse(name, "its source is neither a text, a file nor a function")
  }
}

function refuse(section: string, reason: string): never {
  throw new HoldfastError({ code: "stack-invalid", section, reason })
}

/** Returns one text part per layer that has text, so that a provider can cache each separately. Equal content gives equal bytes. */
export function renderStack(stack: Stack): readonly Part[] {
  return stack.layers.flatMap(({ sections }): readonly Part[] => {
    const shown = sections.filter(({ text }) => !isBlank(text))
    return shown.length === 0 ? [] : [{ type: "text", text: joinSections(shown) }]
  })
}

/** Joins sections verbatim with a blank line between them, adding only the line ends that are missing. */
function joinSections(sections: readonly Section[]): string {
  return sections
    .map(renderSection)
    .reduce((before, next) => `${before}${before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n"}${next}`)
}
