/** Build of the web app: hashed files in `assets/`, and a placeholder for the CSP nonce that the service inserts. */
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import manifest from '../../package.json' with { type: 'json' }

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  define: {
    __VERSION__: JSON.stringify(manifest.version),
    // Only a release has a tag with its documents: a checkout, or an image of one, has the version of the last release.
    __IS_RELEASE__: JSON.stringify(process.env.RELEASE_VERSION === manifest.version),
  },
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // Browsers of the last two years. Nothing is inlined, so the Content-Security-Policy needs no `data:` sources.
    target: ['chrome120', 'firefox121', 'safari17.2'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // What the entry imports is one file: it compresses better, and a first visit waits for two requests instead of ninety.
      output: { codeSplitting: { groups: [{ name: 'entry', tags: ['$initial'] }] } },
      // Code that is to be loaded later would be loaded first.
      onLog(level, log, handle) {
        if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(log.message)
        handle(level, log)
      },
    },
  },
})
