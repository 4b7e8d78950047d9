import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { MemoryHit, MemoryRow } from "../../store/memory-row.ts"
import type { SessionId } from "../../store/store.ts"
import { admitsRow } from "./admit-row.ts"
import type { Memory } from "./memory.ts"
import { memoryLine, memoryText, shownText } from "./memory-fence.ts"
import { rankRows } from "./rank-rows.ts"
import { maxTextLength } from "./row-of.ts"
import { type TellingWord, tellingWords } from "./telling-words.ts"

export type RetrieveOptions = {
  /** The user's latest words. */
  readonly text: string
  /** What the retrieved text may take, fence and heading included. */
  readonly budgetTokens: number
  readonly count: (text: string) => number
  /** Only rows of this session. */
  readonly session?: SessionId
  /** Leave out what came from tools, documents and the assistant. */
  readonly trustedOnly?: boolean
  /** Is this text in sight already? */
  readonly exclude?: (text: string) => boolean
}

export type Retrieved = {
  /** From `memoryStart` to `memoryEnd`. It is data, for a message of the user's role. */
  readonly text: string
  /** The rows that stand in it, best first. */
  readonly rows: readonly MemoryRow[]
  /** How many rows would have been shown but try to instruct. */
  readonly refused: number
}

/** Rows asked for by each word; a word that leads to more says little. */
const hitsPerWord = 50

/** Rows looked at and shown at most: beyond that memory crowds out the work, whatever the budget. */
const maxLooked = 200
const maxShown = 40

/** Rows that one untrusted message may bring: more is a flood, or a table that is better read where it stands. */
const maxPerSource = 6

/** What the agent's memory has on the words of a message, fenced and within its budget; nothing if it has nothing that fits. */
export async function retrieve(memory: Memory, options: RetrieveOptions): Promise<Retrieved | undefined> {
  const { text, budgetTokens, exclude = () => false } = options
  if (!Number.isFinite(budgetTokens) || budgetTokens < 0)
    throw new HoldfastError({
      code: "option-invalid",
      option: "budgetTokens",
      expected: "a number of tokens",
      found: String(budgetTokens),
    })
  const finds = await Promise.all(
    tellingWords(text).map(async (word) => ({ word, hits: await findWord(memory, word, options) })),
  )
  const rows = rankRows(finds)
    .slice(0, maxLooked)
    .filter(({ text: said }) => said.length <= maxTextLength && !exclude(said))
  return fitRows(withoutCrowds(rows), options)
}

/** What a word leads to. What is trusted is asked for by itself as well: however much data has the word, it cannot drown that. */
async function findWord(
  memory: Memory,
  { text }: TellingWord,
  { session, trustedOnly = false }: RetrieveOptions,
): Promise<readonly MemoryHit[]> {
  const asked = { text: `"${text.replace(/["“”„]/g, " ")}"`, limit: hitsPerWord, ...present({ session }) }
  const trusted = await memory.search({ ...asked, trustedOnly: true })
  if (trustedOnly) return trusted
  const ids = new Set(trusted.map(({ row }) => row.id))
  return [...trusted, ...(await memory.search(asked)).filter(({ row }) => !ids.has(row.id))]
}

/** Each text once, and no message of a tool or a document with more than its share. */
function withoutCrowds(rows: readonly MemoryRow[]): readonly MemoryRow[] {
  const texts = new Set<string>()
  const perSource = new Map<string, number>()
  return rows.filter(({ text, trusted, session, sources }) => {
    const said = text.replace(/\s+/g, " ").toLowerCase()
    const source = JSON.stringify([session, sources[0]])
    const before = perSource.get(source) ?? 0
    if (texts.has(said) || (!trusted && before >= maxPerSource)) return false
    texts.add(said)
    if (!trusted) perSource.set(source, before + 1)
    return true
  })
}

/** As many of the rows as the budget holds, best first; one that is too long makes way for the next. */
function fitRows(rows: readonly MemoryRow[], { budgetTokens, count }: RetrieveOptions): Retrieved | undefined {
  const kept: { readonly row: MemoryRow; readonly line: string }[] = []
  let used = count(memoryText([]))
  let refused = 0
  for (const row of rows) {
    if (kept.length >= maxShown || used >= budgetTokens) break
    if (shownText(row.text) === "") continue
    const line = memoryLine(row)
    const cost = count(`\n${line}`)
    if (used + cost > budgetTokens) continue
    if (admitsRow(row)) {
      used += cost
      kept.push({ row, line })
    } else refused++
  }
  // The sum is an estimate; the whole is what counts.
  for (; kept.length > 0; kept.pop()) {
    const text = memoryText(kept.map(({ line }) => line))
    if (count(text) <= budgetTokens) return { text, rows: kept.map(({ row }) => row), refused }
  }
  return undefined
}
