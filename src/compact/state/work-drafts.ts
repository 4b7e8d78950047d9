import { nameWords, wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { code, maxLineLength, oneLine } from "../summary/summary.ts"
import { toldArguments } from "./call-text.ts"
import { eachFile, type FileState, fileText } from "./file-states.ts"
import { isAddress } from "./line-series.ts"
import type { NoteDraft } from "./note-draft.ts"
import { isToDo, type TaskList } from "./task-list.ts"
import verbs from "./tool-verbs.json" with { type: "json" }
import type { Run, Work } from "./work.ts"

/** What the lines of work are worth; `worthOf` in notes.ts says how time changes it. */
const worths = {
  act: 10,
  error: 7,
  fixed: 4.5,
  command: 4,
  lookup: 2.5,
  bareLookup: 1,
  changedFile: 6,
  readFile: 2,
  task: 8,
  doneTask: 4,
}

/**
 * The lines of all that was done: runs, errors with their fixes, files, and the items of the latest list. A list that was last written
 * before the user's `newest` request is one of work that the user takes for done.
 */
export function workDrafts(
  work: Work,
  { newest, isLeft, states = new Map() }: ListStanding & { readonly states?: States },
): readonly NoteDraft[] {
  const shorts = shortCalls([...work.runs.values()])
  const runs = withRewrites([...work.runs.values()].map((run) => withState(run, states))).flatMap((run) =>
    runDraft(run).map((draft) => ({
      ...draft,
      ...present({ short: draft.kind === "act" ? shorts.get(run.text) : undefined }),
    })),
  )
  const files = [...eachFile(work.files)].map(([path, state]) => fileDraft(path, state))
  return [...runs, ...files, ...taskDrafts(work.list, { newest, isLeft })]
}

/** Where the user last asked for something new, and whether the list was left as it was since. */
type ListStanding = { readonly newest: number; readonly isLeft: boolean }

type States = ReadonlyMap<string, { readonly state: string; readonly at: number }>

/** An act whose answer named what it made, with the state in which that was found last. */
function withState(run: Run, states: States): Run {
  const { kind, at, outcome } = run
  if (kind !== "act" || outcome?.failed !== false) return run
  if (run.earlier !== undefined) {
    const { earlier, ...latest } = run
    const named = earlier.map((id) => (states.has(id) ? `${id} (${states.get(id)?.state})` : id))
    return { ...withState(latest, states), earlier: named }
  }
  if (outcome.value === undefined) {
    // "Submitted batch job 4418203": the number stands in what it printed.
    const since = outcome.line?.match(/\d{4,12}/g)?.flatMap((id) => states.get(id) ?? []) ?? []
    const known = since.findLast((one) => one.at >= at)
    return known === undefined ? run : { ...run, outcome: { ...outcome, line: `${outcome.line} (${known.state})` } }
  }
  const told = outcome.value.split(", ")
  const later = told
    .flatMap((pair) => states.get(pair.slice(pair.indexOf("=") + 1)) ?? [])
    .findLast((known) => known.at > at)
  if (later === undefined) return run
  const now = (pair: string): string => pair.replace(/=.*$/, `=${later.state}`)
  const value = told.some((pair) => stateKey.test(pair))
    ? told.map((pair) => (stateKey.test(pair) ? now(pair) : pair))
    : [...told, `state=${later.state}`]
  return { ...run, outcome: { ...outcome, value: value.join(", ") } }
}
const stateKey = /^(?:state|status|result|stan|estado|stato|statut|état|etat|zustand|durum|tila|状态|状態|상태)=/i

const rewrites =
  /\bgit (?:-\S+ \S+ )?(?:rebase(?! --abort)|pull\b[^;&|]{0,80} (?:--rebase|-r)\b|reset (?:-\S+ )*(?:HEAD[~^]|[\da-f]{7})|commit\b.{0,200} --amend|filter-)/
const ofBranch = /\bgit (?:-\S+ \S+ )?(?:rebase|filter-)/
const ofUnpushed = /\bgit (?:-\S+ \S+ )?pull\b/
/** A command that makes a commit and changes that very one. */
const ofItsOwn = /\bgit (?:-\S+ \S+ )?(?:revert|cherry-pick|merge|commit(?![^;&|]{0,200} --amend))\b.{0,400} --amend/s
const pushes = /\bgit (?:-\S+ \S+ )?push\b/

const upToDate = /^Already up[ -]to[ -]date/

/** A commit has another name once the branch was put on another base, and is gone once it was amended or taken back: nobody finds it then. */
function withRewrites(runs: readonly Run[]): readonly Run[] {
  const isWell = ({ outcome }: Run): boolean => outcome?.failed === false
  const later = runs.filter(
    (run) =>
      isWell(run) && rewrites.test(run.text) && !ofItsOwn.test(run.text) && !upToDate.test(run.outcome?.line ?? ""),
  )
  if (later.length === 0) return runs
  const isCommit = ({ outcome }: Run): boolean => outcome?.value?.startsWith("commit ") === true
  const isGone = (run: Run): boolean =>
    later.some((one) => {
      const before = runs.filter((other) => isCommit(other) && other.at < one.at)
      if (ofBranch.test(one.text)) return before.includes(run)
      if (!ofUnpushed.test(one.text)) return before.toSorted((a, b) => b.at - a.at)[0] === run
      const isPushed = runs.some((two) => isWell(two) && pushes.test(two.text) && two.at > run.at && two.at < one.at)
      return before.includes(run) && !isPushed
    })
  return runs.map((run) =>
    run.outcome?.value !== undefined && isCommit(run) && isGone(run)
      ? { ...run, outcome: { ...run.outcome, value: `${run.outcome.value} (rewritten since)` } }
      : run,
  )
}

/** Calls of one tool that have an argument in common before it says nothing of each. */
const leastCalls = 3

/** Acts in few words: of an argument that all calls of a tool have in common, only the latest call tells, behind its own. */
function shortCalls(runs: readonly Run[]): ReadonlyMap<string, string> {
  const shorts = new Map<string, string>()
  const acts = runs.filter(({ kind, calls }) => kind === "act" && calls)
  for (const [tool, own] of Map.groupBy(acts, ({ text }) => text.slice(1, text.indexOf("(")))) {
    if (own.length < leastCalls) continue
    const told = own.map(({ text }) => ({ text, parts: toldArguments(text.slice(tool.length + 2, -2)) }))
    const [{ parts: first } = { parts: [] }] = told
    const isUsual = (part: string): boolean => !isTarget(part) && told.every(({ parts }) => parts.includes(part))
    const usual = new Set(first.filter(isUsual))
    for (const [n, { text, parts }] of told.entries()) {
      const own = parts.filter((part) => !usual.has(part))
      const isLatest = n === told.length - 1
      const all = isLatest ? [...own, ...usual] : own
      if (own.length > 0 && own.length < parts.length) shorts.set(text, code(`${tool}(${all.join(", ")})`))
    }
  }
  return shorts
}

/** What a call is about is told with each: an order, a booking, a job; whose it is goes without saying. */
const isTarget = (part: string): boolean =>
  /^(?!(?:user|customer|client|account|member|owner|tenant|payment)_?)\w{2,30}?_?(?:id|number|no|ref)=\S/i.test(part)

/** A search without a hit ends like this; that is no error. */
const foundNothing =
  /^(?:\W{0,3}(?:command |process )?exit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}1\W{0,3}(?:no output\W{0,2})?)?$/i

/** The last step of a command filters what was printed. */
const endsInSearch = /(?:\||&&|;)\s{0,3}(?:[ez]?grep|rg|ag)\s[^|&;]{1,200}`$/

/** So many characters of an output that stand in the command are the command. */
const echoed = 40

/** What an agent notes down of its own work says again what it did. */
const notes =
  /^`(?:\w+__|\w+\.)*(?:add|create|write|post|append|insert|log)_(?:\w+_)?(?:notes?|comments?|remarks?|log_entry|journal\w*)\(/

/** What was paid, booked, sent, published or deleted must not be done again; a folder that was made, or a paper put on file, may. */
function weightOfAct(text: string, calls: boolean): number {
  if (!calls) return weightyCommand.test(text) ? weighty : slightCommand.test(text) ? slight : 1
  const words = nameWords(text.slice(1, text.indexOf("(")))
  if (words.some((word) => slightWords.has(word))) return slight
  return words.some((word) => weightyWords.has(word)) ? weighty : 1
}
const [weighty, slight] = [1.5, 0.7]
const [weightyWords, slightWords] = [wordSet(...verbs.weighty), wordSet(...verbs.slight)]
const weightyCommand = new RegExp(
  `\\b${anyOf(
    "git (?:-\\S+ \\S+ )?(?:push|tag)|(?:npm|pnpm|yarn|cargo|twine|poetry) (?:publish|upload)|docker (?:push|stack deploy)",
    "(?:terraform|tofu|pulumi) (?:apply|destroy|up)|(?:kubectl|oc) (?:apply|delete|scale|rollout|drain)",
    "helm \\S{0,40} ?(?:upgrade|install|uninstall|rollback)|gh (?:pr merge|release create)|migrate|alembic upgrade",
    "db:migrate|deploy\\w*|systemctl (?:restart|stop)|reboot|sbatch|drop (?:table|database)|delete from",
  )}\\b`,
  "i",
)
const slightCommand = /^`(?:chmod|mkdir|touch|tar|unzip|ln|git (?:clone|fetch|switch|checkout -b|stash))\b[^;&]*`?$/

function runDraft(run: Run): readonly NoteDraft[] {
  const { text, kind, calls, little, at, sources, outcome, fixed, times, purpose } = run
  const base = { kind, text: times > 1 ? `${text} ×${times}` : text, sources, channel: "assistant", at } as const
  const scale = little ? 0.3 : notes.test(text) ? 0.5 : kind === "act" ? weightOfAct(text, calls) : 1
  if (outcome === undefined)
    return [{ ...base, state: "pending", worth: worths.error * scale, after: ": no result yet" }]
  const begins = kind === "act" && outcome.sure !== true ? outcome.begins : undefined
  const told = outcome.line ?? outcome.value ?? (purpose === undefined ? begins : undefined)
  // Some programs print the command that they run.
  const quoted = told !== undefined && text.includes(told.replaceAll("`", "'").slice(0, echoed)) ? undefined : told
  const values = outcome.line === undefined && outcome.begins === undefined
  if (!outcome.failed) {
    // That something ran is no news, nor that a tool was called without arguments; what it found or changed is.
    if (kind !== "act" && quoted === undefined && (!calls || text.endsWith("()`"))) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    if (kind !== "act") return [{ ...base, worth, ...present({ quoted }), values }]
    // Among what was done, only doubt is said, and what a command was for that answered nothing telling.
    const doubt = outcome.sure === true || outcome.begins !== undefined ? "" : ": result unknown"
    const otherwise = purpose === undefined ? doubt : `${purposeSign}${purpose}${doubt}`
    const after = run.earlier === undefined ? "" : `; before that: ${run.earlier.join(", ")}`
    return [{ ...base, worth, ...present({ quoted }), values, otherwise, after }]
  }
  const isSearch = kind === "lookup" || endsInSearch.test(text)
  if (isSearch && !calls && foundNothing.test(quoted ?? "")) return []
  if (kind === "lookup" && fixed !== undefined) return []
  const ways = run.alike === 1 ? "another way" : `${run.alike} other ways`
  const others = run.alike === undefined ? "" : `, like ${ways} before it`
  const again = times > 1 ? ` ×${times}` : ""
  const why = outcome.rejected === true ? rejectedEnd : ""
  const error = {
    ...base,
    kind: "error" as const,
    text: `${text} failed${again}${others}${why}`,
    ...present({ quoted }),
  }
  if (fixed === undefined) {
    const isUnsure = kind === "act" && calls && leftUnsure.test(quoted ?? "")
    return [
      {
        ...error,
        ...(isUnsure ? { after: " (it may have been done)" } : {}),
        state: "failed",
        worth: (kind === "lookup" ? worths.lookup : worths.error) * scale,
      },
    ]
  }
  return [{ ...error, at: fixed.at, state: "done", worth: worths.fixed * scale, after: `; ${fixText(run, fixed)}` }]
}

/** Between a command and what the agent said that it was for. */
export const purposeSign = " — "

/** Said of what the user did not let happen. */
export const rejectedEnd = ": rejected by the user"

/** Nobody answered in time: whether it was done, the call itself does not tell. */
const leftUnsure =
  /\btime(?:d[ -]?|[ -]?)out\b|_TIMEOUT\b|\b(?:did not|didn['’]t|no) (?:answer|respon(?:d|se)|reply)\b|\b50[24]\b/i

function fixText({ text, calls }: Run, { files, by }: NonNullable<Run["fixed"]>): string {
  if (files.length > 0) return oneLine(`went well after changing ${files.map(code).join(", ")}`, maxLineLength)
  if (calls && by !== text) return "went well with other arguments"
  return by === text ? "went well when run again" : oneLine(`went well as ${by}`, maxLineLength)
}

/** Where there is little room, a file is told with so many names of what changed in it. */
const fewNames = 2

/** Each file that was looked at too often to be there by chance is worth more. */
const fileDraft = (path: string, state: FileState): NoteDraft => {
  const { deeds, at, sources } = state
  const changed = deeds.some((deed) => deed !== "read")
  return {
    kind: isAddress(path) && !changed ? "lookup" : "file",
    text: fileText(path, state),
    ...(state.change === undefined ? {} : { short: fileText(path, state, fewNames) }),
    sources,
    channel: "assistant",
    at,
    worth: (changed ? worths.changedFile : worths.readFile) + Math.min(2, sources.length / 4),
  }
}

/** Said of a list that was left: it says nothing of what is done. */
const leftList = "On the agent's list, which it has not touched for long: "

/** Items of a list that was kept since; one that is kept item by item names them by their ids, in their order. */
function taskDrafts({ tasks }: TaskList, { newest, isLeft }: ListStanding): readonly NoteDraft[] {
  if (tasks === undefined) return []
  const items = tasks.items.filter(({ doing = tasks.doing }) => doing.at >= newest)
  if (isLeft) {
    const open = items.filter(isToDo).map(({ text }) => text)
    const text = oneLine(`${leftList}${open.join("; ")}`, maxLineLength)
    const { at, source } = tasks.doing
    return open.length === 0
      ? []
      : [{ kind: "finding", text, sources: [source], channel: "assistant", at, worth: worths.readFile }]
  }
  return items
    .toSorted((one, other) => Number(one.id ?? 0) - Number(other.id ?? 0))
    .map(
      ({ text, state, id, doing = tasks.doing }): NoteDraft => ({
        kind: "task",
        text: id === undefined ? text : `#${id} ${text}`,
        sources: [doing.source],
        state,
        channel: "assistant",
        at: tasks.doing.at,
        worth: state === "done" ? worths.doneTask : worths.task,
      }),
    )
}
