import { HoldfastError, refuseOption } from "../message/errors.ts"
import { type Message, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { seqOf } from "../session/log/entry.ts"
import { type FoundText, type LogSearch, searchLogs } from "../session/log/search-logs.ts"
import { type LineRange, linesIn, type Recalled } from "../session/recall.ts"
import { type AskedSession, askSession, askStore, sessionsNamed, shortNames, storeOptions } from "./ask-store.ts"
import { type Arguments, type Command, needed, readCount } from "./command.ts"
import { messageWords } from "./sessions-show.ts"
import { count, moment, number, type Paper, printable, sentenceOf, wrapPieces } from "./terminal/output.ts"

/** Limit on the sessions searched, newest first. */
const maxSessions = 1000
const maxWords = 100
const defaultFound = 10
const maxFound = 200

/** Searches the messages of all sessions. */
export const searchCommand: Command = {
  options: {
    session: { value: "ID", help: "only in this session: its ID, its beginning or @last" },
    limit: { value: "N", help: `most messages; ${defaultFound} unless given` },
    ...storeOptions,
  },
  maxPositionals: maxWords,
  run: async (args, world) => {
    const query = needed(args.positionals.join(" "), "what to search for", "Write some words.")
    const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxFound }) ?? defaultFound
    return askStore(args, world, async ({ store }) => {
      const rows = await sessionsNamed(store, args.valueOf("session"), { limit: maxSessions + 1 })
      const search = await searchLogs(store, rows.slice(0, maxSessions), query, { limit })
      const names = shortNames(await store.sessions())
      const cut = search.cut || rows.length > maxSessions
      return {
        json: {
          found: search.found.map(({ pieces, ...about }) => ({
            ...about,
            text: pieces.map(({ text }) => text).join(""),
          })),
          sessions: search.sessions,
          cut,
        },
        text: (paper) => searchLines({ ...search, cut }, names, paper),
      }
    })
  },
}

function searchLines({ found, sessions, cut }: LogSearch, names: (id: string) => string, paper: Paper) {
  const where = `${count(sessions, "session")}${cut ? ", the newest; name an older one with --session" : ""}`
  const [first] = found
  if (first === undefined) return [`Nothing was found in ${where}. Try fewer or other words.`]
  const lines = found.flatMap((one) => {
    const head = `${names(one.session)} ${one.entry}`
    return [
      `${paper.bold(sentenceOf(head))}  ${paper.dim(sentenceOf(`${speakerWords(one)}, ${moment(one.atMs)}`))}`,
      ...wrapPieces(one.pieces, paper.width - 2, paper.bold).map((line) => `  ${line}`),
    ]
  })
  const next = `holdfast recall ${sentenceOf(names(first.session))} ${first.entry}`
  return [...lines, "", paper.dim(`Searched ${where}. ${next} prints the first one whole.`)]
}

function speakerWords({ role, kind, tool }: Pick<FoundText, "role" | "kind" | "tool">): string {
  if (kind === "call") return `call of ${tool ?? "a tool"}`
  if (kind === "result") return tool === undefined ? "tool result" : `result of ${tool}`
  return role
}

/** Prints a stored message or text in full. */
export const recallCommand: Command = {
  options: {
    lines: { value: "A-B", help: "only these lines, counted from 1; 40- is all from line 40 on" },
    find: { value: "WORDS", help: "only the excerpts with these words, each with its lines" },
    ...storeOptions,
  },
  maxPositionals: 2,
  run: (args, world) =>
    askSession(args, world, async (asked) => {
      const next = "Write an entry such as e12, or a handle; holdfast search finds entries."
      const what = needed(args.positionals[1], "what to recall", next)
      const range = { ...readLines(args.valueOf("lines")), ...present({ find: args.valueOf("find") }) }
      const recalled = what.startsWith("hf-")
        ? await asked.session.recall(what, range)
        : await recallEntry(asked, what, range)
      if (!args.isOn("json")) await world.stderr.write(`${recalledHead(recalled, args)}\n`)
      return {
        json: { session: asked.row.id, ...recalled },
        text: () => [printable(recalled.text)],
      }
    }),
}

function recalledHead({ entry, channel, tool, lines, fromLine, toLine }: Recalled, args: Arguments): string {
  const what = tool === undefined ? channel : `${channel}, ${tool}`
  const part = args.valueOf("find") !== undefined ? "excerpts" : `lines ${number(fromLine)}-${number(toLine)}`
  const words =
    fromLine === 1 && toLine === lines && part !== "excerpts" ? count(lines, "line") : `${part} of ${number(lines)}`
  return `holdfast: ${sentenceOf(`${entry}, ${what}`)}, ${words}`
}

/** Parses "40-80", "40-" or "40" as lines. */
function readLines(written: string | undefined): LineRange {
  if (written === undefined) return {}
  const [, from = "", dash, to = ""] = /^(\d{1,9})(-)?(\d{1,9})?$/.exec(written) ?? []
  const [fromLine, toLine] = [Number(from), dash === undefined ? Number(from) : to === "" ? undefined : Number(to)]
  if (from === "" || fromLine < 1 || (toLine !== undefined && toLine < fromLine))
    refuseOption("--lines", "lines such as 40-80, 40- or 40, counted from 1", JSON.stringify(written.slice(0, 40)))
  return { fromLine, ...present({ toLine }) }
}

/** An entry of the log as text, whole or the requested lines. */
async function recallEntry({ session, row }: AskedSession, id: string, range: LineRange): Promise<Recalled> {
  const seq = seqOf(id)
  const [entry] = seq === undefined ? [] : await session.history({ from: seq, limit: 1 })
  if (entry?.message === undefined) throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: id })
  const { text, tool } = textIn(entry.message)
  const lines = linesIn(text.split("\n"), range)
  return { ...lines, channel: entry.message.role, entry: id, ...present({ tool }) }
}

/** The text of a message; calls and results are labelled if it has more than one part. */
function textIn(message: Message): { readonly text: string; readonly tool?: string } {
  const [only, ...others] = message.parts
  if (only === undefined || others.length > 0) return { text: messageWords(message) }
  const tool = only.type === "tool-call" || only.type === "tool-result" ? only.tool : undefined
  return { text: textOf(only), ...present({ tool }) }
}
