/** How a payment channel is set up: what to do in the channel's console, which values to copy, and how to test it. */
import { useTranslation } from 'react-i18next'
import type { ChannelName } from './payment-channel-settings.ts'

/** Consoles in which a channel is configured. */
const CONSOLES: Record<ChannelName, string> = {
  alipay: 'https://open.alipay.com/',
  wechat: 'https://pay.weixin.qq.com/',
  huawei: 'https://developer.huawei.com/consumer/en/service/josp/agc/index.html',
}

/** Parts of a guide, in their order; each is a list of steps. */
const PARTS = ['console', 'here', 'backend', 'test'] as const

export function ChannelGuide({ name, notifyUrl }: { name: ChannelName; notifyUrl: string }) {
  const { t } = useTranslation()
  const channel = t(`subs.methods.${name}`)
  return (
    <details className="pw-details">
      <summary>{t('guides.title', { channel })}</summary>
      <div className="pw-guide">
        <p>
          {t('guides.console')}{' '}
          <a href={CONSOLES[name]} className="pw-link" target="_blank" rel="noreferrer noopener">
            {CONSOLES[name]}
          </a>
        </p>
        {PARTS.map(part => (
          <section key={part} aria-label={`${channel}: ${t(`guides.parts.${part}`)}`}>
            <strong>{t(`guides.parts.${part}`)}</strong>
            <ol>
              {t(`guides.${name}.${part}`, { channel, url: notifyUrl })
                .split('\n')
                .map(step => (
                  <li key={step}>{step}</li>
                ))}
            </ol>
          </section>
        ))}
        <p>{t('guides.trouble')}</p>
      </div>
    </details>
  )
}
