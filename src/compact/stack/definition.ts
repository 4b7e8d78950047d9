import type { Layer, Shrink } from "./section.ts"

/** Where a text comes from: itself, a file, or a function of what the task is about. */
export type Source<Inputs> =
  | string
  | { readonly type: "file"; readonly path: string }
  | ((inputs: Inputs) => string | Promise<string>)

export type SectionDefinition<Inputs = unknown> = {
  readonly layer: Layer
  readonly name: string
  readonly source: Source<Inputs>
  /** A version's name for people, beside its hash. */
  readonly label?: string
  /** Printed above the text. */
  readonly heading?: string
  /** Place within the layer; sections of equal order stand by name. */
  readonly order?: number
  /** The text is never given fewer tokens than this, heading not counted. */
  readonly minTokens?: number
  /** Without it the section is fixed. */
  readonly shrink?: Shrink<Source<Inputs>>
}

export type StackDefinition<Inputs = unknown> = readonly SectionDefinition<Inputs>[]
