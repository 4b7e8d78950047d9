import { askSession } from "./ask-session.ts"
import { storeOptions } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { unusable } from "./failure.ts"
import { count, number } from "./paper.ts"

export const sessionsUndo: Command = {
  summary: "Take back the compaction in force: the model is shown what it was shown before, and what came since",
  usage: "sessions undo ID [--json]",
  options: storeOptions,
  maxPositionals: 1,
  notes: `A gateway or program that has the session open goes by it from its next call on. Undoing again takes back the
compaction before that one.

  holdfast sessions undo 4f1c`,
  run: (args, world) =>
    askSession(args, world, async ({ session, row }) => {
      const { checkpoint, durable } = await session.undo()
      if (!durable)
        return unusable(
          "store-unavailable",
          `The compaction ${checkpoint} of session ${row.id} is not taken back: the store did not take it.`,
          "Find out whether another program has the store locked, and try again.",
        )
      const { shown, checkpoints } = await session.overview()
      const inForce = checkpoints.find((one) => one.inForce)?.id
      const left = inForce === undefined ? "no compaction is in force any more" : `${inForce} is in force again`
      const sizes = `${count(shown.whole + shown.shortened, "message")} shown, ${number(shown.leftOut)} left out`
      return { json: { undone: checkpoint, shown }, text: () => [`Taken back: ${checkpoint}; ${left}. ${sizes}.`] }
    }),
}
