import { fence, unfence } from "../../message/fence.ts"
import type { Digest } from "./digest.ts"
import { bodyText } from "./digest-body.ts"
import { readBody } from "./read-body.ts"
import type { SchemaName } from "./summary.ts"

export type RenderOptions = { readonly brief?: boolean }

const tag = "summary"
const author = "holdfast"
/** Left out of a brief digest. */
const usualSchema: SchemaName = "handoff"

/** The digest as one fenced text for a person and a model, from which `parseDigest` reads it back. `brief` spends the fewest tokens on framing. */
export function renderDigest(digest: Digest, { brief = digest.brief === true }: RenderOptions = {}): string {
  const { schema } = digest.summary
  const named: Readonly<Record<string, string>> = brief && schema === usualSchema ? {} : { schema }
  return fence(tag, bodyText(digest, brief), { by: author, ...named, covered: String(digest.covered) })
}

const opening = /^<summary by="holdfast"(?: schema="(handoff|snapshot)")? covered="(0|[1-9]\d{0,14})">\n/

/** Longer texts are no digest: one takes a share of a context, not a multiple. */
const maxDigestLength = 4_000_000

/** Read a digest back, or nothing if the text is not one of ours to the letter. Facts come back as text alone, lines without their sources. */
export function parseDigest(text: string): Digest | undefined {
  const head = text.length > maxDigestLength ? null : opening.exec(text.slice(0, 200))
  const body = head === null ? undefined : unfence(tag, text)
  if (head === null || body === undefined) return undefined
  const schema: SchemaName = head[1] === "snapshot" ? "snapshot" : usualSchema
  const digest = readBody(body, schema, Number(head[2]))
  // Whatever was read must print as the very text it was read from: a cut or edited digest is no digest.
  return digest !== undefined && renderDigest(digest) === text ? digest : undefined
}
