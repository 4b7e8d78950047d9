import type { CompactionAction, CompactionAnswer, CompactionItem } from "../../src/gateway/admin/answers.ts"
import { count, duration, failureWords, money, remedyWords, savedWords, share, whole } from "./format.ts"
import { ActionMark, actions, actionWords, Icon } from "./parts.tsx"

type Sums = Readonly<
  Record<CompactionAction, { readonly messages: number; readonly before: number; readonly after: number }>
>

function sumsOf(items: readonly CompactionItem[]): Sums {
  const of = (action: CompactionAction) => {
    const own = items.filter((item) => item.action === action)
    return {
      messages: own.length,
      before: own.reduce((sum, one) => sum + one.beforeTokens, 0),
      after: own.reduce((sum, one) => sum + one.afterTokens, 0),
    }
  }
  return { kept: of("kept"), shortened: of("shortened"), summarized: of("summarized"), dropped: of("dropped") }
}

/** Sizes before and after on one scale, with ribbons between the corresponding parts. */
export function Flow({ told }: { readonly told: CompactionAnswer }) {
  const { compaction, stackTokens, handoff, items, since } = told
  const sums = sumsOf(items)
  const total = Math.max(1, compaction.beforeTokens)
  const before: readonly (readonly [kind: string, word: string, tokens: number])[] = [
    ["stack", "System prompt, tools", stackTokens.before],
    ["kept", "Kept", sums.kept.before],
    ["shortened", "Shortened", sums.shortened.before],
    ["summarized", "Summarized", sums.summarized.before],
    ["dropped", "Dropped", sums.dropped.before],
  ]
  const fresh = told.rulesTokens > 0 && !items.some(({ id }) => id === "pins") ? told.rulesTokens : 0
  const after: readonly (readonly [kind: string, tokens: number])[] = [
    ["stack", stackTokens.after + fresh],
    ["kept", sums.kept.after],
    ["shortened", sums.shortened.after],
    ["handoff", handoff?.tokens ?? 0],
  ]
  const starts = (list: readonly number[]): readonly number[] =>
    list.map((_, n) => list.slice(0, n).reduce((sum, one) => sum + one, 0))
  const [top, bottom] = [starts(before.map(([, , tokens]) => tokens)), starts(after.map(([, tokens]) => tokens))]
  const pair: readonly (readonly [number, number])[] = [
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 3],
  ]
  const x = (tokens: number): number => (1000 * tokens) / total
  const saved = compaction.beforeTokens - compaction.afterTokens
  return (
    <section
      class="card flow"
      aria-label={`${whole(compaction.beforeTokens)} tokens before, ${whole(compaction.afterTokens)} after`}
    >
      <div class="flow-names" aria-hidden="true">
        {before.map(
          ([kind, word, tokens], n) =>
            tokens / total > 0.07 && (
              <span key={kind} style={{ left: `${x(top[n] ?? 0) / 10}%` }}>
                <b>{word}</b>
                {whole(tokens)}
              </span>
            ),
        )}
      </div>
      <div class="flow-bar" aria-hidden="true">
        {before.map(
          ([kind, , tokens]) =>
            tokens > 0 && (
              <span
                key={kind}
                class={`fill fill-${kind}-before fill-${kind}`}
                style={{ width: `${x(tokens) / 10}%` }}
              />
            ),
        )}
      </div>
      <svg class="flow-ribbons" viewBox="0 0 1000 60" preserveAspectRatio="none" aria-hidden="true">
        {pair.map(([from, to]) => {
          const [a, b] = [x(top[from] ?? 0), x((top[from] ?? 0) + (before[from]?.[2] ?? 0))]
          const [c, d] = [x(bottom[to] ?? 0), x((bottom[to] ?? 0) + (after[to]?.[1] ?? 0))]
          return (
            <path
              key={from}
              class={`ribbon ribbon-${before[from]?.[0]}`}
              d={`M${a} 0H${b}C${b} 30 ${d} 30 ${d} 60H${c}C${c} 30 ${a} 30 ${a} 0Z`}
            />
          )
        })}
      </svg>
      <div class="flow-after">
        <div class="flow-bar" aria-hidden="true">
          {after.map(
            ([kind, tokens]) =>
              tokens > 0 && <span key={kind} class={`fill fill-${kind}`} style={{ width: `${x(tokens) / 10}%` }} />,
          )}
        </div>
        <p class="flow-result">
          <b>−{share(saved, compaction.beforeTokens)}</b>
          <span>
            {whole(saved)} tokens less in every request
            {since?.dollars !== undefined && savedWords(since.dollars) !== "" && `, ${savedWords(since.dollars)} since`}
          </span>
        </p>
      </div>
      <ul class="flow-legend">
        {actions.map(
          (action) =>
            sums[action].messages > 0 && (
              <li key={action}>
                <ActionMark action={action} />{" "}
                <b>
                  {sums[action].messages} {actionWords[action].toLowerCase()}
                </b>{" "}
                <span class="dim">
                  {action === "kept"
                    ? `verbatim, ${whole(sums.kept.before)}`
                    : `${whole(sums[action].before)} → ${whole(action === "summarized" ? (handoff?.tokens ?? 0) : sums[action].after)}`}
                </span>
              </li>
            ),
        )}
      </ul>
    </section>
  )
}

export function Receipt({ told }: { readonly told: CompactionAnswer }) {
  const { compaction, since } = told
  const lines: readonly (readonly [string, string] | undefined)[] = [
    ["Sent before", whole(compaction.beforeTokens)],
    ["Sent after", whole(compaction.afterTokens)],
    since?.cachedTokens === undefined ? undefined : ["Read from cache, first time", whole(since.cachedTokens)],
    since?.writtenTokens === undefined
      ? undefined
      : [
          "Written anew, first time",
          `${whole(since.writtenTokens)}${since.prices === undefined ? "" : ` · ${money((since.writtenTokens * since.prices.cacheWrite) / 1e6)}`}`,
        ],
    [
      "Less in every request since",
      `${whole(compaction.beforeTokens - compaction.afterTokens)}${since?.prices === undefined ? "" : ` · ${money(((compaction.beforeTokens - compaction.afterTokens) * since.prices.cacheRead) / 1e6)}`}`,
    ],
  ]
  return (
    <section class="card receipt" aria-labelledby="receipt">
      <div class="card-head">
        <h2 id="receipt">Receipt</h2>
        {since?.prices !== undefined && <span class="dim">estimate</span>}
      </div>
      <dl>
        {lines.map(
          (line) =>
            line !== undefined && (
              <div key={line[0]}>
                <dt>{line[0]}</dt>
                <dd>{line[1]}</dd>
              </div>
            ),
        )}
        {since?.dollars !== undefined && (
          <div class="sum">
            <dt>Saved in {count(since.calls, "call")} since</dt>
            <dd>{money(since.dollars)}</dd>
          </div>
        )}
        {since !== undefined && since.dollars === undefined && (
          <div class="sum">
            <dt>Calls since</dt>
            <dd>{whole(since.calls)}</dd>
          </div>
        )}
      </dl>
      <p class="note">
        {since?.prices === undefined
          ? `The price of ${since?.model ?? "its model"} is not in the model table, so no money is told.`
          : `${since.model} at $${since.prices.input} in, $${since.prices.cacheRead} from cache, $${since.prices.cacheWrite} to cache per million; ${since.source}.`}
        {compaction.tookMs !== undefined &&
          ` Took ${duration(compaction.tookMs)}${compaction.ahead === true ? ", made ahead of time: nobody waited" : ""}.`}
      </p>
    </section>
  )
}

/** Maximum number of lookups that are listed. */
const maxRereads = 6

/** Lookups repeated right after a compaction, a sign that it removed something still needed. */
export function Rereads({ told }: { readonly told: CompactionAnswer }) {
  const { rereads, since } = told
  if (since.calls === 0) return null
  return (
    <section class="card checks" aria-labelledby="rereads">
      <div class="card-head">
        <h2 id="rereads">Looked up again after it</h2>
        <span class="dim">{rereads.length}</span>
      </div>
      <ul>
        {rereads.length === 0 && (
          <Check good words="Nothing" note="no lookup right after it repeats one that it had removed" />
        )}
        {rereads.slice(0, maxRereads).map(({ tool, target, turn }, n) => (
          <li key={n}>
            <Icon name="warn" class="attn" />
            <div>
              <span class="machine">
                <b>{tool}</b> {target}
              </span>
              <small>turn {turn}; the next compaction keeps it longer</small>
            </div>
          </li>
        ))}
        {rereads.length > maxRereads && <li class="dim">and {rereads.length - maxRereads} more</li>}
      </ul>
    </section>
  )
}

export function Checks({ told }: { readonly told: CompactionAnswer }) {
  const { checks, compaction, plan } = told
  const refused = plan.filter(({ type }) => type === "remedy-rejected")
  const { rules, pairs, targetTokens } = checks
  return (
    <section class="card checks" aria-labelledby="checks">
      <div class="card-head">
        <h2 id="checks">Checked before it was sent</h2>
      </div>
      <ul>
        {rules.total > 0 && (
          <Check
            good={rules.verbatim === rules.total}
            words={`${rules.verbatim} of ${count(rules.total, "rule")} verbatim`}
            note={
              rules.verbatim === rules.total
                ? "in the messages themselves"
                : "the others were superseded, or stand in the system prompt"
            }
          />
        )}
        <Check
          good={pairs.calls === pairs.results}
          words={`${count(pairs.calls, "call")}, ${count(pairs.results, "result")}`}
          note="no call without its result"
        />
        {targetTokens !== undefined && (
          <Check
            good={compaction.afterTokens <= targetTokens}
            words={
              compaction.afterTokens <= targetTokens
                ? `${whole(compaction.afterTokens)} is below the target of ${whole(targetTokens)}`
                : `${whole(compaction.afterTokens)} is above the target of ${whole(targetTokens)}`
            }
            note={compaction.afterTokens <= targetTokens ? "" : "what has to stay left no more to take"}
          />
        )}
        {refused.map((event, n) => (
          <Check
            key={n}
            good={false}
            words={`A draft was refused: ${remedyWords(String(event.remedy))}`}
            note={failureWords(event.failures)}
          />
        ))}
      </ul>
    </section>
  )
}

const Check = ({ good, words, note }: { readonly good: boolean; readonly words: string; readonly note: string }) => (
  <li>
    <Icon name={good ? "check" : "warn"} class={good ? "good" : "attn"} />
    <div>
      {words}
      <small>{note}</small>
    </div>
  </li>
)
