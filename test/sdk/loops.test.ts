import { expect, test } from "vitest"
import { connectedHosts } from "./connected-hosts.ts"
import { describeLoops } from "./describe-loops.ts"

describeLoops("every SDK's own tool loop finishes against the scripted model")
describeLoops("so it does when the stream is cut inside events and characters", { chunkBytes: 37 })
describeLoops("so it does through a relay that changes nothing", { relay: {} })

test("no SDK connected to anything but this machine", () => {
  expect([...connectedHosts()]).toEqual(["127.0.0.1"])
})
