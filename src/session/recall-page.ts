import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { fenceStored, storedNote } from "./fence-stored.ts"
import type { LineRange, Recalled } from "./recall.ts"

/** What a model asks for when it calls something back. Lines count from 1, both ends included. */
export type RecallArguments = {
  readonly handle: string
  readonly fromLine?: number | undefined
  readonly toLine?: number | undefined
  /** Characters of the first line that an earlier page has shown. */
  readonly skipCharacters?: number | undefined
}

type RecallPageOptions = {
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

/** Where a page starts: characters of its first line that an earlier page has shown already. */
export type PageStart = { readonly fromLine: number; readonly skipCharacters: number }

/** A piece of a text that is not longer than asked, and where the next one starts if there is more. */
export type Page = { readonly text: string; readonly toLine: number; readonly next?: PageStart }

/** How long the first line of a text is. */
function firstLineLength(text: string): number {
  const end = text.indexOf("\n")
  return end < 0 ? text.length : end
}

/**
 * One page of a text that starts at line `fromLine`. It ends at the end of a line; only a line that is longer than a whole page is cut,
 * and no character is cut in two. Pages joined, by line ends where a new line starts, give the text back.
 */
export function pageOf(text: string, { fromLine, skipCharacters }: PageStart, maxCharacters: number): Page {
  const end = skipCharacters + maxCharacters
  if (text.length <= end) {
    const rest = text.slice(skipCharacters)
    return { text: rest, toLine: fromLine + breaksIn(rest) }
  }
  const lineEnd = text.lastIndexOf("\n", end)
  if (lineEnd >= skipCharacters) {
    const lines = text.slice(skipCharacters, lineEnd)
    const toLine = fromLine + breaksIn(lines)
    return { text: lines, toLine, next: { fromLine: toLine + 1, skipCharacters: 0 } }
  }
  const cut = Math.max(skipCharacters + 1, splitsPair(text, end) ? end - 1 : end)
  return {
    text: text.slice(skipCharacters, cut),
    toLine: fromLine,
    next: { fromLine, skipCharacters: cut },
  }
}

function breaksIn(text: string): number {
  let breaks = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks++
  return breaks
}

const splitsPair = (text: string, at: number): boolean =>
  /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))
