import { count, number } from "../terminal/output.ts"
import { type Arm, arms, byArm, type Replay, type ReplayCompaction } from "./replay-conversation.ts"
import {
  armWords,
  figureRows,
  legend,
  money,
  type ReplayedConversation,
  type ReplayReport,
  sampled,
  shareWords,
  shortenedIn,
  shortTokens,
  spentSoFar,
} from "./report.ts"

/** Escapes a text of unknown origin for HTML, as text or as the value of an attribute. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u202a-\u202e\u2066-\u2069]/g, "\uFFFD")

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dfe7; --page: #fbfcfd; --card: #fff;
  --none: #8a94a3; --truncate: #c26a1a; --holdfast: #0b7a75; --mark: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #2c3541; --page: #12161c; --card: #191f27;
  --none: #8a94a3; --truncate: #e39a52; --holdfast: #38b2ac; --mark: #f2716a; } }
* { box-sizing: border-box } body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 4rem } h1 { font-size: 1.5rem; margin: 0 0 .25rem }
h2 { font-size: 1.15rem; margin: 0 0 .25rem; overflow-wrap: anywhere } h3 { font-size: .95rem; margin: 1.25rem 0 .35rem } p { margin: .25rem 0 }
.soft { color: var(--soft) } .small { font-size: .87rem }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem; margin-top: 1.25rem }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left } td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 14rem }
th { font-weight: 600 } .none { color: var(--none) } .truncate { color: var(--truncate) } .holdfast { color: var(--holdfast) }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem } figure { margin: 0 }
figcaption { font-size: .87rem; color: var(--soft) } svg { width: 100%; height: auto; display: block }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif } svg .axis { stroke: var(--line) } svg .window { stroke: var(--mark); stroke-dasharray: 4 3 }
svg .compaction { stroke: var(--holdfast); opacity: .35 } svg path { fill: none; stroke-width: 1.6; stroke: currentColor }
details { border-top: 1px solid var(--line); padding: .4rem 0 } summary { cursor: pointer }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--page); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem; font-size: .82rem; max-height: 30rem; overflow: auto }
ul { margin: .3rem 0; padding-left: 1.2rem } a { color: inherit }
@media (max-width: 40rem) { section { padding: .8rem } table { font-size: .8rem } th, td { padding-right: .5rem; white-space: normal } }
`

/** Content security policy: the page runs no script and loads nothing, whatever a transcript contains. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

/** The report as one file that opens anywhere, offline. */
export function replayPage(report: ReplayReport, made: { readonly version: string; readonly date: string }): string {
  const { conversations, skipped } = report
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Replay: ${escapeHtml(conversations[0]?.title ?? "nothing")}</title><style>${style}</style></head>
<body><main>
<h1>What would have been kept, dropped and saved</h1>
<p class="soft">${conversations.length === 1 ? "One conversation" : `${number(conversations.length)} conversations`}, replayed by holdfast ${escapeHtml(made.version)} on ${escapeHtml(made.date)}, strategy ${escapeHtml(report.strategy)}.</p>
${conversations.length > 1 ? overviewTable(conversations) : ""}
${conversations.map(conversationSection).join("\n")}
${skipped.length === 0 ? "" : `<section><h2>Not replayed</h2><ul class="small">${skipped.map(({ file, reason }) => `<li>${escapeHtml(file)}: ${escapeHtml(reason)}</li>`).join("")}</ul></section>`}
<section><h2>How the figures are made</h2>
${legend.map((words) => `<p class="small soft">${escapeHtml(words)}</p>`).join("\n")}
</section>
</main></body></html>
`
}

const anchorOf = (n: number): string => `conversation-${n + 1}`

function overviewTable(conversations: readonly ReplayedConversation[]): string {
  const rows = conversations.map(({ title, replay }, n) => {
    const { turns, compactions, totals, rules, neededValues, modelKnown } = replay
    const cost = (arm: Arm): string => (modelKnown ? money(totals[arm].dollars) : "-")
    const cells = [
      `<td class="text"><a href="#${anchorOf(n)}">${escapeHtml(title)}</a></td>`,
      `<td>${number(turns.length)}</td><td>${number(totals.none.mostTokens)}</td><td>${compactions.length}</td>`,
      ...arms.map((arm) => `<td class="${arm}">${cost(arm)}</td>`),
      `<td>${totals.holdfast.kept.rules} of ${rules.length}</td>`,
      `<td>${neededValues === 0 ? "-" : `${totals.holdfast.kept.values} of ${neededValues}`}</td>`,
    ]
    return `<tr>${cells.join("")}</tr>`
  })
  const heads = [
    "<th>conversation</th><th>turns</th><th>largest</th><th>compactions</th>",
    ...arms.map((arm) => `<th class="${arm}">${armWords[arm]}</th>`),
    "<th>rules kept</th><th>values kept</th>",
  ]
  const table = `<table><thead><tr>${heads.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`
  return `<section><h2>All conversations</h2><div class="wide">${table}</div></section>`
}

function conversationSection(conversation: ReplayedConversation, n: number): string {
  const { title, file, kind, index, replay, modelAssumed, ownCompactions } = conversation
  const { model, modelKnown, pricesFrom, windowTokens, compactions, rules, answerTokens, answerDollars, refusal } =
    replay
  const prices = modelKnown ? `prices of ${pricesFrom}` : "its prices are not known, so costs are proportions"
  const own =
    ownCompactions === 0
      ? ""
      : ` The client itself compacted ${ownCompactions} times; what was really said is replayed.`
  const answers = modelKnown
    ? ` The answers (${shortTokens(answerTokens)} tokens, ${money(answerDollars)}) cost the same in every column.`
    : ""
  return `<section id="${anchorOf(n)}"><h2>${escapeHtml(title)}</h2>
<p>${escapeHtml(verdict(replay))}</p>
<p class="small soft">${escapeHtml(file)}${index === 0 ? "" : `, conversation ${index}`}: ${escapeHtml(kind)}. Model ${escapeHtml(model)}${modelAssumed ? " (assumed: the file names none)" : ""}, ${escapeHtml(prices)}; window ${number(windowTokens)} tokens.${own}${answers}</p>
${refusal === undefined ? "" : `<p class="small">A call was refused: ${escapeHtml(refusal)}</p>`}
<div class="wide"><table><thead><tr><th></th>${arms.map((arm) => `<th class="${arm}">${armWords[arm]}</th>`).join("")}</tr></thead><tbody>
${figureRows(replay)
  .map(
    ({ label, cells }) =>
      `<tr><td>${label}</td>${arms.map((arm) => `<td>${escapeHtml(cells[arm])}</td>`).join("")}</tr>`,
  )
  .join("\n")}
</tbody></table></div>
<div class="plots">${plots(conversation)}</div>
${rules.length === 0 ? "" : `<h3>Rules in force at the end</h3><ul class="small">${rules.map(({ text, channel }) => `<li>${escapeHtml(text)} <span class="soft">(${escapeHtml(channel)})</span></li>`).join("")}</ul>`}
${compactions.length === 0 ? `<p class="small soft">Nothing had to be compacted in this window.</p>` : `<h3>Compactions</h3>${compactions.map(compactionDetails).join("\n")}`}
</section>`
}

/** The result in a sentence. */
function verdict({ compactions, totals, rules, modelKnown, turns }: Replay): string {
  const { none, truncate, holdfast } = totals
  const kept =
    rules.length === 0
      ? ""
      : ` ${holdfast.kept.rules} of ${count(rules.length, "rule")} stand in it verbatim at the end; truncated, ${truncate.kept.rules}.`
  if (compactions.length === 0)
    return `It fits the window in all ${count(turns.length, "turn")}: nothing had to be compacted.${kept}`
  const cost = modelKnown
    ? ` The prompts cost ${money(holdfast.dollars)}, ${money(truncate.dollars)} truncated`
    : ` The prompts cost ${shareWords(holdfast.dollars / Math.max(truncate.dollars, 1e-9))} of what they do truncated`
  const whole =
    none.firstRefused === undefined ? "" : `; the whole history does not fit from turn ${number(none.firstRefused)} on`
  return `${count(compactions.length, "compaction")} kept it in the window.${cost}${whole}.${kept}`
}

/** Limit on the left-out messages that are listed. */
const maxNamed = 200

function compactionDetails(compaction: ReplayCompaction): string {
  const { turn, beforeTokens, afterTokens, remedy, dropped, shortened, digest } = compaction
  const head = `Turn ${turn}: ${number(beforeTokens)} → ${number(afterTokens)} tokens (${remedy}), ${count(dropped.length, "message")} left out, ${count(shortenedIn(compaction), "result")} shortened`
  const reasons = Object.entries(shortened).map(([reason, times]) => `${reason} ${times}`)
  const named = dropped
    .slice(0, maxNamed)
    .map(({ message, role, words }) => `<li>${message}, ${escapeHtml(role)}: ${escapeHtml(words)}</li>`)
  const rest = dropped.length > maxNamed ? `<li>and ${number(dropped.length - maxNamed)} more</li>` : ""
  return `<details><summary>${escapeHtml(head)}</summary>
${reasons.length === 0 ? "" : `<p class="small">Results shortened, by reason: ${escapeHtml(reasons.join(", "))}.</p>`}
${digest === undefined ? "" : `<p class="small">What stands for them, as the model reads it:</p><pre>${escapeHtml(digest)}</pre>`}
${dropped.length === 0 ? "" : `<details><summary class="small">Messages left out</summary><ul class="small">${named.join("")}${rest}</ul></details>`}
</details>`
}

/** Limit on the points of a line; more cannot be distinguished at this width. */
const maxPoints = 400

function plots({ replay }: ReplayedConversation): string {
  const { turns, windowTokens, compactions, totals, modelKnown } = replay
  if (turns.length === 0) return ""
  const marks = compactions.map(({ turn }) => (turn - 1) / Math.max(1, turns.length - 1))
  const context = byArm((arm) =>
    sampled(
      turns.map((turn) => turn.arms[arm].contextTokens),
      maxPoints,
    ),
  )
  const spent = byArm((arm) => sampled(spentSoFar(turns, arm), maxPoints))
  const highest = Math.max(windowTokens, totals.truncate.mostTokens, totals.holdfast.mostTokens)
  const cap = Math.min(totals.none.mostTokens, 1.6 * highest)
  const dollarsOf = (value: number): string =>
    modelKnown ? money(value) : shareWords(value / Math.max(totals.none.dollars, 1e-9))
  const most = Math.max(...arms.map((arm) => totals[arm].dollars))
  return [
    plot({
      caption: "Context of each turn, in tokens",
      lines: context,
      top: Math.max(cap, 1),
      words: shortTokens,
      marks,
      limit: windowTokens,
    }),
    plot({
      caption: "Cost of the prompts so far (estimate)",
      lines: spent,
      top: Math.max(most, 1e-9),
      words: dollarsOf,
      marks,
    }),
  ].join("\n")
}

type Plot = {
  readonly caption: string
  readonly lines: Readonly<Record<Arm, readonly number[]>>
  /** The value at the upper end. */
  readonly top: number
  readonly words: (value: number) => string
  /** The positions of compactions, from 0 to 1. */
  readonly marks: readonly number[]
  /** A horizontal line: the window. */
  readonly limit?: number
}

const size = { width: 480, height: 210, left: 46, right: 8, top: 10, bottom: 20 }

function plot({ caption, lines, top, words, marks, limit }: Plot): string {
  const { width, height, left, right, top: above, bottom } = size
  const x = (share: number): number => left + share * (width - left - right)
  const y = (value: number): number => height - bottom - (Math.min(value, top) / top) * (height - above - bottom)
  const pathOf = (values: readonly number[]): string =>
    values
      .map(
        (value, n) =>
          `${n === 0 ? "M" : "L"}${x(n / Math.max(1, values.length - 1)).toFixed(1)} ${y(value).toFixed(1)}`,
      )
      .join("")
  const drawn = arms.map(
    (arm) => `<path class="${arm}" d="${pathOf(lines[arm])}"><title>${armWords[arm]}</title></path>`,
  )
  const levels = [0, 0.5, 1].map(
    (share) =>
      `<line class="axis" x1="${left}" x2="${width - right}" y1="${y(share * top).toFixed(1)}" y2="${y(share * top).toFixed(1)}"/><text x="${left - 6}" y="${(y(share * top) + 4).toFixed(1)}" text-anchor="end">${escapeHtml(words(share * top))}</text>`,
  )
  const window =
    limit === undefined || limit > top
      ? ""
      : `<line class="window" x1="${left}" x2="${width - right}" y1="${y(limit).toFixed(1)}" y2="${y(limit).toFixed(1)}"><title>the window</title></line>`
  const compacted = marks.map(
    (share) =>
      `<line class="compaction" x1="${x(share).toFixed(1)}" x2="${x(share).toFixed(1)}" y1="${above}" y2="${height - bottom}"/>`,
  )
  const keys = arms.map(
    (arm) => `<span class="${arm}">${armWords[arm]} ${escapeHtml(words(lines[arm].at(-1) ?? 0))}</span>`,
  )
  const ends = arms.map((arm) => `${armWords[arm]} ${words(lines[arm].at(-1) ?? 0)}`).join(", ")
  const turns = [
    `<text x="${left}" y="${height - 4}">first turn</text>`,
    `<text x="${width - right}" y="${height - 4}" text-anchor="end">last turn</text>`,
  ]
  const label = escapeHtml(`${caption}. At the end: ${ends}.`)
  const drawing = [...levels, ...compacted, window, ...drawn, ...turns].join("")
  const svg = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${drawing}</svg>`
  return `<figure>${svg}<figcaption>${escapeHtml(caption)}. ${keys.join(" · ")}</figcaption></figure>`
}
