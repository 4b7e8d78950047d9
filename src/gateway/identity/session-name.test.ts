import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { toolsSession } from "../../session/rules/pins.ts"
import { checkSessionId } from "../../session/state/options.ts"
import { anonymousSession, groupSession, isInGroup, sideSession } from "./names.ts"

const ids = fc.oneof(
  fc.string({ unit: codePoints, minLength: 1 }),
  fc.string({ minLength: 100, maxLength: 400 }),
  fc.constantFrom("operator log", "shared rules", "~x", "a~side-1", "a.b", "h-0", "..", "a~agent-b", "\ud800"),
)
const tenants = fc.oneof(ids, fc.constantFrom("none", "0123456789abcdef", "fedcba9876543210"))

test("any client id gives a valid session id", () => {
  fc.assert(
    fc.property(tenants, ids, fc.option(ids, { nil: undefined }), (tenant, id, agent) => {
      const base = groupSession(tenant, id, agent)
      for (const name of [base, sideSession(base, id), toolsSession(base), anonymousSession(tenant, id)]) {
        if (name !== sideSession(base, id)) checkSessionId(name)
      }
      checkSessionId(sideSession(base, "0123456789abcdef0123"))
      expect(isInGroup(base, toolsSession(base))).toBe(true)
    }),
  )
})

test("no id of one tenant names a session of another, and different ids name different sessions", () => {
  const all = fc.tuple(tenants, ids, fc.option(ids, { nil: undefined }))
  fc.assert(
    fc.property(all, all, (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other))
      const [names, others] = [one, other].map(([tenant, id, agent]) => [
        groupSession(tenant, id, agent),
        anonymousSession(tenant, id),
        sideSession(groupSession(tenant, id, agent), "0123456789abcdef"),
      ])
      const isSameId = one[0] === other[0] && one[1] === other[1]
      const shared = names?.filter((name) => others?.includes(name)) ?? []
      expect(isSameId ? shared.filter((name) => !name.includes(".~")) : shared).toEqual([])
    }),
  )
})

test("a readable id stays readable", () => {
  expect(groupSession("0123456789abcdef", "ses_1a2b", undefined)).toBe("0123456789abcdef.ses_1a2b")
  expect(groupSession("none", "ses_1a2b", "scout")).toBe("none.ses_1a2b~agent-scout")
})

test("a subagent's session is not in its parent's group", () => {
  const parent = groupSession("t", "abc", undefined)
  expect(isInGroup(parent, groupSession("t", "abc", "side-1"))).toBe(false)
})
