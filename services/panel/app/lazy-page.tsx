/** Pages whose code is loaded when they are first opened. */
import { Button } from '@mantine/core'
import { IconCloudOff } from '@tabler/icons-react'
import { createElement, type FunctionComponent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withAllTexts } from '../i18n/index.ts'
import { ContentState, LoadingRows } from '../ui/feedback/content-states.tsx'

/** A page was reloaded for newer code at this time; not again at once, when that did not help. */
const RELOADED = 'postwright-reloaded'
const RELOAD_PAUSE_MS = 30_000

/** A page of the texts that are loaded first: the sign-in page, and those that are opened after it. */
export const firstPage: typeof lazyPage = (load, name) => pageOf(load, name)

/** A page that needs texts of the second part of a language, see {@link withAllTexts}. */
export function lazyPage<N extends string>(load: () => Promise<Record<N, FunctionComponent>>, name: N): LazyPage {
  return pageOf(() => withAllTexts(load()), name)
}

type LazyPage = FunctionComponent & { preload: () => Promise<void> }

/**
 * A route component like the router's own lazy one, but code that cannot be loaded leaves the layout in place: a message
 * with a button to retry is shown instead of the page. After an update of the service the old code is gone, and the page is reloaded.
 */
function pageOf<N extends string>(load: () => Promise<Record<N, FunctionComponent>>, name: N): LazyPage {
  let page: FunctionComponent | undefined
  let loading: Promise<void> | undefined
  const fetchPage = () => {
    loading ??= load()
      .then(module => {
        page = module[name]
      })
      .finally(() => {
        loading = undefined
      })
    return loading
  }

  function LazyPage() {
    const [, setLoaded] = useState(page !== undefined)
    const [hasFailed, setFailed] = useState(false)
    useEffect(() => {
      if (page || hasFailed) return
      let isShown = true
      fetchPage().then(
        () => isShown && setLoaded(true),
        async () => {
          if (!(await reloadForUpdate()) && isShown) setFailed(true)
        },
      )
      return () => {
        isShown = false
      }
    }, [hasFailed])
    if (page) return createElement(page)
    return hasFailed ? <PageFailed retry={() => setFailed(false)} /> : <LoadingRows />
  }
  // The page itself reports a failure, and tries again.
  LazyPage.preload = () => fetchPage().catch(() => undefined)
  return LazyPage
}

function PageFailed({ retry }: { retry: () => void }) {
  const { t } = useTranslation()
  const again = (
    <Button variant="default" onClick={retry}>
      {t('ui.tryAgain')}
    </Button>
  )
  return (
    <div role="alert">
      <ContentState icon={<IconCloudOff size={26} />} title={t('ui.pageFailedTitle')} action={again} level={1}>
        {t('ui.pageFailedHint')}
      </ContentState>
    </div>
  )
}

/** Reloads if the service answers: then it is the code that has changed. Resolves with whether it does. */
async function reloadForUpdate(): Promise<boolean> {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0)
  if (Date.now() - last < RELOAD_PAUSE_MS) return false
  const answers = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!answers) return false
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
  return true
}
