import { createHash } from "node:crypto"
import { stat } from "node:fs/promises"
import type { PolicyInput } from "../policy/policy-input.ts"
import { checkFolder, keyFolders, type ListedFile, listFiles, readPolicyText } from "./directory-files.ts"
import { type KeyText, stateOf } from "./key-ring.ts"
import { readPolicyFile } from "./policy-file.ts"
import { readRuleFile } from "./rule-file.ts"
import type { OperatorRule } from "./standing.ts"

export type FileHash = { readonly name: string; readonly sha256: string }

/** All that a policy directory says. */
export type DirectoryContent = {
  /** By what a change of it is noticed, without reading it. */
  readonly stamp: string
  /** Which folder it is; another one stands there once a disk was unmounted or the folder was replaced. */
  readonly identity: string
  readonly files: readonly FileHash[]
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  readonly keys: readonly KeyText[]
}

/** What a channel without a directory has of one. */
export const noDirectory: DirectoryContent = { stamp: "", identity: "", files: [], rules: [], policies: [], keys: [] }

/** By what a change of the directory is noticed. */
export const stampOf = (files: readonly ListedFile[]): string =>
  createHash("sha256").update(JSON.stringify(files)).digest("hex")

/** Read the whole directory, or say what is wrong with which file and line. */
export async function readDirectory(directory: string): Promise<DirectoryContent> {
  const listed = await listFiles(directory)
  const { dev, ino } = await stat(directory)
  const isFolder = (name: string): boolean => name === "." || keyFolders.some((folder) => folder === name)
  const files: FileHash[] = []
  const rules: OperatorRule[] = []
  const policies: PolicyInput[] = []
  const keys: KeyText[] = []
  for (const { name } of listed) {
    if (isFolder(name)) {
      await checkFolder(directory, name)
      continue
    }
    const text = await readPolicyText(directory, name)
    files.push({ name, sha256: createHash("sha256").update(text, "utf8").digest("hex") })
    if (name.endsWith(".pub")) keys.push({ text, source: name, state: stateOf(name) })
    else if (/\.(?:md|txt)$/.test(name)) rules.push(...readRuleFile(name, text))
    else policies.push(...readPolicyFile(name, text))
  }
  return { stamp: stampOf(listed), identity: `${dev}:${ino}`, files, rules, policies, keys }
}
