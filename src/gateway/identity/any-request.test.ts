import { expect, test } from "vitest"
import { createWorld } from "../../../test/fixtures/gateway/world.ts"
import { codePoints, fc } from "../../../test/support/property.ts"
import { requestText } from "../../../test/support/requests.ts"
import { HoldfastError } from "../../message/errors.ts"
import { formats, type ModelRequest } from "../../message/message.ts"
import { checkSessionId } from "../../session/state/options.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { identityOf } from "./identity.ts"
import { tenantOf } from "./names.ts"

const names = [
  "session-id",
  "x-holdfast-session",
  "x-holdfast-agent",
  "x-codex-turn-metadata",
  "x-codex-window-id",
  "authorization",
]
const headers = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof(fc.string(), fc.string({ unit: codePoints }), fc.json()),
)

function decoded(text: string, format: (typeof formats)[number]): ModelRequest | undefined {
  try {
    return decodeRequest(format, text)
  } catch (error) {
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

test.each(formats)("any request (%s) with any headers gets a session, and the same one again", async (format) => {
  await fc.assert(
    fc.asyncProperty(requestText(format), headers, async (text, own) => {
      const request = decoded(text, format)
      if (request === undefined) return
      const world = createWorld()
      const identity = identityOf(own, request)
      const given = await world.exchange(identity, request, [], { tenant: tenantOf(own), isCut: true })
      checkSessionId(given.session)
      world.restart()
      const again = await world.exchange(identity, request, [], { tenant: tenantOf(own), isCut: true })
      if (request.held === undefined) expect(again.session).toBe(given.session)
    }),
  )
})
