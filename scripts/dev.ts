/**
 * `npm run dev`: the all-in-one service, restarted when one of its sources changes, and the panel on a Vite server with
 * hot reload that forwards API requests. The embedded database belongs to this process, so a restart keeps it running.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer as createVite } from 'vite'
import { together } from '../services/platform/process/run.ts'
import { prepareTrial } from '../services/platform/process/trial.ts'
import type { Running } from '../services/platform/running.ts'

const ROOT = join(import.meta.dirname, '..')
const PANEL_PORT = 5173
/** Paths of the service. `/api/….ts` is a source of the panel, so only the versioned API and `/api/send` are forwarded. */
const SERVICE_PATHS = String.raw`^/(?:api/(?:v1|send)|subscription-api|u|docs|openapi\.json)(?:[/?]|$)`

const print = (text: string) => process.stderr.write(`postwright: ${text}\n`)

if (existsSync('.env')) process.loadEnvFile('.env')
const trial = await prepareTrial(process.env, print).catch((error: unknown) => {
  print(`cannot start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})
const panel = await servePanel(`http://127.0.0.1:${trial.env.APP_PORT ?? '3025'}`)

// The service prepares everything else, as with `npm start`, and prints the first logins.
const service = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'services/all.ts'], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, MONGODB_URI: trial.env.MONGODB_URI, APP_BASE_URL: process.env.APP_BASE_URL ?? panel.address },
})
// `node --watch` handles SIGINT and SIGTERM only, and its child would survive a SIGHUP.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => service.kill('SIGTERM'))
service.on('exit', async code => {
  await together(...trial.parts, panel)
    .stop()
    .catch((error: unknown) => print(`stopped with an error: ${String(error)}`))
  process.exit(code ?? 0)
})

/**
 * Serves the sources of the panel on the first free port from {@link PANEL_PORT} on. Vite runs as a middleware, because
 * its own server ends the process on SIGTERM before the database is stopped.
 */
async function servePanel(target: string): Promise<Running & { address: string }> {
  const server = createServer()
  const vite = await createVite({
    configFile: join(ROOT, 'services/panel/vite.config.ts'),
    cacheDir: join(ROOT, '.cache/vite'),
    clearScreen: false,
    server: { middlewareMode: { server }, hmr: { server }, proxy: { [SERVICE_PATHS]: { target } } },
  })
  server.on('request', vite.middlewares)
  const port = await new Promise<number>((done, reject) => {
    let wanted = PANEL_PORT
    server.once('listening', () => done((server.address() as AddressInfo).port))
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') server.listen(++wanted, '127.0.0.1')
      else reject(error)
    })
    server.listen(wanted, '127.0.0.1')
  })
  return {
    address: `http://127.0.0.1:${port}`,
    async stop() {
      await vite.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
