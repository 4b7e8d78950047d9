import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"

/** Texts to count: generated, so that every machine measures the same, and real ones if a corpus is available. */

/** Returns a random generator that gives the same numbers for the same seed on every machine. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}
export type Random = ReturnType<typeof createRandom>

const syllables =
  "ta re mi con ser ver ing ed tion al pro de lo ca st un able ex per form ment ly ous in ter act".split(" ")
const common =
  "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many".split(
    " ",
  )
const han =
  "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严".split(
    "",
  )

const hanWords = han.flatMap((first, index) => [first + (han[(index * 7 + 3) % han.length] ?? ""), first])

export const pick = (random: Random, from: readonly string[]): string => from[random(from.length)] ?? ""

/** Words and names recur in real sessions, so they are made once and then picked. */
const makeList = (length: number, seed: number, make: (random: Random) => string): readonly string[] => {
  const random = createRandom(seed)
  return Array.from({ length }, () => make(random))
}
const rare = makeList(3000, 21, (random) =>
  Array.from({ length: 1 + random(4) }, () => pick(random, syllables)).join(""),
)
const word = (random: Random): string => pick(random, random(4) > 0 ? common : rare)
const names = makeList(2000, 22, (random) => {
  const [first, second] = [word(random), word(random)]
  return random(2) === 0 ? `${first}_${second}` : first + second.slice(0, 1).toUpperCase() + second.slice(1)
})
const name = (random: Random): string => pick(random, names)
const hex = (random: Random, length: number): string => Array.from({ length }, () => random(16).toString(16)).join("")

export const writers: Readonly<Record<string, (random: Random) => string>> = {
  english: (random) =>
    `${Array.from({ length: 6 + random(14) }, () => word(random)).join(" ")}${pick(random, [".", ",", "?", ".\n\n", "; it's", " - don't"])} `,
  code: (random) =>
    `${"  ".repeat(random(4))}${pick(random, ["const ", "return ", "if (", "await ", "export function ", ""])}${name(random)}(${name(random)}, ${random(1000)})${pick(random, [" {\n", ";\n", " ?? [],\n", "]\n", " === undefined\n"])}`,
  logs: (random) =>
    `2026-11-${10 + random(20)}T${10 + random(14)}:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z ${pick(random, ["INFO", "WARN", "ERROR"])} [${name(random)}] ${word(random)} id=${hex(random, 12)} ms=${random(5000)} path=/srv/${word(random)}/${word(random)}.log\n`,
  json: (random) =>
    `{"id":"${hex(random, 8)}","${word(random)}":${random(100000)},"${name(random)}":["${word(random)}","${word(random)}"],"ok":${random(2) === 0}},`,
  chinese: (random) =>
    `${Array.from({ length: 3 + random(6) }, () => pick(random, hanWords)).join("")}${pick(random, ["，", "。", "。\n", "、", "！"])}`,
}

/** Approximate mixture of the messages of an agent's session. */
const mixture: readonly string[] =
  "english,english,english,code,code,code,code,logs,logs,logs,json,json,json,chinese".split(",")

/** Returns messages of about 4 KB, of one kind or of the mixture. */
export function messagesOf(kind: string, bytes: number, seed: number): readonly string[] {
  const random = createRandom(seed)
  const messages: string[] = []
  for (let size = 0; size < bytes; ) {
    const write = writers[kind] ?? writers[pick(random, mixture)] ?? (() => "")
    let text = ""
    while (text.length < 4096) text += write(random)
    messages.push(text)
    size += Buffer.byteLength(text)
  }
  return messages
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

export function corpusOf(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl.gz"))
  const lines = files.flatMap((file) =>
    gunzipSync(readFileSync(join(folder, file)))
      .toString()
      .split("\n"),
  )
  return lines.filter((line) => line !== "").flatMap((line) => stringsIn(JSON.parse(line)))
}

export const hardInputs: Readonly<Record<string, () => string>> = {
  "base64, 50 KB": () => Buffer.from(hex(createRandom(7), 75_000), "hex").toString("base64"),
  "a x 20,000": () => "a".repeat(20_000),
  "a x 100,000": () => "a".repeat(100_000),
  "space x 100,000": () => " ".repeat(100_000),
  "Chinese x 100,000, unbroken": () => {
    const random = createRandom(9)
    return Array.from({ length: 100_000 }, () => pick(random, han)).join("")
  },
  "emoji, 1 MB": () => {
    const random = createRandom(11)
    return Array.from({ length: 250_000 }, () => String.fromCodePoint(0x1f600 + random(80))).join("")
  },
  "letters, 200 KB, unbroken": () => {
    const random = createRandom(13)
    return Array.from({ length: 200_000 }, () => String.fromCharCode(97 + random(26))).join("")
  },
}
