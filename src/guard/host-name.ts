/** A host as networks take it: lower case, punycode, IP addresses in their usual form, no trailing dot; what is no host stays as it is. */
export function hostName(written: string): string {
  const lowered = written.toLowerCase().replace(/\.+$/, "")
  if (/^[a-z\d-]+(?:\.[a-z\d-]*[a-z][a-z\d-]*)+$/.test(lowered)) return lowered
  const url = `http://${lowered}/`
  if (lowered.length > 300 || !URL.canParse(url)) return lowered
  return new URL(url).hostname.replace(/\.+$/, "")
}

/** Loopback, private and link-local addresses, and names that never leave the machine or the network. */
export const isPrivateHost = (host: string): boolean =>
  /^(?:localhost|.*\.(?:localhost|local|internal|lan)|127\.\d+\.\d+\.\d+|10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+|169\.254\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[f[cd][\da-f]{2}:.*\]|\[fe80:.*\]|\[::ffff:(?:7f|a|c0a8)[\da-f:]*\])$/.test(
    host,
  )
