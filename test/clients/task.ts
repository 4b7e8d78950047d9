import type { Json } from "../model-server/json.ts"
import type { Script } from "../model-server/script.ts"
import type { Client } from "./client.ts"
import { stepFile } from "./workplace.ts"

export const finalText = "All steps are done, 4711."

/** A rule as a person states it once, at the beginning. */
export const rule = "Never touch the folder vault/ and never print what is in it."

export const prompt = `Go through the steps of this project one by one and print each. ${rule} Say when you are done.`

const printed = /cat step-(\d+)\.txt/g

/** Returns the last step that a request mentions. Whatever was cut from it, the newest is present. */
export function lastStep(body: Json): number {
  const steps = [...JSON.stringify(body).matchAll(printed)].map(([, step]) => Number(step))
  return Math.max(0, ...steps)
}

/** A model that has the client print one file after another, and knows its progress only from the requests. */
export function taskScript(client: Client, steps: number): Script {
  return ({ body }) => {
    const done = lastStep(body)
    if (!client.isMain(body)) {
      const text = `The steps are being printed; the last one with: cat ${stepFile(done)}`
      return client.aside?.(text) ?? { text }
    }
    if (done >= steps) return { text: finalText }
    return {
      reasoning: `Step ${done} is printed, step ${done + 1} is next.`,
      text: `Step ${done + 1} of ${steps}.`,
      calls: [client.shell(`cat ${stepFile(done + 1)}`)],
    }
  }
}
