import { HoldfastError, type Problem } from "../../message/errors.ts"
import { tokens } from "../../message/ids.ts"
import { present } from "../../message/present.ts"
import { checkDefinition } from "./check-definition.ts"
import type { SectionDefinition, Source, StackDefinition } from "./definition.ts"
import { bySectionOrder, identity, isBlank, makeSection, type Section } from "./section.ts"
import { makeStack, type Stack } from "./stack.ts"

/** All that resolving may touch of the outside world. */
export type Readers = { readonly readFile: (path: string) => string | Promise<string> }

/** Read every source once. From here on the stack is plain data, and everything about it is pure. */
export async function resolveStack<Inputs>(
  definition: StackDefinition<Inputs>,
  inputs: Inputs,
  readers: Readers,
): Promise<Stack> {
  checkDefinition(definition)
  const ordered = definition.toSorted(bySectionOrder)
  const read = await Promise.allSettled(ordered.map((section) => resolveSection(section, inputs, readers)))
  return makeStack(
    read.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason
      return outcome.value
    }),
  )
}

async function resolveSection<Inputs>(
  { source, shrink = { type: "fixed" }, minTokens = 0, order = 0, ...section }: SectionDefinition<Inputs>,
  inputs: Inputs,
  readers: Readers,
): Promise<Section> {
  const read = (from: Source<Inputs>): Promise<string> => readSource(section.name, from, inputs, readers)
  const text = await read(source)
  if (section.name === identity && isBlank(text)) throw invalid(identity, "it is empty")
  return makeSection({
    ...present({ label: section.label, heading: section.heading }),
    layer: section.layer,
    name: section.name,
    order,
    text,
    minTokens: tokens(minTokens),
    shrink: shrink.type === "swap" ? { type: "swap", variants: await Promise.all(shrink.variants.map(read)) } : shrink,
  })
}

/** No section is larger than the largest window in characters; more is a wrong path. */
const maxCharacters = 16_000_000

async function readSource<Inputs>(
  section: string,
  source: Source<Inputs>,
  inputs: Inputs,
  { readFile }: Readers,
): Promise<string> {
  try {
    const text: unknown = await (typeof source === "string"
      ? source
      : typeof source === "function"
        ? source(inputs)
        : readFile(source.path))
    if (typeof text !== "string")
      throw unreadable(section, `it gave ${text === null ? "null" : typeof text}, not a text`)
    if (text.length > maxCharacters) throw unreadable(section, `it is longer than ${maxCharacters} characters`)
    return text
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause
    throw unreadable(section, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

const fail = (problem: Problem, cause?: unknown): HoldfastError =>
  new HoldfastError(problem, cause === undefined ? undefined : { cause })

const invalid = (section: string, reason: string): HoldfastError => fail({ code: "stack-invalid", section, reason })

const unreadable = (section: string, reason: string, cause?: unknown): HoldfastError =>
  fail({ code: "source-unreadable", section, reason }, cause)
