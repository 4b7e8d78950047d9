import { type Advice, describe, HoldfastError, type Problem } from "../message/errors.ts"
import { jsonLine, sentenceOf } from "./printable.ts"
import type { World } from "./world.ts"

/** Why a command did not do what it was asked: 2 where the command line cannot be meant, 1 for everything else. */
export type Failure = Advice & {
  readonly exit: 1 | 2
  readonly code: string
  /** The figures of a Problem, for programs. */
  readonly problem?: object
}

export const isFailure = (value: object | string): value is Failure => typeof value === "object" && "exit" in value

/** The command line cannot be meant. */
export const misuse = (sentence: string, next: string): Failure => ({ exit: 2, code: "usage-invalid", sentence, next })

/** Something outside could not be read or written. */
export const unusable = (code: string, sentence: string, next: string): Failure => ({ exit: 1, code, sentence, next })

/** What to do at the command line, where a Problem speaks of functions. */
const nextHere: Readonly<Partial<Record<Problem["code"], string>>> = {
  "session-unknown": "holdfast sessions list names them; --data or HOLDFAST_DATA says in which store.",
  "entry-unknown": "holdfast sessions show ID --log lists the entries.",
  "nothing-to-undo": "holdfast sessions show ID says what was done.",
}

/** Whatever was thrown, in words. Anything but a Problem is a fault of our own, and says so. */
export function failureOf(error: unknown): Failure {
  if (error instanceof HoldfastError) {
    const { problem } = error
    const { code } = problem
    const { sentence, next } = describe(problem)
    const isOfFile = code === "store-unavailable" && problem.path !== undefined
    const here = isOfFile ? `${next} --data or HOLDFAST_DATA names the place.` : (nextHere[code] ?? next)
    return { exit: code === "option-invalid" ? 2 : 1, code, problem, sentence, next: here }
  }
  const words = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && "syscall" in error)
    return unusable("output-failed", `The output could not be written: ${words}.`, "Check the disk and where it leads.")
  return unusable(
    "fault",
    `This is a fault of holdfast itself: ${words}`,
    "Please report it. HOLDFAST_DEBUG=1 shows where it happened.",
  )
}

/** Tell people on stderr, or programs as one JSON object on stdout. */
export async function tellFailure(failure: Failure, json: boolean, { stdout, stderr }: World): Promise<number> {
  const { exit, code, sentence, next, problem } = failure
  if (json) await stdout.write(jsonLine({ problem: { code, ...problem, sentence, next } }))
  else await stderr.write(`holdfast: ${sentenceOf(sentence)}\n${sentenceOf(next)}\n`)
  return exit
}
