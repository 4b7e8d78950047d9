import type { Message } from "../message/message.ts"

/** Words that someone puts in while a turn is under way. */
export type SteeringMessage = string | Message

/** Where a turn takes them from: what has come since it last asked, oldest first. */
export type Steer = (() => readonly SteeringMessage[]) | { readonly take: () => readonly SteeringMessage[] }

export type Steering = {
  readonly push: (said: SteeringMessage) => void
  readonly take: () => readonly SteeringMessage[]
}

/** Words held for the next model call; a person types fewer in an hour. */
const maxHeld = 1_000

/** Holds what is pushed until the turn takes it, the newest thousand. */
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
