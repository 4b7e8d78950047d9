import type { Message } from "../message/message.ts"

/** Words that someone puts in while a turn is under way. */
export type Said = string | Message

/** Where a turn takes them from: what has come since it last asked, oldest first. */
export type Steer = (() => readonly Said[]) | { readonly take: () => readonly Said[] }

export type Steering = { readonly push: (said: Said) => void; readonly take: () => readonly Said[] }

/** Words held for the next model call; a person types fewer in an hour. */
const maxHeld = 1_000

/** Holds what is pushed until the turn takes it, the newest thousand. */
export function createSteering(): Steering {
  let held: readonly Said[] = []
  return {
    push: (said) => {
      held = [...held.slice(1 - maxHeld), said]
    },
    take: () => {
      const taken = held
      held = []
      return taken
    },
  }
}

export const takeSteering = (steer: Steer | undefined): readonly Said[] =>
  steer === undefined ? [] : typeof steer === "function" ? steer() : steer.take()
