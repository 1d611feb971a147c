/** Serves the built web app: hashed files for ever, everything else `index.html` with a fresh nonce and a strict policy. */

import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import type Koa from 'koa'
import type { WebContext } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'

/** Where `scripts/build-panel.ts` puts the built app. */
export const PANEL_FOLDER = join(import.meta.dirname, '../../panel/dist')

/** Where the built app lies and how it is reached. */
export interface PanelFilesOptions {
  /** Folder made by `scripts/build-panel.ts`. */
  folder: string
  /** True when APP_BASE_URL is https: browsers then get HSTS. */
  https: boolean
}

interface StaticFile {
  content: Buffer
  type: string
  etag: string
  immutable: boolean
  encoded: { br?: Buffer; gzip?: Buffer }
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
}

/** Paths that belong to the service; a missing one there is a 404, never the app. */
const SERVICE_PATH =
  /^\/(?:api|subscription-api|u|ofrep|notify|assets|healthz|readyz|metrics|docs|openapi\.json)(?:\/|$)/

/**
 * Mounts the panel after the routers of `app` (call it after them and before the final "not found"). All files are read
 * once; without a built app the pages answer 503 with that reason, and the APIs still work.
 */
export async function mountPanel(app: Koa, { folder, https }: PanelFilesOptions): Promise<void> {
  const files = await readFiles(folder)
  const index = files.get('/index.html')?.content.toString('utf8')
  files.delete('/index.html')
  app.use(async (context, next) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') return next()
    const file = files.get(context.path)
    if (file) return sendFile(context, file)
    if (SERVICE_PATH.test(context.path) || !wantsPage(context)) return next()
    if (index === undefined) throw new ProblemError('unavailable', sentence('detail.panel_not_built'))
    return sendIndex(context, index, https)
  })
}

/** Browsers name HTML; the address itself also opens for whoever takes anything, as curl and health checks do. */
function wantsPage(context: WebContext): boolean {
  return context.get('accept').includes('text/html') || (context.path === '/' && context.accepts('html') !== false)
}

function sendFile(context: WebContext, file: StaticFile): void {
  context.state.route = '/assets'
  context.set('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
  context.set('X-Content-Type-Options', 'nosniff')
  context.set('Vary', 'Accept-Encoding')
  context.status = 200
  context.etag = file.etag
  if (context.fresh) {
    context.status = 304
    return
  }
  const encoding = pickEncoding(context, file)
  if (encoding) context.set('Content-Encoding', encoding)
  context.type = file.type
  context.body = encoding ? file.encoded[encoding] : file.content
}

function pickEncoding(context: WebContext, file: StaticFile): 'br' | 'gzip' | undefined {
  if (!file.encoded.br || !file.encoded.gzip) return undefined
  const picked = context.acceptsEncodings('br', 'gzip', 'identity')
  return picked === 'br' || picked === 'gzip' ? picked : undefined
}

function sendIndex(context: WebContext, index: string, https: boolean): void {
  const nonce = randomBytes(18).toString('base64url')
  context.state.route = '/'
  context.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy(nonce),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    ...(https ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  })
  context.type = 'text/html; charset=utf-8'
  context.body = index.replaceAll('__CSP_NONCE__', nonce)
}

/** Nothing from elsewhere, no inline script; inline style tags (Mantine's variables) only with the nonce. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

async function readFiles(folder: string): Promise<Map<string, StaticFile>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = new Map<string, StaticFile>()
  for (const entry of names) {
    if (!entry.isFile() || /^\.|\.(?:br|gz)$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const url = `/${path.slice(folder.length).split(sep).filter(Boolean).join('/')}`
    files.set(url, await readOne(path, url.startsWith('/assets/')))
  }
  return files
}

async function readOne(path: string, immutable: boolean): Promise<StaticFile> {
  const [content, br, gzip] = await Promise.all([readFile(path), readTwin(`${path}.br`), readTwin(`${path}.gz`)])
  return {
    content,
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    etag: createHash('sha256').update(content).digest('base64url').slice(0, 22),
    immutable,
    encoded: { ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) },
  }
}

function readTwin(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(() => undefined)
}
