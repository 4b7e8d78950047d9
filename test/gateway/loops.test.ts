import { expect, test } from "vitest"
import { connectedHosts } from "../sdk/connected-hosts.ts"
import { describeLoops } from "../sdk/describe-loops.ts"

describeLoops(
  "through the gateway every SDK's loop ends as it does without, and every request arrives as it was sent",
  {
    gateway: {},
  },
)
describeLoops("so it does when the stream is cut inside events and characters", { gateway: {}, chunkBytes: 37 })

test("no SDK connected to anything but this machine", () => {
  expect([...connectedHosts()]).toEqual(["127.0.0.1"])
})
