import { readFile } from "node:fs/promises"

/** As the package says; this file stands two folders below it, built or not. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8")
  const { version: found }: { readonly version: string } = JSON.parse(text)
  return found
}
