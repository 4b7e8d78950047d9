import type { NoteKind } from "./note.ts"
import { rulesSection } from "./schema.ts"
import type { SchemaName } from "./summary.ts"

const handoff: Readonly<Record<NoteKind, string>> = {
  request: "primary_requests",
  wish: rulesSection,
  decision: "key_concepts",
  finding: "key_concepts",
  file: "files_and_code",
  error: "errors_and_fixes",
  conclusion: "status",
  command: "status",
  transaction: "status",
  lookup: "status",
  correction: "user_messages",
  reply: "user_messages",
  task: "pending_tasks",
  question: "pending_tasks",
  current: "current_work",
  next: "next_steps",
}

const snapshot: Readonly<Record<NoteKind, string>> = {
  request: "overall_goal",
  wish: rulesSection,
  decision: "key_knowledge",
  finding: "key_knowledge",
  conclusion: "key_knowledge",
  correction: "key_knowledge",
  reply: "key_knowledge",
  lookup: "key_knowledge",
  file: "file_system_state",
  command: "recent_actions",
  transaction: "recent_actions",
  error: "recent_actions",
  current: "recent_actions",
  task: "current_plan",
  question: "current_plan",
  next: "current_plan",
}

const sections: Readonly<Record<SchemaName, Readonly<Record<NoteKind, string>>>> = { handoff, snapshot }

/** The section of a schema in which a note stands. */
export const sectionOf = (schema: SchemaName, kind: NoteKind): string => sections[schema][kind]
