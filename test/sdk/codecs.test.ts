import { describe, expect, test } from "vitest"
import { withoutWire } from "../../src/wire/stream.ts"
import { relayThroughCodecs } from "../support/relay-codecs.ts"
import { finalText } from "./conversation.ts"
import { describeLoops } from "./describe-loops.ts"
import { allLoops } from "./loops/all-loops.ts"
import { runLoop } from "./run-loop.ts"

describeLoops("through our codecs, every byte the same", { relay: relayThroughCodecs((event) => event, true) })

describeLoops("through our codecs, with the streams in pieces of 37 bytes", {
  relay: relayThroughCodecs((event) => event, true),
  chunkBytes: 37,
})

/** A client that names items by the ids it was given needs a provider that gave them: ours are not the provider's. */
const selfContained = allLoops.filter(({ name }) => !name.includes("item references"))

describe("streams that we wrote from nothing but the neutral events are accepted", () => {
  test.each(selfContained.map((loop) => [loop.name, loop] as const))("%s", async (_name, loop) => {
    const relay = relayThroughCodecs(withoutWire, false)
    const { text, failures } = await runLoop(loop, true, { relay, strict: false })
    expect(failures).toEqual([])
    expect(text).toBe(finalText)
  })
})
