/** What hides a secret in a text. */
const secretMark = "[key]"

/** A shorter one is no secret, and hiding it would hide words. */
const shortestSecret = 6

/** Takes the secrets of a call out of any text that comes back from it: servers like to repeat what they were sent. */
export function createMask(secrets: readonly (string | undefined)[]): (text: string) => string {
  const spellings = secrets
    .flatMap((secret) => (secret === undefined ? [] : [secret, ...secret.split(/\s+/), encodeURIComponent(secret)]))
    .filter((secret) => secret.length >= shortestSecret)
    .sort((one, other) => other.length - one.length)
  return (text) => spellings.reduce((masked, secret) => masked.replaceAll(secret, secretMark), text)
}
