import { createHoldfast } from "holdfast"

/** A rule that the user states once, before and after a compaction. Needs the build: `npm run build && node examples/rule-survives.ts` */

type Message = { readonly role: string; readonly content: string; readonly [field: string]: unknown }

/** Returns the messages in which a made-up agent reads one invoice; after forty of them the rule of the first message is far back. */
function readInvoice(number: string, n: number): readonly Message[] {
  const id = `call_${n}`
  const call = { id, type: "function", function: { name: "read_invoice", arguments: JSON.stringify({ number }) } }
  const lines = Array.from(
    { length: 80 },
    (_, line) => `${line + 1}. rope, ${12 + n} m, ${(n * 80 + line) % 97}.50 EUR`,
  )
  return [
    { role: "assistant", content: `Invoice ${number} is next.`, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: `Invoice ${number}, due 2026-07-${(n % 28) + 1}\n${lines.join("\n")}` },
  ]
}

const history: readonly Message[] = [
  { role: "user", content: "Never e-mail anyone outside example.com. Go through the invoices of June." },
  ...Array.from({ length: 40 }, (_, n) => readInvoice(`R-${1001 + n}`, n)).flat(),
  { role: "assistant", content: "I have read all forty." },
  { role: "user", content: "Now send the report." },
]

const session = createHoldfast({ store: "memory" }).session("june")
const { wire, receipt, trace } = await session.prepare({
  format: "openai-chat",
  windowTokens: 32_000,
  body: { model: "any-model", messages: history },
})

/** Prints the lines with the rule and the task; tool rounds are only a dot. */
function print(title: string, contextTokens: number, messages: readonly Message[]): void {
  console.log(`${title}: ${Math.round(contextTokens / 1000)},000 tokens`)
  const shown = messages.map(({ role, content, tool_calls: calls }) => {
    const telling = content.split("\n").filter((line) => /^<(pins|summary)|^(?:- |» )Never|^Never|^Now/.test(line))
    if (calls !== undefined || telling.length === 0) return "  …"
    return `  ${role}  ${telling.join(" ").replaceAll(/ (?:by|schema|covered)="[^"]*"/g, "")}`
  })
  console.log(shown.filter((line, n) => line !== shown[n - 1]).join("\n"))
}

const planned = trace.find((event) => event.type === "plan-made")
print("what the agent sends", planned?.sizes.contextTokens ?? 0, history)
print("what the model gets, on a window of 32,000", receipt.contextTokens, JSON.parse(wire).messages)
