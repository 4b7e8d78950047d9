import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { fenceStored, storedNote } from "./fence-stored.ts"
import { firstLineLength, type Page, type PageStart, pageOf } from "./page.ts"
import type { LineRange, Recalled } from "./recall.ts"

/** What a model asks for when it calls something back. Lines count from 1, both ends included. */
export type RecallArguments = {
  readonly handle: string
  readonly fromLine?: number | undefined
  readonly toLine?: number | undefined
  /** Characters of the first line that an earlier page has shown. */
  readonly skipCharacters?: number | undefined
}

export type RecallPageOptions = {
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  /** Characters of stored text on one page. */
  readonly maxCharacters: number
  /** The name by which the model calls for the next page. */
  readonly tool: string
}

/** One page of what was left out, in its fence, and how to get the next one. What cannot be meant is a Problem. */
export async function recallPage(args: RecallArguments, options: RecallPageOptions): Promise<string> {
  const { handle, fromLine: from = 1, toLine, skipCharacters = 0 } = args
  const { maxCharacters } = options
  if (toLine !== undefined && toLine < from)
    refuseArgument("toLine", `a line that is not before line ${from}`, `line ${toLine}`)
  // A page has no more lines than characters, so that no more of a long text has to be fetched.
  const furthest = from + maxCharacters
  const found = await options.recall(handle.trim(), { fromLine: from, toLine: Math.min(toLine ?? furthest, furthest) })
  if (from > Math.max(1, found.lines)) refuseArgument("fromLine", `a line from 1 to ${found.lines}`, `line ${from}`)
  const length = firstLineLength(found.text)
  if (skipCharacters > length)
    refuseArgument("skipCharacters", `at most ${length}, the length of line ${found.fromLine}`, String(skipCharacters))
  const page = pageOf(found.text, { fromLine: found.fromLine, skipCharacters }, maxCharacters)
  return pageText(args, found, page, options.tool)
}

function pageText(args: RecallArguments, found: Recalled, page: Page, tool: string): string {
  const { skipCharacters = 0, toLine } = args
  const labels = {
    lines: `${found.fromLine}-${Math.min(page.toLine, found.toLine)} of ${found.lines}`,
    ...(skipCharacters > 0 ? { "from-character": String(skipCharacters + 1) } : {}),
    channel: found.channel,
    ...present({ tool: found.tool }),
    entry: found.entry,
  }
  const next = nextOf(args, found, page)
  const call = {
    handle: args.handle.trim(),
    fromLine: next?.fromLine,
    ...present({ toLine }),
    ...(next === undefined || next.skipCharacters === 0 ? {} : { skipCharacters: next.skipCharacters }),
  }
  const more = next === undefined ? "" : `\nThere is more. Call ${tool} for the next page with ${JSON.stringify(call)}`
  return `${storedNote}\n${fenceStored(page.text, labels)}${more}`
}

/** Where the next page starts: in what was fetched, or behind it if fewer lines were fetched than asked for. */
function nextOf({ toLine }: RecallArguments, found: Recalled, page: Page): PageStart | undefined {
  // Whether an empty line stands behind the last line break is for the source to say.
  if (page.next !== undefined) return page.next.fromLine > found.lines ? undefined : page.next
  const wanted = Math.min(toLine ?? found.lines, found.lines)
  return found.toLine < wanted ? { fromLine: found.toLine + 1, skipCharacters: 0 } : undefined
}

function refuseArgument(path: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "request-invalid", path, expected, found })
}
