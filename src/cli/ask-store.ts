import type { Store } from "../store/store.ts"
import type { Arguments, Options } from "./arguments.ts"
import { damagedPlace, dataOption, dataPlace, openPlace } from "./data-place.ts"
import { type Failure, isFailure } from "./failure.ts"
import { createPaper, type Paper } from "./paper.ts"
import { jsonLine } from "./printable.ts"
import { startProgress } from "./progress.ts"
import type { World } from "./world.ts"

/** What a command found out: for programs as data, for people in lines, each fit to be printed. */
export type Answer = {
  readonly json: object
  readonly text: (paper: Paper) => readonly string[]
  /** Told after the lines, or in place of the data: then it has that in it. */
  readonly failure?: Failure
}

export type Asked = { readonly store: Store; readonly place: string }

/** What every command that asks a store takes. */
export const storeOptions: Options = {
  ...dataOption,
  json: { help: "one JSON object on stdout, and nothing else" },
}

/** Open the store, ask it, close it, and tell the answer. */
export async function askStore(
  args: Arguments,
  world: World,
  ask: (asked: Asked) => Promise<Answer | Failure>,
  { make = false } = {},
): Promise<0 | Failure> {
  const place = dataPlace(args.valueOf("data"), world.env)
  if (isFailure(place)) return place
  const json = args.isOn("json")
  const stopProgress = startProgress(json, world.stderr)
  const answer = await askPlace(place, make, ask).finally(stopProgress)
  return isFailure(answer) ? answer : tellAnswer(answer, json, world)
}

/** Tell an answer, to people or to programs. */
export async function tellAnswer(answer: Answer, json: boolean, { stdout }: World): Promise<0 | Failure> {
  if (!json) await stdout.write(`${answer.text(createPaper(stdout)).join("\n")}\n`)
  else if (answer.failure === undefined) await stdout.write(jsonLine(answer.json))
  return answer.failure ?? 0
}

async function askPlace(
  place: string,
  make: boolean,
  ask: (asked: Asked) => Promise<Answer | Failure>,
): Promise<Answer | Failure> {
  const store = await openPlace(place, { make })
  if (isFailure(store)) return store
  try {
    return await ask({ store, place })
  } catch (error) {
    return damagedPlace(error, place)
  } finally {
    await store.close()
  }
}
