import type { ToolContract } from "./contracts.ts"

const list = (names: string): readonly string[] => names.split(" ")

const shellTexts = list(
  "description timeout timeout_ms run_in_background dangerouslyDisableSandbox justification with_escalated_permissions sandbox_permissions login yield_time_ms max_output_tokens is_background is_input security_risk restart blocking prefix_rule tty name",
)
const folders = list("workdir directory cwd dir_path")
const files = list("file_path filePath path absolute_path notebook_path target_file uri filename dir_path")
const contents = list(
  "content contents file_text text old_string new_string oldString newString old_str new_str oldText newText edits new_source cell_id cell_type edit_mode insert_line insert_text replace_all replaceAll expected_replacements instruction view_range offset limit pages encoding head tail dryRun line start_line end_line instructions code_edit command show_line_numbers append",
)
const searching = list(
  "pattern query glob include exclude output_mode type head_limit multiline case_sensitive -i -n -A -B -C limit max_results respect_git_ignore file_filtering_options ignoreCase literal context excludePatterns ignore depth offset recursive regex file_pattern numResults livecrawl contextMaxCharacters sortBy",
)

/** Tools of Claude Code, Codex, Gemini CLI, opencode, pi, qwen and other agents, and of common MCP servers, by what their documents say. */
export const wellKnownTools: readonly ToolContract[] = [
  // Shells
  {
    tools: list(
      "bash shell local_shell run_shell_command execute_bash exec_command run_terminal_cmd run_command execute_command shell_command terminal container_exec unified_exec",
    ),
    does: ["run"],
    shell: list("command cmd commands script"),
    paths: folders,
    texts: [...shellTexts, "shell", "env", "explanation", "require_user_approval", "requires_approval"],
  },
  {
    tools: ["computer", "computer_use"],
    when: { action: list("type paste") },
    does: ["run"],
    shell: ["text"],
    texts: list("action coordinate"),
  },
  { tools: ["write_stdin"], does: ["run"], shell: ["chars", "input"], texts: ["session_id", ...shellTexts] },
  {
    tools: list("bashoutput bash_output killshell killbash kill_shell taskoutput taskstop"),
    does: ["read"],
    texts: list("bash_id shell_id filter block timeout wait_up_to task_id"),
  },
  {
    tools: list("execute_ipython_cell ipython python_interpreter python execute_python run_python code_interpreter"),
    does: ["run"],
    code: ["code"],
    texts: ["security_risk", "timeout", "reset"],
  },
  // Files
  {
    tools: ["str_replace_editor", "str_replace_based_edit_tool", "edit_file_tool"],
    when: { command: ["view"] },
    does: ["read"],
    paths: files,
    texts: [...contents, "security_risk"],
  },
  {
    tools: ["str_replace_editor", "str_replace_based_edit_tool", "edit_file_tool"],
    when: { command: list("create str_replace insert undo_edit") },
    does: ["write"],
    paths: files,
    texts: [...contents, "security_risk"],
  },
  {
    tools: list(
      "read read_file view cat_file open_file notebookread view_image read_text_file read_media_file get_file_info get_file_contents",
    ),
    does: ["read"],
    paths: [...files],
    texts: [
      ...contents,
      "should_read_entire_file",
      "start_line_one_indexed",
      "end_line_one_indexed_inclusive",
      "owner",
      "repo",
      "branch",
      "ref",
      "sha",
    ],
  },
  {
    tools: ["read_multiple_files", "read_many_files"],
    does: ["read"],
    paths: ["paths", "include"],
    texts: list("exclude recursive useDefaultExcludes file_filtering_options"),
  },
  {
    tools: list(
      "write write_file edit edit_file multiedit replace notebookedit create_file append_file save_file create_directory update_file",
    ),
    does: ["write"],
    paths: files,
    texts: contents,
  },
  {
    tools: ["delete_file", "remove_file", "delete_directory"],
    does: ["delete"],
    paths: files,
    texts: ["recursive", "explanation"],
  },
  {
    tools: ["move_file", "rename_file"],
    does: ["write", "delete"],
    paths: list("source destination from to old_path new_path src dst"),
  },
  { tools: ["copy_file"], does: ["write"], paths: list("source destination from to src dst") },
  {
    tools: ["apply_patch", "patch"],
    does: ["write"],
    patches: list("input patch patchText diff"),
    paths: ["workdir"],
  },
  {
    tools: list(
      "glob find ls list list_dir list_directory list_directory_with_sizes find_files list_files list_allowed_directories find_file",
    ),
    does: ["read"],
    paths: list("pattern path dir_path directory dir"),
    texts: searching,
  },
  {
    tools: list(
      "grep directory_tree search_files search_file_content grep_files grep_search codebase_search search_dir search_file",
    ),
    does: ["read"],
    below: true,
    paths: list("path dir_path directory dir file include glob target_directories"),
    texts: [...searching, "search_term", "explanation"],
  },
  // The web
  {
    tools: list("webfetch web_fetch fetch read_url browser_navigate"),
    does: ["read"],
    network: true,
    hosts: ["url", "urls", "prompt"],
    texts: list("format timeout max_length start_index raw question"),
  },
  {
    tools: list("websearch web_search google_web_search google_search brave_web_search codesearch"),
    does: ["read"],
    network: true,
    hosts: ["url"],
    texts: [...searching, "allowed_domains", "blocked_domains", "q", "count", "search_context_size", "tokensNum"],
  },
  {
    tools: list(
      "search lookup google search_web search_docs search_code knowledge_search vector_search semantic_search search_knowledge_base",
    ),
    does: ["read"],
    texts: list("query q question text limit top_k k max_results page count lang language"),
  },
  // Plans, notes, other agents
  {
    tools: list(
      "task agent todowrite todoread todo_write todo_read update_plan exitplanmode exit_plan_mode enterplanmode askuserquestion ask_user question skill slashcommand think finish submit save_memory taskcreate taskupdate taskget tasklist toolsearch ask_followup_question attempt_completion task_tracker new_task sequentialthinking report_intent",
    ),
    does: [],
    texts: list(
      "description prompt subagent_type model todos todo plan explanation questions question answers skill args command thought message fact outputs task_completed subject activeForm status taskId id query max_results options result mode task_list metadata owner addBlocks addBlockedBy resume nextThoughtNeeded thoughtNumber totalThoughts run_in_background intent allowedPrompts name isolation",
    ),
  },
  // Git and GitHub
  {
    tools: list("git_status git_diff git_diff_unstaged git_diff_staged git_log git_show git_branch"),
    server: "git",
    does: ["read"],
    paths: ["repo_path"],
    texts: list(
      "target max_count revision context_lines branch_type contains not_contains start_timestamp end_timestamp grep author since until file_path path skip",
    ),
  },
  {
    tools: list("git_commit git_add git_reset git_create_branch git_checkout git_init"),
    server: "git",
    does: ["write"],
    paths: ["repo_path", "files"],
    texts: ["message", "branch_name", "base_branch"],
  },
  ...githubContracts(),
  // Slack, mail
  {
    tools: list("slack_post_message slack_reply_to_thread slack_add_reaction conversations_add_message"),
    server: "slack",
    does: ["send"],
    medium: "slack",
    network: true,
    texts: list("channel_id text thread_ts timestamp reaction payload content_type channel"),
  },
  {
    tools: list(
      "slack_list_channels slack_get_channel_history slack_get_thread_replies slack_get_users slack_get_user_profile conversations_history conversations_replies conversations_search_messages channels_list",
    ),
    server: "slack",
    does: ["read"],
    network: true,
    texts: list("channel_id limit cursor thread_ts user_id query search_query"),
  },
  {
    tools: ["send_email", "gmail_send_message", "send_gmail_message"],
    server: "gmail",
    does: ["send"],
    medium: "email",
    recipients: list("to cc bcc reply_to recipients"),
    subjects: ["subject"],
    paths: ["attachments"],
    texts: list(
      "body htmlBody mimeType threadId inReplyTo thread_id in_reply_to user_google_email html_body text html",
    ),
  },
  {
    tools: ["draft_email", "gmail_create_draft", "draft_gmail_message"],
    server: "gmail",
    does: ["write"],
    medium: "email",
    recipients: ["to", "cc", "bcc"],
    subjects: ["subject"],
    paths: ["attachments"],
    texts: list("body htmlBody mimeType threadId inReplyTo"),
  },
  {
    tools: list(
      "read_email search_emails list_email_labels get_gmail_message_content search_gmail_messages list_filters get_filter",
    ),
    server: "gmail",
    does: ["read"],
    network: true,
    texts: list("messageId query maxResults message_id user_google_email page_size filterId"),
  },
  {
    tools: ["delete_email", "batch_delete_emails"],
    server: "gmail",
    does: ["delete"],
    network: true,
    texts: ["messageId", "messageIds", "batchSize"],
  },
  // Databases and payments
  {
    tools: list("query execute_sql postgres_query run_query read_query write_query sqlite_query"),
    server: "postgres",
    does: ["query"],
    sql: ["sql", "query"],
    environments: list("database db schema project_id connection"),
    texts: ["params", "name", "limit"],
  },
  ...stripeContracts(),
]

function githubContracts(): readonly ToolContract[] {
  const place = list(
    "owner repo branch sha ref page perPage per_page base head draft maintainer_can_modify labels assignees milestone state state_reason sort order direction since q query issue_number pull_number pullNumber number method title body message content event comments commit_id commit_title commit_message merge_method organization name description private autoInit from_branch direction after fields type run_id job_id failed_only return_content tail_lines",
  )
  const looks = list("get_* list_* search_* pull_request_read issue_read")
  const changes = list(
    "create_issue update_issue add_issue_comment create_pull_request update_pull_request merge_pull_request create_branch fork_repository create_repository create_pull_request_review pull_request_review_write issue_write update_pull_request_branch add_reply_to_pull_request_comment request_copilot_review",
  )
  return [
    {
      tools: looks.map((name) => `mcp__github__${name}`),
      does: ["read"],
      network: true,
      paths: ["path"],
      texts: place,
    },
    { tools: changes, server: "github", does: ["write", "send"], medium: "ticket", network: true, texts: place },
    {
      tools: ["create_or_update_file", "push_files"],
      server: "github",
      does: ["write"],
      network: true,
      paths: ["path", "files"],
      texts: place,
    },
    { tools: ["mcp__github__delete_file"], does: ["delete"], network: true, paths: ["path"], texts: place },
  ]
}

function stripeContracts(): readonly ToolContract[] {
  const looks = list(
    "list_customers list_products list_prices list_invoices retrieve_balance list_payment_intents list_subscriptions list_disputes list_coupons search_documentation search_stripe_documentation search_stripe_resources fetch_stripe_resources get_stripe_account_info",
  )
  const texts = list(
    "customer email name limit product price subscription description question language days_until_due invoice payment_intent query reason id recurring quantity_text confirm statement_descriptor receipt_email return_url charge",
  )
  return [
    { tools: looks, server: "stripe", does: ["read"], network: true, texts },
    {
      tools: list(
        "create_payment_intent confirm_payment_intent create_charge create_payout create_transfer create_payment_link create_invoice create_invoice_item finalize_invoice create_refund create_price update_subscription cancel_subscription",
      ),
      server: "stripe",
      does: ["pay"],
      network: true,
      amounts: ["amount", "unit_amount"],
      hundredths: true,
      currencies: ["currency"],
      quantities: ["quantity"],
      texts,
    },
  ]
}
