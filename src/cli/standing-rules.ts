import { statSync } from "node:fs"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import type { OperatorRule } from "../guard/operator/rule-file.ts"
import { describe, problemOrThrow } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { createHoldfast, type Holdfast } from "../session/holdfast.ts"
import { ownerOfRow } from "../session/rules/pins.ts"
import type { Session } from "../session/session.ts"
import type { SessionRow } from "../store/store.ts"
import { isObject } from "../wire/json.ts"
import { type OpenedStore, policyDirectory } from "./ask-store.ts"
import type { Arguments } from "./command.ts"
import { findGateways, readAdmin } from "./running-gateway.ts"
import type { World } from "./world.ts"

/** Sessions of a store with the operator's rules, so that their rules are the same as for a gateway. */
type RuledSessions = {
  readonly holdfast: Holdfast
  readonly session: (row: SessionRow) => Session
  /** Why the operator's rules could not be read: the rules of sessions are without them. */
  readonly problem?: string
}

/** Opens sessions with the rules that a running gateway enforces; if none runs, with those of the policy directory and of commands. */
export async function openRuled(opened: OpenedStore, args: Arguments, world: World): Promise<RuledSessions> {
  const { rules, problem } = (await askRules(opened.place)) ?? (await readRules(opened, args, world))
  const standing = { version: "", rules, policies: [] }
  const operator = { standing: () => standing, refresh: async () => standing }
  const holdfast = createHoldfast({ store: opened.store, operator })
  return { holdfast, session: (row) => holdfast.session(row.id, ownerOfRow(row)), ...present({ problem }) }
}

type ReadRules = { readonly rules: readonly OperatorRule[]; readonly problem?: string }

async function askRules(place: string): Promise<ReadRules | undefined> {
  for (const gateway of findGateways(place)) {
    const told = await readAdmin(gateway, "/admin/pins")
    if (Array.isArray(told?.rules)) return { rules: told.rules.flatMap(ruleIn) }
  }
  return undefined
}

function ruleIn(told: unknown): OperatorRule | readonly [] {
  const {
    id,
    text,
    source = "",
    agent,
    session,
    expiresAtMs,
  }: Readonly<Record<string, unknown>> = isObject(told) ? told : {}
  if (typeof id !== "string" || typeof text !== "string" || typeof source !== "string") return []
  return {
    ...{ id, text, source },
    ...(typeof agent === "string" ? { agent } : {}),
    ...(typeof session === "string" ? { session } : {}),
    ...(typeof expiresAtMs === "number" ? { expiresAtMs } : {}),
  }
}

async function readRules({ store }: OpenedStore, args: Arguments, { env, dateMs }: World): Promise<ReadRules> {
  const named = policyDirectory(args, env)
  const directory = statSync(named, { throwIfNoEntry: false }) === undefined ? undefined : named
  try {
    return { rules: (await inspectOperator({ store, now: dateMs, ...present({ directory }) })).standing.rules }
  } catch (error) {
    return { rules: [], problem: describe(problemOrThrow(error)).sentence }
  }
}
