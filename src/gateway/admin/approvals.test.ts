import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createGuard } from "../../guard/guard.ts"
import { approvedVerdict, deniedResult } from "../../guard/judge-call.ts"
import { type ApprovalEvent, type CallToApprove, createApprovals } from "./approvals.ts"

const guard = createGuard([
  '@rule("A person sees every purchase.") @decision("ask") forbid(principal, action, resource) when { context.actions.contains("purchase") };',
])

const asked = (input: unknown = { item: "boat", amount: 5 }): CallToApprove => {
  const call = { tool: "buy", input }
  return { session: "s", tenant: "t", trace: "x", callId: "c1", call, verdict: guard.judge(call) }
}

const never = new AbortController().signal

test("a call waits with the information for a person, and gets the person's decision", async () => {
  const approvals = createApprovals({ now: () => 7 })
  const [first, second] = [approvals.ask(asked(), never), approvals.ask(asked(), never)]
  const [one, two] = approvals.pending()
  expect(one).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    atMs: 7,
    session: "s",
    tenant: "t",
    trace: "x",
    callId: "c1",
    tool: "buy",
    input: '{"item":"boat","amount":5}',
    cut: false,
    reasons: [expect.objectContaining({ rule: "A person sees every purchase.", decision: "ask" })],
  })
  expect(one?.id).not.toBe(two?.id)
  expect(approvals.settle(one?.id ?? "", true)).toBe(true)
  expect(approvals.settle(two?.id ?? "", false)).toBe(true)
  expect(await Promise.all([first, second])).toEqual([true, false])
  expect(approvals.pending()).toEqual([])
})

test("a guard can ask a person through the approvals", async () => {
  const approvals = createApprovals()
  const call = { tool: "buy", input: { item: "boat" } }
  const approve = (_call: typeof call, verdict: CallToApprove["verdict"], signal: AbortSignal) =>
    approvals.ask({ ...asked(), verdict }, signal)
  const said = approvedVerdict(call, guard.judge(call), {
    approve: (_, verdict, signal) => approve(call, verdict, signal),
  })
  await Promise.resolve()
  approvals.settle(approvals.pending()[0]?.id ?? "", true)
  expect(await said).toBe("approved")
})

test("a person's note on a refusal is what the agent reads to do instead", async () => {
  const approvals = createApprovals()
  const call = { tool: "buy", input: { item: "boat" } }
  const said = approvedVerdict(call, guard.judge(call), {
    approve: (_, verdict, signal) => approvals.ask({ ...asked(), verdict }, signal),
  })
  await Promise.resolve()
  approvals.settle(approvals.pending()[0]?.id ?? "", { note: "Rent one.\nIt is winter." })
  const verdict = await said
  expect(verdict).toMatchObject({ decision: "deny" })
  expect(verdict === "approved" ? "" : deniedResult(verdict)).toMatch(
    /^Why: a person refused it\.$[\s\S]*^Instead: Rent one\. It is winter\.$/m,
  )
})

test("a withdrawn call counts as refused, and a later decision changes nothing", async () => {
  const approvals = createApprovals()
  const gone = new AbortController()
  const said = approvals.ask(asked(), gone.signal)
  const id = approvals.pending()[0]?.id ?? ""
  gone.abort()
  expect(await said).toBe(false)
  expect(approvals.settle(id, true)).toBe(false)
  expect(await approvals.ask(asked(), gone.signal)).toBe(false)
  expect(approvals.pending()).toEqual([])
})

test("above the limit a call is refused at once, and an event says so", async () => {
  const approvals = createApprovals({ limit: 2 })
  const told: ApprovalEvent["type"][] = []
  approvals.subscribe(({ type }) => told.push(type))
  const first = approvals.ask(asked(), never)
  approvals.ask(asked(), never)
  expect(await approvals.ask(asked(), never)).toBe(false)
  approvals.settle(approvals.pending()[0]?.id ?? "", true)
  expect(await first).toBe(true)
  approvals.ask(asked(), never)
  expect(approvals.pending()).toHaveLength(2)
  expect(told).toEqual([
    "approval-asked",
    "approval-asked",
    "approval-turned-away",
    "approval-settled",
    "approval-asked",
  ])
})

test("a repeated id never settles two calls with one decision", async () => {
  const approvals = createApprovals({ newId: () => "same" })
  approvals.ask(asked(), never)
  expect(await approvals.ask(asked(), never)).toBe(false)
})

test("a listener that throws does not block a call", async () => {
  const approvals = createApprovals()
  approvals.subscribe(() => {
    throw new Error("not now")
  })
  const said = approvals.ask(asked(), never)
  approvals.settle(approvals.pending()[0]?.id ?? "", true)
  expect(await said).toBe(true)
})

test("any call is shown within bounds, and marked if it is shortened", () => {
  const approvals = createApprovals({ limit: Infinity })
  fc.assert(
    fc.property(fc.anything({ withBigInt: true }), fc.string(), (input, tool) => {
      const verdict = { ...asked().verdict }
      approvals.ask({ ...asked(), call: { tool, input }, verdict }, never)
      const last = approvals.pending().at(-1)
      expect(last?.input.length).toBeLessThan(200_000)
      approvals.settle(last?.id ?? "", false)
    }),
  )
  approvals.ask(asked({ note: "x".repeat(1e6) }), never)
  expect(approvals.pending()[0]).toMatchObject({ cut: true })
  expect(approvals.pending()[0]?.input.length).toBeLessThan(20_000)
})
