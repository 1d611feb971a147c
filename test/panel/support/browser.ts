/** Real Chromium with a new profile for each start; records console errors and CSP violations of pages. */
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { program } from '../../support/programs/programs.ts'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface Look {
  language?: 'en' | 'zh-CN'
  scheme?: 'light' | 'dark'
  width?: number
  height?: number
}

export interface TestBrowser {
  /** A new visitor without cookies. The caller closes its context. */
  visit(url: string, look?: Look): Promise<Visitor>
  stop(): Promise<void>
}

export interface Visitor {
  page: Page
  /** Console errors (Chromium reports CSP violations as such), warnings and uncaught errors so far. */
  complaints: string[]
  leave(): Promise<void>
}

export async function startBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    // CHROMIUM overrides the executable on PATH.
    executablePath: process.env.CHROMIUM || program('chromium'),
    args: FLAGS,
    // Other tests of the run use the processor as well.
    timeout: 120_000,
  })
  return {
    visit: async (url, look = {}) => {
      const context = await browser.newContext({
        baseURL: url,
        locale: look.language ?? 'en',
        colorScheme: look.scheme ?? 'light',
        viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
        timezoneId: 'Europe/Berlin',
        reducedMotion: 'reduce',
      })
      return visitorOf(context)
    },
    async stop() {
      await browser.close()
    },
  }
}

/** Visitors of the present test, also those that left during it. */
export const visitors = new Set<Visitor>()

async function visitorOf(context: BrowserContext): Promise<Visitor> {
  const complaints: string[] = []
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  page.on('console', message => {
    if (!['error', 'warning'].includes(message.type())) return
    // The session request returns 401 before signing in, which Chromium logs as an error.
    if (message.location().url.endsWith('/api/v1/session') && message.text().includes('401')) return
    complaints.push(`${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', error => complaints.push(`uncaught: ${error.message}`))
  const visitor = { page, complaints, leave: () => context.close() }
  visitors.add(visitor)
  return visitor
}
