import { readFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { parseArgs } from "node:util"
import { HoldfastError } from "holdfast"
import { checkTranscript, type Group, groupTurns, repair, textOf } from "holdfast/message"
import { markersIn, separate, stackFingerprint } from "holdfast/prompt"
import { createMeter, type Meter } from "holdfast/tokens"
import { type Conversation, importTranscript } from "holdfast/transcript"

const help = `Reads a transcript and says what is in it: what is infrastructure and what was said, in which groups, how many tokens, what is wrong.

  node examples/look.ts                       the bundled sample
  node examples/look.ts FILE                  a request body, a message array, a JSONL trace, or a session file of Claude Code, Codex or pi
  node examples/look.ts FILE --model NAME     count as this model does`

const number = (value: number): string => value.toLocaleString("en")
const pad = (value: string | number, width: number): string =>
  typeof value === "number" ? number(value).padStart(width) : value.padEnd(width)
const brief = (text: string, width: number): string => {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}

function describeGroup(conversation: Conversation, group: Group): string {
  const messages = conversation.messages.slice(group.start, group.end)
  const parts = messages.flatMap((message) => message.parts)
  if (group.type !== "tool-round") return `"${brief(parts.map(textOf).join(" "), 70)}"`
  const tools = parts.flatMap((part) =>
    part.type === "tool-call" ? [`${part.tool}${group.pending.includes(part.callId) ? " (no result)" : ""}`] : [],
  )
  return tools.join(", ")
}

function showInfrastructure(conversation: Conversation, meter: Meter): number {
  const { infrastructure } = separate(conversation)
  const systemTokens =
    infrastructure.system.reduce((sum, part) => sum + meter.part(part), 0) +
    infrastructure.messages.reduce((sum, message) => sum + meter.message(message), 0)
  const toolTokens = infrastructure.tools.reduce((sum, tool) => sum + meter.tool(tool), 0)
  const documentTokens = infrastructure.documents.reduce((sum, { part }) => sum + meter.part(part), 0)
  const total = systemTokens + toolTokens + documentTokens
  console.log(
    `\nInfrastructure: never shown to a summarizer, never shortened with the history   ${number(total)} tokens`,
  )
  console.log(
    `  ${pad("system", 12)}${pad(infrastructure.system.length + infrastructure.messages.length, 4)} ${pad(systemTokens, 9)} tokens`,
  )
  console.log(`  ${pad("tools", 12)}${pad(infrastructure.tools.length, 4)} ${pad(toolTokens, 9)} tokens`)
  console.log(
    `  ${pad("documents", 12)}${pad(infrastructure.documents.length, 4)} ${pad(documentTokens, 9)} tokens   ${infrastructure.documents.map(({ name }) => `<${name}>`).join(" ")}`,
  )
  console.log(
    `  fingerprint ${stackFingerprint(conversation).slice(0, 16)}, cache breakpoints ${markersIn(conversation).length}`,
  )
  return total
}

function showGroups(conversation: Conversation, meter: Meter): number {
  const groups = groupTurns(conversation.messages)
  const sizes = groups.map(({ start, end }) =>
    conversation.messages.slice(start, end).reduce((sum, message) => sum + meter.message(message), 0),
  )
  const total = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`\nTurn groups: the unit that is kept or dropped whole   ${number(total)} tokens`)
  for (const [n, group] of groups.entries()) {
    if (n >= 40) {
      console.log(`  … and ${groups.length - n} more`)
      break
    }
    const where = group.end - group.start === 1 ? `${group.start}` : `${group.start}–${group.end - 1}`
    console.log(
      `  ${pad(group.type, 11)} ${pad(where, 9)} ${pad(sizes[n] ?? 0, 8)}   ${describeGroup(conversation, group)}`,
    )
  }
  return total
}

function showFaults(conversation: Conversation): void {
  const faults = checkTranscript(conversation.messages, { ended: true })
  console.log(faults.length === 0 ? "\nFaults: none" : "\nFaults: what a provider would refuse, and the mend")
  if (faults.length === 0) return
  const { messages, events } = repair(conversation.messages, { ended: true })
  for (const { code, messageId, callId } of faults.slice(0, 20))
    console.log(`  ${code} at ${messageId}${callId === undefined ? "" : `, call ${callId}`}`)
  for (const { type, reason, messageId } of events.slice(0, 20)) console.log(`  -> ${type} at ${messageId} (${reason})`)
  const untouched = new Set(conversation.messages)
  const kept = messages.filter((message) => untouched.has(message)).length
  console.log(
    `  ${kept} of ${conversation.messages.length} messages are not touched and go out as the very bytes that came in`,
  )
}

function show(path: string, model: string | undefined): void {
  const text = readFileSync(path, "utf8")
  const { kind, conversations, skipped } = importTranscript(text)
  const [conversation] = conversations
  if (conversation === undefined) {
    console.log(`${basename(path)} holds no conversation.`)
    return
  }
  const meter = createMeter({ model: model ?? conversation.model ?? "" })
  console.log(
    `${basename(path)}: ${kind}, ${conversation.format}, ${conversation.messages.length} messages, ${number(text.length)} characters${conversations.length > 1 ? `, the first of ${conversations.length} conversations` : ""}`,
  )
  if (skipped.length > 0) console.log(`  ${skipped.length} lines hold no message`)
  showInfrastructure(conversation, meter)
  showGroups({ ...conversation, messages: separate(conversation).conversation }, meter)
  showFaults(conversation)
  const total = meter.request(conversation)
  const { id, windowTokens, known } = meter.model
  console.log(
    `\nTogether ${number(total)} tokens with the framing of the API, ${((100 * total) / windowTokens).toFixed(1)} % of the window of ${id === "" ? "an unnamed model" : id} (${number(windowTokens)}${known ? "" : ", assumed"})`,
  )
}

function main(): void {
  const options = { model: { type: "string" }, help: { type: "boolean" } } as const
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help === true) console.log(help)
  else show(positionals[0] ?? resolve(import.meta.dirname, "sample-request.json"), values.model)
}

try {
  main()
} catch (error) {
  const expected = error instanceof HoldfastError || (error instanceof Error && "code" in error)
  if (!expected) throw error
  console.error(error.message)
  process.exitCode = 1
}
