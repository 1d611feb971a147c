import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { isRunning } from './is-process-running.ts'

test('a process runs until it ends, and its command line distinguishes it from others', async () => {
  const child = spawn('sleep', ['60.25'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const outcomes = [
    await isRunning(pid),
    await isRunning(pid, given => given.includes('60.25')),
    await isRunning(pid, given => given.includes('60')),
  ]
  expect(outcomes).toEqual([true, true, false])
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await isRunning(pid)).toBe(false)
})
