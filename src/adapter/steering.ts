import type { Message } from "../message/message.ts"

/** A user message that arrives while a turn is running. */
export type SteeringMessage = string | Message

/** Where a turn takes such messages from: all that arrived since the last time it asked, oldest first. */
export type Steer = (() => readonly SteeringMessage[]) | { readonly take: () => readonly SteeringMessage[] }

export type Steering = {
  readonly push: (said: SteeringMessage) => void
  readonly take: () => readonly SteeringMessage[]
}

/** The most messages kept for the next model call. */
const maxHeld = 1_000

/** Keeps pushed messages until the turn takes them; at most the newest thousand. */
export function createSteering(): Steering {
  let held: readonly SteeringMessage[] = []
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

export const takeSteering = (steer: Steer | undefined): readonly SteeringMessage[] =>
  steer === undefined ? [] : typeof steer === "function" ? steer() : steer.take()
