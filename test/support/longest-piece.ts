/**
 * The longest piece of work without a turn for others, as a share of all of it, in this thread's processor time: neither other load nor the
 * speed of the machine counts. How long pieces are is measured by `npm run bench -- stall`.
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
