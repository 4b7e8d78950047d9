import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { keepNewest } from "../bench/baselines.ts"
import { type ChatMessage, countMessages } from "../bench/chat.ts"
import { compactRequest } from "../src/session/one-shot/compact-request.ts"
import { countO200k } from "../src/tokens/counter.ts"

/** Handoffs of made-up sessions as a page: `node scripts/handoffs-page.ts` writes docs/handoffs.md, and a test compares it. */

type Step =
  | { readonly user: string }
  | { readonly says: string }
  | { readonly call: string; readonly input: object; readonly result: string }
type Domain = { readonly title: string; readonly next: string; readonly steps: readonly Step[] }

/** Returns irrelevant lines as tools print them. */
const filler = (name: string, lines: number): string =>
  Array.from({ length: lines }, (_, n) => `${name} ${n}: checked, nothing unusual, ${(n * 37) % 91} entries`).join("\n")

const domains: readonly Domain[] = [
  {
    title: "Customer service",
    next: "Wait for the user's yes to the fee, then change the return flight. Not book the outbound flight or refund the bag again: both are done.",
    steps: [
      { user: "My name is Ida Moen, booking QX7LM2. I need to fly to Bergen two days earlier, on 12 May." },
      {
        call: "get_booking",
        input: { booking_id: "QX7LM2" },
        result: JSON.stringify({
          booking_id: "QX7LM2",
          passenger: "Ida Moen",
          outbound: "HF204 2027-05-14",
          return: "HF219 2027-05-20",
          fare: "flex",
          bags: 2,
        }),
      },
      {
        call: "search_flights",
        input: { to: "Bergen", date: "2027-05-12" },
        result: `${filler("flight", 60)}\nHF188 2027-05-12 09:40 seats 4 fee 0`,
      },
      { says: "HF188 on 12 May at 09:40 is free of charge with your fare. Shall I change to it?" },
      { user: "Yes, please. And refund one of the two bags, I only take one." },
      {
        call: "update_flight",
        input: { booking_id: "QX7LM2", leg: "outbound", flight: "HF188", date: "2027-05-12" },
        result: JSON.stringify({ status: "changed", flight: "HF188" }),
      },
      {
        call: "refund_bag",
        input: { booking_id: "QX7LM2", bags: 1 },
        result: JSON.stringify({ status: "refunded", amount: 35, currency: "EUR" }),
      },
      { says: "Your outbound flight is now HF188 on 12 May, and 35 EUR for one bag are refunded." },
      { user: "Now the return: I want to stay until the 24th." },
      {
        call: "search_flights",
        input: { from: "Bergen", date: "2027-05-24" },
        result: `${filler("flight", 60)}\nHF231 2027-05-24 18:05 seats 2 fee 48`,
      },
      { says: "HF231 on 24 May at 18:05 costs a fee of 48 EUR. Do you want me to change the return to it?" },
    ],
  },
  {
    title: "Coding",
    next: "Run the tests again after the second edit; if they pass, write the changelog line that the user asked for. Not touch the public signature.",
    steps: [
      {
        user: "parseAmount drops the sign of negative amounts with a currency in front, such as €-12.50. Fix it, add a test, and put a line into CHANGELOG.md. Do not change the signature of parseAmount.",
      },
      {
        call: "read_file",
        input: { path: "parse-amount.py" },
        result: `export function parseAmount(text: string): number {\n${filler("  // line", 70)}\n}`,
      },
      {
        call: "edit_file",
        input: {
          path: "parse-amount.py",
          old_string: "const digits = text.replace(currency, '')",
          new_string: "const digits = text.replace(currency, '').replace(/^\\s+/, '')",
        },
        result: "The file was updated.",
      },
      {
        call: "run_shell",
        input: { command: "pytest money" },
        result: `${filler("test", 40)}\n1 failed: parseAmount("€-12.50") expected -12.5 but got 12.5\nexit code 1`,
      },
      { says: "The sign is lost later, where the pattern allows it only before the currency. I will move it." },
      {
        call: "edit_file",
        input: { path: "parse-amount.py", old_string: "/^-?\\p{Sc}/u", new_string: "/^\\p{Sc}?-?/u" },
        result: "The file was updated.",
      },
      {
        call: "write_file",
        input: {
          path: "parse-amount.test.py",
          content: 'test("a sign behind the currency", () => expect(parseAmount("€-12.50")).toBe(-12.5))\n',
        },
        result: "The file was created.",
      },
      { user: "Good. Also accept a thin space between currency and digits." },
      { call: "read_file", input: { path: "currency.py" }, result: filler("export const sign", 60) },
    ],
  },
  {
    title: "Operations",
    next: "Ask for approval to restart orders-2, as the user wants, and only then restart it. The disk of orders-1 is already cleaned.",
    steps: [
      { user: "Checkout is slow since 09:00. Find out why. Never restart a production host without asking me first." },
      {
        call: "get_metrics",
        input: { service: "checkout", since: "09:00" },
        result: `${filler("p99", 80)}\norders-1 disk 98 %\norders-2 connections 400 of 400`,
      },
      {
        call: "run_shell",
        input: { command: "ssh orders-1 'rm -rf /var/tmp/export-2026-10*'" },
        result: "exit code 0",
      },
      { call: "get_metrics", input: { service: "orders-1" }, result: `${filler("disk", 60)}\norders-1 disk 41 %` },
      {
        says: "The disk of orders-1 was full of October's exports; it is at 41 % now. orders-2 has used all of its 400 connections since 08:57.",
      },
      { user: "Raise the pool of orders-2 to 600 and tell me whether it needs a restart." },
      {
        call: "set_config",
        input: { host: "orders-2", key: "pool.max", value: 600 },
        result: JSON.stringify({ status: "stored", effective: "after restart" }),
      },
      { says: "pool.max is stored as 600, but takes effect after a restart of orders-2. May I restart it?" },
    ],
  },
  {
    title: "Research",
    next: "Look for a second source of the 2019 figure, as planned, and then write the table. Leave out the retracted paper.",
    steps: [
      {
        user: "Collect the sea level trend at Brest for three periods, with a source each. Only peer-reviewed sources.",
      },
      {
        call: "search_papers",
        input: { query: "Brest tide gauge sea level trend" },
        result: `${filler("paper", 70)}\n10.1000/brest.2006: 1.02 mm/yr, 1807-1980`,
      },
      {
        call: "fetch_page",
        input: { url: "https://papers.example.org/brest.2012" },
        result: `${filler("paragraph", 60)}\nTrend 1980-2004: 3.0 mm per year. This paper was retracted in 2014.`,
      },
      { says: "The 2012 paper was retracted, so I do not use it. 1807-1980 is 1.02 mm a year (10.1000/brest.2006)." },
      { user: "Right. For 1993 to 2019 use what you find, but with two sources." },
      {
        call: "fetch_page",
        input: { url: "https://papers.example.org/brest.2020" },
        result: `${filler("paragraph", 60)}\nTrend 1993-2019: 2.8 mm per year (10.1000/brest.2020).`,
      },
      {
        says: "10.1000/brest.2020 gives 2.8 mm a year for 1993-2019. I will look for a second source next, and then write the table.",
      },
    ],
  },
]

/** Shares of the whole history. */
const budgets = [0.15, 0.3, 0.5]

function messagesOf(steps: readonly Step[]): readonly ChatMessage[] {
  return steps.flatMap((step, n): readonly ChatMessage[] => {
    if ("user" in step) return [{ role: "user", content: step.user }]
    if ("says" in step) return [{ role: "assistant", content: step.says }]
    const call = {
      id: `call_${n}`,
      type: "function" as const,
      function: { name: step.call, arguments: JSON.stringify(step.input) },
    }
    return [
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: `call_${n}`, content: step.result },
    ]
  })
}

/** Returns a context for readers; long results are shortened on the page only. */
const printed = (messages: readonly ChatMessage[]): string =>
  messages
    .map((message) => {
      const { role, content } = message
      const tool_calls = "tool_calls" in message ? (message.tool_calls ?? []) : []
      const calls = tool_calls.map(({ function: { name, arguments: input } }) => `${name}(${input})`)
      const text = [content ?? "", ...calls].filter((one) => one !== "").join("\n")
      return `${role}: ${text.startsWith("<summary") || text.length <= 400 ? text : `${text.slice(0, 200)} […] ${text.slice(-150)}`}`
    })
    .join("\n")

const fenced = (text: string): string => `\`\`\`\`text\n${text}\n\`\`\`\``

export async function handoffsPage(): Promise<string> {
  const parts: string[] = [
    "# Handoffs",
    "What a model gets to read after a compaction: four made-up sessions at three budgets. *Before* is the usual way, the newest messages that fit; *after* is what Holdfast sends. Long results are shortened on this page alone. Written by `node scripts/handoffs-page.ts`; a test compares the page with what the code makes of the sessions today.",
  ]
  for (const { title, next, steps } of domains) {
    const messages = messagesOf(steps)
    const whole = countMessages(messages, countO200k)
    parts.push(`## ${title}`, `The session takes ${whole} tokens. **What a reader does next:** ${next}`)
    for (const share of budgets) {
      const budgetTokens = Math.floor(whole * share)
      const { body } = await compactRequest(
        { model: "gpt-4o", messages: [...messages] },
        { format: "openai-chat", budgetTokens },
      )
      parts.push(`### ${title}, ${Math.round(share * 100)} %: ${budgetTokens} tokens`)
      parts.push(
        "Before:",
        fenced(printed(keepNewest(messages, budgetTokens, countO200k))),
        "After:",
        fenced(printed(body.messages)),
      )
    }
  }
  return `${parts.join("\n\n")}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL("../docs/handoffs.md", import.meta.url), await handoffsPage())
