import { present } from "../message/present.ts"
import type { SseEvent } from "./sse.ts"
import { utf8Bytes, utf8Text } from "./sse-bytes.ts"

/** An event of our own. */
export function createSseEvent(data: string, name?: string): SseEvent {
  const lines = data.split(/\r\n|\n|\r/).map((line) => `data: ${line}\n`)
  const text = `${name === undefined ? "" : `event: ${name}\n`}${lines.join("")}\n`
  return { type: "event", data, raw: utf8Bytes(text), ...present({ name }) }
}

/** The same event with other data, and another name if one is given: all its other lines and its line ends stay. The same data gives the same event. */
export function replaceData(event: SseEvent, data: string, name: string | undefined = event.name): SseEvent {
  if (data === event.data && name === event.name) return event
  const text = utf8Text(event.raw)
  if (event.framing === "array") {
    return { ...event, data, raw: utf8Bytes(text.slice(0, text.length - event.data.length) + data) }
  }
  let written = false
  const lines = text.match(/[^\r\n]*(?:\r\n|\n|\r|$)/g) ?? []
  const kept = lines.map((line) => {
    if (/^\uFEFF?event:/.test(line) && name !== undefined) return `event: ${name}${lineEndOf(line)}`
    if (!/^\uFEFF?data(?::|[\r\n]|$)/.test(line)) return line
    if (written) return ""
    written = true
    const end = lineEndOf(line)
    const mark = line.startsWith("\uFEFF") ? "\uFEFF" : ""
    return data
      .split("\n")
      .map((piece, n) => `${n === 0 ? mark : ""}data: ${piece}${end}`)
      .join("")
  })
  return { ...event, data, raw: utf8Bytes(kept.join("")), ...present({ name }) }
}

const lineEndOf = (line: string): string => /(?:\r\n|\n|\r)$/.exec(line)?.[0] ?? "\n"
