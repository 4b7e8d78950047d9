import type { Channel } from "../../message/channel.ts"
import { fence, unfence } from "../../message/fence.ts"
import { markData, unmarkData } from "./mark-data.ts"

/** The tag around data that a summarizer reads. */
export const dataFence = "untrusted-data"

/** Data for a summarizer: marked, so that nothing in it reads as a request, and fenced with where it came from. */
export function fenceData(
  text: string,
  { source, channel }: { readonly source: string; readonly channel: Channel },
): string {
  return fence(dataFence, markData(text), { source, channel })
}

/** The data inside such a fence to the letter, or nothing if it is not one whole fence. */
export function unfenceData(fenced: string): string | undefined {
  const marked = unfence(dataFence, fenced)
  return marked === undefined ? undefined : unmarkData(marked)
}
