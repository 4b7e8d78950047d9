import { present, sumOf } from "../message/present.ts"
import { findModel } from "../tokens/models.ts"
import type { Conversation } from "../transcript/conversation.ts"
import { type Arguments, type Command, type CommandAnswer, failureIn, misuse, readCount, unusable } from "./command.ts"
import { strategyNames } from "./config/resolved-config.ts"
import { save } from "./deliver.ts"
import type { ConversationFile } from "./read-export.ts"
import { replayPage } from "./replay/page.ts"
import { type Arm, arms, callsOf, type Replay, replayConversation, usualModels } from "./replay/replay-conversation.ts"
import {
  armWords,
  figureRows,
  legend,
  money,
  type ReplayedConversation,
  type ReplayReport,
  replayTotals,
  sampled,
  shortenedIn,
  spentSoFar,
} from "./replay/report.ts"
import { agentFolders, type FoundFile, findFiles, readTranscript } from "./replay-files.ts"
import {
  clip,
  count,
  moment,
  number,
  type Paper,
  paragraph,
  paragraphs,
  right,
  sentenceOf,
  table,
  wrap,
} from "./terminal/output.ts"
import { kindWords, ownTextOf } from "./words.ts"
import { readVersion, type World } from "./world.ts"

/** Default number of the user's own sessions to replay, newest first. */
const defaultLimit = 10
const maxLimit = 20_000
const maxPlaces = 1000

export const replayCommand: Command = {
  options: {
    mine: { help: "the newest sessions in the folders of Claude Code, Codex and pi" },
    window: { value: "TOKENS", help: "the window to replay in; the model's own unless given" },
    model: { value: "NAME", help: "whose tokens, prices and window; the file's own unless given" },
    strategy: { value: "NAME", help: "what stays verbatim; staged unless given", oneOf: strategyNames },
    index: { value: "N", help: "only this conversation of each file, from 0" },
    limit: { value: "N", help: `most files, the newest first; ${defaultLimit} with --mine, all otherwise` },
    html: { value: "FILE", help: "write a page with plots there: one file, no scripts, opens offline" },
    json: { help: "one JSON object on stdout, and nothing else" },
  },
  maxPositionals: maxPlaces,
  run: replay,
}

async function replay(args: Arguments, world: World): Promise<CommandAnswer> {
  const isMine = args.isOn("mine")
  if (isMine === args.positionals.length > 0)
    return isMine
      ? misuse("--mine names the folders itself.", "Leave out --mine, or the files.")
      : misuse(
          "It was not said what to replay.",
          "Name a transcript or a folder, or write --mine for your own sessions.",
        )
  const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxLimit })
  const choices = readChoices(args)
  const found = isMine ? await findMine(world) : await findFiles(args.positionals)
  const files = found.slice(0, limit ?? (isMine ? defaultLimit : maxLimit))
  if (files.length === 0)
    return unusable(
      "input-empty",
      "There is no transcript there.",
      "Files end in .json or .jsonl, packed or not: .jsonl.gz.",
    )
  const page = args.valueOf("html")
  // Check that the page can be written before minutes of replaying.
  if (page !== undefined) await save(page, "", { flag: "a" })
  const progress = createProgress(files, args.isOn("json"), world)
  const report = await replayFiles(files, choices, world, progress).finally(progress.end)
  return await answerOf({ ...report, notRead: found.length - files.length }, args, world)
}

async function findMine({ env }: World): Promise<readonly FoundFile[]> {
  const folders = agentFolders(env)
  const found = (await Promise.all(folders.map((folder) => findFiles([folder]).catch(noFiles)))).flat()
  if (found.length === 0)
    return unusable(
      "input-empty",
      "No session of Claude Code, Codex or pi was found.",
      `Looked in ${folders.join(", ")}. Name the folder or file instead of --mine.`,
    )
  return found.sort((one, other) => other.changedMs - one.changedMs)
}

/** No files, because an agent that was never used here has no folder. */
function noFiles(error: unknown): readonly FoundFile[] {
  failureIn(error)
  return []
}

type ReplayChoices = {
  readonly windowTokens?: number
  readonly index?: number
  readonly model?: string
  readonly strategy?: (typeof strategyNames)[number]
}

const readChoices = (args: Arguments): ReplayChoices =>
  present({
    windowTokens: readCount("--window", args.valueOf("window"), { least: 1, most: 1_000_000_000 }),
    index: readCount("--index", args.valueOf("index"), { least: 0, most: 1_000_000 }),
    model: args.valueOf("model"),
    strategy: strategyNames.find((name) => name === args.valueOf("strategy")),
  })

async function replayFiles(
  files: readonly FoundFile[],
  { windowTokens, index, model: chosenModel, strategy }: ReplayChoices,
  world: World,
  progress: Progress,
): Promise<ReplayReport> {
  const conversations: ReplayedConversation[] = []
  const skipped: { readonly file: string; readonly reason: string }[] = []
  for (const { path, isNamed } of files) {
    const file = await readTranscript(path, world).catch((error: unknown) => {
      if (isNamed) throw error
      skipped.push({ file: path, reason: failureIn(error).sentence })
    })
    if (file === undefined) {
      progress.fileDone()
      continue
    }
    const chosen = [...file.conversations.entries()].filter(([n]) => index === undefined || n === index)
    if (chosen.length === 0 && isNamed)
      return unusable(
        "index-too-large",
        `${path} has ${count(file.conversations.length, "conversation")}, counted from 0.`,
        "Choose another --index.",
      )
    const calls = chosen.map(([, { messages }]) => callsOf(messages).length)
    progress.turnsOf(sumOf(calls, (turns) => turns))
    for (const [n, conversation] of chosen) {
      const named = chosenModel ?? conversation.model
      const model = named ?? usualModels[conversation.format]
      const options = { model, onTurn: progress.turnDone, ...present({ windowTokens, strategy }) }
      const replayed = await replayConversation(conversation, findModel(model), options)
      conversations.push({
        ...about(path, file.kind, n, conversation),
        modelAssumed: named === undefined,
        replay: replayed,
      })
    }
    progress.fileDone()
  }
  return { conversations, skipped, notRead: 0, strategy: strategy ?? "staged" }
}

/** Limit on the characters of a conversation's title. */
const titleLength = 100

function about(file: string, kind: ConversationFile["kind"], index: number, conversation: Conversation) {
  const { id, title, messages, compactions, notes } = conversation
  const notTyped = new Set(notes.map(({ message }) => message))
  const first = messages.find(
    (message) => message.role === "user" && !notTyped.has(message.id) && ownTextOf(message) !== "",
  )
  return {
    ...{ file, kind: kindWords[kind], index, ownCompactions: compactions.length },
    ...present({ id }),
    title: clip(title ?? (first === undefined ? (id ?? file) : ownTextOf(first)), titleLength),
  }
}

type Progress = ReturnType<typeof createProgress>

const quietMs = 2000
const againMs = 120
const barWidth = 30

/** Shows a progress bar on the terminal after two seconds. */
function createProgress(files: readonly FoundFile[], isSilent: boolean, { stderr, nowMs }: World) {
  const startMs = nowMs()
  const allBytes = Math.max(
    1,
    sumOf(files, ({ bytes }) => bytes),
  )
  let [done, doneBytes, turns, turn, lastMs, isShown] = [0, 0, 0, 0, 0, false]
  const draw = async (): Promise<void> => {
    const now = nowMs()
    if (isSilent || !stderr.isTerminal || now - startMs < quietMs || now - lastMs < againMs) return
    lastMs = now
    isShown = true
    const share = Math.min(1, (doneBytes + (files[done]?.bytes ?? 0) * (turns === 0 ? 0 : turn / turns)) / allBytes)
    const filled = Math.round(share * barWidth)
    const where = files.length === 1 ? "" : `file ${number(done + 1)} of ${number(files.length)}, `
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`
    await stderr.write(`\r\x1b[K${bar} ${Math.floor(100 * share)} %  ${where}turn ${number(turn)} of ${number(turns)}`)
  }
  return {
    turnsOf: (many: number): void => {
      turns = many
      turn = 0
    },
    turnDone: (): Promise<void> => {
      turn += 1
      return draw()
    },
    fileDone: (): void => {
      doneBytes += files[done]?.bytes ?? 0
      done += 1
      turns = 0
      turn = 0
    },
    end: async (): Promise<void> => {
      if (isShown) await stderr.write("\r\x1b[K")
    },
  }
}

async function answerOf(report: ReplayReport, args: Arguments, world: World): Promise<CommandAnswer> {
  const html = args.valueOf("html")
  if (html !== undefined) {
    const made = { version: await readVersion(), date: moment(world.dateMs()).slice(0, 10) }
    await save(html, replayPage(report, made))
  }
  const written = html === undefined ? [] : ["", `${sentenceOf(html)} has the same with plots and every compaction.`]
  return {
    json: { ...report, totals: replayTotals(report.conversations) },
    text: (paper) => [...accountOf(report, paper), ...written],
  }
}

function accountOf(report: ReplayReport, paper: Paper): readonly string[] {
  const { conversations, skipped, notRead } = report
  const [only] = conversations
  const body =
    only === undefined
      ? ["No conversation was found in these files."]
      : conversations.length === 1
        ? conversationAccount(only, paper)
        : manyAccount(conversations, paper)
  const rest = [
    ...skipped.slice(0, maxSkipped).map(({ file, reason }) => `Not replayed: ${file}: ${reason}`),
    ...(skipped.length > maxSkipped ? [`${number(skipped.length - maxSkipped)} more files are no transcripts.`] : []),
    ...(notRead === 0
      ? []
      : [`${count(notRead, "older file")} not looked at; --limit ${number(notRead)} more replays them.`]),
  ]
  return [
    ...body,
    "",
    ...paragraphs("Figures", legend, paper).map(paper.dim),
    ...rest.map((line) => paper.dim(clip(line, paper.width))),
  ]
}

const maxSkipped = 5
const heights = "▁▂▃▄▅▆▇█"
const labelWidth = 15

/** One line of a small chart; a value above `top` is a cross. */
function spark(values: readonly number[], top: number): string {
  return values
    .map((value) => (value > top ? "×" : (heights[Math.min(7, Math.floor((8 * value) / Math.max(top, 1e-12)))] ?? "▁")))
    .join("")
}

function charts({ turns, windowTokens, totals, modelKnown }: Replay, paper: Paper): readonly string[] {
  const room = Math.min(64, paper.width - labelWidth - 14)
  const most = Math.max(...arms.map((arm) => totals[arm].dollars), 1e-12)
  const line = (arm: Arm, figures: readonly number[], top: number, end: string): string =>
    `${armWords[arm].padEnd(labelWidth)}${spark(sampled(figures, room), top)}  ${end}`
  return [
    paper.bold(`Context by turn, up to the window of ${number(windowTokens)}; × does not fit`),
    ...arms.map((arm) => {
      const sizes = turns.map((turn) => turn.arms[arm].contextTokens)
      return line(arm, sizes, windowTokens, number(sizes.at(-1) ?? 0))
    }),
    "",
    paper.bold("Cost of the prompts so far (estimate)"),
    ...arms.map((arm) => line(arm, spentSoFar(turns, arm), most, modelKnown ? money(totals[arm].dollars) : "")),
  ]
}

/** Limit on the compactions and rules listed on the terminal. */
const maxListed = 12

function conversationAccount(conversation: ReplayedConversation, paper: Paper): readonly string[] {
  const { title, file, index, kind, replay, modelAssumed, ownCompactions } = conversation
  const { turns, compactions, rules, model, pricesFrom, modelKnown, refusal, answerDollars, windowTokens, totals } =
    replay
  const place = `${file}${index === 0 ? "" : `, conversation ${index}`}: ${kind}, ${count(turns.length, "turn")}`
  const prices = modelKnown ? `prices of ${pricesFrom}` : "prices not known: costs are shares of the whole history's"
  const assumed = modelAssumed ? " (assumed: the file names none; --model chooses)" : ""
  const columns = ["", ...arms.map((arm) => right(armWords[arm])), ""]
  const rows = figureRows(replay).map(({ label, cells }) => [label, ...arms.map((arm) => cells[arm]), ""])
  const tighter = Math.max(4000, Math.round(totals.none.mostTokens / 2000) * 1000)
  return [
    ...wrap(sentenceOf(title), paper.width).map(paper.bold),
    clip(place, paper.width),
    ...wrap(sentenceOf(`${model}${assumed}, window ${number(windowTokens)}; ${prices}`), paper.width),
    ...(ownCompactions === 0
      ? []
      : [`The client itself compacted ${count(ownCompactions, "time")}; what was really said is replayed.`]),
    "",
    ...table(columns, rows, paper).map((line) => line.trimEnd()),
    ...(modelKnown ? [paper.dim(`The answers cost ${money(answerDollars)} in every column.`)] : []),
    "",
    ...charts(replay, paper),
    "",
    ...(compactions.length === 0
      ? [`Nothing had to be compacted: it never filled the window. Try --window ${tighter}.`]
      : compactionLines(replay, paper)),
    ...(rules.length === 0 ? [] : ["", ...listRules(rules, paper)]),
    ...(refusal === undefined ? [] : ["", ...paragraph("Refused", refusal, paper)]),
  ]
}

function compactionLines({ compactions }: Replay, paper: Paper): readonly string[] {
  const columns = [right("TURN"), right("BEFORE"), right("AFTER"), right("LEFT OUT"), right("SHORTENED"), "HOW"]
  const rows = compactions
    .slice(0, maxListed)
    .map((one) => [
      String(one.turn),
      number(one.beforeTokens),
      number(one.afterTokens),
      count(one.dropped.length, "message"),
      count(shortenedIn(one), "result"),
      one.remedy,
    ])
  const rest = compactions.length - rows.length
  return [
    ...table(columns, rows, paper),
    ...(rest > 0
      ? [paper.dim(`and ${number(rest)} more; --html and --json have all of them, with their digests`)]
      : []),
  ]
}

function listRules(rules: Replay["rules"], paper: Paper): readonly string[] {
  const texts = rules.slice(0, maxListed).map(({ text, channel }) => `${channel}: ${clip(text, paper.width * 2)}`)
  const rest = rules.length > maxListed ? [`and ${number(rules.length - maxListed)} more`] : []
  return paragraphs("Rules", [...texts, ...rest], paper)
}

/** Limit on the conversations listed; --json and --html have all. */
const maxRows = 60

function manyAccount(conversations: readonly ReplayedConversation[], paper: Paper): readonly string[] {
  const columns = [
    right("TURNS"),
    right("COMPACTED"),
    ...arms.map((arm) => right(armWords[arm].split(" ")[0]?.toUpperCase() ?? "")),
    right("RULES"),
    right("VALUES"),
    { title: "CONVERSATION", fit: "cut" as const },
  ]
  const rows = conversations.slice(0, maxRows).map(({ replay, title }) => {
    const { turns, totals, compactions, rules, neededValues, modelKnown } = replay
    const cost = (arm: Arm): string =>
      modelKnown ? `${money(totals[arm].dollars)}${totals[arm].refusedTurns > 0 ? " ×" : ""}` : "-"
    const kept = totals.holdfast.kept
    return [
      number(turns.length),
      String(compactions.length),
      ...arms.map(cost),
      `${kept.rules}/${rules.length}`,
      neededValues === 0 ? "-" : `${kept.values}/${neededValues}`,
      clip(title, 40),
    ]
  })
  const sums = replayTotals(conversations)
  const costs = arms.map((arm) => `${armWords[arm]} ${money(sums.arms[arm].dollars)}`).join(", ")
  const kept = arms.map((arm) => `${armWords[arm]} ${number(sums.arms[arm].valuesKept)}`).join(", ")
  return [
    ...table(columns, rows, paper),
    ...(conversations.length > maxRows
      ? [paper.dim(`and ${number(conversations.length - maxRows)} more; --json and --html have all`)]
      : []),
    "",
    ...paragraphs(
      "All",
      [
        `${count(conversations.length, "conversation")}, ${count(sums.turns, "turn")}, ${count(sums.compactions, "compaction")}. Cost of the prompts (estimate): ${costs}. × went over the window.`,
        `Rules in the last context: ${number(sums.arms.holdfast.rulesKept)} of ${number(sums.rules)}. Values needed later, of ${number(sums.neededValues)}: ${kept}.`,
      ],
      paper,
    ),
  ]
}
