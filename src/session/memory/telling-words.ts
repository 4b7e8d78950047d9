import { termsOf } from "../../store/search-terms.ts"

/** A word that may lead to what is wanted. An exact one (an id, a name, a quotation) is enough by itself. */
export type TellingWord = { readonly text: string; readonly exact: boolean }

/** Words that are looked for, each with a search of its own: people ask with a few. */
const maxWords = 12

/** Characters read from either end of a message: what somebody wants stands there, and what they pasted between. */
const maxReadPerEnd = 3_000

/** A longer run without a blank is data. */
const maxWordLength = 120

/** Words of this length or less say little in an alphabet. */
const shortWord = 3

/** Words that stand in any message, of the languages most written to agents, without accents as they are compared. */
const idle: ReadonlySet<string> = new Set(
  (
    "about above after again also another anything around because been before being below between both could does doing done down each even ever " +
    "every everything first from further give good great have having hello here into just keep know last later least less like look made make many " +
    "maybe more most much must need never next nothing only other over please really right same seem shall should show some something soon still such " +
    "take tell than thank thanks that their them then there these they thing things this those through today together tomorrow under until using very " +
    "want well were what when where which while will with without would yesterday your yours help sure okay can't don't let's what's " +
    "aber alle alles also auch beim bitte danke dann dass dein deine denn dies diese dieser dieses doch durch eben eine einem einen einer eines etwas " +
    "fuer gegen habe haben hatte hier immer jetzt kann kannst kein keine konnen konnte machen mach mehr mein meine mich muss nach nicht noch oder ohne " +
    "schon sehr sein seine sich sind soll sollte uber unter viel vielleicht warum wenn werden wieder wird wurde zeige zwischen ihre ihren ihnen einmal " +
    "algo alguien ahora antes aqui aunque bien cada como cual cuando cuanto debe desde despues donde ellos entonces entre eres esta estaba estan estas " +
    "este esto estos gracias hace hacer hacia hasta hola luego mientras mismo mucho nada nosotros nunca otra otro para pero poco porque puede puedes " +
    "quien quiero sabe seria siempre sobre solo tambien tanto tiene tienes toda todas todo todos usted vamos voce isso isto esse essa nao mais muito " +
    "obrigado pode quero quando onde seu sua suas seus tudo uma estou esta foram seja aussi avant avec bien bonjour cela celle celui cette ceux chaque " +
    "estce comme comment dans depuis donc elle elles encore entre etait etes etre faire fait faut leur leurs mais merci meme moins notre nous parce pendant " +
    "peut peux plait plus pour pourquoi quand quel quelle quelque quoi sans sera sont sous souvent tous tout toute toutes tres vers votre vous voudrais " +
    "ancora anche bene che ciao come cosa cosi della delle dello dove fare grazie loro mentre molto nella nelle non ogni perche pero piu poi prima quale " +
    "quando quella quello quelli questa questo questi sempre senza siamo sono sulla tutti tutto vorrei een het niet maar voor zijn naar ook deze wordt kunt " +
    "без более было быть вам вас весь вот все всего всех где даже для его если есть еще же зачем или ими как какая какой когда который которая которые " +
    "меня мне может можно мой моя надо нам нас него нет нужно один она они оно очень перед под пожалуйста после потом потому почему при про разве " +
    "сейчас себя снова спасибо такой там тебя тем теперь тоже только тот туда уже хочу чего чем через что чтобы эта эти это этого этой этот " +
    "请问 请 什么 怎么 怎样 为什么 哪里 哪个 这个 那个 这里 那里 我们 你们 他们 它们 现在 今天 明天 昨天 可以 能够 需要 应该 一下 一个 没有 不是 就是 还是 但是 " +
    "因为 所以 如果 然后 已经 谢谢 关于 使用 告诉 知道 帮我 上次 之前 以后 以前 教え 何 これ それ どこ いつ ください する して いる ある こと もの ため よう"
  ).split(" "),
)

const quotations =
  /"([^"\n]{3,80})"|`([^`\n]{3,80})`|“([^”\n]{3,80})”|„([^“”\n]{3,80})[“”]|«([^»\n]{3,80})»|「([^」\n]{2,80})」/g
const edges = /^[^\p{L}\p{N}/~.@#_$-]+|[^\p{L}\p{N}/_$]+$/gu
/** Written as no word of prose is: with a digit, a sign inside, or capitals beyond the first letter. */
const exactShape =
  /\d\d|\p{L}[-_]?\d|\d[-_]?\p{L}|[\p{L}\p{N}][_/@\\.:][\p{L}\p{N}]|^[/~@#$_].*\p{L}|\p{Ll}\p{Lu}|^\p{Lu}{3,}$/u
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const hiragana = /^\p{Script=Hiragana}+$/u
/** What Korean hangs on a noun. */
const particle = /(?<=\p{Script=Hangul}{2})(?:에서|으로|까지|부터|에게|을|를|이|가|은|는|의|에|로|와|과|도|만)$/u
const sentenceEnd = /[.!?。！？:]["')\]]?$/

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

/** The words of a message by which something may be found again, most telling first: what is exact, then names, then long words. */
export function tellingWords(text: string): readonly TellingWord[] {
  const read = (
    text.length <= 2 * maxReadPerEnd ? text : `${text.slice(0, maxReadPerEnd)} ${text.slice(-maxReadPerEnd)}`
  ).toWellFormed()
  const found = new Map<string, TellingWord & { readonly worth: number }>()
  const add = (word: string, worth: number): void => {
    const key = termsOf(word).join(" ")
    const known = found.get(key)
    if (key === "" || idle.has(key.replaceAll(" ", "")) || (known !== undefined && known.worth >= worth)) return
    found.set(key, { text: word, exact: worth >= nameWorth, worth })
  }
  for (const match of read.matchAll(quotations)) add(match.slice(1).find((group) => group !== undefined) ?? "", 100)
  let starts = true
  let before = ""
  for (const piece of read.split(/\s+/)) {
    const word = piece.length > maxWordLength ? "" : piece.replace(edges, "")
    if (word !== "") addWord(word, starts, add)
    // A small number tells nothing but with what it counts: trip 8.
    if (/^\d$/.test(word) && /^\p{L}{2,}$/u.test(before) && !idle.has(before.toLowerCase()))
      add(`${before} ${word}`, 90)
    before = word
    starts = piece === "" ? starts : sentenceEnd.test(piece)
  }
  return [...found.values()]
    .toSorted((one, other) => other.worth - one.worth)
    .slice(0, maxWords)
    .map(({ text: word, exact }) => ({ text: word, exact }))
}

/** From here on a word is enough by itself. */
const nameWorth = 80

function addWord(word: string, starts: boolean, add: (word: string, worth: number) => void): void {
  if (exactShape.test(word)) add(word, 90)
  if (unspaced.test(word)) addUnspaced(word, add)
  if (exactShape.test(word) || unspaced.test(word)) return
  const length = Math.min(word.length, 40)
  if (!starts && /^\p{Lu}/u.test(word) && word.length >= shortWord) add(word, nameWorth)
  else if (word.length > shortWord || (word.length === shortWord && !/^[a-z]+$/i.test(word))) add(word, length)
}

/** Scripts without blanks are cut by dictionary; what remains as one sign or as an ending says nothing. */
function addUnspaced(word: string, add: (word: string, worth: number) => void): void {
  for (const { segment } of segmenter.segment(word)) {
    const bare = segment.replace(particle, "")
    if (bare.length >= 2 && unspaced.test(bare) && !hiragana.test(bare)) add(bare, 4 + Math.min(bare.length, 20))
  }
}
