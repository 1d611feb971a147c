/** The API server that all test files of the project `operator` share (started by apiserver-setup.ts). */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, inject } from 'vitest'
import type { ApiServerAccess } from './apiserver.ts'
import type { ApiServerState } from './apiserver-setup.ts'

/** The state of the server as soon as it is known; a build takes minutes, once per machine. */
async function serverState(): Promise<ApiServerState> {
  const path = inject('apiserverState')
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text) return JSON.parse(text) as ApiServerState
    await sleep(200)
  }
}

const state = await serverState()

/** `describe`, or a skipped one whose name says why. */
export const onApiServer: (name: string, tests: () => void) => void =
  'unavailable' in state
    ? (name, tests) => describe.skip(`${name} (skipped: ${state.unavailable})`, tests)
    : (name, tests) => describe(name, tests)

/** The shared server; call it inside of {@link onApiServer}. */
export function sharedApiServer(): ApiServerAccess {
  if ('unavailable' in state) throw new Error(state.unavailable)
  return state
}
