import type { AuditBody } from "./audit-line.ts"
import type { AuditEntry } from "./audit-log.ts"
import type { Command } from "./command.ts"
import type { AcceptedCommand, LogState } from "./commands-in-force.ts"

type Place = { readonly number: number; readonly atMs: number; readonly hash: string }

/** A command that was accepted, in what it says rather than in its signed text. */
export type AcceptedLine = Place & {
  readonly type: "command-accepted"
  readonly key: string
  readonly sequence: number
  readonly issuedAtMs: number
  readonly command: Command
}

type Told<Body> = Body extends { readonly type: "command-accepted" } ? never : Place & Omit<Body, "by">

/** A line of the audit log, to be read. */
export type AuditLine = AcceptedLine | Told<AuditBody>

export function acceptedLine({ number, atMs, hash, key, payload }: AcceptedCommand): AcceptedLine {
  const { sequence, issuedAtMs, command } = payload
  return { number, atMs, hash, type: "command-accepted", key, sequence, issuedAtMs, command }
}

/** Lines as they are told, with the commands of the state that was made of them. */
export function auditLines(entries: readonly AuditEntry[], { commands }: LogState): readonly AuditLine[] {
  const accepted = new Map(commands.map((command) => [command.number, command]))
  return entries.flatMap(({ number, atMs, hash, body }): readonly AuditLine[] => {
    const command = accepted.get(number)
    if (body.type === "command-accepted") return command === undefined ? [] : [acceptedLine(command)]
    const { by: _, ...told } = body
    return [{ number, atMs, hash, ...told }]
  })
}
