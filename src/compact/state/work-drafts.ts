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

/** Worth of the lines about the work; `worthOf` in note-draft.ts adds the effect of age. */
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
 * Drafts of everything that was done: runs, errors with their fixes, files, and the items of the latest task list. Items last written
 * before the user's newest request belong to finished work and are left out.
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

/** `newest`: index of the latest message with a new request of the user; `isLeft`: the agent stopped updating its list. */
type ListStanding = { readonly newest: number; readonly isLeft: boolean }

type States = ReadonlyMap<string, { readonly state: string; readonly at: number }>

/** Adds to an act whose answer named what it created the state in which that was last seen. */
function withState(run: Run, states: States): Run {
  const { kind, at, outcome } = run
  if (kind !== "act" || outcome?.failed !== false) return run
  if (run.earlier !== undefined) {
    const { earlier, ...latest } = run
    const named = earlier.map((id) => (states.has(id) ? `${id} (${states.get(id)?.state})` : id))
    return { ...withState(latest, states), earlier: named }
  }
  if (outcome.value === undefined) {
    // "Submitted batch job 4418203": the number stands in the printed line.
    const since = outcome.line?.match(/\d{4,12}/g)?.flatMap((id) => states.get(id) ?? []) ?? []
    const known = since.findLast((one) => one.at >= at)
    return known === undefined ? run : { ...run, outcome: { ...outcome, line: `${outcome.line} (${known.state})` } }
  }
  const told = outcome.value.split(", ")
  const stateOf = (pair: string): string | undefined => states.get(pair.slice(pair.indexOf("=") + 1))?.state
  // Of several things that were created, each has its own state.
  if (told.filter((pair) => stateOf(pair) !== undefined).length > 1) {
    const own = told
      .filter((pair) => !stateKey.test(pair))
      .map((pair) => `${pair}${stateOf(pair) === undefined ? "" : ` (${stateOf(pair)})`}`)
    return { ...run, outcome: { ...outcome, value: own.join(", ") } }
  }
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
/** A command that creates a commit and then amends that same commit. */
const ofItsOwn = /\bgit (?:-\S+ \S+ )?(?:revert|cherry-pick|merge|commit(?![^;&|]{0,200} --amend))\b.{0,400} --amend/s
const pushes = /\bgit (?:-\S+ \S+ )?push\b/

const upToDate = /^Already up[ -]to[ -]date/

/** Marks commits rewritten since: a rebase gives them another hash, an amend or reset removes them, so the old hash is no longer found. */
function withRewrites(runs: readonly Run[]): readonly Run[] {
  const isWell = ({ outcome }: Run): boolean => outcome?.failed === false
  const later = runs.filter(
    (run) =>
      isWell(run) && rewrites.test(run.text) && !ofItsOwn.test(run.text) && !upToDate.test(run.outcome?.line ?? ""),
  )
  if (later.length === 0) return runs
  const hasCommit = ({ outcome }: Run): boolean => outcome?.value?.startsWith("commit ") === true
  const isGone = (run: Run): boolean =>
    later.some((one) => {
      const before = runs.filter((other) => hasCommit(other) && other.at < one.at)
      if (ofBranch.test(one.text)) return before.includes(run)
      if (!ofUnpushed.test(one.text)) return before.toSorted((a, b) => b.at - a.at)[0] === run
      const isPushed = runs.some((two) => isWell(two) && pushes.test(two.text) && two.at > run.at && two.at < one.at)
      return before.includes(run) && !isPushed
    })
  return runs.map((run) =>
    run.outcome?.value !== undefined && hasCommit(run) && isGone(run)
      ? { ...run, outcome: { ...run.outcome, value: `${run.outcome.value} (rewritten since)` } }
      : run,
  )
}

/** Minimum number of calls of one tool before an argument that all of them share is left out. */
const leastCalls = 3

/** Short texts of acts: an argument shared by all calls of a tool is told only in the latest call, after its own arguments. */
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

/** True for an argument that names the object of the call, such as an order, a booking or a job, but not for the id of a user or owner. */
const isTarget = (part: string): boolean =>
  /^(?!(?:user|customer|client|account|member|owner|tenant|payment)_?)\w{2,30}?_?(?:id|number|no|ref)=\S/i.test(part)

/** Output of a search without a match, which is not an error. */
const foundNothing =
  /^(?:\W{0,3}(?:command |process )?exit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}1\W{0,3}(?:no output\W{0,2})?)?$/i

/** True if the last step of a command filters its output. */
const endsInSearch = /(?:\||&&|;)\s{0,3}(?:[ez]?grep|rg|ag)\s[^|&;]{1,200}`$/

/** Number of leading characters of an output that, if found in the command, mean that the output only echoes the command. */
const echoed = 40

/** Matches calls with which an agent notes down its own work, which repeats what it did. */
const notes =
  /^`(?:\w+__|\w+\.)*(?:add|create|write|post|append|insert|log)_(?:\w+_)?(?:notes?|comments?|remarks?|log_entry|journal\w*)\(/

/**
 * Factor for an act: what was paid, booked, sent, published or deleted must not be repeated; creating a folder or filing a document may
 * be.
 */
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
  // Some programs echo the command that they run.
  const quoted = told !== undefined && text.includes(told.replaceAll("`", "'").slice(0, echoed)) ? undefined : told
  const values = outcome.line === undefined && outcome.begins === undefined
  if (!outcome.failed) {
    // That something ran, or that a tool was called without arguments, is not worth a line; what it found or changed is.
    if (kind !== "act" && quoted === undefined && (!calls || text.endsWith("()`"))) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    if (kind !== "act") return [{ ...base, worth, ...present({ quoted }), values }]
    // For acts, only doubt about the outcome is reported, or the stated purpose if the output says nothing.
    const doubt = outcome.sure === true || outcome.begins !== undefined ? "" : ": result unknown"
    const otherwise = purpose === undefined ? doubt : `${purposeSign}${purpose}${doubt}`
    const after = run.earlier === undefined ? "" : `; before that: ${run.earlier.join(", ")}`
    const also = outcome.also === undefined ? undefined : { lead: "; ", lines: outcome.also }
    return [{ ...base, worth, ...present({ quoted, also }), values, otherwise, after }]
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
    ...(outcome.rejected === true ? present({ reported: outcome.line }) : present({ quoted })),
    ...present({ also: outcome.also === undefined ? undefined : { lead: doneBefore, lines: outcome.also } }),
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

/** Introduces what the steps before a failure did. */
const doneBefore = "; done before that: "

/** Separates a command from the purpose that the agent stated. */
export const purposeSign = " — "

/** Suffix for calls that the user rejected. */
export const rejectedEnd = ": rejected by the user"

/** Matches a timeout or missing response, after which it is unknown whether the call took effect. */
const leftUnsure =
  /\btime(?:d[ -]?|[ -]?)out\b|_TIMEOUT\b|\b(?:did not|didn['’]t|no) (?:answer|respon(?:d|se)|reply)\b|\b50[24]\b/i

/** The end of a failed call's line where the same tool was then called with other arguments. */
export const otherArguments = "went well with other arguments"

function fixText({ text, calls }: Run, { files, by }: NonNullable<Run["fixed"]>): string {
  if (files.length > 0) return oneLine(`went well after changing ${files.map(code).join(", ")}`, maxLineLength)
  if (calls && by !== text) return otherArguments
  return by === text ? "went well when run again" : oneLine(`went well as ${by}`, maxLineLength)
}

/** Number of changed names in the short form of a file. */
const fewNames = 2

/** Draft of a file; it is worth more the more messages it rests on. */
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

/** Prefix for the open items of a list that is no longer updated; it says nothing about what is done. */
const leftList = "On the agent's list, which it has not touched for long: "

/** Items of the list written since the newest request; in a list kept item by item each has its id, and they are sorted by it. */
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
