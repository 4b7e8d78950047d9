import type { Vocabulary } from "./concept.ts"

const portuguese: Vocabulary = {
  revoke: "ignore ignora esqueca desconsidere",
  prior: "anteriores anterior previas",
  instructions: "instrucoes instrucao diretrizes",
  all: "todas todos",
  your: "suas tuas seus",
}
const italian: Vocabulary = {
  revoke: "ignora ignorate dimentica dimenticate trascura",
  prior: "precedenti precedente",
  instructions: "istruzioni istruzione direttive",
  all: "tutte tutti",
  your: "tue tuoi vostre",
}
const japanese: Vocabulary = {
  revoke: "無視 忘れて 無視して",
  prior: "以前の 前の これまでの 上記",
  instructions: "指示 命令 プロンプト",
  all: "すべて 全て",
}
const korean: Vocabulary = {
  revoke: "무시하세요 무시하고 무시해 잊어버려 무시하라",
  prior: "이전 이전의 앞의 위의",
  instructions: "지시를 지시 지침을 지침 명령을 지시사항을",
  all: "모두 모든",
}
const arabic: Vocabulary = {
  revoke: "تجاهل انس",
  prior: "السابقة السابق",
  instructions: "التعليمات الاوامر الأوامر",
  all: "جميع كل",
}

/** The core of the override family in five more languages. */
export const coreLanguages: readonly Vocabulary[] = [portuguese, italian, japanese, korean, arabic]
