import { expect, test } from "vitest"
import { toolsSession } from "../../session/rules/pins.ts"
import { anonymousSession, groupSession, sideSession } from "../identity/names.ts"
import { readSessionName } from "./session-routes.ts"

const tenant = "0123456789abcdef"
const group = groupSession(tenant, "4f1c", undefined)
const scout = groupSession(tenant, "4f1c", "scout")

test.each([
  [group, { tenant, conversation: "4f1c", role: "main" }],
  [scout, { tenant, conversation: "4f1c", role: "agent", subagent: "scout" }],
  [sideSession(group, "00ff00ff00ff00ff"), { tenant, conversation: "4f1c", role: "side" }],
  [toolsSession(scout), { tenant, conversation: "4f1c", role: "tools", subagent: "scout" }],
  [anonymousSession(tenant, "77"), { tenant, conversation: "~77", role: "main" }],
  ["log", undefined],
  [".x", undefined],
  ["a.b~", undefined],
])("%s is parsed as %j", (id, said) => {
  expect(readSessionName(id)).toEqual(said)
})
