/** Where a client's own trace stands. */
export type RemoteParent = { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }

/** Later versions may add fields; the header is never longer than this as we write it down. */
const maxLength = 512
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const nobody = /^0+$/

/** Read a W3C `traceparent`; one that is not as the standard says is as none. */
export function parseTraceparent(header: string | undefined): RemoteParent | undefined {
  if (header === undefined || header.length > maxLength) return undefined
  const [, version, traceId = "", spanId = "", flags = "", more] = pattern.exec(header.trim()) ?? []
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined
  if (nobody.test(traceId) || nobody.test(spanId)) return undefined
  // Of the flags only the first is known, and means that the client keeps its trace.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}
