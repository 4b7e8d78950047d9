import { appealIn, appealWords } from "./appeal.ts"
import type { FindingKind } from "./finding.ts"
import { type Speech, type SpeechGroup, speechGroups } from "./speech.ts"

const someone =
  "(?:the |your |an? )?(?:system |security |site |platform )?(?:operator|administrator|admin|developer|creator|openai|anthropic)"
const sensitive =
  "(?:\\.env\\b|id_rsa|\\.ssh|private keys?|api keys?|access tokens?|passwords?|credentials?|secrets?|(?:chat|conversation) history|environment variables|seed phrase|cookies)"
const destination = "(?:https?://|ftp://|[\\w.+-]{1,64}@[\\w-]{1,63}\\.\\w)"

/** Constructions that only one who commands a model has a use for, each anchored at the start of a sentence. */
const commands: readonly (readonly [kind: FindingKind, pattern: RegExp])[] = [
  [
    "override",
    /^(?:and |please |now )?(?:ignore|disregard|forget) (?:all |absolutely )?(?:the |of the )?(?:above|previous|preceding|everything|all of (?:that|this))(?: text| content| context| (?:above|before))?(?: and\b|[,;.!]|$)/,
  ],
  [
    "override",
    /^(?:begin |start of |end of (?:document|data|context)\W{1,4})?(?:the )?(?:new|updated|real|actual|revised) (?:system )?(?:instructions?|directives?|prompt)\s?[:#\])]/,
  ],
  ["override", /^(?:system|admin(?:istrator)?|operator|developer|safety|policy) override\s?[:\])!#-]/],
  [
    "override",
    /^(?:(?:you|the assistant) (?:no longer|don't|do not) (?:need|have) to (?:follow|obey|respect) (?:[\w-]+ ){0,3}(?:rules?|polic(?:y|ies)|instructions?|guidelines?|restrictions?)|you are no longer (?:bound|required|restricted|subject))\b/,
  ],
  [
    "task-hijack",
    /^(?:and |please |now |kindly ){0,2}(?:stop|cancel|drop|abort|halt|pause|abandon) (?:what(?:ever)? you(?:'re| are) doing|(?:your|the) current task)\b/,
  ],
  [
    "operator-claim",
    new RegExp(
      `^(?:as|i am|i'm|this is|speaking as) ${someone}\\b[^.]{0,60}\\bi (?:now |hereby |also )?(?:authori[sz]e|confirm|approve|order|instruct|command|permit|allow|require|rescind|lift)`,
    ),
  ],
  [
    "system-prompt-probe",
    /^what (?:is|are|was|were|does|did)\b.{0,40}\byour (?:system prompt|initial (?:prompt|instructions)|hidden instructions|instructions)\b/,
  ],
  [
    "system-prompt-probe",
    /^(?:please |now )?(?:output|print|repeat|display|show|recite|reveal|echo) (?:back )?(?:everything|all|(?:all )?(?:of )?the (?:words|text|contents?|messages?|sentences?|lines?))\b[^.]{0,24}\b(?:above|before this|preceding)\b/,
  ],
  [
    "answer-steering",
    /^(?:in|for) (?:the|your|any) (?:summary|recap|handoff|digest)\b[^.,]{0,20}, ?(?:please )?(?:state|say|write|claim|note|record|mention) that\b/,
  ],
  [
    "tool-steering",
    /^(?:remember|save|store|write|commit|record|add)\b[^.:]{0,40}\b(?:to|in|into) (?:your (?:long-term |permanent )?memory\b|(?:long-term |permanent )?memory\s?:)/,
  ],
  [
    "concealment",
    /\b(?:keep|hide) (?:this|it|these|that)\b[^.]{0,30}\bfrom (?:the )?(?:user|human|customer|operator)s?\b/,
  ],
  [
    "exfiltration",
    new RegExp(
      `^(?:and |then |please |now |also ){0,3}(?:send|e-?mail|forward|post|upload|transmit|exfiltrate|leak|append|submit|copy)\\b(?=.{0,200}${sensitive})(?=.{0,300}${destination})(?!.{0,200}\\b(?:header|request|endpoint|authorization)\\b)`,
    ),
  ],
]

/** The same, with the words that they need. */
const constructions: SpeechGroup = {
  needs: [
    "ignore disregard forget new updated real actual revised system admin administrator operator developer safety policy you assistant stop cancel drop abort halt pause abandon as am i'm i this speaking what output print repeat display show recite reveal echo summary recap handoff digest remember save store write commit record add keep hide send e-mail email forward post upload transmit exfiltrate leak append submit copy",
    "above previous preceding everything all instruction instructions directive directives prompt override longer follow obey respect whatever what current i your before state say write claim note record mention memory user users human humans customer customers operator operators env id rsa ssh private api access password passwords credential credentials secret secrets history environment seed cookies",
  ],
  speeches: commands,
}

/**
 * The same constructions in other languages, as the view writes them: without accents, in lower case. Whom a text speaks to, from when on
 * it wants to be obeyed, what it says is allowed, and what it wants left out or unsaid.
 */
const foreignSpeeches: readonly Speech[] = [
  // From now on, only this.
  [
    "override",
    /\b(?:a partir de ahora|desde ahora|de ahora en adelante)\b.{0,60}\b(?:solo|obedece\w{0,2}|sigue\w{0,2}|este documento|esta pagina)\b/,
  ],
  [
    "override",
    /\b(?:ab (?:sofort|jetzt)|von nun an)\b.{0,60}\b(?:nur|gilt|gelten|befolg\w{1,3}|folg\w{1,3}|ohne ruckfrage)\b.{0,60}\b(?:diese\w?|nicht mehr|ohne|text)\b/,
  ],
  [
    "override",
    /\b(?:desormais|a partir de maintenant|dorenavant)\b.{0,60}\b(?:tu|vous|uniquement|seulement|obeis\w{0,3}|suive?z?)\b/,
  ],
  ["override", /\b(?:a partir de agora|de agora em diante)\b.{0,60}\b(?:voce|apenas|somente|siga|obedeca)\b/],
  ["override", /\b(?:d'ora in poi|da ora in poi)\b.{0,60}\b(?:solo|segui|obbedisci|questo)\b/],
  ["override", /(?:с этого момента|отныне|с этой минуты).{0,60}(?:только|следуй|выполняй|подчиняй)/],
  ["override", /(?:从现在起|从现在开始|从此|今后).{0,20}(?:你|您|助手).{0,20}(?:只|服从|听从|遵循|按照)/],
  ["override", /(?:これ以降|今後|これから|今から).{0,30}(?:だけ|のみ).{0,12}(?:従って|従い|実行)/],
  ["override", /(?:이제부터|지금부터|앞으로).{0,30}(?:만|지시).{0,12}(?:따르|수행)/],
  // It speaks to the model.
  [
    "tool-steering",
    /(?:\b(?:an (?:den|die|alle)|hinweis (?:an|fur)(?: den| die)?|nota para(?: el| la| o)?|atencion,?|aviso para(?: el| o)?|a l'attention de(?: l'| la )?|note pour(?: l'| le )?|para (?:el|o))) ?(?:ki\b|ia\b|l'ia\b|ki-assistent\w{0,2}|asistente|assistente|assistant|sprachmodell|modele)[^.]{0,40}[:,!]/,
  ],
  [
    "tool-steering",
    /(?:致|给|告|通知)(?:所有)?(?:ai|人工智能|助手|智能体|模型).{0,6}[:：,，]|(?:ai|アシスタント|助手)(?:へ|の皆さん|向け).{0,4}[:：,、]/,
  ],
  [
    "override",
    /\b(?:als|como|en tant qu'?|in quanto) ?(?:ki-)?(?:assistent\w?|asistente|assistant|ia)\b.{0,24}\b(?:musst du|debes|tienes que|tu dois|vous devez|deve|devi)\b/,
  ],
  // No need to ask; a limit is gone; someone allowed it.
  [
    "operator-claim",
    /\b(?:no hace falta|no es necesario|sin) (?:pedir |solicitar )?(?:confirmacion|confirmar|autorizacion|permiso|preguntar)\b.{0,40}(?:\busuario\b|\bprocede\b|\bhaz\b|\bejecuta\b|:)/,
  ],
  [
    "operator-claim",
    /\b(?:fuhre|uberweise|sende|zahle|losche)\b.{0,60}\bohne (?:ruckfrage|bestatigung|genehmigung)\b|\b\w{0,20}(?:pflicht|grenze|limit|regel|beschrankung)\b.{0,30}\b(?:nicht mehr|aufgehoben|entfallt)\b.{0,60}\b(?:du|assistent|ki|fuhre|darfst)\b/,
  ],
  [
    "operator-claim",
    /\b(?:plafond|limite|regle|restriction|confirmation)\w{0,2}\b.{0,40}\b(?:supprimee?s?|levee?s?|annulee?s?|plus necessaire)\b.{0,60}\b(?:assistant|ia|vous pouvez|tu peux|sans demander)\b/,
  ],
  [
    "operator-claim",
    /\b(?:administra\w{3,6}|operador|operateur|operatore|betreiber|amministratore|desarrollador|entwickler)\b.{0,16}\b(?:autoriza|autorizo|ha autorizado|ha autorizzato|a autorise|autorise|erlaubt|hat erlaubt|genehmigt|permite|autorizou|permet)\b.{0,24}\b(?:asistente|assistent\w?|assistant|ia|ki|l'assistente|l'assistant|dich|te)\b/,
  ],
  [
    "operator-claim",
    /(?:无需|无须|不必|不用).{0,6}(?:用户|客户).{0,4}(?:确认|同意|批准)|(?:上限|限制|规则|规定).{0,8}(?:取消|解除|作废|废除).{0,16}(?:助手|你|您|可以|自由)|(?:管理员|操作员|开发者).{0,8}(?:授权|允许|批准).{0,6}(?:助手|你|您)/,
  ],
  [
    "operator-claim",
    /(?:администратор|оператор|разработчик).{0,16}(?:разрешил|разрешает|уполномочил).{0,24}(?:ассистент|тебе|вам|ии)|без (?:подтверждения|согласия|разрешения) пользователя/,
  ],
  ["operator-claim", /(?:確認|承認|許可)(?:は|なしに|なしで).{0,16}(?:不要|実行|送信|進めて)/],
  // Left out of what is remembered.
  [
    "eviction",
    /\b(?:al resumir|ao resumir|en el resumen|no resumo|lors du resume|dans le resume|en resumant|bei(?:m| der) zusammenfass\w{1,4}|in der zusammenfassung|nel riassunto|nel riassumere)\b.{0,60}\b(?:no (?:incluyas|menciones)|nao (?:inclua|mencione)|omit\w{1,3}|sin|sem|sans|ne (?:pas|mentionne)|n'incluez|weglass\w{0,2}|lass|ohne|nicht|non includere|ometti)\b/,
  ],
  [
    "eviction",
    /\b(?:resum[ae]|fasse|resumez|riassumi)\b.{0,60}\b(?:sin mencionar|sem mencionar|sans mentionner|ohne|senza)\b.{0,40}\b(?:restric\w{1,6}|reglas?|regras?|regles?|regeln|regole|normas|richtlinien)\b/,
  ],
  [
    "eviction",
    /(?:要約|まとめ)(?:する|の|時|際).{0,24}(?:ルール|規則|制約|承認).{0,12}(?:含め|除い|省い|書か)|(?:总结|摘要|压缩).{0,16}(?:不要|别|无需|省略|去掉).{0,16}(?:规则|限制|要求|审批|政策)/,
  ],
  ["eviction", /(?:при|в) (?:сжатии|сводке|резюме|пересказе).{0,40}(?:не (?:включай|упоминай)|опусти|пропусти|без)/],
  // The user is not to know, or is set aside.
  ["concealment", /не (?:сообщай|говори|рассказывай|упоминай)\p{L}{0,2}.{0,24}пользовател/u],
  [
    "concealment",
    /\bsin (?:decirle|avisar|informar)(?:le)? al? (?:usuario|cliente)\b|\b(?:nao (?:diga|conte|informe)|sem avisar)\b.{0,16}\busuario\b|\bohne (?:es )?dem (?:benutzer|nutzer) (?:zu sagen|mitzuteilen)\b|\bsans (?:le dire|prevenir|avertir)\b.{0,16}\butilisateur\b/,
  ],
  [
    "concealment",
    /(?:ユーザー|利用者)に.{0,12}(?:知らせ|伝え|言わ)(?:ないで|ずに|な)|(?:不要|别|勿)让(?:用户|客户).{0,6}(?:知道|发现)/,
  ],
  [
    "task-hijack",
    /\b(?:desconsidere|ignore|ignora|ignoriere|ignorez|oubliez|esqueca|olvida|vergiss|dimentica)\b.{0,12}\b(?:o que o usuario|lo que (?:pidio|dijo) el usuario|was der (?:benutzer|nutzer)|ce que l'utilisateur|cio che l'utente)\b/,
  ],
]

const groups: readonly SpeechGroup[] = [constructions, ...speechGroups]

/** Words without which no construction of another language in Latin script works, as the view writes them. */
const foreignWords =
  "ahora adelante sofort jetzt nun desormais maintenant dorenavant agora ora ki ia l'ia ki-assistent ki-assistenten asistente assistente l'assistente l'assistant l'utilisateur l'utente sprachmodell modele confirmacion confirmar autorizacion permiso preguntar ruckfrage bestatigung genehmigung pflicht grenze plafond limite regle restriction confirmation administrador administrateur administrator operador operateur operatore betreiber amministratore l'amministratore desarrollador entwickler resumir resumen resumo resume resumez resuma resumant zusammenfassen zusammenfassung zusammenfasst riassunto riassumere riassumi fasse usuario cliente benutzer nutzer utilisateur"

/** Each list of each group is one bit; a sentence that has both bits of a group may be built as one of the group is. */
const needs: readonly (readonly [string, string])[] = [...groups.map((group) => group.needs), appealWords]
const appealBits = 3 << (2 * groups.length)
const foreignBit = 1 << (2 * needs.length)

/** What each word lets a sentence be. */
const cues: ReadonlyMap<string, number> = (() => {
  const found = new Map<string, number>()
  const add = (words: string, bit: number): void => {
    for (const word of words.split(" ")) found.set(word, (found.get(word) ?? 0) | bit)
  }
  needs.forEach((pair, n) => {
    pair.forEach((words, side) => {
      add(words, 1 << (2 * n + side))
    })
  })
  add(foreignWords, foreignBit)
  return found
})()

export const cueWords: readonly string[] = [...cues.keys()]

/** What a word lets a sentence be; a word of another script lets it be foreign. */
export const cuesOf = (word: string): number =>
  word.charCodeAt(0) >= 0x370 ? foreignBit : (cues.get(word) ?? 0) | (word.endsWith("pflicht") ? foreignBit : 0)

const candidates: readonly (readonly [bits: number, speeches: readonly Speech[]])[] = [
  ...groups.map(({ speeches }, n): readonly [number, readonly Speech[]] => [3 << (2 * n), speeches]),
  [foreignBit, foreignSpeeches],
]

/** How much of a sentence is looked at. */
const maxBuild = 400

/** The attempt that the build of a sentence gives away, whatever its nouns; the cues tell which builds it can have. */
export function buildOf(sentence: string, present: number): FindingKind | undefined {
  const start = sentence.slice(0, maxBuild)
  for (const [bits, speeches] of candidates) {
    if ((present & bits) !== bits) continue
    const built = speeches.find(([, pattern]) => pattern.test(start))
    if (built !== undefined) return built[0]
  }
  return (present & appealBits) === appealBits ? appealIn(start) : undefined
}
