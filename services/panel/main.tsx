/** Entry point. Translations are loaded before the first render, so that nothing is shown in the wrong language. */
import '@fontsource-variable/geist/wght.css'
import '@fontsource-variable/geist-mono/wght.css'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme/global.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadAhead } from './app/router.ts'
import { startI18n } from './i18n/index.ts'
import { preferences } from './state/preferences.ts'

const root = document.getElementById('root')
if (root) {
  const texts = startI18n(preferences().language)
  loadAhead()
  await texts
  createRoot(root).render(<App />)
}
