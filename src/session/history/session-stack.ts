import { lifetimeThatPays } from "../../compact/plan/economics.ts"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import { diffStacks } from "../../compact/stack/diff.ts"
import { stackTokens } from "../../compact/stack/fit.ts"
import { documentsIn, placeStanding } from "../../compact/stack/place-stack.ts"
import { emptyStack, makeSection, makeStack, type Section, type Stack, sectionsOf } from "../../compact/stack/stack.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Breakpoint, type ModelRequest, tokens } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { StackBody, StackSection } from "../log/entry.ts"
import type { LogEvent, Trace } from "../log/event.ts"
import type { Outline } from "../log/outline.ts"
import { operatorText } from "../rules/pins.ts"
import {
  budgetFor,
  fitToWindow,
  optionsOf,
  type StackChanges,
  type StackInForce,
  type StackOption,
  type StackOptions,
  type StackRoom,
  type StackVersions,
  versionsOf,
  type WaitingStack,
} from "../stack/stack-options.ts"
import type { Live } from "../state/live.ts"

export type CallStack = {
  readonly inForce?: StackInForce
  readonly waiting?: WaitingStack
  /** A changed source takes effect with the next call. */
  readonly isImmediate?: boolean
  readonly events: Trace
}

/**
 * The prompt stack of a call. The first one is installed at once. A changed source waits for the next compaction, which resets the
 * provider's cache anyway, unless `changes` is `now`. If the sources cannot be used, the stack in force stays; without one it is a Problem.
 */
export async function stackForCall(live: Live, option: StackOption | undefined, room: StackRoom): Promise<CallStack> {
  noteCall(live)
  const options = mergedOptions(live.options.stack, option)
  return { ...(await findStack(live, options, room)), isImmediate: options?.changes === "now" }
}

async function findStack(live: Live, options: StackOptions | undefined, room: StackRoom): Promise<CallStack> {
  const inForce = await readInForce(live)
  if (options === undefined && inForce === undefined) return { events: [] }
  const source = options === undefined ? emptyStack() : await live.stacks.read(options).catch(problemOnly)
  if (source instanceof HoldfastError) {
    if (inForce === undefined) throw source
    return { inForce, events: reportRefused(live, source) }
  }
  if (inForce === undefined) {
    return sectionsOf(source).length === 0
      ? { events: [] }
      : installStack(live, { ...fitToWindow(source, options ?? {}, room), source }, "first", room)
  }
  if (source.hash !== inForce.source.hash) return changedStack(live, inForce, source, options ?? {}, room)
  delete live.waitingStack
  if (fitsStill(inForce, source, options ?? {}, room)) return { inForce, events: [] }
  const smaller = waitingOf(live, source, options ?? {}, room)
  return smaller instanceof HoldfastError
    ? { inForce, events: reportRefused(live, smaller) }
    : installStack(live, smaller, "window", room)
}

/** The options of the call, merged over those of all sessions. */
function mergedOptions(ofAll: StackOption | undefined, ofCall: StackOption | undefined): StackOptions | undefined {
  if (ofAll === undefined && ofCall === undefined) return undefined
  return { ...(ofAll === undefined ? {} : optionsOf(ofAll)), ...(ofCall === undefined ? {} : optionsOf(ofCall)) }
}

function problemOnly(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error
  throw error
}

/** Reports each problem once. */
function reportRefused(live: Live, { problem }: HoldfastError): Trace {
  const told = JSON.stringify(problem)
  if (live.toldStack === told) return []
  live.toldStack = told
  const event: LogEvent = { type: "stack-refused", problem }
  live.emit(event)
  return [event]
}

async function changedStack(
  live: Live,
  inForce: StackInForce,
  source: Stack,
  options: StackOptions,
  room: StackRoom,
): Promise<CallStack> {
  const waiting = waitingOf(live, source, options, room)
  if (waiting instanceof HoldfastError) return { inForce, events: reportRefused(live, waiting) }
  const effect = options.changes ?? "at-compaction"
  const event: LogEvent = {
    type: "stack-changed",
    from: inForce.source.hash,
    to: source.hash,
    changes: diffStacks(inForce.source, source),
    effect,
  }
  const isNews = live.toldStack !== source.hash
  live.toldStack = source.hash
  if (isNews) live.emit(event)
  const events = isNews ? [event] : []
  if (effect === "at-compaction") return { inForce, waiting, events }
  const installed = await installStack(live, waiting, "now", room)
  return { ...installed, events: [...events, ...installed.events] }
}

function waitingOf(live: Live, source: Stack, options: StackOptions, room: StackRoom): WaitingStack | HoldfastError {
  const known = live.waitingStack
  if (known?.source.hash === source.hash) return known
  try {
    const waiting = { ...fitToWindow(source, options, room), source }
    live.waitingStack = waiting
    return waiting
  } catch (error) {
    return problemOnly(error)
  }
}

/** True if the stack still fits the current model and window. */
function fitsStill(inForce: StackInForce, source: Stack, options: StackOptions, room: StackRoom): boolean {
  const { meter, windowTokens } = room
  const key = `${meter.model.id} ${windowTokens} ${options.maxTokens}`
  if (inForce.fits === key) return true
  if (stackTokens(inForce.stack, meter.text) > budgetFor(source, options, room)) return false
  inForce.fits = key
  return true
}

/** Number of recent calls whose intervals decide how long cache entries must last. */
const maxCalls = 16

function noteCall({ callsMs, options }: Live): void {
  callsMs.push((options.now ?? Date.now)())
  if (callsMs.length > maxCalls) callsMs.shift()
}

/** Writes the stack that is sent from now on to the log. If another process does so at the same moment, its stack is used. */
export async function installStack(
  live: Live,
  fitted: WaitingStack,
  reason: Extract<LogEvent, { type: "stack-installed" }>["reason"],
  { meter }: Pick<StackRoom, "meter">,
): Promise<CallStack> {
  const before = newestOf(live.journal.outline())
  const gaps = live.callsMs.slice(1).map((atMs, n) => atMs - (live.callsMs[n] ?? atMs))
  const expectedCalls = live.options.policy?.expectedCalls ?? defaultPolicy.expectedCalls
  const ttl = lifetimeThatPays(gaps, expectedCalls, meter.model.prices)
  const body = bodyOf(fitted, ttl)
  const { entries } = await live.journal.commit((outline) => (newestOf(outline) === before ? [body] : []))
  const seq = entries.find((entry) => entry.body.type === "stack-installed")?.seq
  delete live.waitingStack
  if (seq === undefined) {
    const theirs = await readInForce(live)
    return { ...present({ inForce: theirs }), events: [] }
  }
  const { stack, source } = fitted
  const changes = live.promptStack === undefined ? [] : diffStacks(live.promptStack.source, source)
  const inForce: StackInForce = { seq, stack, source, ttl, documents: documentsIn(stack) }
  live.promptStack = inForce
  const event: LogEvent = {
    type: "stack-installed",
    ...versionsOf(stack),
    stackTokens: fitted.stackTokens,
    reason,
    changes,
  }
  live.emit(event)
  return { inForce, events: [...fitted.events, event] }
}

/** The newest entry that installed a stack; 0 if there is none. */
const newestOf = (outline: Outline): number => outline.ofType("stack-installed").at(-1) ?? 0

function bodyOf({ stack, source, ...fitted }: WaitingStack, ttl: Breakpoint): StackBody {
  const versions = new Map(sectionsOf(source).map(({ name, hash }) => [name, hash]))
  const sections = sectionsOf(stack).map(
    ({ hash, minTokens: _, shrink: __, ...section }): StackSection => ({
      ...section,
      source: versions.get(section.name) ?? hash,
    }),
  )
  const { stackTokens: size } = fitted
  return { type: "stack-installed", hash: stack.hash, source: source.hash, sections, stackTokens: size, ttl }
}

/** The stack in force according to the log; undefined if there never was one, or if its stored text was redacted. */
export async function readInForce(live: Live): Promise<StackInForce | undefined> {
  const seq = newestOf(live.journal.outline())
  if (seq === 0 || live.promptStack?.seq === seq) return live.promptStack
  const [newest] = await live.journal.ofType("stack-installed", [seq])
  const read = newest === undefined ? undefined : stackOfBody(newest.body)
  if (newest !== undefined && read !== undefined)
    live.promptStack = { seq, ...read, ttl: newest.body.ttl, documents: documentsIn(read.stack) }
  return live.promptStack
}

/** The stack of an entry; undefined if it does not match the stored hash. */
function stackOfBody({ hash, sections }: StackBody): Pick<StackInForce, "stack" | "source"> | undefined {
  const made = sections.map(
    ({ source: _, ...section }): Section =>
      makeSection({ ...section, minTokens: tokens(0), shrink: { type: "fixed" } }),
  )
  const stack = makeStack(made)
  const source = makeStack(made.map((section, n) => ({ ...section, hash: sections[n]?.source ?? section.hash })))
  return stack.hash === hash ? { stack, source } : undefined
}

/** Cached results of `withStanding`: the same request with the same texts gives the same object. */
const placed = new WeakMap<ModelRequest, { readonly of: readonly unknown[]; readonly request: ModelRequest }>()

/** A request with the stack in force and the operator's rules added after its own system part. */
export function withStanding(
  live: Live,
  request: ModelRequest,
  inForce: StackInForce | undefined,
  maxMarkers?: number,
): ModelRequest {
  const rules = operatorText(live)
  const of = [inForce?.stack, inForce?.ttl, rules, maxMarkers]
  const known = placed.get(request)
  if (known?.of.every((one, n) => one === of[n]) === true) return known.request
  const made = placeStanding(request, { stack: inForce?.stack, rules }, { ttl: inForce?.ttl, maxMarkers })
  placed.set(request, { of, request: made })
  return made
}

/** The stack in a receipt: the versions of the one that is sent, and the hash of the one that waits. */
export type StackReceipt = StackVersions & { readonly changes: StackChanges; readonly waiting?: string }

export function receiptOf({ inForce, waiting, isImmediate }: CallStack): StackReceipt | undefined {
  if (inForce === undefined) return undefined
  const changes = isImmediate === true ? "now" : "at-compaction"
  return { ...versionsOf(inForce.stack), changes, ...present({ waiting: waiting?.source.hash }) }
}
