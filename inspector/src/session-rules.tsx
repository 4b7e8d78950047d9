import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { ListedRule } from "../../src/gateway/admin/answers.ts"
import { browserKey, submitChange } from "./key.ts"
import { useKeys } from "./keys.ts"
import { Icon, Key } from "./parts.tsx"
import { say, sayProblem } from "./state.ts"

const speakerWords: Readonly<Record<string, string>> = {
  user: "You",
  operator: "The operator",
  document: "A document",
  tool: "A tool",
  assistant: "The model",
}

/** The rules that a session keeps, to add to and to take back. */
export function SessionRules({
  id,
  pins,
  reload,
}: {
  readonly id: string
  readonly pins: readonly ListedRule[] | undefined
  readonly reload: () => void
}) {
  const text = useSignal("")
  const adding = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys({
    r: {
      words: "add a rule",
      run: () => {
        adding.value = true
        setTimeout(() => field.current?.focus())
      },
    },
  })
  const add = (rule: string): Promise<void> => submitChange({ type: "pin", session: id, text: rule }).then(reload)
  const remove = (pin: ListedRule): void =>
    void submitChange({ type: "unpin", session: id, rule: pin.id }).then(() => {
      reload()
      say({
        text: pin.by === "found" ? "The rule is words like any others now." : "The rule was taken back.",
        act: { label: "Put it back", run: () => void add(pin.text).catch(sayProblem) },
      })
    }, sayProblem)
  return (
    <section class="card rules" aria-labelledby="rules">
      <div class="card-head">
        <h2 id="rules">Rules {pins !== undefined && <span class="dim">{pins.length}, in every request</span>}</h2>
        <button
          type="button"
          class="button small"
          disabled={browserKey.value === undefined}
          onClick={() => {
            adding.value = !adding.value
          }}
        >
          Add <Key>R</Key>
        </button>
      </div>
      {adding.value && (
        <form
          class="rule-form"
          onSubmit={(event) => {
            event.preventDefault()
            void add(text.value).then(() => {
              text.value = ""
              adding.value = false
            }, sayProblem)
          }}
        >
          <label>
            <span class="hidden">The rule, in words</span>
            <textarea
              ref={field}
              rows={3}
              required
              placeholder="Never …"
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
              }}
            />
          </label>
          <button type="submit" class="button primary">
            Pin it in this session
          </button>
        </form>
      )}
      {pins?.length === 0 && <p class="nothing">No rule was said here yet.</p>}
      <ul class="rule-list">
        {pins?.map((pin) => (
          <li key={pin.id} class="rule">
            <p class="said">{pin.text}</p>
            <p class="meta">
              {pin.by === "operator"
                ? "The operator"
                : pin.by === "asked"
                  ? "Pinned by you"
                  : (speakerWords[pin.channel] ?? pin.channel)}
              {pin.place?.entry !== undefined && (
                <>
                  , <code>{pin.place.entry}</code>
                </>
              )}
              <span class="good">
                <Icon name="check" /> word for word
              </span>
              {pin.by !== "operator" && browserKey.value !== undefined && (
                <button
                  type="button"
                  class="link"
                  onClick={() => remove(pin)}
                  aria-label={`${pin.by === "found" ? "Demote" : "Remove"}: ${pin.text}`}
                >
                  {pin.by === "found" ? "Demote" : "Remove"}
                </button>
              )}
            </p>
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
