/** What stands for a word or an ending of Japanese in the English that rules are read in. Longer ones come first. */
const nouns: readonly (readonly [english: string, forms: string])[] = [
  ["production database", "本番(?:環境の)?(?:データベース|db)"],
  ["production", "本番(?:環境|サーバー?|システム)?"],
  ["personal data", "個人情報|個人データ|個人を特定できる情報"],
  ["phone numbers", "電話番号"],
  ["credit card numbers", "クレジットカード(?:番号)?"],
  ["home addresses", "(?:自宅の?)?住所"],
  ["medical records", "診療記録|カルテ|健康情報|医療情報"],
  ["api keys", "api ?キー"],
  ["passwords", "パスワード"],
  ["access tokens", "(?:アクセス)?トークン"],
  ["credentials", "認証情報|資格情報"],
  ["private keys", "秘密鍵"],
  ["secrets", "シークレット|機密(?:情報)?"],
  ["audit logs", "監査ログ"],
  ["firewall", "ファイア ?ウォール|ファイヤーウォール"],
  ["two-factor authentication", "(?:二|2)(?:要素|段階)認証|多要素認証"],
  ["encryption", "暗号化"],
  ["monitoring", "監視"],
  ["antivirus", "ウイルス対策(?:ソフト)?"],
  ["emails", "(?:e ?)?メール"],
  ["addresses", "アドレス"],
  ["domain", "ドメイン"],
  ["recipients", "宛先|受信者"],
  ["customers", "お客様|お客さま|顧客"],
  ["messages", "メッセージ"],
  ["files", "ファイル"],
  ["folder", "フォルダー?|ディレクトリ"],
  ["internet", "インターネット|ネット(?!ワーク)"],
  ["network", "ネットワーク"],
  ["region", "リージョン"],
  ["packages", "パッケージ"],
  ["commands", "コマンド"],
  ["tool", "ツール"],
  ["table", "テーブル"],
  ["site", "(?:ウェブ|web)?サイト"],
  ["tokyo", "東京"],
  ["osaka", "大阪"],
  ["data", "データ"],
  ["in english", "英語で?"],
  ["in japanese", "日本語で?"],
  ["in german", "ドイツ語で?"],
  ["in french", "フランス語で?"],
  ["in spanish", "スペイン語で?"],
  ["in chinese", "中国語で?"],
  ["in korean", "韓国語で?"],
  ["externally", "(?:社外|外部)"],
  ["per order", "(?:1|一)(?:回|件)(?:の(?:購入|注文|支払い?))?(?:につき|あたり)?"],
  ["in total", "合計(?:で)?|全部で"],
]

const verbs: readonly (readonly [english: string, forms: string])[] = [
  [
    "ask me",
    "(?:私に|わたしに|僕に)?(?:必ず)?(?:確認(?:し|を取)|聞い|尋ね|相談し|許可を(?:取|求め|得)|承認を(?:取|求め|得))",
  ],
  ["delete", "削除(?:し|す|を)?|消(?:さ|し|す|去し)"],
  ["change", "変更(?:し|す|を)?|編集(?:し|す|を)?|修正(?:し|す)|書き換え|上書き(?:し|す)?|いじら|更新(?:し|す)?"],
  ["write to", "書き込(?:ま|み|む)"],
  ["write", "書(?:か|い|く)"],
  ["send", "送信(?:し|す)?|送(?:ら|り|っ|る)"],
  ["share", "共有(?:し|す)?|教え|漏ら|漏洩(?:さ|し)"],
  ["print", "表示(?:し|す)?|出力(?:し|す)?"],
  ["commit", "コミット(?:し|す)?"],
  ["push", "プッシュ(?:し|す)?"],
  ["merge", "マージ(?:し|す)?"],
  ["deploy", "デプロイ(?:し|す)?"],
  ["install", "インストール(?:し|す)?"],
  ["publish", "公開(?:し|す)?"],
  ["buy", "買い物(?:し|す)?|購入(?:し|す)?|買(?:わ|い|っ|う)"],
  ["spend", "使(?:わ|い|っ|う)(?=[^。]{0,12}$)(?<=(?:円|ドル|ユーロ)[^。]{0,12})"],
  ["run", "実行(?:し|す)?"],
  ["use", "使用(?:し|す)?|利用(?:し|す)?|使(?:わ|い|っ|う)"],
  ["access", "アクセス(?:し|す)?"],
  ["connect", "接続(?:し|す)?"],
  ["download", "ダウンロード(?:し|す)?"],
  ["upload", "アップロード(?:し|す)?"],
  ["disable", "無効(?:に(?:し|す)|化(?:し|す)?)|オフに(?:し|す)|停止(?:し|す)?|切(?:ら|っ)"],
  ["touch", "触(?:ら|れ|っ|る)|手を(?:触れ|加え)"],
  ["read", "読(?:ま|み|ん|む)|開(?:か|い)"],
  ["store", "置(?:い|か|く)|保存(?:し|す)?"],
  ["contact", "連絡(?:し|す)?"],
  ["answer", "返信(?:し|す)?|返事(?:し|す)?|回答(?:し|す)?|答え"],
]

/** Words that say how a rule stands to what it names. */
const joints: readonly (readonly [english: string, forms: string])[] = [
  ["other than", "以外(?:に|の|へ)?(?:は)?"],
  ["only", "だけ|のみ|に限(?:り|る|って)"],
  ["always", "必ず|常に|いつも"],
  ["never", "絶対に|決して"],
  ["more than", "(?:を)?超え|以上"],
  ["at most", "以内|以下|まで(?=に|で|と|。|$)"],
  ["and", "および|(?<=[\\sa-z\\d/])(?:と|や)(?=[\\sa-z])"],
  ["or", "または|もしくは"],
]

/** What forbids stands at the end of a sentence, behind the verb. */
const forbids =
  /(?:ないで(?:ください|下さい|ね|ほしい)?|ないこと|ません(?:ように)?|ては(?:いけ|なら|だめ|ダメ)\p{L}*|ちゃ(?:だめ|ダメ|いけ)\p{L}*|(?:は|を)?禁止\p{L}*|な)[。.!！ ]*$/u

/** It says when it holds, gives leave or asks. */
const hedged =
  /(?:場合|(?:では|じゃ)な(?:く|い)|とき|時(?:は|に)|なら|(?:ば|たら)[、,]|できれば|可能なら|(?:て|ても)(?:も)?(?:いい|良い|よい|構い|かまい)|か[。？?]*$|でしょう|今日|今回|明日|まで待)/u

/** A word that is in none of the lists: what it changes in the rule cannot be told. */
const unknown = /[\u30a0-\u30ff\u4e00-\u9fff]/u

const before = /(?:する)?(?:前に|前には)/u

/**
 * A Japanese sentence in English words, the verb before what it is done to. Only words that rules turn on are known; with a condition, a
 * permission or a question it stays as it is, and no policy is made of it.
 */
export function japaneseInEnglish(text: string): string {
  if (hedged.test(text)) return text
  const negated = forbids.test(text)
  const [first = "", ...rest] = text.split(before)
  if (rest.length > 0) {
    const asked = rest.join(" ")
    const act = verbFirst(first)
    return firstOf(verbs, "ask me").test(asked) && !unknown.test(act) ? `ask me before ${act}` : text
  }
  const read = verbFirst(text.replace(forbids, ""))
  if (unknown.test(read)) return text
  return negated ? `never ${read.replace(/^never /, "")}` : `always ${read.replace(/^always /, "")}`
}

const firstOf = (list: readonly (readonly [string, string])[], english: string): RegExp =>
  new RegExp(list.find(([name]) => name === english)?.[1] ?? "$^", "u")

/** The words of a sentence without its particles, the last verb of it at its head. */
function verbFirst(text: string): string {
  let read = text.replace(/(\d[\d,.]*)\s?円/gu, " $1 yen ").replace(/(\d[\d,.]*)\s?ドル/gu, " $1 dollars ")
  for (const [english, forms] of nouns) read = read.replace(new RegExp(forms, "gu"), ` ${english} `)
  for (const [english, forms] of verbs) read = read.replace(new RegExp(forms, "gu"), ` ‹${english}› `)
  for (const [english, forms] of joints) read = read.replace(new RegExp(forms, "gu"), ` ${english} `)
  const words = read.replace(/[\u3040-\u309fー。、！？・（）]+|下さい/gu, " ")
  const last = [...words.matchAll(/‹([^›]+)›/gu)].at(-1)?.[1]
  const others = words.replace(/‹([^›]+)›/gu, (_, verb: string) => (verb === last ? " " : verb))
  return `${last ?? ""} ${others}`.replace(/\s+/g, " ").trim()
}
