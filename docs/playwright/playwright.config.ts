import { defineConfig } from '@playwright/test'

const { APP_PORT = '8080', CHROMIUM } = process.env

export default defineConfig({
  // A mail may take some seconds, and waitForMail waits for up to a minute.
  timeout: 90_000,
  use: {
    baseURL: `http://127.0.0.1:${APP_PORT}`,
    launchOptions: CHROMIUM ? { executablePath: CHROMIUM } : {},
  },
  webServer: {
    command: 'node app.ts',
    url: `http://127.0.0.1:${APP_PORT}`,
    env: { ...process.env, APP_PORT } as Record<string, string>,
  },
})
