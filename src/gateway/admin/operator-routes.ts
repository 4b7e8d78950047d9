import type { Context, Hono } from "hono"
import type { AuditLine } from "../../guard/operator/inspect-operator.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import type { PolicyInput } from "../../guard/policy/templates.ts"
import { ignoreProblem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type AdminDeps, addRoute, isJson, readCommand, readLimit, readNumber } from "./admin-deps.ts"
import type { StandingAnswer } from "./answers.ts"
import type { ApprovalDesk } from "./approval-desk.ts"
import type { Approvals } from "./approvals.ts"
import { boundValue } from "./bound-value.ts"
import { describeProblem, refusalResponse, refusals, refuseProblem } from "./refusal.ts"

const auditPage = { usual: 100, most: 1000 } as const
/** The largest line number. */
const lastLine = 999_999_999_999_999
/** Limits on one line: a command may contain a whole policy. */
const lineBounds = { text: 4000, items: 200, total: 20_000 }

type Deps = Pick<AdminDeps, "operator" | "approvals"> & { readonly desk: ApprovalDesk }

/** Routes for the operator's rules, policies, audit log and approvals, and the only way to change any of it: a signed command. */
export function addOperatorRoutes(app: Hono, { operator, approvals, desk }: Deps): void {
  const withOperator = (answer: (c: Context, operator: Operator) => Promise<object>) => (c: Context) =>
    operator === undefined ? refusalResponse(refusals.operator) : answer(c, operator)
  addRoute(app, "GET", "/admin/pins", withOperator(showStanding))
  addRoute(app, "GET", "/admin/audit", withOperator(showAudit))
  addRoute(app, "GET", "/admin/approvals", () => desk.tell())
  addRoute(
    app,
    "POST",
    "/admin/commands",
    withOperator((c, known) => takeCommand(c, known, approvals)),
  )
}

async function showStanding(_: Context, operator: Operator): Promise<StandingAnswer> {
  // Refresh first, to show the policies that the next request will be judged by.
  await operator.refresh()
  // If the audit log cannot be read now, the rules in force are still shown.
  return describeStanding(operator, await operator.audit().catch(ignoreProblem))
}

async function showAudit(c: Context, operator: Operator): Promise<object> {
  const from = readNumber(c, "from", 1, { least: 1, most: lastLine })
  const limit = readLimit(c, auditPage)
  const lines = await operator.audit({ from, limit: limit + 1 })
  const told = lines.slice(0, limit).map((line) => boundValue(line, lineBounds).value)
  const next = lines.length > limit ? `/admin/audit?from=${lines[limit]?.number}&limit=${limit}` : undefined
  return { lines: told, ...present({ next }) }
}

async function takeCommand(c: Context, operator: Operator, approvals: Approvals): Promise<object> {
  if (!isJson(c)) return refusalResponse(refusals.type)
  const text = await readCommand(c)
  if (text === undefined) return refusalResponse(refusals.size)
  const body = tryParse(text)
  const command = isObject(body) && Object.keys(body).length === 1 ? body.command : undefined
  if (typeof command !== "string")
    return refuseProblem({
      code: "request-invalid",
      path: "the body",
      expected: '{"command": "hf1.…"}',
      found: body === undefined ? "no JSON" : "something else",
    })
  return await submit(command, operator, approvals)
}

/** Submits a command. Returns its audit line, the resulting rule, and for an approval whether the call waited in this process. */
async function submit(command: string, operator: Operator, approvals: Approvals) {
  const settled = new Set<string>()
  const stop = approvals.subscribe((event) => {
    if (event.type === "approval-settled") settled.add(event.id)
  })
  try {
    const { line, rule } = await operator.submit(command)
    const call = "call" in line.command ? line.command.call : undefined
    const approval = call === undefined ? undefined : { id: call, waitedHere: settled.has(call) }
    return {
      accepted: line,
      ...present({ rule, approval }),
      standing: describeStanding(operator, await operator.audit().catch(ignoreProblem)),
    }
  } finally {
    stop()
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The operator's rules and policies in force, and the source of each. `lines` is the audit log, if it could be read. */
function describeStanding(operator: Operator, lines?: readonly AuditLine[]): StandingAnswer {
  const { version, rules, policies, guard } = operator.standing()
  const problem = operator.refusal() ?? operator.problem()
  const commands = lines === undefined ? undefined : policyCommands(lines)
  return {
    audience: operator.audience,
    version,
    rules: rules.map((rule) => ({ ...rule, by: /^c\d+$/.test(rule.id) ? "command" : "file" })),
    policies: policies.map((policy) => describePolicy(policy, commands)),
    judging: (guard?.policies ?? []).map(({ id, source, line, effect, decision, rule, instead }) => ({
      id,
      source,
      line,
      decision: effect === "permit" ? "allow" : decision,
      rule,
      ...present({ instead }),
    })),
    ...present({ problem: problem && describeProblem(problem) }),
  }
}

/** The audit line of the command that added each policy; policies from files have other names. */
function policyCommands(lines: readonly AuditLine[]): ReadonlyMap<string, number> {
  const commands = new Map<string, number>()
  for (const line of lines) {
    if (line.type !== "command-accepted") continue
    const { command } = line
    if (command.type === "add-policy") commands.set(command.name, line.number)
    if (command.type === "remove-policy") commands.delete(command.name)
  }
  return commands
}

function describePolicy(policy: PolicyInput, commands: ReadonlyMap<string, number> | undefined): Fields {
  if (typeof policy === "string") return { text: policy, by: "file" }
  if (commands === undefined || policy.name === undefined) return { ...policy }
  const command = commands.get(policy.name)
  return { ...policy, ...(command === undefined ? { by: "file" } : { by: "command", command: `c${command}` }) }
}
