import { useSignal } from "@preact/signals"
import type { ListedRule } from "../../src/gateway/admin/answers.ts"
import { count } from "./format.ts"
import { browserKey, submitChange } from "./key.ts"
import { useKeys } from "./keys.ts"
import { Key, RuleForm } from "./parts.tsx"
import { say, sayProblem, whyReadOnly } from "./state.ts"

const speakerWords: Readonly<Record<string, string>> = {
  user: "your words",
  operator: "the operator's words",
  document: "a document",
  tool: "a tool's output",
  assistant: "the model's words",
  memory: "what is remembered",
}

/** `5`, or `5 (2 of the operator)`. */
function countWords(pins: readonly ListedRule[]): string {
  const ofOperator = pins.filter(({ by }) => by === "operator").length
  return `${pins.length}${ofOperator === 0 ? "" : ` (${ofOperator} of the operator)`}`
}

/** The rules of a session, to add and to withdraw. */
export function SessionRules({
  id,
  pins,
  reload,
  onShow,
}: {
  readonly id: string
  readonly pins: readonly ListedRule[] | undefined
  readonly reload: () => void
  readonly onShow: (entry: string) => void
}) {
  const adding = useSignal(false)
  useKeys({
    r: {
      words: "add a rule",
      run: () => {
        adding.value = true
      },
    },
  })
  const add = (rule: string): Promise<void> => submitChange({ type: "pin", session: id, text: rule }).then(reload)
  const remove = (pin: ListedRule): void =>
    void submitChange({ type: "unpin", session: id, rule: pin.id }).then(() => {
      reload()
      say({
        text: pin.by === "found" ? "No rule any more: the words are like any others." : "The rule was removed.",
        act: { label: "Put it back", run: () => void add(pin.text).catch(sayProblem) },
      })
    }, sayProblem)
  const demote = (pin: ListedRule): void =>
    void submitChange({ type: "demote", session: id, rule: pin.id }).then(() => {
      reload()
      say({ text: "It is only remembered now: it gives way to any other rule, and denies no call." })
    }, sayProblem)
  return (
    <section class="card rules" aria-labelledby="rules">
      <div class="card-head">
        <h2 id="rules">Rules {pins !== undefined && <span class="dim">{countWords(pins)}, in every request</span>}</h2>
        <button
          type="button"
          class="button small"
          disabled={whyReadOnly.value !== undefined}
          title={whyReadOnly.value ?? ""}
          onClick={() => {
            adding.value = !adding.value
          }}
        >
          Add <Key>R</Key>
        </button>
      </div>
      {adding.value && (
        <RuleForm
          label="The rule, in words"
          action="Pin it in this session"
          isOpened
          onRule={(rule) =>
            void add(rule).then(() => {
              adding.value = false
            }, sayProblem)
          }
        />
      )}
      {pins?.length === 0 && <p class="nothing">No rule was said here yet.</p>}
      <ul class="rule-list">
        {pins?.map((pin) => (
          <li key={pin.id} class="rule">
            <p class="said">{pin.text}</p>
            <p class="meta">
              {pin.by === "operator"
                ? "The operator's"
                : pin.by === "asked"
                  ? "Pinned by you"
                  : `Found in ${speakerWords[pin.channel] ?? pin.channel}`}
              {pin.place?.entry !== undefined && (
                <button type="button" class="link" onClick={() => onShow(pin.place?.entry ?? "")}>
                  <code>{pin.place.entry}</code>
                </button>
              )}
              {pin.place?.document !== undefined && <code>{pin.place.document}</code>}
              {pin.held !== undefined && pin.held.requests > 0 && (
                <span>
                  in {count(pin.held.requests, "request")} since turn {pin.held.turn}
                </span>
              )}
              {pin.held !== undefined && pin.held.denied > 0 && (
                <span class="bad">{count(pin.held.denied, "call")} denied by it</span>
              )}
              {pin.held !== undefined && pin.held.observed > 0 && (
                <span class="attn" title="It only observes: guard.fromRules">
                  {count(pin.held.observed, "call")} would be stopped by it
                </span>
              )}
            </p>
            {pin.by !== "operator" && whyReadOnly.value === undefined && (
              <p class="rule-actions">
                {pin.channel !== "memory" && (
                  <button
                    type="button"
                    class="link"
                    onClick={() => demote(pin)}
                    title="It is carried where there is room, gives way to any other rule and denies no call"
                    aria-label={`Demote: ${pin.text}`}
                  >
                    Demote
                  </button>
                )}
                <button
                  type="button"
                  class="link"
                  onClick={() => remove(pin)}
                  title={
                    pin.by === "found" ? "The words stay in the conversation, and are no rule any more" : undefined
                  }
                  aria-label={`${pin.by === "found" ? "Not a rule" : "Remove"}: ${pin.text}`}
                >
                  {pin.by === "found" ? "Not a rule" : "Remove"}
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      {browserKey.value === undefined && (
        <p class="nothing">
          This browser has no key to sign with, so rules are changed with <code>holdfast pin</code> and{" "}
          <code>holdfast unpin</code>.
        </p>
      )}
    </section>
  )
}
