import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { Tool } from "../../message/request.ts"
import { codecs } from "../../wire/codecs.ts"
import { stringIn } from "../../wire/expect.ts"
import { member } from "../../wire/json.ts"
import type { Line } from "../lines.ts"

/** What newer versions keep of their requests beside the messages: the system prompt and the tools, and the line it stands on. */
export type Shape = {
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly index: number
  readonly hash?: string
}

/** The shapes of a session, the one that its main thread last asked with, and what that thread calls itself. */
export type Shapes = { readonly all: Shape[]; current?: string | undefined; source?: string | undefined }

/** Subagents and side questions have shapes of their own: the first request in the file is the main thread's. */
export function noteShape(shapes: Shapes, line: Line, type: string | undefined): void {
  if (type === "api-request-shape") shapes.all.push(readShape(line))
  if (type !== "api-request") return
  shapes.source ??= stringIn(line.json, "querySource")
  if (stringIn(line.json, "querySource") === shapes.source) shapes.current = stringIn(line.json, "shapeHash")
}

export const mainShape = ({ all, current }: Shapes): Shape | undefined =>
  all.findLast(({ hash }) => hash === current) ?? all.at(-1)

function readShape({ json, index }: Line): Shape {
  const shape = member(json, "shape")
  const system = shape === undefined ? undefined : member(shape, "system")
  const tools = shape === undefined ? undefined : member(shape, "tools")
  const { readSystem, readTools } = codecs["anthropic-messages"]
  return {
    system: system === undefined ? [] : readSystem(system),
    tools: tools === undefined ? [] : readTools(tools),
    index,
    ...present({ hash: stringIn(json, "shapeHash") }),
  }
}
