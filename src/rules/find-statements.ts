import type { Span } from "../message/request.ts"
import type { Block } from "./find-blocks.ts"
import { sentencesIn } from "./find-sentences.ts"
import { type Signs, signsOf } from "./find-signs.ts"
import { type Seen, seenOf } from "./find-view.ts"

/** A sentence, heading or table row of a text, and what the cues see in it. */
export type Statement = Span & {
  readonly block: Block
  /** Its block's place among all blocks. */
  readonly at: number
  readonly seen: Seen
  readonly signs: Signs
}

/** The statements of a text in order. */
export function statementsIn(text: string, blocks: readonly Block[], abroad: boolean): readonly Statement[] {
  const statements: Statement[] = []
  for (const [at, block] of blocks.entries()) {
    const whole = block.kind === "row" || block.kind === "heading"
    for (const { start, end } of whole ? [block] : sentencesIn(text, block)) {
      if (end - start < minLength && !/[^\0-\x7f]/.test(text.slice(start, end))) continue
      if (statements.length === maxStatements) return statements
      const seen = seenOf(text.slice(start, Math.min(end, start + maxRow)))
      statements.push({ start, end, block, at, seen, signs: signsOf(seen, abroad) })
    }
  }
  return statements
}

/** Characters of a table row or heading that are read. */
const maxRow = 2000

/** Nothing shorter says anything in Latin script. */
const minLength = 4

/** Statements read of one text: a page of rules has hundreds. */
const maxStatements = 20_000
