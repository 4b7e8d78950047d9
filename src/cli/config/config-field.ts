import { z } from "zod"
import { slowPattern } from "./linear-pattern.ts"

// Kinds of values. What a schema says of a fault is what was expected; the sentence around it is made where the value's place is known.

/** A count: tokens, milliseconds, bytes. */
export const whole = (least: number, most: number) => {
  const error = `a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** A part of something. */
export const share = () => {
  const error = "a number from 0 to 1"
  return z.number({ error }).min(0, { error }).max(1, { error })
}

/** Longer than any path, pattern or model's name. */
const maxText = 4096

export const text = (error: string) =>
  z
    .string({ error })
    .min(1, { error })
    .max(maxText, { error })
    .refine((value) => !value.includes("\0"), { error })

/** One line of printable characters: what may stand in a header. */
export const headerValue = () =>
  text("one line of text").regex(/^[\x20-\x7e\u00a0-\u00ff]+$/, { error: "one line of text" })

export const oneOf = <const Names extends readonly string[]>(names: Names) =>
  z.enum(names, { error: `one of ${names.join(", ")}` })

export const yesOrNo = () => z.boolean({ error: "true or false" })

/** More of anything in a list is a mistake. */
const maxItems = 1000

export const list = <Item extends z.ZodType>(item: Item, what: string) =>
  z.array(item, { error: `a list of ${what}` }).max(maxItems, { error: `at most ${maxItems} ${what}` })

export const members = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, { error: "an object" })

/** A base URL has nothing in it that could be a secret, and nothing that would be lost behind a path. */
export const httpUrl = () => {
  const error = "an http or https URL without user, password and query"
  return text(error).refine(isHttpUrl, { error })
}

export function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ""
}

/** A web page's origin as a browser sends it: `https://app.example`. */
export const origin = () => {
  const error = "the origin of a web page, such as https://app.example"
  return text(error).refine((value) => isHttpUrl(value) && new URL(value).origin === value, { error })
}

/** A regular expression without its slashes, which takes no time that whoever writes a text could stretch. */
export const pattern = () =>
  text("a regular expression without slashes").superRefine((value, context) => {
    const why = isPattern(value) ? slowPattern(value) : "it is no regular expression in JavaScript's Unicode mode"
    // What is wrong is known better than what was expected.
    if (why !== undefined) context.addIssue({ code: "custom", params: { says: `cannot be used: ${why}` } })
  })

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u").source !== ""
  } catch {
    return false
  }
}
