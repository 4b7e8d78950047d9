import { lazy } from "../../language/lazy.ts"
import { foldCharacter, foldWord } from "../../language/normalize.ts"
import { type ConceptWords, concept } from "./finding.ts"

const portuguese: ConceptWords = {
  revoke: "ignore ignora esqueca desconsidere",
  prior: "anteriores anterior previas",
  instructions: "instrucoes instrucao diretrizes",
  all: "todas todos",
  your: "suas tuas seus",
}
const italian: ConceptWords = {
  revoke: "ignora ignorate dimentica dimenticate trascura",
  prior: "precedenti precedente",
  instructions: "istruzioni istruzione direttive",
  all: "tutte tutti",
  your: "tue tuoi vostre",
}
const japanese: ConceptWords = {
  revoke: "無視 忘れて 無視して",
  prior: "以前の 前の これまでの 上記",
  instructions: "指示 命令 プロンプト",
  all: "すべて 全て",
}
const korean: ConceptWords = {
  revoke: "무시하세요 무시하고 무시해 잊어버려 무시하라",
  prior: "이전 이전의 앞의 위의",
  instructions: "지시를 지시 지침을 지침 명령을 지시사항을",
  all: "모두 모든",
}
const arabic: ConceptWords = {
  revoke: "تجاهل انس",
  prior: "السابقة السابق",
  instructions: "التعليمات الاوامر الأوامر",
  all: "جميع كل",
}

/** The core of the override family in five more languages. */
const coreLanguages: readonly ConceptWords[] = [portuguese, italian, japanese, korean, arabic]

/** Verbs stand here in the form that commands; other forms tell of commands and are left out on purpose. */
const english: ConceptWords = {
  revoke:
    "ignore disregard forget override bypass discard dismiss neglect overlook abandon nullify overrule circumvent set_aside throw_out throw_away pay_no stop_following stop_obeying",
  omit: "omit drop exclude remove skip erase delete purge prune leave_out discard forget ignore disregard suppress ",
  lapsed:
    "deprecated obsolete superseded supersedes rescinded revoked void voided lifted suspended invalid expired outdated irrelevant withdrawn repealed overridden no_longer not_apply not_include not_carry not_keep not_retain not_preserve not_mention not_copy not_repeat don't_include don't_keep don't_carry don't_mention never_include no_place not_needed no_need longer_apply longer_applicable longer_binding waived be_omitted be_dropped be_excluded be_skipped be_discarded be_removed be_pruned unnecessary redundant",
  prior:
    "previous previously prior earlier above preceding foregoing aforementioned original initial initially former before past pinned standing",
  all: "all any every everything anything entire whole each",
  you: "you your yours yourself you're ur",
  instructions:
    "instruction instructions directive directives guardrail guardrails prompt prompts programming preprompt new_task real_task actual_task new_objective new_goal real_goal directions command commands constraint constraints",
  policy:
    "rule rules policy policies guideline guidelines restriction restrictions safeguard safeguards compliance governance safety limitation limitations limits spending_cap spend_cap protocol protocols constraint constraints approval approvals requirement requirements regulation regulations prohibition prohibitions",
  prompt: "prompt preprompt",
  system: "system hidden secret confidential internal developer",
  summary:
    "summary summaries summarize summarizing summarise summarising summarizer summariser summarization compaction compactor compact compacting compress compressing compression condense condensing memory memories handoff recap digest checkpoint",
  budget: "budget token tokens space concise length window limit size",
  model:
    "ai assistant llm gpt chatgpt claude gemini llama copilot chatbot bot agent model gpt-4 summarizer summariser compactor mistral deepseek grok qwen",
  operator:
    "operator administrator admin admins developer developers openai anthropic google sysadmin root superuser creator maintainer owner",
  reveal: "reveal print repeat show display disclose leak dump recite expose share echo tell paste",
  secret:
    "password passwords passcode credential credentials secret secrets access_token access_tokens apikey api_key api_keys private_key ssh_key ssh_keys passport ssn credit_card card_number cookie cookies environment_variables env_vars access_key access_keys pin seed_phrase bank_account otp",
  send: "send forward email e-mail mail post upload transmit exfiltrate transfer leak submit deliver append publish share",
  not: "not don't dont never without no cannot mustn't shouldn't avoid refrain stop won't isn't aren't doesn't",
  tell: "tell mention inform notify alert disclose reveal telling mentioning informing notifying alerting warn warning know acknowledge report",
  user: "user users human humans customer anyone anybody owner victim recipient",
  new: "new updated instead only real actual revised",
  follow: "follow obey adhere comply execute heed respect apply honor honour enforce carry_out listen follows abide",
  task: "task tasks request query question objective goal job assignment",
  lead: "please now and then just simply kindly first also immediately instead you_must you_should you_shall you_will you_need you_have need_to have_to you_to must_now should_now assistant_must assistant_should ai_must ai_should model_must model_should agent_must agent_should must_immediately must_first summarizer_must summarizer_should compactor_must compactor_should always important warning attention urgent note",
  report:
    "attack attacks attacker attackers attacker's injection injections jailbreak jailbreaks jailbreaking adversary adversarial adversaries malicious phrase phrases payload payloads such_as e.g example examples detects detect detection detector classifier string strings exploit vulnerability researchers red-team says wrote saying reads contains containing rejects blocks sanitize expect assert",
  place:
    "in inside within from embedded found for contained about on of under if unless that which where when marked starting",
  unbound:
    "unrestricted uncensored jailbroken unfiltered dan unbound unlimited unshackled no_restrictions without_restrictions developer_mode god_mode",
  this: "this these mention_it mentioning_it about_it of_it following below",
  records:
    "conversation conversations history chat chats message messages transcript transcripts emails inbox contents files file data document documents context information details",
  first: "first before instead immediately beforehand priority beginning urgently prerequisite",
  your: "your yours ur",
}

const spanish: ConceptWords = {
  revoke:
    "ignora ignore ignorar olvidar no_sigas ignorad ignoren olvida olvide olviden olvidad descarta descarte omite desobedece anula caso_omiso desatiende",
  omit: "omite omita omitir excluye excluya elimina elimine descarta descarte borra quita",
  lapsed: "obsoleta obsoletas obsoleto obsoletos derogada derogadas anulada anuladas ya_no caducada caducadas",
  prior: "anterior anteriores previa previas previo previos originales original iniciales",
  all: "todas todos toda todo cualquier",
  your: "tu tus su sus",
  you: "tu tus su sus usted ti",
  instructions: "instruccion instrucciones indicaciones directrices ordenes directivas consigna restricciones",
  policy: "reglas regla norma normas politica politicas restricciones limitaciones",
  summary: "resumen resumir resumidor resumas resuma memoria compactacion",
  budget: "presupuesto espacio limite",
  system: "sistema",
  prompt: "sistema",
  operator: "operador administrador desarrollador",
  model: "asistente ia modelo",
  reveal: "revela revele muestra muestre imprime repite repita escribe",
  secret: "contrasena contrasenas clave claves credenciales",
  send: "envia envie reenvia reenvie manda mande sube",
  not: "no sin nunca",
  tell: "digas diga menciones mencione informes informe avises avisar informar decir decirle reveles",
  user: "usuario usuarios usuaria",
  new: "nuevas nuevos nueva nuevo solo",
  this: "esto esta este estas",
  lead: "por_favor ahora y debes debe",
  records: "conversacion historial mensajes correos datos archivos",
  report: "atacante inyeccion frase",
}

const german: ConceptWords = {
  revoke:
    "ignoriere ignorier ignorieren_sie ignoriert vergiss vergessen_sie missachte missachten_sie verwirf uberschreibe umgehe",
  omit: "lass lasse lassen_sie entferne streiche ubergehe",
  lapsed: "weglassen entfernen veraltet hinfallig ungultig aufgehoben nicht_mehr uberholt",
  prior:
    "vorherige vorherigen bisherige bisherigen fruhere fruheren vorangegangenen vorigen obigen ursprunglichen obige",
  all: "alle allen alles samtliche samtlichen jede",
  your: "deine deinen deiner dein ihre ihren",
  you: "deine deinen deiner dein du dir ihre ihren ihrer",
  instructions: "anweisung anweisungen instruktion instruktionen befehle vorgaben weisungen systemprompt",
  policy: "regel regeln richtlinie richtlinien vorschriften vorschrift beschrankungen einschrankungen",
  summary: "zusammenfassung zusammenfassen zusammenfasser gedachtnis verdichtung",
  budget: "budget platz tokenbudget",
  system: "systemprompt systemanweisung",
  prompt: "systemprompt",
  operator: "betreiber administrator entwickler",
  model: "assistent ki sprachmodell",
  reveal: "zeige zeig verrate nenne wiederhole drucke",
  secret: "passwort passworter kennwort zugangsdaten schlussel",
  send: "sende schicke senden_sie schicken_sie leite ubermittle",
  not: "nicht kein keine ohne niemals",
  tell: "sage sag erwahne erwahnen informiere informieren verrate mitteilen",
  user: "benutzer nutzer anwender benutzerin",
  new: "neue neuen nur stattdessen",
  this: "dies diese davon dieser",
  lead: "bitte jetzt und nun sofort",
  records: "gesprach verlauf nachrichten daten dateien",
  report: "angreifer satz",
}

const french: ConceptWords = {
  revoke:
    "ignore ignorez ignorer oublier oublie oubliez neglige negligez contourne contournez abandonne abandonnez fais_abstraction faites_abstraction",
  omit: "omets omettez supprime supprimez exclus excluez retire retirez",
  lapsed: "obsolete obsoletes perimee perimees caduques annulees abrogees revoquees ne_plus plus_valables",
  prior: "precedente precedentes precedent precedents anterieures anterieurs anterieure initiales ci-dessus",
  all: "toutes tous toute tout",
  your: "tes ton ta vos votre",
  you: "tes ton ta vos votre vous tu toi",
  instructions: "instruction instructions consigne consignes directives",
  policy: "regle regles politique politiques restrictions",
  summary: "resume resumer resumeur memoire compaction",
  budget: "budget espace limite",
  system: "systeme",
  operator: "operateur administrateur developpeur",
  model: "assistant ia modele",
  reveal: "revele revelez affiche affichez montre montrez repete repetez",
  secret: "passe mot_de identifiants cles",
  send: "envoie envoyez transfere transferez transmets",
  not: "ne pas sans jamais",
  tell: "dis dites mentionne mentionnez informe informez prevenir informer dire previens",
  user: "utilisateur utilisateurs utilisatrice",
  new: "nouvelles nouvelle seulement",
  this: "ceci cela cette ces",
  lead: "veuillez maintenant et devez dois",
  records: "conversation historique messages donnees fichiers",
  report: "attaquant phrase",
}

const russian: ConceptWords = {
  revoke:
    "игнорируй игнорируйте проигнорируй проигнорируйте забудь забудьте отбрось отбросьте отмени отмените обойди не_следуй не_следуйте",
  omit: "опусти опустите исключи исключите удали удалите пропусти пропустите убери уберите",
  lapsed: "устарели устарело отменены отменено недействительны недействительна больше_не неактуальны",
  prior:
    "прежним предыдущим предыдущие предыдущих предыдущая прежние прежних ранее прошлые вышеуказанные предшествующие предыдущую",
  all: "все всех весь любые",
  your: "твои твой твоих ваши ваш ваших свои своих",
  you: "твои твой твоих ваши ваш ваших ты тебе вам вы своих свои",
  instructions: "инструкция инструкции инструкций инструкциям указания указаний команды директивы промпт ограничения",
  policy: "правилам правила правил правило политика политики ограничения",
  summary: "сводка сводку сводке резюме суммаризатор память памяти сжатие сжатии",
  budget: "бюджет места токенов",
  system: "системный системные системную системное",
  prompt: "промпт",
  operator: "оператор администратор разработчик",
  model: "ассистент ии модель",
  reveal: "раскрой покажи покажите выведи выведите повтори назови",
  secret: "пароль пароли ключ ключи токен",
  send: "отправь отправьте перешли перешлите вышли",
  not: "не без никогда",
  tell: "говори говорите сообщай сообщайте упоминай упоминайте",
  user: "пользователь пользователю пользователя",
  new: "новые новым только",
  this: "это этом эти об_этом",
  lead: "пожалуйста теперь и должен должны",
  records: "переписку историю сообщения данные файлы разговор",
  report: "злоумышленник инъекция фраза",
}

/** Chinese, with the words Japanese shares; cut out of the running text by longest match. */
const chinese: ConceptWords = {
  revoke: "不要遵守 忽略 无视 無視 忘记 忘掉 忘記 抛弃 不要理会 不要遵守 不要遵循 绕过 无须遵守 無視して",
  omit: "省略 删除 删去 去掉 忽略 不要包含 不要保留 排除 丢弃 略去",
  lapsed: "已废弃 作废 失效 不再适用 已过时 过时 已取消 已撤销",
  prior: "之前 以前 先前 上面 上述 以上 此前 原来 前面 原有 以前の",
  all: "所有 全部 一切 任何 すべて",
  your: "你的 您的",
  you: "你 你的 您 您的",
  instructions: "指令 指示 提示词 命令 说明 约束",
  policy: "规则 政策 规定 准则 限制 約束 合规 策略",
  summary: "摘要 总结 压缩 记忆 概要 归纳",
  budget: "预算 令牌 篇幅 长度",
  system: "系统",
  prompt: "提示词 提示",
  operator: "操作员 管理员 开发者 运营者",
  model: "助手 人工智能 模型 智能体",
  reveal: "透露 显示 输出 告诉 打印 重复 泄露",
  secret: "密码 密钥 凭证 口令 令牌",
  send: "发送 转发 上传 寄 发给",
  not: "不要 不 别 请勿 切勿",
  tell: "告诉 提及 通知 告知 提到 透露",
  user: "用户 使用者",
  new: "新的 新 仅",
  this: "这 此 这些 这件事",
  records: "对话 聊天记录 历史 消息 数据 文件 邮件",
  report: "攻击者 注入 例如 短语",
  lead: "请 必须",
  place: "中的 里的",
}

const otherLanguages: readonly ConceptWords[] = [spanish, german, french, russian, chinese]

const bits: Readonly<Record<string, number>> = concept

const fold = (word: string): string => [...word].map(foldCharacter).join("")

/** Every word and pair of words that means something to the gate, folded as the view folds. */
const lexicon = lazy((): ReadonlyMap<string, number> => {
  const words = new Map<string, number>()
  for (const vocabulary of [english, ...otherLanguages, ...coreLanguages]) {
    for (const [name, listed] of Object.entries(vocabulary)) {
      for (const word of listed.split(" ")) {
        const key = fold(word).replace("_", " ")
        words.set(key, (words.get(key) ?? 0) | (bits[name] ?? 0))
      }
    }
  }
  return words
})

/** Every word that stands in the lexicon, alone or in a pair. */
export const lexiconWords = (): readonly string[] => [...lexicon().keys()].flatMap((key) => key.split(" "))

/** The sum of a word, letter by letter. */
export const addToSum = (sum: number, code: number): number => (Math.imul(sum, 0x01000193) + code) | 0

const sumOf = (word: string): number => {
  let sum = 0
  for (let at = 0; at < word.length; at++) sum = addToSum(sum, word.charCodeAt(at))
  return sum
}

/** Sums are told apart by this many bits: some 2,000 words fill a hundredth of it. */
const sumBits = 18
const slotOf = (sum: number): number => Math.imul(sum, 0x9e3779b1) >>> (32 - sumBits)

/** A set of sums, of a bit each, so that it stays in the cache of a processor. Never wrong when it says no. */
type Sums = (sum: number) => boolean

function sumsOf(words: readonly string[]): Sums {
  const slots = new Uint8Array(1 << (sumBits - 3))
  for (const word of words) {
    const slot = slotOf(sumOf(word))
    slots[slot >> 3] = (slots[slot >> 3] ?? 0) | (1 << (slot & 7))
  }
  return (sum) => {
    const slot = slotOf(sum)
    return ((slots[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
  }
}

/** Can a word of this sum mean anything? Most words need no look at the lexicon. */
const mayMean = lazy(() => sumsOf(lexiconWords()))

type KnownWord = { readonly word: string; readonly concepts: number }

/** The words of the lexicon by their sums; those that have the same one stand in a list. */
const wordsBySum = lazy((): ReadonlyMap<number, readonly KnownWord[]> => {
  const words = new Map<number, KnownWord[]>()
  for (const word of new Set(lexiconWords())) {
    const sum = sumOf(word)
    words.set(sum, [...(words.get(sum) ?? []), { word, concepts: lexicon().get(word) ?? 0 }])
  }
  return words
})

/** The word of the lexicon, alone or of a pair, that stands in a text, which is given as codes. */
export function knownWord(codes: Uint16Array, start: number, end: number, sum: number): KnownWord | undefined {
  if (!mayMean()(sum)) return undefined
  for (const known of wordsBySum().get(sum) ?? []) {
    let at = known.word.length === end - start ? start : end + 1
    while (at < end && known.word.charCodeAt(at - start) === codes[at]) at++
    if (at === end) return known
  }
  return undefined
}

const pairStarts = lazy(
  (): ReadonlySet<string> =>
    new Set([...lexicon().keys()].filter((key) => key.includes(" ")).map((key) => key.split(" ")[0] ?? key)),
)

/** No word of the lexicon is longer; what a glued run can hide is sought up to here. */
const maxWordLength = 16

const maxIdeographs = 6

/** A word longer than this is tried as several words written without spaces. */
const gluedLength = 16

/** Longest glued run that is taken apart; a longer one is a blob, and `decodings` looks at blobs. */
const maxGluedLength = 400

/** Share of a glued Latin run that must be words of the lexicon; an identifier in code has less. */
const minCovered = 0.7

/** Letters of the shortest word that is sought in a glued run. */
const shortestGlued = { ideographic: 1, latin: 3 } as const

/** The beginnings of words by which a glued run is searched: where none starts so, none stands. */
const mayStart = lazy(() =>
  sumsOf(
    [...lexicon().keys()].flatMap((key) => [
      key.slice(0, shortestGlued.ideographic),
      key.slice(0, shortestGlued.latin),
    ]),
  ),
)

const lexiconHasDigits = (): boolean => [..."0123456789"].some((digit) => mayStart()(sumOf(digit)))

/** What a word contributes, read as it stands and as the Latin word it may pass for. */
export function conceptsOf(word: string): number {
  const found = lexicon().get(word)
  if (found !== undefined) return found
  if (word.endsWith("'s")) return lexicon().get(word.slice(0, -2)) ?? 0
  return word.charCodeAt(0) >= 0x370 ? (lexicon().get(foldWord(word)) ?? 0) : 0
}

export const pairConcepts = (one: string, next: string): number =>
  pairStarts().has(one) ? (lexicon().get(`${one} ${next}`) ?? 0) : 0

type Piece = { readonly start: number; readonly end: number; readonly word: string }

const isIdeographic = (word: string): boolean => word.charCodeAt(0) >= 0x2e80

/** Is this run several words written as one: an ideographic script, or spaces taken out? */
export const isGlued = (word: string): boolean =>
  isIdeographic(word) || (word.length > gluedLength && word.length <= maxGluedLength && !lexicon().has(word))

/** The lexicon's words in a glued run, chosen so that they cover the most of it. */
export function unglue(run: string): readonly Piece[] {
  const ideographic = isIdeographic(run)
  if (!ideographic && tooFewLetters(run)) return []
  const lengths = longestCover(
    run,
    ideographic ? shortestGlued.ideographic : shortestGlued.latin,
    ideographic ? maxIdeographs : maxWordLength,
  )
  const pieces: Piece[] = []
  let covered = 0
  for (let at = 0; at < run.length; ) {
    const length = lengths[at] ?? 0
    const end = at + Math.max(1, length)
    covered += length
    if (length > 0 || ideographic) pieces.push({ start: at, end, word: run.slice(at, end) })
    at = end
  }
  return ideographic || covered >= run.length * minCovered ? pieces : []
}

/** Are there so many digits that no words can make up for them? */
function tooFewLetters(run: string): boolean {
  let digits = 0
  for (let at = 0; at < run.length; at++) {
    const code = run.charCodeAt(at)
    if (code >= 48 && code <= 57) digits++
  }
  return digits > run.length * (1 - minCovered) + 1e-9 && !lexiconHasDigits()
}

const scratchOf = (length: number) => ({
  lengths: new Uint8Array(length),
  codes: new Uint16Array(length),
  covered: new Uint32Array(length),
})
/** What a run is taken apart in: used again for the next one. */
let scratch = scratchOf(2 * maxGluedLength)

/** For each place the length of the word to take there, or nothing, such that the words together cover the most. */
function longestCover(run: string, shortest: number, longest: number): Uint8Array {
  if (scratch.lengths.length <= run.length) scratch = scratchOf(2 * run.length)
  const { lengths, codes, covered } = scratch
  lengths.fill(0, 0, run.length)
  covered[run.length] = 0
  for (let at = 0; at < run.length; at++) codes[at] = run.charCodeAt(at)
  for (let at = run.length - 1; at >= 0; at--) {
    covered[at] = covered[at + 1] ?? 0
    let sum = 0
    for (let length = 1; length <= longest && at + length <= run.length; length++) {
      sum = addToSum(sum, codes[at + length - 1] ?? 0)
      if (length < shortest) continue
      if (length === shortest && !mayStart()(sum)) break
      const cover = length + (covered[at + length] ?? 0)
      if (cover < (covered[at] ?? 0) || !mayMean()(sum) || !lexicon().has(run.slice(at, at + length))) continue
      covered[at] = cover
      lengths[at] = length
    }
  }
  return lengths
}
