/**
 * Vitest's global setup of the project `operator`: one API server for all its test files. It is found or built and then
 * started in the background, so that other projects do not wait for it; test files wait in apiserver-shared.ts.
 */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MissingProgram } from '../programs/missing-program.ts'
import { type ApiServer, type ApiServerAccess, startApiServer } from './apiserver.ts'
import { HOW_TO_INSTALL } from './apiserver-binaries.ts'
import { adminClient, installCrds } from './clients-and-crds.ts'

/** Content of the file at `apiserverState`. */
export type ApiServerState = ApiServerAccess | { unavailable: string; install: string }

declare module 'vitest' {
  interface ProvidedContext {
    apiserverState: string
  }
}

/** Access to the server. Throws {@link MissingProgram} if there is none. */
export function accessOf(state: ApiServerState): ApiServerAccess {
  if ('unavailable' in state) throw new MissingProgram(state.unavailable, state.install)
  return state
}

export default async function setup(project: { provide(key: 'apiserverState', value: string): void }) {
  const folder = await mkdtemp(join(tmpdir(), 'pw-envtest-'))
  const path = join(folder, 'state.json')
  project.provide('apiserverState', path)
  const starting = start(path)
  return async () => {
    await (await starting)?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function start(path: string): Promise<ApiServer | undefined> {
  try {
    const server = await startApiServer(line => process.stderr.write(`operator tests: ${line}\n`))
    await installCrds(adminClient(server))
    await publish(path, server)
    return server
  } catch (error) {
    const unavailable = error instanceof Error ? error.message : String(error)
    process.stderr.write(`operator tests are skipped: ${unavailable}\n`)
    await publish(path, { unavailable, install: HOW_TO_INSTALL })
    return undefined
  }
}

/** Written to a temporary file and renamed: a reader never sees part of it. */
async function publish(path: string, state: ApiServerState) {
  await writeFile(`${path}.new`, JSON.stringify(state), { mode: 0o600 })
  await rename(`${path}.new`, path)
}
