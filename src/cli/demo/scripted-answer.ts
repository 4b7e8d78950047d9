import { isObject } from "../../wire/json.ts"
import { type ModelAnswer, stepOfCall } from "./model-wire.ts"
import { type Reading, type Step, story } from "./story.ts"

const steps: readonly Step[] = story.flatMap(({ steps: own }) => own)

/** Said to whatever is no part of the story. */
const offScript: Step = {
  id: "off",
  answer: () => ({
    text: "I am the scripted model of the holdfast demo, no real one, and my script has no answer to this. Name a real model to get one.",
  }),
}

/**
 * What the script says to a request. It goes by the request alone: the last thing in it that the story knows says which step comes next,
 * and what a step says rests on what the request shows. What was left out of it, the script does not know.
 */
export function scriptedAnswer(body: Readonly<Record<string, unknown>>): ModelAnswer {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  const step = nextStep(messages) ?? offScript
  const reading: Reading = { text: JSON.stringify([body.system, messages]) }
  return { step: step.id, calls: [], ...step.answer(reading) }
}

function nextStep(messages: readonly Readonly<Record<string, unknown>>[]): Step | undefined {
  for (const { role, content } of messages.toReversed()) {
    if (role !== "user") continue
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
    if (!Array.isArray(blocks)) continue
    for (const block of blocks.filter(isObject).toReversed()) {
      const step = typeof block.tool_use_id === "string" ? stepAfter(block.tool_use_id) : firstStep(block.text)
      if (step !== undefined) return step
    }
  }
  return undefined
}

function stepAfter(callId: string): Step | undefined {
  const id = stepOfCall(callId)
  const at = id === undefined ? -1 : steps.findIndex((step) => step.id === id)
  return at < 0 ? undefined : steps[at + 1]
}

const firstStep = (text: unknown): Step | undefined => story.find(({ says }) => text === says)?.steps[0]
