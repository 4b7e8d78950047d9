import type { Task, TaskName } from "./task.ts"
import { hardTasks } from "./tasks-hard.ts"
import { softTasks } from "./tasks-soft.ts"
import { softWorkTasks } from "./tasks-soft-work.ts"

export const tasks: readonly Task[] = [...softTasks, ...softWorkTasks, ...hardTasks]

export function taskOf(name: TaskName): Task {
  const found = tasks.find((task) => task.name === name)
  if (found === undefined) throw new Error(`no task ${name}`)
  return found
}
