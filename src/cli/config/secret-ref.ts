import { z } from "zod"
import { members, text } from "./config-field.ts"

const env = members({
  env: text("the name of an environment variable").regex(/^[A-Za-z_]\w{0,199}$/, {
    error: "the name of an environment variable",
  }),
})
const file = members({ file: text("the path of a file that holds the secret") })

export const secretExpected = "{ env: NAME } or { file: PATH }"

/** Where a secret is. The secret itself never stands in a configuration. */
export const secretRef = () => z.union([env, file], { error: secretExpected })

/** `from` is by what it was said, where that is not the file. */
export type SecretRef = { readonly env: string; readonly from?: string } | { readonly file: string }
