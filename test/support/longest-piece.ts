/**
 * Returns the longest time without yielding as a share of the whole, in CPU time of this thread, so that neither other load nor the speed
 * of the machine matters. `npm run bench -- stall` measures the absolute time.
 */
export async function longestPieceShare(work: () => unknown): Promise<number> {
  let [longest, all] = [0, 0]
  let before = process.threadCpuUsage()
  const watch = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    longest = Math.max(longest, user + system)
    all += user + system
  }, 1)
  await work()
  await new Promise((resolve) => setTimeout(resolve, 5))
  clearInterval(watch)
  return longest / all
}
