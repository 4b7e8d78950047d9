import type { Script } from "../model-server/script.ts"
import type { Client } from "./client.ts"
import { lastStep, taskScript } from "./task.ts"

export const goOn = "Now go on with the remaining steps."

/** Goes half of the way, and the rest when asked to continue, even if that request was summarized away since. */
export function inTwoHalves(client: Client, steps: number): Script {
  const [half, whole] = [taskScript(client, steps / 2), taskScript(client, steps)]
  return (turn) => {
    const continues = JSON.stringify(turn.body).includes(goOn) || lastStep(turn.body) > steps / 2
    return (continues ? whole : half)(turn)
  }
}
