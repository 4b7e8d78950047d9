import { useSignal } from "@preact/signals"
import type { StandingAnswer } from "../../src/gateway/admin/answers.ts"
import { moment } from "./format.ts"
import { type Command, submitCommand, trustCommand } from "./key.ts"
import { Icon, ProblemBox, RuleForm, useAdminData } from "./parts.tsx"
import { problemOf, say, sayProblem, whyReadOnly } from "./state.ts"

/** Rules and policies of the operator, with the source of each. */
export function RulesPage() {
  const { told, problem, reload } = useAdminData<StandingAnswer>("/admin/pins")
  const untrusted = useSignal(false)
  const send = (command: Command, words: string): void => {
    if (told === undefined) return
    submitCommand(told.audience, command).then(
      () => {
        say({ text: words })
        reload()
      },
      (error: unknown) => {
        if (problemOf(error).code === "command-refused" && /key/.test(problemOf(error).sentence)) untrusted.value = true
        else sayProblem(error)
      },
    )
  }
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Rules of the operator</h1>
      </div>
      <p class="lead dim">
        They are in every request of every session, and nothing that is said in a session can change them. Rules of one
        session are on its own page.
      </p>
      {problem !== undefined && <ProblemBox problem={problem} retry={reload} />}
      {untrusted.value && (
        <div class="banner attn" role="alert">
          <Icon name="warn" />
          <p>
            This browser's key is not trusted by the operator. On the gateway's machine: <code>{trustCommand()}</code>
          </p>
        </div>
      )}
      {told !== undefined && (
        <>
          <div class="card wide-form">
            <RuleForm
              label="A rule for every session"
              action="Pin it for every session"
              isOff={whyReadOnly.value !== undefined}
              onRule={(text) => send({ type: "pin", text }, "Pinned: it is in every request from now on.")}
            />
          </div>
          <section class="card" aria-labelledby="standing">
            <div class="card-head">
              <h2 id="standing">
                Rules <span class="dim">{told.rules.length}</span>
              </h2>
            </div>
            {told.rules.length === 0 && (
              <p class="nothing">None yet. They come from files of the policy folder, or from signed commands.</p>
            )}
            <ul class="rule-list">
              {told.rules.map((rule) => (
                <li key={rule.id} class="rule">
                  <p class="said">{rule.text}</p>
                  <p class="meta">
                    <code>{rule.id}</code> ·{" "}
                    {rule.by === "file"
                      ? (rule.source ?? "a file")
                      : `signed by ${rule.source?.slice(0, 12) ?? "a key"}…`}
                    {rule.agent !== undefined && ` · for ${rule.agent}`}
                    {rule.by === "command" && (
                      <button
                        type="button"
                        class="link"
                        onClick={() => send({ type: "unpin", rule: rule.id }, "The rule was removed.")}
                      >
                        Remove
                      </button>
                    )}
                  </p>
                </li>
              ))}
            </ul>
          </section>
          <section class="card" aria-labelledby="policies">
            <div class="card-head">
              <h2 id="policies">
                Policies for tool calls <span class="dim">{told.judging.length}</span>
              </h2>
            </div>
            {told.judging.length === 0 && <p class="nothing">No policy of the operator judges calls here.</p>}
            <ul class="rule-list">
              {told.judging.map((policy) => (
                <li key={policy.id} class="rule">
                  <p class="said">{policy.rule}</p>
                  <p class="meta">
                    {decisionWords[policy.decision] ?? policy.decision} · <code>{policyPlace(policy)}</code>
                    {policy.instead !== undefined && ` · ${policy.instead}`}
                  </p>
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
    </main>
  )
}

const decisionWords: Readonly<Record<string, string>> = {
  deny: "denied",
  ask: "held until a person answers",
  allow: "let through",
}

/** Returns where a policy is written, and its name if that adds information. */
export function policyPlace({
  id,
  source,
  line,
}: {
  readonly id: string
  readonly source?: string | undefined
  readonly line?: number | undefined
}): string {
  if (source === undefined) return id
  const place = line === undefined ? source : `${source}:${line}`
  return id.startsWith(source) ? place : `${id}, ${place}`
}

type AuditLine = {
  readonly number: number
  readonly atMs: number
  readonly type: string
  readonly key?: string
  readonly command?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

const commandWords: Readonly<Record<string, string>> = {
  pin: "Rule pinned:",
  unpin: "Rule removed:",
  "add-policy": "Policy added:",
  "remove-policy": "Policy removed:",
  approve: "Call approved:",
  refuse: "Call refused:",
}

const auditWords: Readonly<Record<string, string>> = {
  "log-opened": "The audit log was begun",
  "directory-changed": "Files of the policy folder changed",
  "command-refused": "A command was refused:",
}

export function AuditPage() {
  const { told, problem } = useAdminData<{ readonly lines: readonly AuditLine[] }>("/admin/audit?limit=500")
  return (
    <main class="content" id="main">
      <div class="heading">
        <h1>Audit log</h1>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {told?.lines.length === 0 && <p class="nothing">No command was given yet.</p>}
      {told !== undefined && told.lines.length > 0 && (
        <div class="card table-card audit-table">
          <table>
            <caption class="hidden">Commands, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">When</th>
                <th scope="col" class="left">
                  What
                </th>
                <th scope="col">Key</th>
              </tr>
            </thead>
            <tbody>
              {told.lines.toReversed().map((line) => (
                <tr key={line.number}>
                  <td>{line.number}</td>
                  <td>{moment(line.atMs)}</td>
                  <td class="left">
                    {line.type === "command-accepted" ? (
                      <>
                        {commandWords[String(line.command?.type)] ?? String(line.command?.type)}{" "}
                        <span class="said">
                          {String(
                            line.command?.note ??
                              line.command?.text ??
                              line.command?.rule ??
                              line.command?.call ??
                              line.command?.name ??
                              "",
                          )}
                        </span>
                      </>
                    ) : (
                      <span class={/refused/.test(line.type) ? "bad" : ""}>
                        {auditWords[line.type] ?? line.type} {line.reason}
                      </span>
                    )}
                  </td>
                  <td>
                    <code>{line.key?.slice(0, 12)}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  )
}
