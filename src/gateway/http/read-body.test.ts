import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createBodies, type ReadBody } from "./read-body.ts"

type Sender = { readonly incoming: IncomingMessage; sent: number; read?: ReadBody }

/** Wait until everything pushed is read. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test("for any senders, bodies arrive complete, and pending ones stay within the memory limit", async () => {
  const step = fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 40 }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const bodies = createBodies(100)
      const senders = Array.from({ length: 6 }, (): Sender => {
        const sender: Sender = { incoming: new IncomingMessage(new Socket()), sent: 0 }
        void bodies.read(sender.incoming, 80).then((read) => {
          sender.read = read
        })
        return sender
      })
      for (const [which, bytes] of steps) {
        const sender = senders[which]
        if (sender === undefined || sender.read !== undefined) continue
        if (bytes === 0) sender.incoming.push(null)
        else {
          sender.incoming.push(Buffer.alloc(bytes, which))
          sender.sent += bytes
        }
        await settled()
        const under = senders.filter(({ read }) => read === undefined)
        expect(under.reduce((sum, { sent }) => sum + sent, 0)).toBeLessThanOrEqual(100)
        if (bytes === 0) expect(sender.read).toEqual(Buffer.alloc(sender.sent, which))
      }
      for (const { read, sent } of senders) if (read === "too-large") expect(sent).toBeGreaterThan(80)
    }),
  )
})

test("the largest body is refused, not the newest", async () => {
  const bodies = createBodies(100)
  const [large, small] = [new IncomingMessage(new Socket()), new IncomingMessage(new Socket())]
  const reads = [bodies.read(large, 1000), bodies.read(small, 1000)]
  large.push(Buffer.alloc(95))
  await settled()
  small.push(Buffer.alloc(10))
  await settled()
  small.push(null)
  expect(await Promise.all(reads)).toEqual(["no-room", Buffer.alloc(10)])
})
