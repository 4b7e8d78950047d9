import { afterEach, beforeEach, describe } from "vitest"
import type { Queue } from "../../../src/store/queue/queue.ts"
import { describeCancel } from "./describe-cancel.ts"
import { describeFailure } from "./describe-failure.ts"
import { describeKeys } from "./describe-keys.ts"
import { describeLives } from "./describe-lives.ts"
import { describeRoom } from "./describe-room.ts"
import { describeWork } from "./describe-work.ts"
import type { Open, QueueWorld } from "./queue-world.ts"

/** The contract of every queue. */
export function describeQueue(name: string, create: () => Promise<QueueWorld>): void {
  describe(name, () => {
    let world: QueueWorld
    const opened: Queue[] = []
    const open: Open = async (options) => {
      const queue = await world.open(options)
      opened.push(queue)
      return queue
    }
    beforeEach(async () => {
      world = await create()
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queue) => queue.close()))
      await world.stop()
    })
    describeWork(open)
    describeRoom(open)
    describeKeys(open)
    describeFailure(open)
    describeCancel(open)
    describeLives(open)
  })
}
