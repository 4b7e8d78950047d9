import type { LineState, SchemaName } from "./summary.ts"

/** A section of a summary: its stable name, what people read above it, the same in few tokens, and what one of its lines is worth if nothing else is known. */
export type SchemaSection = {
  readonly name: string
  readonly title: string
  readonly short: string
  readonly worth: number
}

/** What the user wants whatever is asked next. It stands first in every schema, and no one but the user's own words writes it. */
export const rulesSection = "standing_rules"

const rules: SchemaSection = { name: rulesSection, title: "Standing rules of the user", short: "Rules", worth: 9 }

const handoff: readonly SchemaSection[] = [
  rules,
  { name: "primary_requests", title: "Primary requests and intent", short: "Requests", worth: 8 },
  { name: "key_concepts", title: "Key technical concepts", short: "Concepts", worth: 5 },
  { name: "files_and_code", title: "Files and code", short: "Files", worth: 5 },
  { name: "errors_and_fixes", title: "Errors and fixes", short: "Errors", worth: 6 },
  { name: "status", title: "Problem-solving status", short: "Status", worth: 4.5 },
  { name: "user_messages", title: "User messages", short: "User", worth: 6 },
  { name: "pending_tasks", title: "Pending tasks", short: "Pending", worth: 7 },
  { name: "current_work", title: "Current work", short: "Current", worth: 7 },
  { name: "next_steps", title: "Next steps", short: "Next", worth: 7 },
]

const snapshot: readonly SchemaSection[] = [
  rules,
  { name: "overall_goal", title: "Overall goal", short: "Goal", worth: 8 },
  { name: "key_knowledge", title: "Key knowledge", short: "Knowledge", worth: 6 },
  { name: "file_system_state", title: "File system state", short: "Files", worth: 5 },
  { name: "recent_actions", title: "Recent actions", short: "Actions", worth: 5 },
  { name: "current_plan", title: "Current plan", short: "Plan", worth: 7 },
]

/** The sections of each schema in the order in which they are shown. */
export const schemas: Readonly<Record<SchemaName, readonly SchemaSection[]>> = { handoff, snapshot }

/** The sections that a summarizer may write. */
export const writtenSections = (schema: SchemaName): readonly SchemaSection[] =>
  schemas[schema].filter(({ name }) => name !== rulesSection)

/** How a state is printed before its line. */
export const stateLabels: Readonly<Record<LineState, string>> = {
  done: "[Done]",
  failed: "[Failed attempt]",
  pending: "[Pending confirmation]",
  next: "[Next]",
}
