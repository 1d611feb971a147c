/** Whether processes run. */
import { readFile } from 'node:fs/promises'

/**
 * True when a process with this id runs that we may signal, and the words of its command line pass the test. Where these
 * cannot be read (outside of Linux) the id alone decides.
 */
export async function isRunning(
  pid: number,
  isMeant: (words: readonly string[]) => boolean = () => true,
): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  return command === undefined || isMeant(command.split('\0'))
}
