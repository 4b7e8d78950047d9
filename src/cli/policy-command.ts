import type { CommandGroup } from "./command.ts"
import { policyAdd } from "./policy-add.ts"
import { policyCheck } from "./policy-check.ts"
import { policyLog } from "./policy-log.ts"
import { policyRemove } from "./policy-remove.ts"
import { policyShow } from "./policy-show.ts"
import { policySubmit } from "./policy-submit.ts"
import { policyVerify } from "./policy-verify.ts"

/** What the operator wants, whatever is said in a conversation. */
export const policyCommand: CommandGroup = {
  summary: "See, check and change the operator's rules and policies, and their audit log",
  notes: `holdfast policy alone shows what stands.

The policy directory is the folder policy beside the store's file (.holdfast/policy below the working folder, also where
the store is a database), unless --policy or HOLDFAST_POLICY names another. Keep it where the agent cannot write. In it:

  *.md *.txt         rules, one for each list item or paragraph; between two lines --- at the very beginning a file
                     may say agent: NAME, session: ID and expires: 2027-01-31
  *.cedar            policies of the guard
  *.json             a use of a template, or a list of them
  keys/*.pub         keys whose commands are obeyed; in keys/retired what they said stands and they say nothing more,
                     in keys/revoked nothing that they said stands

Files and folders that others than their owner may write are refused.`,
  usual: "show",
  commands: new Map([
    ["show", policyShow],
    ["check", policyCheck],
    ["add", policyAdd],
    ["remove", policyRemove],
    ["submit", policySubmit],
    ["log", policyLog],
    ["verify", policyVerify],
  ]),
}
