import { batch, computed, effect, signal } from "@preact/signals"
import type {
  ApprovalAnswer,
  SessionListing,
  SettledApproval,
  StatusAnswer,
  ToldProblem,
  TotalsAnswer,
} from "../../src/gateway/admin/answers.ts"
import { ApiError, connection, get, listen, signedIn } from "./api.ts"
import type { Known } from "./format.ts"
import { browserKey } from "./key.ts"

/** Sessions by id. */
export const rows = signal<ReadonlyMap<string, SessionListing>>(new Map())
/** Number of sessions. A page that shows only this is not rendered again for each of them. */
export const listed = computed(() => rows.value.size)
export const moreRows = signal<string | undefined>(undefined)
export const totals = signal<TotalsAnswer | undefined>(undefined)
export const status = signal<StatusAnswer | undefined>(undefined)
export const approvals = signal<readonly ApprovalAnswer[]>([])
export const settled = signal<readonly SettledApproval[]>([])
export const loaded = signal(false)
export const loadProblem = signal<ToldProblem | undefined>(undefined)
/** The clock of the page: one tick a second, for ages and countdowns. */
export const nowMs = signal(Date.now())

/** Sessions with a call that waits for approval. */
export const waiting = computed(() => new Set(approvals.value.map(({ session }) => session)))

/** Number of changes of each session. A page that shows one watches its number. */
export const changes = signal<ReadonlyMap<string, number>>(new Map())

/** A line at the bottom, with an optional action. */
export type Notice = {
  readonly text: string
  readonly act?: { readonly label: string; readonly run: () => void }
  readonly bad?: true
}
export const notice = signal<Notice | undefined>(undefined)
let noticeTimer: ReturnType<typeof setTimeout> | undefined

export function say(next: Notice): void {
  clearTimeout(noticeTimer)
  notice.value = next
  noticeTimer = setTimeout(() => {
    notice.value = undefined
  }, 10_000)
}

export const problemOf = (error: unknown): ToldProblem =>
  error instanceof ApiError
    ? error.problem
    : { code: "page", sentence: error instanceof Error ? error.message : String(error), next: "Load the page again." }

export const sayProblem = (error: unknown): void => {
  const { sentence, next } = problemOf(error)
  say({ text: `${sentence} ${next}`, bad: true })
}

type Page = { readonly sessions: readonly SessionListing[]; readonly next?: string }

export async function loadRows(path = "/admin/sessions?limit=100"): Promise<void> {
  const page = await get<Page>(path)
  batch(() => {
    rows.value = new Map([...rows.value, ...page.sessions.map((row) => [row.id, row] as const)])
    moreRows.value = page.next
  })
}

const startOfDay = (): number => new Date().setHours(0, 0, 0, 0)

/** True if rows have changed since the totals of the day were requested. */
let sumsAreOld = false

async function loadTotals(): Promise<void> {
  sumsAreOld = false
  totals.value = await get<TotalsAnswer>(`/admin/totals?from=${startOfDay()}&days=7`)
}

let approvalsAsked = 0

export async function loadApprovals(): Promise<void> {
  const number = ++approvalsAsked
  const told = await get<{
    readonly approvals: readonly ApprovalAnswer[]
    readonly settled?: readonly SettledApproval[]
  }>("/admin/approvals")
  // If another request was sent meanwhile, its answer is newer, whichever arrives first.
  if (number !== approvalsAsked) return
  approvals.value = told.approvals
  settled.value = told.settled ?? []
}

async function loadStatus(): Promise<void> {
  status.value = await get<StatusAnswer>("/admin/status")
}

async function loadAll(): Promise<void> {
  try {
    await Promise.all([loadRows(), loadStatus(), loadTotals(), loadApprovals()])
    loadProblem.value = undefined
    signedIn.value = "in"
  } catch (error) {
    loadProblem.value = problemOf(error)
  }
  loaded.value = true
}

/** Rows that wait for the next frame, so that the list is built once per frame, however many events there were. */
const arrived: SessionListing[] = []
/** Wait in place of a frame: a hidden page has none. */
const hiddenMs = 1000

function showArrived(): void {
  const wait = (act: () => void): unknown => (document.hidden ? setTimeout(act, hiddenMs) : requestAnimationFrame(act))
  wait(() => {
    rows.value = new Map([...rows.value, ...arrived.splice(0).map((row) => [row.id, row] as const)])
  })
}

const dirty = new Set<string>()
let fetching = false

/** Requests all changed rows together, at most twice a second: 200 live sessions cost two requests. */
async function refreshDirty(): Promise<void> {
  if (fetching || dirty.size === 0) return
  fetching = true
  const ids = [...dirty].slice(0, 50)
  for (const id of ids) dirty.delete(id)
  try {
    const page = await get<Page>(`/admin/rows?ids=${encodeURIComponent(ids.join(" "))}`)
    if (arrived.length === 0) showArrived()
    arrived.push(...page.sessions)
    const counted = new Map(changes.value)
    for (const id of ids) counted.set(id, (counted.get(id) ?? 0) + 1)
    changes.value = counted
    sumsAreOld = true
  } catch {
    for (const id of ids) dirty.add(id)
  } finally {
    fetching = false
  }
}

/** Loads what the list shows, and keeps it in sync with the gateway. */
export async function start(): Promise<void> {
  setInterval(() => void refreshDirty(), 500)
  setInterval(() => {
    nowMs.value = Date.now()
  }, 1000)
  // Keeps the totals of the day consistent with the rows.
  setInterval(() => {
    if (sumsAreOld) void loadTotals().catch(() => {})
  }, 2000)
  await listen(
    ({ name, data }) => {
      const session = typeof data.session === "string" ? data.session : undefined
      if (name === "approval" || name === "operator") void loadApprovals().catch(() => {})
      const asked = typeof data.approval === "object" && data.approval !== null && "session" in data.approval
      if (session !== undefined) dirty.add(session)
      else if (asked) void loadApprovals().catch(() => {})
      if (name === "operator" || (name === "session" && /^durability/.test(String(data.type))))
        void loadStatus().catch(() => {})
    },
    () => void loadAll(),
  )
}

const themeKey = "holdfast-theme"
export const theme = signal<"light" | "dark">(
  localStorage.getItem(themeKey) === "dark" || localStorage.getItem(themeKey) === "light"
    ? localStorage.getItem(themeKey) === "dark"
      ? "dark"
      : "light"
    : matchMedia("(prefers-color-scheme: dark)").matches
      ? "dark"
      : "light",
)
effect(() => {
  document.documentElement.dataset.theme = theme.value
})
export function toggleTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark"
  localStorage.setItem(themeKey, theme.value)
}

/** The current page: the segments of the URL fragment. Ids are percent-encoded in it. */
export const route = signal<readonly string[]>(readRoute())
function readRoute(): readonly string[] {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .map(decodeURIComponent)
    .filter((word) => word !== "")
}
addEventListener("hashchange", () => {
  // Errors of another page are not shown on this one.
  if (notice.value?.bad === true) notice.value = undefined
  route.value = readRoute()
})
export const hrefTo = (...words: readonly string[]): string => `#/${words.map(encodeURIComponent).join("/")}`
export const goTo = (...words: readonly string[]): void => {
  location.hash = hrefTo(...words)
}

export const isLive = computed(() => connection.value.state !== "lost")

/** The inputs that determine the state of a session. */
export const known = computed(
  (): Known => ({
    waiting: waiting.value,
    nowMs: nowMs.value,
    lostMs: connection.value.state === "lost" ? connection.value.sinceMs : undefined,
  }),
)

/** Returns why nothing can be changed now; undefined if it can. */
export const whyReadOnly = computed((): string | undefined => {
  if (!isLive.value) return "The gateway does not answer: nothing can be changed until it does."
  return browserKey.value === undefined ? "This browser has no key to sign with: use the command line." : undefined
})
