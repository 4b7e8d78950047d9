import type { MessageId } from "../message/message.ts"

/** An entry of a file whose entries name their parents. */
export type TreeNode = { readonly id: string; readonly parent?: string }

/** Returns the entries from the root to the leaf. A parent that is not in the file, or a cycle, ends the walk. */
export function pathTo<Node extends TreeNode>(
  nodes: ReadonlyMap<string, Node>,
  leaf: string | undefined,
): readonly Node[] {
  const path: Node[] = []
  const seen = new Set<string>()
  let at = leaf === undefined ? undefined : nodes.get(leaf)
  while (at !== undefined && !seen.has(at.id)) {
    seen.add(at.id)
    path.push(at)
    at = at.parent === undefined ? undefined : nodes.get(at.parent)
  }
  return path.reverse()
}

type Offshoot<Node> = { readonly from?: string; readonly nodes: readonly Node[] }

/** Groups the entries that are not on the path by where they branch off, in file order. `from` is the entry on the path, if any. */
export function offshoots<Node extends TreeNode>(
  nodes: Iterable<Node>,
  isOnPath: (id: string) => boolean,
): readonly Offshoot<Node>[] {
  const rootOf = new Map<string, string>()
  const gathered = new Map<string, { from?: string; nodes: Node[] }>()
  for (const node of nodes) {
    if (isOnPath(node.id)) continue
    const above = node.parent === undefined ? undefined : rootOf.get(node.parent)
    const root = above ?? node.id
    rootOf.set(node.id, root)
    const branch = gathered.get(root)
    if (branch !== undefined) branch.nodes.push(node)
    else {
      const from = node.parent !== undefined && isOnPath(node.parent) ? { from: node.parent } : {}
      gathered.set(root, { ...from, nodes: [node] })
    }
  }
  return [...gathered.values()]
}

/** Returns for each entry on a path its message, or the last message before it. */
export function messagesAlong(
  path: readonly TreeNode[],
  messageOf: (id: string) => MessageId | undefined,
): ReadonlyMap<string, MessageId> {
  const along = new Map<string, MessageId>()
  let last: MessageId | undefined
  for (const { id } of path) {
    last = messageOf(id) ?? last
    if (last !== undefined) along.set(id, last)
  }
  return along
}
