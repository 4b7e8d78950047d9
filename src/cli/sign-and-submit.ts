import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { maxKeyBytes, type OperatorCommand, readPrivateKey, signCommand } from "../guard/operator/command.ts"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { type Accepted, openOperator } from "../guard/operator/operator.ts"
import { codeOrThrow, describe, HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { type AskedOperator, askOperator, operatorOptions, usualFolders } from "./ask-store.ts"
import { type Arguments, type CommandAnswer, misuse, type Options, unusable } from "./command.ts"
import { readOwnFile, unreadable } from "./read-input.ts"
import { askEnforced, type Enforced, type EnforcedIds } from "./running-gateway.ts"
import { sentenceOf } from "./terminal/output.ts"
import type { World } from "./world.ts"

export const signingOptions: Options = {
  key: { value: "FILE", help: "the private key to sign with; HOLDFAST_KEY, or the one of keys new, unless given" },
  print: { help: "print the signed command and send nothing; holdfast policy submit sends it" },
  audience: { value: "NAME", help: "with --print: the deployment that it is for; that of the store unless given" },
  ...operatorOptions,
}

/** Time that a signed command is valid: long enough to carry it to another machine. */
const lifetimeMs = 24 * 3_600_000
/** Commands are backdated by this, so that a gateway whose clock is a little slow accepts them. */
const aheadMs = 30_000

/** Signs commands, each for itself, and submits them in their order, or prints them line by line. */
export async function signAndSubmit(
  args: Arguments,
  world: World,
  commands: readonly OperatorCommand[],
  words: Submission["words"],
): Promise<CommandAnswer> {
  const key = await readKeyFile(args, world.env)
  const print = args.isOn("print")
  if (!print && args.valueOf("audience") !== undefined)
    return misuse("--audience goes with --print.", "Leave it out: the store knows for whom it is.")
  const ask = (asked: AskedOperator): Promise<CommandAnswer> =>
    print
      ? printSigned(asked, key, commands, args, world)
      : submitTo(asked, world, {
          key,
          words,
          make: (audience, last) => signEach(key, commands, audience, last, world.dateMs()),
        })
  return askOperator(args, world, ask, { make: !print })
}

const signEach = (
  key: KeyFile,
  commands: readonly OperatorCommand[],
  audience: string,
  last: number,
  nowMs: number,
): readonly string[] => {
  const first = Math.max(last, Math.trunc(nowMs) - 1)
  return commands.map((command, n) => sign(key, command, audience, first + n, nowMs))
}

function sign({ pem }: KeyFile, command: OperatorCommand, audience: string, last: number, nowMs: number): string {
  // At least the current time, so that a command signed without access to the store gets an unused number too.
  const sequence = Math.max(last + 1, Math.trunc(nowMs))
  return signCommand(pem, {
    audience,
    sequence,
    issuedAtMs: Math.max(0, Math.trunc(nowMs) - aheadMs),
    expiresAtMs: Math.trunc(nowMs) + lifetimeMs,
    nonce: randomBytes(16).toString("base64url"),
    command,
  })
}

async function printSigned(
  { store, directory }: AskedOperator,
  key: KeyFile,
  commands: readonly OperatorCommand[],
  args: Arguments,
  world: World,
): Promise<CommandAnswer> {
  const named = args.valueOf("audience")
  const found = named === undefined ? await inspectOperator(present({ store, directory })) : undefined
  const audience = named ?? found?.log.audience ?? ""
  if (audience === "")
    return misuse(
      "It is not known for whom to sign.",
      "Add --audience NAME; holdfast policy says it where the store is.",
    )
  const last = found?.log.sequences.get(key.fingerprint) ?? 0
  const texts = signEach(key, commands, audience, last, world.dateMs())
  return { json: { signed: texts.join("\n"), audience, key: key.fingerprint }, text: () => texts }
}

/** Commands to submit. They are signed once their audience and the last sequence number of their key are known. */
export type Submission = {
  readonly key?: KeyFile
  readonly make: (audience: string, last: number) => readonly string[]
  /** Lines for people: what was done, where, and what the gateways on that store enforce now. */
  readonly words: (accepted: readonly Accepted[], where: SubmittedTo) => readonly string[]
}

type SubmittedTo = { readonly place: string; readonly enforced: readonly Enforced[]; readonly expected: EnforcedIds }

export async function submitTo(
  { store, directory, place }: AskedOperator,
  world: World,
  { key, make, words }: Submission,
): Promise<CommandAnswer> {
  if (store === undefined) throw new Error("holdfast bug: a store that should have been made is not there")
  const operator = await openOperator({ store, now: world.dateMs, watch: false, ...present({ directory }) })
  try {
    const last = (await operator.audit()).findLast(
      (line) => line.type === "command-accepted" && line.key === key?.fingerprint,
    )
    const accepted: Accepted[] = []
    for (const signed of make(operator.audience, last?.type === "command-accepted" ? last.sequence : 0))
      accepted.push(await operator.submit(signed))
    const enforced = await askEnforced(place)
    const { rules, guard } = operator.standing()
    const expected = { rules: rules.map(({ id }) => id), policies: (guard?.policies ?? []).map(({ id }) => id) }
    const [only, ...others] = accepted
    return {
      json: only === undefined || others.length > 0 ? { accepted } : only,
      text: () => words(accepted, { place, enforced, expected }).map(sentenceOf),
    }
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    if (problem?.code !== "command-refused" || problem.reason !== "key-unknown" || key === undefined) throw error
    const next = `Where the store is, trust its public half: holdfast keys trust ${key.path.replace(/\.key$/, "")}.pub`
    return unusable(problem.code, describe(problem).sentence, next, problem)
  } finally {
    await operator.close()
  }
}

/** The default file of the operator's key: outside of the folders in which agents work. */
export const usualKey = (env: World["env"]): string => join(usualFolders(env).config, "operator.key")

/** A private key to sign with; it is never printed. */
type KeyFile = { readonly path: string; readonly pem: string; readonly fingerprint: string }

/** Reads the private key: the file of `--key`, else of HOLDFAST_KEY, else the default one. A file that others may read is refused. */
async function readKeyFile(args: Arguments, env: World["env"]): Promise<KeyFile> {
  const usual = usualKey(env)
  const path = args.valueOf("key") ?? env.HOLDFAST_KEY ?? (existsSync(usual) ? usual : "")
  if (path === "")
    return misuse(
      "It was not said with which key to sign.",
      "Add --key FILE, or set HOLDFAST_KEY to it; holdfast keys new makes one.",
    )
  const { text: pem = "", isPrivate } = await readOwnFile(path, maxKeyBytes).catch((error: unknown) =>
    unreadable(path, codeOrThrow(error)),
  )
  const { fingerprint } = readPrivateKey(pem, path)
  if (isPrivate) return { path, pem, fingerprint }
  const expected = `a file that only its owner may read (chmod 600 ${path})`
  throw new HoldfastError({ code: "key-invalid", key: path, expected })
}
