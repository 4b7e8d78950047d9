import script from "./story.json" with { type: "json" }

export type ScriptedCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }

/** One response of the scripted model, computed from the text of the request. */
export type Step = { readonly id: string; readonly answer: (shown: string) => ScriptedAnswer }

type ScriptedAnswer = { readonly text?: string | undefined; readonly calls?: readonly ScriptedCall[] | undefined }

/** A step in the script. `ifWithheld` and `ifBatchSeen` replace it if the request contains a withheld call or the batch number. */
type ScriptStep = ScriptedAnswer & {
  readonly ifWithheld?: string | undefined
  readonly ifBatchSeen?: ScriptedCall | undefined
}

/** The rule of the story, as the user says it in the first turn. */
export const demoRule = script.rule

/** The order whose batch number is asked for at the end. */
export const recalledOrder = script.order

/** The batch number in a text. The value itself is only in the order's file, and not in the script. */
export const batchIn = (text: unknown): string | undefined =>
  typeof text === "string" ? /\bLOT-[A-Z0-9-]{4,40}/.exec(text)?.[0] : undefined

function answerOf({ ifWithheld, ifBatchSeen, ...said }: ScriptStep, shown: string): ScriptedAnswer {
  if (ifWithheld !== undefined && shown.includes("[Withheld by policy:")) return { text: ifWithheld }
  const batch = batchIn(shown)
  if (ifBatchSeen === undefined || batch === undefined) return said
  const { tool, input } = ifBatchSeen
  return { calls: [{ tool, input: { ...input, body: String(input.body).replace("BATCH", batch) } }] }
}

let steps = 0

/** A fictional night at an order desk: six turns, some twenty calls, more text than fits the model's window. */
export const story = script.turns.map((turn) => ({
  says: turn.says,
  steps: turn.steps.map((step: ScriptStep): Step => {
    steps += 1
    return { id: `s${steps}`, answer: (shown) => answerOf(step, shown) }
  }),
}))

/** The answer to a request that is not part of the story. */
export const offScript: Step = { id: "off", answer: () => ({ text: script.offScript }) }
