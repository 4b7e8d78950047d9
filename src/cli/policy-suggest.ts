import { open } from "node:fs/promises"
import type { TemplateUse } from "../guard/policy/templates.ts"
import type { ExplainedRule } from "../session/rule-guard.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { askStore, type CommandAnswer, findSession, openSession, storeOptions } from "./ask-store.ts"
import { type Command, type CommandFailure, isFailure } from "./command.ts"
import { unwritable } from "./deliver.ts"
import { clip, count, sentenceOf } from "./terminal/output.ts"

/** Sessions whose rules are read where none is named: the newest. */
const maxSessions = 200

/** What a rule would be as a policy, or why it is none. */
type Suggestion =
  | { readonly rule: string; readonly use: TemplateUse; readonly confidence: number; readonly from: string }
  | { readonly rule: string; readonly why: string; readonly from: string }

export const policySuggest: Command = {
  summary:
    "Write the policies that the rules of sessions mean into a file, to be read and put in force by the operator",
  usage: "policy suggest [SESSION] [--out FILE] [--json]",
  options: {
    out: { value: "FILE", help: "write them there, as a .json file of a policy directory; to stdout unless given" },
    ...storeOptions,
  },
  maxPositionals: 1,
  notes: `Every rule in force that the guard can judge, with the sentence that it came from, its session and how sure that is;
and which rules are no policy, and why. Nothing is put in force: read the file, take out what is not meant, and move it
into the policy directory, or sign its policies one by one with holdfast policy add.

  holdfast policy suggest
  holdfast policy suggest @last --out suggested.json`,
  run: (args, world) =>
    askStore(args, world, async ({ store }) => {
      const rows = await rowsFor(store, args.positionals[0])
      if (isFailure(rows)) return rows
      const found = await suggestionsOf(store, rows)
      const out = args.valueOf("out")
      const policies = found.flatMap((one) =>
        "use" in one ? [{ ...one.use, from: one.from, confidence: one.confidence }] : [],
      )
      const failure = out === undefined ? undefined : await writeNew(out, policies)
      if (failure !== undefined) return failure
      return answerOf(found, policies, out)
    }),
}

async function rowsFor(store: Store, named: string | undefined): Promise<readonly SessionRow[] | CommandFailure> {
  if (named === undefined) return (await store.sessions()).slice(0, maxSessions)
  const row = await findSession(store, named)
  return isFailure(row) ? row : [row]
}

/** Each sentence once, with the sessions that have it. */
async function suggestionsOf(store: Store, rows: readonly SessionRow[]): Promise<readonly Suggestion[]> {
  const byRule = new Map<string, { readonly rule: ExplainedRule; readonly sessions: string[] }>()
  for (const row of rows)
    for (const rule of await openSession(store, row).rules()) {
      const known = byRule.get(rule.text)
      if (known === undefined) byRule.set(rule.text, { rule, sessions: [row.id] })
      else known.sessions.push(row.id)
    }
  return [...byRule.values()].map(({ rule: { text, speaker, policy }, sessions }): Suggestion => {
    const more = sessions.length > 1 ? ` and ${sessions.length - 1} more` : ""
    const from = `${speaker}, session ${sessions[0]}${more}`
    return "none" in policy
      ? { rule: text, why: policy.none, from }
      : { rule: text, use: policy.policy, confidence: policy.confidence, from }
  })
}

/** Create the file. One that exists is never overwritten. */
async function writeNew(path: string, policies: readonly object[]): Promise<CommandFailure | undefined> {
  try {
    const file = await open(path, "wx", 0o600)
    try {
      await file.writeFile(`${JSON.stringify(policies, undefined, 2)}\n`)
    } finally {
      await file.close()
    }
    return undefined
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    return unwritable(path, String(error.code))
  }
}

function answerOf(found: readonly Suggestion[], policies: readonly object[], out: string | undefined): CommandAnswer {
  const none = found.flatMap((one) => ("why" in one ? [one] : []))
  const where = out === undefined ? "" : ` in ${sentenceOf(out)}`
  return {
    json: { policies, none, ...(out === undefined ? {} : { file: out }) },
    text: (paper) => [
      ...(out === undefined ? [JSON.stringify(policies, undefined, 2)] : []),
      `${count(policies.length, "policy", "policies")}${where} from ${count(found.length, "rule")}. Nothing is in force: read them, then move the file into the policy directory.`,
      ...none.map(({ rule, why }) => paper.dim(`No policy: ${sentenceOf(clip(rule, 100))} (${sentenceOf(why)})`)),
    ],
  }
}
