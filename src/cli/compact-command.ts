import { separate } from "../compact/stack/separate.ts"
import { present } from "../message/present.ts"
import { compactRequest } from "../session/one-shot/compact-request.ts"
import { meterFor } from "../session/one-shot/meter-for.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import { planRequest } from "../session/one-shot/plan-request.ts"
import { decodeRequest } from "../wire/decode.ts"
import { type Arguments, type Command, type CommandFailure, isFailure } from "./command.ts"
import { type CompactCommandChoices, compactOptions, readChoices } from "./compact-choices.ts"
import { writeResult } from "./deliver.ts"
import { startProgress } from "./output.ts"
import { type OpenedRequest, openRequest, readInput } from "./read-input.ts"
import type { World } from "./world.ts"

/** Make a request fit, and say what was done. */
export const compactCommand: Command = {
  summary: "Make a request fit its window or a budget, and say what was done",
  usage: "compact [FILE] [OPTIONS]",
  options: compactOptions,
  maxPositionals: 1,
  run: compactFile,
  notes: `FILE is a request body of Anthropic Messages, OpenAI Chat, OpenAI Responses or Gemini, a list of messages,
a JSONL trace, or a session file of Claude Code, Codex or pi. Without FILE, or with -, standard input is read.

The compacted body goes to stdout, or to --out, and the account for people to stderr. On a terminal, or with
--show, the account goes to stdout and no body is printed. With neither --budget nor --window the request is
compacted when it does not fit the model's window. A body that fits comes back as it was.

  holdfast compact session.jsonl --budget 25% --show
  holdfast compact request.json --budget 6000 --out smaller.json
  cat request.json | holdfast compact --quiet | curl -d @- https://…`,
}

/** A shorter text is done before anyone would look for a sign of life. */
const longLength = 1_000_000

async function compactFile(args: Arguments, world: World): Promise<0 | CommandFailure> {
  const choices = readChoices(args)
  const input = await readInput(args.positionals[0], world)
  if (isFailure(input)) return input
  const startMs = world.nowMs()
  const isSilent = choices.output === "json" || choices.output === "quiet" || input.text.length < longLength
  const stopProgress = startProgress(isSilent, world.stderr)
  try {
    const opened = openRequest(input.text, choices)
    if (isFailure(opened)) return opened
    const options = optionsFor(opened, choices)
    const result = await compactRequest(opened.body, options)
    await stopProgress()
    const tookMs = world.nowMs() - startMs
    return await writeResult({ name: input.name, opened, options, result, tookMs }, choices, world)
  } finally {
    await stopProgress()
  }
}

/** The options for this very request: a share of it becomes a number of tokens. */
function optionsFor(
  { body, format, model }: OpenedRequest,
  { budget, options }: CompactCommandChoices,
): CompactOptions {
  const whole: CompactOptions = { format, ...present({ model }), ...options }
  if (budget === undefined) return whole
  if ("tokens" in budget) return { ...whole, budgetTokens: budget.tokens }
  const counted: CompactOptions = { ...whole, budgetTokens: 1 }
  const request = decodeRequest(format, body)
  const { outsideTokens } = planRequest(request, separate(request), meterFor(request, counted), counted)
  return { ...whole, budgetTokens: Math.max(1, Math.floor(outsideTokens * budget.share)) }
}
