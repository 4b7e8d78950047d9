import type { Vocabulary } from "./concept.ts"

/** Verbs stand here in the form that commands; other forms tell of commands and are left out on purpose. */
export const english: Vocabulary = {
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
