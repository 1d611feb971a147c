/** The API server that all test files of the project `operator` share (started by apiserver-setup.ts). */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, inject } from 'vitest'
import type { ApiServerAccess } from './apiserver.ts'
import { type ApiServerState, accessOf } from './apiserver-setup.ts'

/** Above the limit of the two builds in apiserver-binaries.ts. */
const BUILD_MS = 45 * 60_000

/** Waits for the state of the server; a build takes minutes, once per machine. */
async function serverState(): Promise<ApiServerState> {
  const path = inject('apiserverState')
  const deadline = performance.now() + BUILD_MS
  while (performance.now() < deadline) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text) return JSON.parse(text) as ApiServerState
    await sleep(200)
  }
  throw new Error(`the API server was neither started nor reported as unavailable within ${BUILD_MS / 60_000} minutes`)
}

const state = await serverState()

/** `describe`; its tests are skipped with the reason if there is no server. */
export function onApiServer(name: string, tests: () => void): void {
  describe(name, () => {
    beforeAll(() => void sharedApiServer())
    tests()
  })
}

/** The shared server; call it inside of {@link onApiServer}. */
export function sharedApiServer(): ApiServerAccess {
  return accessOf(state)
}
