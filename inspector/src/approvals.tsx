import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { ApprovalAnswer, MessageLine } from "../../src/gateway/admin/answers.ts"
import { clientName, countdown, moment, shortId, shortTitle, span, speakers } from "./format.ts"
import { browserKey, submitCommand, trustCommand } from "./key.ts"
import { useKeys } from "./keys.ts"
import { policyPlace } from "./operator.tsx"
import { Icon, Key, LineText } from "./parts.tsx"
import {
  approvals,
  hrefTo,
  loadApprovals,
  nowMs,
  problemOf,
  rows,
  say,
  sayProblem,
  settled,
  status,
  whyReadOnly,
} from "./state.ts"

export function ApprovalsPage() {
  const chosen = useSignal<string | undefined>(undefined)
  const current = approvals.value.find(({ id }) => id === chosen.value) ?? approvals.value[0]
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Approvals</h1>
      </div>
      <div class="sides left-first narrow-left">
        <section class="card waiting-list" aria-labelledby="waiting">
          <div class="card-head">
            <h2 id="waiting">Waiting</h2>
            <span class="dim">{approvals.value.length}</span>
          </div>
          {approvals.value.length === 0 && <p class="nothing">No call waits for a person.</p>}
          {approvals.value.map((approval) => (
            <button
              key={approval.id}
              type="button"
              class="waiting-row"
              aria-current={current?.id === approval.id}
              onClick={() => {
                chosen.value = approval.id
              }}
            >
              <span class="attn">
                <Icon name="waits" />{" "}
                {approval.expiresAtMs === undefined ? "waits" : `${countdown(approval.expiresAtMs - nowMs.value)} left`}
              </span>
              <span class="machine">{approval.tool}</span>
              <span class="dim">{placeOf(approval.session)}</span>
            </button>
          ))}
          {settled.value.length > 0 && <h3 class="sub">Settled lately</h3>}
          {settled.value.map(({ id, tool, outcome, atMs, waitedMs, session }) => (
            <div key={id} class="settled-row">
              <span>
                <Icon name={outcome === "approved" ? "check" : outcome === "refused" ? "cross" : "idle"} />{" "}
                {outcome === "approved"
                  ? "Approved"
                  : outcome === "refused"
                    ? "Refused"
                    : "Nobody answered, or the agent left"}
                , {moment(atMs)}
              </span>
              <span class="machine">{tool}</span>
              <span class="dim">
                {placeOf(session)} · waited {span(waitedMs)}
              </span>
            </div>
          ))}
        </section>
        {current === undefined ? (
          <section class="card none-waits">
            <h2>Nothing waits for you.</h2>
            <p>
              A call comes here when a policy of the operator says <code>ask</code>: the agent waits, you see the call,
              where its values come from and the policy's sentence, and answer. Without an answer it is refused.
            </p>
            <pre>{`@rule("Refunds need a supervisor.")
@decision("ask")
forbid(principal, action, resource == Holdfast::Tool::"issue_refund");`}</pre>
            <p>
              <a href="/inspector/docs/rules-and-guard.html" target="_blank" rel="noopener">
                How policies are written
              </a>
            </p>
          </section>
        ) : (
          <ApprovalCard key={current.id} approval={current} />
        )}
      </div>
    </main>
  )
}

const whoSaid: Readonly<Record<MessageLine["who"], string>> = {
  person: "said by the user",
  model: "said by the model",
  call: "in a call of the model",
  result: "in a tool's result",
  client: "in a text of the client",
  holdfast: "in a text of the gateway",
}

/** Returns the stem of a word: `Refunds` and `refund` have the same. */
const stem = (word: string): string => word.toLowerCase().replace(/(?<=\p{L}{3})(?:ing|ed|es|s|e)$/u, "")
/** Minimum lengths in characters: shorter stems are in any two sentences; `cancel` and `cancellations` share a longer beginning. */
const [minStem, minBeginning] = [4, 5]

function isSameWord(one: string, other: string): boolean {
  if (one === other) return one.length >= minStem || /\d/.test(one)
  const [short = "", long = ""] = one.length < other.length ? [one, other] : [other, one]
  return short.length >= minBeginning && long.startsWith(short)
}

/** Splits a rule's sentence, and marks the words that the call has too: in its name, its arguments or the facts read from it. */
function wordsOf(rule: string, { tool, input, reasons }: ApprovalAnswer): readonly (readonly [string, boolean])[] {
  const called = `${tool} ${input} ${JSON.stringify(reasons.map(({ facts }) => facts))}`
  const stems = [...new Set(called.match(/\p{L}+|[\d.,]*\d/gu)?.map(stem))]
  return rule
    .split(/(\p{L}+|[\d.,]*\d)/u)
    .map((text) => [text, stems.some((other) => isSameWord(stem(text), other))] as const)
}

/** Returns the project of a session, or its short id. */
const placeOf = (session: string): string => rows.value.get(session)?.project ?? shortId(session)

function ApprovalCard({ approval }: { readonly approval: ApprovalAnswer }) {
  const sending = useSignal(false)
  const untrusted = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const row = rows.value.get(approval.session)
  const audience = status.value?.operator?.audience
  const settle = (type: "approve" | "refuse"): void => {
    if (audience === undefined || sending.value) return
    sending.value = true
    const note = field.current?.value.trim() ?? ""
    const said = type === "refuse" && note !== "" ? { note } : {}
    submitCommand(audience, { type, call: approval.id, ...said }).then(
      () => {
        say({
          text:
            type === "approve"
              ? `${approval.tool} was approved.`
              : `${approval.tool} was refused; the agent reads why.`,
        })
        void loadApprovals()
      },
      (error: unknown) => {
        sending.value = false
        if (problemOf(error).code === "command-refused" && /key/.test(problemOf(error).sentence)) untrusted.value = true
        else sayProblem(error)
      },
    )
  }
  useKeys({
    "shift+a": { words: "approve", run: () => settle("approve") },
    "shift+r": { words: "refuse", run: () => settle("refuse") },
  })
  const left = approval.expiresAtMs === undefined ? undefined : approval.expiresAtMs - nowMs.value
  return (
    <article class="card approval" aria-labelledby="asked">
      <header>
        <div>
          <p class="attn">
            <Icon name="waits" /> Held before it ran
          </p>
          <h2 id="asked">
            May <code>{approval.tool}</code> run?
          </h2>
          <p class="meta">
            {row !== undefined && (
              <>
                {[clientName(row.client), row.project, shortTitle(row)].filter((one) => one !== undefined).join(" · ")}{" "}
                ·{" "}
              </>
            )}
            <a href={hrefTo("s", approval.session)}>open the session</a>
          </p>
        </div>
        {left !== undefined && (
          <p class="big-clock" role="timer">
            {countdown(left)}
            <small>then it is refused</small>
          </p>
        )}
      </header>
      <div class="approval-body">
        <section>
          <h3>The call</h3>
          <Arguments approval={approval} />
        </section>
        <section>
          <h3>What is known</h3>
          <ul class="known">
            {approval.evidence.map(({ name, value, entry, who }) => (
              <li key={name}>
                <Icon name={entry === undefined ? "warn" : "check"} class={entry === undefined ? "attn" : "good"} />
                <div>
                  <span class="machine">{value}</span>
                  <small>
                    {entry === undefined
                      ? `${name}: no message of the session says it`
                      : `${name}: stands in ${entry}, ${whoSaid[who ?? "client"]}`}
                  </small>
                </div>
              </li>
            ))}
            {approval.evidence.length === 0 && <li class="dim">The call has no values to look for.</li>}
          </ul>
        </section>
      </div>
      <section class="why">
        <h3>Why it was held</h3>
        {approval.reasons.map(({ policy, rule, facts, source, line }) => (
          <blockquote key={policy + rule}>
            <p class="said">
              {wordsOf(rule, approval).map(([text, isMatched], n) => (isMatched ? <u key={n}>{text}</u> : text))}
            </p>
            <footer>
              policy <code>{policyPlace({ id: policy, source, line })}</code>
              {Object.entries(facts)
                .slice(0, 6)
                .map(([name, value]) => (
                  <span key={name}>
                    {" "}
                    · {name} <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
                  </span>
                ))}
            </footer>
          </blockquote>
        ))}
      </section>
      {approval.before.length > 0 && (
        <section class="led">
          <h3>What led to it</h3>
          {approval.before.map((line) => (
            <p key={line.entry}>
              <span class="speaker">{speakers[line.who]}</span> <LineText line={line} />
            </p>
          ))}
        </section>
      )}
      <p class="note signed">
        Signed with the key in this browser, <code>{browserKey.value?.fingerprint.slice(0, 12)}…</code>, and kept in the
        audit log. If you refuse, the agent reads the policy and your note, and goes on.
      </p>
      <footer class="decide">
        {untrusted.value && (
          <p class="attn">
            This browser's key is not trusted by the operator. On the gateway's machine: <code>{trustCommand()}</code>
          </p>
        )}
        {audience === undefined && (
          <p class="dim">This gateway has no operator's channel, so nobody can answer here.</p>
        )}
        <div class="decide-buttons">
          <label class="refuse-note">
            <span class="hidden">What the agent should do instead, if you refuse</span>
            <textarea ref={field} rows={1} maxLength={1000} placeholder="Note to the agent, if you refuse" />
          </label>
          <button
            type="button"
            class="button bad-button"
            disabled={whyReadOnly.value !== undefined || audience === undefined || sending.value}
            title={whyReadOnly.value ?? ""}
            onClick={() => settle("refuse")}
          >
            Refuse <Key>⇧R</Key>
          </button>
          <button
            type="button"
            class="button primary"
            disabled={whyReadOnly.value !== undefined || audience === undefined || sending.value}
            title={whyReadOnly.value ?? ""}
            onClick={() => settle("approve")}
          >
            Approve <Key>⇧A</Key>
          </button>
        </div>
      </footer>
    </article>
  )
}

function Arguments({ approval }: { readonly approval: ApprovalAnswer }) {
  const input: unknown = JSON.parse(approval.input === "" ? "null" : approval.input)
  if (typeof input !== "object" || input === null) return <pre class="machine">{String(input)}</pre>
  return (
    <>
      <dl class="arguments">
        {Object.entries(input).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="machine">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
      {approval.cut && <p class="cut">Shown in part: the call says more.</p>}
    </>
  )
}
