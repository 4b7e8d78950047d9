import { createMask } from "../model/secret.ts"
import { isPostgres } from "../store/open-store.ts"
import type { Options } from "./arguments.ts"
import { tellAnswer } from "./ask-store.ts"
import type { Command } from "./command.ts"
import type { OpenedConfig } from "./config/open-secrets.ts"
import { usualPort } from "./config/resolve-config.ts"
import { dataPlace } from "./data-place.ts"
import { type Check, fail, ok } from "./doctor-check.ts"
import { checkClients, checkClock, checkNode } from "./doctor-machine.ts"
import { checkPort, checkUpstream } from "./doctor-network.ts"
import { checkPackages } from "./doctor-packages.ts"
import { checkOperator, checkStore } from "./doctor-store.ts"
import { unusable } from "./failure.ts"
import { count, type Paper } from "./paper.ts"
import { sentenceOf } from "./printable.ts"
import { usualDirectory } from "./serve-open.ts"
import { secretsOf } from "./serve-options.ts"
import { readSettings, type Settings, settingOptions } from "./serve-settings.ts"
import type { World } from "./world.ts"

const options: Options = {
  ...settingOptions,
  offline: { help: "do not try to reach the upstreams" },
  json: { help: "one JSON object on stdout, and nothing else" },
}

/** Look at everything that a gateway needs, and say what is amiss. */
export const doctorCommand: Command = {
  summary: "Check what the gateway needs, and say what to do about what is amiss",
  usage: "doctor [--offline] [--config FILE] [OPTIONS] [--json]",
  options,
  maxPositionals: 0,
  notes: `It takes the options of holdfast serve, and looks at what that would use. It writes nothing and sends no key.
The exit code is 1 if anything fails, and 0 where there are warnings alone.

  holdfast doctor
  holdfast doctor --config deploy/holdfast.config.yaml --offline`,
  run: async (args, world) => {
    const settings = await readSettings(args, world.env)
    const checks =
      "faults" in settings
        ? [
            checkNode(process.versions.node),
            ...settings.faults.map(({ sentence, next }) => fail("config", sentence, next)),
            ...(await checkClients(world.env, `http://127.0.0.1:${usualPort}`)),
          ]
        : await checkAll(settings, world, args.isOn("offline"))
    const failed = checks.filter(({ state }) => state === "fail").length
    const warned = checks.filter(({ state }) => state === "warn").length
    const words =
      failed === 0
        ? "Nothing stands in the way"
        : `${count(failed, "thing")} stand${failed === 1 ? "s" : ""} in the way`
    const sentence = `${words}${warned === 0 ? "" : `; ${count(warned, "warning")}`}.`
    const failure = {
      ...unusable("doctor-failed", sentence, "Do what is said beside each, and look again."),
      problem: { checks },
    }
    const answer = {
      json: { ok: failed === 0, checks },
      text: (paper: Paper) => [
        ...checks.flatMap((check) => linesOf(check, paper)),
        ...(failed === 0 ? ["", sentence] : [""]),
      ],
      ...(failed === 0 ? {} : { failure }),
    }
    return await tellAnswer(answer, args.isOn("json"), world)
  },
}

function linesOf({ name, state, says, next }: Check, { bold, dim }: Paper): readonly string[] {
  const mark = state === "ok" ? dim(state.padEnd(4)) : bold(state.padEnd(4))
  return [
    `${mark}  ${sentenceOf(name)}: ${sentenceOf(says)}`,
    ...(next === undefined ? [] : [`      ${sentenceOf(next)}`]),
  ]
}

async function checkAll({ config, file }: Settings, world: World, isOffline: boolean): Promise<readonly Check[]> {
  const { listen, upstreams, isUsual, operator, telemetry } = config
  const place = placeOf(config)
  const stored =
    typeof place === "string" ? await checkStore(place) : { checks: [fail("store", place.sentence, place.next)] }
  const usual = usualDirectory(typeof place === "string" ? place : "")
  const url = `http://${callableHost(listen.host)}:${listen.port || usualPort}`
  const mask = createMask(secretsOf(config, config.admin))
  const checks = [
    checkNode(process.versions.node),
    ok("config", file === undefined ? "none; the usual values hold" : `${file.name} is valid`),
    ...stored.checks,
    await checkOperator(operator.directory, usual, world.dateMs),
    await checkPort(listen.host, listen.port),
    ...(isOffline ? [] : await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, !isUsual)))),
    ...checkPackages({ postgres: typeof place === "string" && isPostgres(place), telemetry: telemetry !== undefined }),
    checkClock(world.dateMs(), "newestMs" in stored ? stored.newestMs : undefined),
    ...(await checkClients(world.env, url)),
  ]
  return checks.map((check) => ({ ...check, says: mask(check.says) }))
}

/** A host that stands for every address is called by the nearest one. */
function callableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}

const placeOf = ({ data }: OpenedConfig): ReturnType<typeof dataPlace> =>
  dataPlace(data === undefined ? undefined : "place" in data ? data.place : data.secret, {})
