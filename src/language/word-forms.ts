/**
 * Words in their other forms, and words that say nothing by themselves: for searching in any of the languages most used with agents. Terms
 * are in lower case and without accents, as `searchTerms` makes them.
 */

/** A set of words, written as lines with a blank between the words. */
export const wordSet = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")))

/** Such a set under each name of a table. */
export const wordSetsOf = <Name extends string>(
  table: Readonly<Record<Name, string>>,
): readonly (readonly [Name, ReadonlySet<string>])[] =>
  Object.keys(table)
    .filter((name): name is Name => Object.hasOwn(table, name))
    .map((name) => [name, wordSet(table[name])])

/** A name in code as words in lower case: `getUserDetails`, `get-user-details` and `GET_USER_DETAILS` are the same three. */
export const nameWords = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z\d]+/g) ?? []

/** Is this a word of grammar or courtesy, which says nothing about what is looked for? */
export const isStopWord = (term: string): boolean => stopWords.has(term)

const stopWords = wordSet(
  "about above after again also another anything around because been before being below between both could does doing done down each even ever",
  "every everything first from further give good great have having hello here into just keep know last later least less like look made make many",
  "maybe more most much must need never next nothing only other over please really right same seem shall should show some something soon still such",
  "take tell than thank thanks that their them then there these they thing things this those through today together tomorrow under until using very",
  "want well were what when where which while will with without would yesterday your yours help sure okay can't don't let's what's",
  "aber alle alles also auch beim bitte danke dann dass dein deine denn dies diese dieser dieses doch durch eben eine einem einen einer eines etwas",
  "fuer gegen habe haben hatte hier immer jetzt kann kannst kein keine konnen konnte machen mach mehr mein meine mich muss nach nicht noch oder ohne",
  "schon sehr sein seine sich sind soll sollte uber unter viel vielleicht warum wenn werden wieder wird wurde zeige zwischen ihre ihren ihnen einmal",
  "algo alguien ahora antes aqui aunque bien cada como cual cuando cuanto debe desde despues donde ellos entonces entre eres esta estaba estan estas",
  "este esto estos gracias hace hacer hacia hasta hola luego mientras mismo mucho nada nosotros nunca otra otro para pero poco porque puede puedes",
  "quien quiero sabe seria siempre sobre solo tambien tanto tiene tienes toda todas todo todos usted vamos voce isso isto esse essa nao mais muito",
  "obrigado pode quero quando onde seu sua suas seus tudo uma estou esta foram seja aussi avant avec bien bonjour cela celle celui cette ceux chaque",
  "estce comme comment dans depuis donc elle elles encore entre etait etes etre faire fait faut leur leurs mais merci meme moins notre nous parce pendant",
  "peut peux plait plus pour pourquoi quand quel quelle quelque quoi sans sera sont sous souvent tous tout toute toutes tres vers votre vous voudrais",
  "ancora anche bene che ciao come cosa cosi della delle dello dove fare grazie loro mentre molto nella nelle non ogni perche pero piu poi prima quale",
  "quando quella quello quelli questa questo questi sempre senza siamo sono sulla tutti tutto vorrei een het niet maar voor zijn naar ook deze wordt kunt",
  "без более было быть вам вас весь вот все всего всех где даже для его если есть еще же зачем или ими как какая какой когда который которая которые",
  "меня мне может можно мой моя надо нам нас него нет нужно один она они оно очень перед под пожалуйста после потом потому почему при про разве",
  "сейчас себя снова спасибо такой там тебя тем теперь тоже только тот туда уже хочу чего чем через что чтобы эта эти это этого этой этот",
  "请问 请 什么 怎么 怎样 为什么 哪里 哪个 这个 那个 这里 那里 我们 你们 他们 它们 现在 今天 明天 昨天 可以 能够 需要 应该 一下 一个 没有 不是 就是 还是 但是",
  "因为 所以 如果 然后 已经 谢谢 关于 使用 告诉 知道 帮我 上次 之前 以后 以前 教え 何 これ それ どこ いつ ください する して いる ある こと もの ため よう",
  "a about all am an and any are as at be but by can did do for get got had has he her him his how i if in is it its me my no nor not of off on or our",
  "out own she so the to too up us was we who whom why yes you",
  "am an auf aus bei bin bis da das dem den der des die du ein er es fur hat ich ihm ihn ihr im in ins ist ja man mir mit nur ob so um und uns vom von vor",
  "war was weil wer wie wir wo zu zum zur",
  "al de del el en es ha han hay la las le les lo los mas me mi mis muy ni no nos o os por que se si sin son su sus te tu un una unas unos y ya yo",
  "a as ao aos com da das de do dos e ele ela em eu foi na nas no nos o os ou para pela pelo por que se sem ser sim um uns",
  "ai au aux ce ces c d des du elle en est et eu il ils j je l la le les lui m ma me mes moi mon n ne on ont ou par pas qu que qui s sa se ses si son sur t",
  "ta te tes toi ton tu un une va y",
  "ad al agli ai alla alle allo chi ci con da dal dei del di e ed gli ha hai hanno ho i il io la le lei li lo lui ma mi ne nei nel noi o per se si su sua",
  "sue suo tra tu un una uno vi voi",
  "aan als bij dan dat de die dit door er hij hoe ik in is je kan me met mijn nog of om op te tot uit van wat we wel wie zo",
  "а бы в во вы да до за и из к ко ли мы на над не ни но о об он от по с со так то ты у я кто",
)

/** Endings of Latin scripts, longest first: plurals, cases, tenses and nouns made of verbs. */
const latin =
  /(?:urations?|ures|ured|uring|ure|isations?|izations?|ations?|ements?|ments?|ungen|ung|ciones|cion|coes|cao|azioni|azione|ando|iendo|aient|aron|ieron|issent|eront|ingly|edly|ings?|ions?|ables?|ibles?|lich(?:e[mnrs]?)?|keiten|keit|heiten|heit|mente|ness(?:es)?|ities|ity|ives?|iert|ieren|ern|ends?|ados?|adas?|idos?|idas?|ied|ies|ers?|ors?|als?|at|ed|en|em|es|ez|ly|os|as|ar|ir|(?<![aious])s|[aeiouny])$/

/** Endings of nouns, adjectives and verbs in Cyrillic. */
const cyrillic =
  /(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ение|ения|ении|ать|ять|ить|еть|ешь|ишь|ает|яет|ила|ала|али|или|ует|ость|ости|ием|ой|ей|ий|ый|ая|яя|ое|ее|ые|ие|ом|ем|ам|ям|ах|ях|ов|ев|ет|ит|ут|ют|ат|ят|ал|ил|ла|ли|ия|ию|[аеиоуыьэюя])$/

/** Shorter words have no stem: they are found as they are. */
const leastLength = 3
/** What has to be left of a word. */
const leastStem = 3
/** A stem is cut here: a longer word is told by its beginning, and languages that write words together differ behind it. */
const maxStem = 8

/**
 * What a word has in common with its other forms: `refunds`, `refunded` and `refunding` have the same stem. It is meant for finding: words
 * of different meaning may share one, so a hit by stem counts less than one by the word. Undefined for what has no forms, such as an id.
 */
export function stemOf(term: string): string | undefined {
  const isLatin = /^[a-zæœøłđþð]+$/.test(term)
  if (term.length < leastLength || (!isLatin && !/^[а-яё]+$/.test(term))) return undefined
  let stem = term
  for (let round = 0; round < 2; round++) {
    const without = [isLatin ? latin : cyrillic, /(?<![aious])s$/].map((ending) => stem.replace(ending, ""))
    stem = without.find((one) => one.length >= leastStem && one !== stem) ?? stem
  }
  // stopped and stop, cancelled and cancel
  return stem.replace(/(?<=..)([bcdfghklmnprtvz])\1$/, "$1").slice(0, maxStem)
}
