/** The longest piece of work without a turn for others, in milliseconds of this thread's processor time: other load does not count. */
export async function longestPieceMs(work: () => unknown): Promise<number> {
  let longestMs = 0
  let before = process.threadCpuUsage()
  const watch = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1000)
  }, 1)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 5))
  clearInterval(watch)
  return longestMs
}
