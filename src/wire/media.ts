import type { Media } from "../message/part.ts"
import { present } from "../message/present.ts"

/** What a `data:` or other URL says of the bytes behind it. */
export function mediaOfUrl(url: string, detail?: string): Media {
  const inline = /^data:([^;,]{1,127})?[^,]{0,127},/i.exec(url)
  if (inline === null) return { held: "url", ...present({ detail }) }
  return { held: "inline", inlineLength: url.length - inline[0].length, ...present({ mediaType: inline[1], detail }) }
}

export function mediaOfInline(data: string, mediaType?: string, detail?: string): Media {
  return { held: "inline", inlineLength: data.length, ...present({ mediaType, detail }) }
}

export function mediaOfFile(mediaType?: string, detail?: string): Media {
  return { held: "file", ...present({ mediaType, detail }) }
}
