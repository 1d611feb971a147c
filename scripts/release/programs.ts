/** The programs of a release at pinned versions, built from their Go modules: no installer and no action has to be trusted. */
import programs from './programs.json' with { type: 'json' }
import type { Runner } from './run.ts'

/** Programs that publish; the others are for tests. */
const PUBLISHING = ['cosign', 'helm', 'oras', 'syft'] as const

/** Builds them with Go into GOBIN (by default `~/go/bin`). */
export async function installPrograms(runner: Runner): Promise<void> {
  for (const name of PUBLISHING)
    await runner.run('go', ['install', '-trimpath', '-ldflags', '-s -w', programs[name]], { env: { CGO_ENABLED: '0' } })
}
