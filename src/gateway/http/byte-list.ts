/** Bytes in the order in which they came, in little more memory than they have. */
export type ByteList = {
  readonly add: (chunk: Uint8Array) => void
  readonly clear: () => void
  readonly all: () => Buffer
}

/** A smaller chunk is copied: as an object of its own it would take a hundred bytes more than it has. */
const smallBytes = 4096
const blockBytes = 65_536
const firstBlockBytes = 8192

export function createByteList(): ByteList {
  let chunks: Uint8Array[] = []
  /** The last of the chunks, where small ones are copied to, and how much of it is used. */
  let block = Buffer.alloc(0)
  let used = 0
  const closeBlock = (): void => {
    if (used > 0) chunks.push(block.subarray(0, used))
    block = Buffer.alloc(0)
    used = 0
  }
  return {
    add: (chunk) => {
      if (chunk.length >= smallBytes || used + chunk.length > block.length) closeBlock()
      if (chunk.length >= smallBytes) return void chunks.push(chunk)
      if (block.length === 0) block = Buffer.allocUnsafeSlow(chunks.length === 0 ? firstBlockBytes : blockBytes)
      block.set(chunk, used)
      used += chunk.length
    },
    clear: () => {
      chunks = []
      block = Buffer.alloc(0)
      used = 0
    },
    all: () => {
      closeBlock()
      const [first] = chunks
      if (chunks.length !== 1 || first === undefined) return Buffer.concat(chunks)
      return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    },
  }
}
