/** Replacement for a secret in a text. */
const secretMark = "[key]"

/** Minimum length of a secret: masking shorter values would mask ordinary words. */
const shortestSecret = 6

/** Removes the secrets of a call from texts that come back: servers may repeat what they were sent. */
export function createMask(secrets: readonly (string | undefined)[]): (text: string) => string {
  const spellings = secrets
    .flatMap((secret) => (secret === undefined ? [] : [secret, ...secret.split(/\s+/), encodeURIComponent(secret)]))
    .filter((secret) => secret.length >= shortestSecret)
    .sort((one, other) => other.length - one.length)
  return (text) => spellings.reduce((masked, secret) => masked.replaceAll(secret, secretMark), text)
}
