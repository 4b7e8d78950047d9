import type { Exchange } from "./ask-gateway.ts"
import type { DemoRun } from "./demo-run.ts"
import { batchNumber, plantedText } from "./desk-files.ts"
import { deskTools } from "./desk-tools.ts"
import { findRule } from "./find-rule.ts"
import { batchIn } from "./order-desk.ts"
import { columnHeads, count, number, remark } from "./show-call.ts"
import { compactionBox } from "./show-compaction.ts"
import { deniedBox, type Withheld } from "./show-denied.ts"
import { demoRule, story } from "./story.ts"
import { wrapText } from "./wrap-text.ts"

/** Time to read a line, what someone says, and a box. */
export const lineMs = 400
export const speechMs = 900
const boxMs = 2400

export async function showOpening({ screen, windowTokens, options }: DemoRun): Promise<void> {
  const words = `The model is a script (${options.model}) on this machine, and its prompt cache is simulated. The gateway between agent and model is the real one: it counts, compacts, keeps the rule and judges the calls.`
  await screen.print([
    ...wrapText("holdfast demo: an order desk's agent, in a window too small for it", screen.width).map(screen.bold),
    ...wrapText(words, screen.width),
    "",
    ...columnHeads(windowTokens, screen),
  ])
  await screen.pause(speechMs)
}

/** The compactions that were made for this call. */
export async function showCompactions(run: DemoRun): Promise<void> {
  const { watch, seen, screen, options, history } = run
  for (const told of await watch.compactions()) {
    const sent = options.sent()
    const shown = {
      told,
      ordinal: ++seen.compactions,
      ruleText: demoRule,
      rule: findRule(sent, demoRule),
      latestWhole: findRule(sent, story[seen.turns - 1]?.says ?? demoRule) !== undefined,
      ledgerLine: told.digest.split("\n").find((line) => line.includes(batchNumber)),
      agentMessages: history.length,
      logMessages: (await watch.size()).messages,
    }
    await screen.print(compactionBox(shown, screen))
    await screen.pause(boxMs)
  }
}

/** Said once, as soon as the rule is among those that stand. */
export async function showPin({ watch, seen, screen }: DemoRun): Promise<void> {
  const pin = seen.isPinShown ? undefined : await watch.pinned(demoRule)
  if (pin === undefined) return
  seen.isPinShown = true
  await screen.print(remark(`Pinned, found in your words: "${pin.text}"`, screen))
  await screen.pause(speechMs)
}

export async function showDenied({ screen, desk }: DemoRun, withheld: Withheld, { calls }: Exchange): Promise<void> {
  const beside = { planted: plantedText, mails: desk.mails().length, others: calls.map(({ tool }) => tool) }
  await screen.print(deniedBox(withheld, beside, screen))
  await screen.pause(boxMs)
}

/** The value of long ago, where the model is about to send it. */
export async function showRecalled({ screen, seen }: DemoRun, { calls }: Exchange): Promise<void> {
  const mail = calls.find(({ tool }) => tool === deskTools.sendEmail)
  const value = batchIn(mail?.input.body)
  if (value === undefined) return
  const since = `read in call ${number(seen.valueCall)}, ${count(seen.compactions, "compaction")} ago`
  const words = value === batchNumber ? `exact, though it was ${since}` : `WRONG: it is ${batchNumber}, ${since}`
  await screen.print(remark(`The batch number in it is ${value}: ${words}.`, screen))
  await screen.pause(speechMs)
}
